//! The schemas in `docs/schema/`: what the types say today, and what the program really writes.

use std::path::{Path, PathBuf};

use jsonschema::Validator;
use schemars::{JsonSchema, Schema, schema_for};
use serde_json::Value;

use weigh::{baseline, check, corpus, link, listing, plan, runtime, site};
use weigh_answer::compare::Comparison;
use weigh_answer::compare::machines::Machines;
use weigh_answer::document::ranking::RankingDocument;
use weigh_answer::format::json::Document;
use weigh_answer::load;
use weigh_answer::profile::document as profile;
use weigh_answer::trend::Trend;
use weigh_model::plan::Plan;
use weigh_model::policy::Policy;
use weigh_model::record::Record;
use weigh_run::dir::RunFile;

use crate::codec::text;
use crate::lab::{Lab, SMALL, has_php};

/// Set to anything: the published schemas are written anew.
const UPDATE: &str = "UPDATE_SCHEMAS";

/// A line of `records.ndjson`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what is wanted")]
struct Line {
    /// The record.
    #[serde(flatten)]
    record: Record,
    /// The CRC-32 of the line's bytes before `,"crc"`, eight hexadecimal digits; always the last member.
    crc: String,
}

/// Name, title and schema of each.
fn schemas() -> Vec<(&'static str, &'static str, Schema)> {
    vec![
        ("report", "Report of a Weighbridge run: report/report.json and --json", schema_for!(Document)),
        ("run", "Facts of a run: run.json", schema_for!(RunFile)),
        ("plan", "Plan of a run: plan.json and `weigh run --dry-run --json`", schema_for!(Plan)),
        ("record", "One line of records.ndjson", schema_for!(Line)),
        ("check", "What can be measured here: `weigh check --json`", schema_for!(check::Findings)),
        ("load", "A block of load: `weigh load --json` and result.json", schema_for!(load::Document)),
        ("profile", "Profiles: `weigh profile --json` and profile.json", schema_for!(profile::Document)),
        ("site", "A site: site.toml and `weigh site --json`", schema_for!(site::Document<'static>)),
        ("policy", "A policy: policy.toml and `weigh advise --json`", schema_for!(Policy)),
        (
            "ranking",
            "A ranking under conditions: `weigh runs show RUN --at CONDITIONS --json`",
            schema_for!(RankingDocument),
        ),
        ("runs", "The runs in a folder: `weigh runs --json`", schema_for!(listing::Listing)),
        ("trend", "A metric over time: `weigh runs trend --json`", schema_for!(Trend)),
        ("comparison", "A comparison: `weigh compare --json`", schema_for!(Comparison)),
        ("machines", "Machines compared: `weigh compare --machines --json`", schema_for!(Machines)),
        ("baselines", "The baselines: `weigh compare --baselines --json`", schema_for!(baseline::Listing)),
        ("studies", "The studies: `weigh run --dry-run --json`", schema_for!(plan::Listing)),
        ("corpus", "The corpus: `weigh lab corpus list --json`", schema_for!(corpus::Listing)),
        ("runtime", "PHP runtimes: `weigh lab runtime list --json`", schema_for!(runtime::Listing)),
        ("pack", "What packing came to: `weigh pack --json`", schema_for!(weigh_pack::PackOutcome)),
        (
            "link",
            "Links, asked beside measured: `weigh lab link --json`, `weigh lab link measure --json`",
            schema_for!(link::Document),
        ),
    ]
}

fn published(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.schema.json"))
}

/// The schema as it is published: titled, and without the links that only the documentation of the code follows.
fn shown(title: &str, mut schema: Schema) -> String {
    schema.insert("title".into(), title.into());
    let mut value = schema.to_value();
    plain(&mut value);
    format!("{}\n", serde_json::to_string_pretty(&value).unwrap())
}

fn plain(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get_mut("description") {
                *text = text.replace("[`", "`").replace("`]", "`");
            }
            members.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

fn validator(name: &str) -> Validator {
    let text = std::fs::read_to_string(published(name)).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    for (name, title, schema) in schemas() {
        let (path, now) = (published(name), shown(title, schema));
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &now).unwrap();
        }
        let stands = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stands == now,
            "{} is stale: run this test once with {UPDATE}=1 and look at it",
            path.display()
        );
    }
    let files = std::fs::read_dir(published("run").parent().unwrap()).unwrap();
    assert_eq!(files.count(), schemas().len(), "a schema that nothing has");
}

/// Asserts that what was written keeps its schema, and that the schema would notice if it did not.
pub fn keeps(name: &str, written: &Value) {
    let validator = validator(name);
    let errors: Vec<_> =
        validator.iter_errors(written).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
    for member in written.as_object().unwrap().keys() {
        let mut wrong = written.clone();
        wrong[member] = serde_json::json!([{ "no": "such thing" }]);
        assert!(!validator.is_valid(&wrong), "{name}: {member} may be anything");
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_check_plan_and_corpus_write_keeps_its_schema() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    keeps("check", &parsed(&lab.fine(&["check", "--json"])));
    keeps("plan", &parsed(&lab.fine(&["run", "--dry-run", "small.toml", "--json"])));
    keeps("corpus", &parsed(&lab.fine(&["lab", "corpus", "list", "--json"])));
    keeps("runtime", &parsed(&lab.fine(&["lab", "runtime", "list", "--json"])));
    keeps("link", &parsed(&lab.fine(&["lab", "link", "--json"])));
    lab.write("www/a.js", "let a = 1;\n".repeat(99));
    lab.write("www/a.js.gz", "mine");
    keeps("pack", &parsed(&lab.fine(&["pack", "www", "--json"])));
    keeps("pack", &parsed(&lab.run(&["pack", "www", "--effort", "fast", "--check", "--json"]).stdout));
    let measured = lab.run(&["lab", "link", "measure", "100mbit/1ms", "loopback", "--json"]);
    keeps("link", &parsed(&measured.stdout));
}

/// Every file of a run.
fn keeps_all(lab: &Lab, run: &str) {
    keeps("run", &lab.json(&format!("{run}/run.json")));
    keeps("plan", &lab.json(&format!("{run}/plan.json")));
    keeps("report", &lab.json(&format!("{run}/report/report.json")));
    lab.records(run).iter().for_each(|record| keeps("record", record));
}

#[test]
fn a_native_run_keeps_its_schemas() {
    let lab = Lab::new();
    lab.write("page.html", text(20_000));
    let args = ["codec", "page.html", "--codecs", "lz4,zlib:1|9,zstd:3,dict=trained"];
    let printed =
        lab.fine(&[&args[..], &["--block", "500", "--budget", "20", "--out", "run", "--json"]].concat());
    keeps_all(&lab, "run");
    assert_eq!(parsed(&printed), lab.json("run/report/report.json"));
}

#[test]
fn a_run_of_every_kind_keeps_its_schemas() {
    needs!(has_php());
    let lab = Lab::new();
    // Values in PHP with serializers, links, a published table, a cell that faults, one that is left out.
    lab.write("defs/php/codecs/wrong.php", crate::faults::codec("return strrev($encoded);"));
    let study = SMALL
        .replace("[\"native\"]", "[\"php\", \"native\"]")
        .replace("\"zstd:3\"", "\"gzdeflate:1|6\", \"wrong\"");
    lab.write(
        "every.toml",
        format!(
            "{study}serializers = [\"-\", \"serialize\"]
[links]
mbit = [10, 1000]
reads_per_write = [1, 10]
[published]
about = \"figures of somebody else\"
payload = \"synthetic-rows-4k\"
cells = \"{{runtime}}/serialize\"
columns = [{{ name = \"ratio\", metric = \"ratio\" }}]
rows = [{{ label = \"level 6\", setting = \"gzdeflate:6\", figures = {{ ratio = 10 }} }}]
"
        ),
    );
    let ran = lab.run(&["--defs", "defs", "run", "every.toml", "--php", "php", "--out", "run"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    keeps_all(&lab, "run");
    let found = lab.json("run/report/report.json");
    for part in ["faults", "exclusions", "findings", "caveats"] {
        assert!(
            found[part].as_array().is_some_and(|a| !a.is_empty()),
            "{part} should be there to be looked at"
        );
    }
    let exhibits = &found["exhibits"];
    for part in [&exhibits["links"]["groups"][0]["mixes"], &exhibits["published"]["rows"]] {
        assert!(part.as_array().is_some_and(|rows| !rows.is_empty()), "{exhibits}");
    }
    let kinds: std::collections::BTreeSet<String> =
        lab.records("run").iter().map(|r| r["type"].as_str().unwrap().to_owned()).collect();
    assert!(kinds.len() >= 4, "{kinds:?}");
}
