//! Plans from small studies over an invented inventory.

use std::path::PathBuf;

use crate::planner::{PlanOptions, build, has_each};
use crate::study::Study;
use weigh_model::inventory::{Inventory, RuntimeEntry};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::{Exclusion, Plan, Runtime};
use weigh_model::protocol::{CodecDescription, Levels, SerializerDescription};

fn codec(name: &str, missing: Option<&str>) -> CodecDescription {
    CodecDescription {
        name: name.into(),
        format: "deflate".into(),
        binding: "extension".into(),
        library: Some("zlib 1.2.13".into()),
        takes_value: name == "marshaller",
        levels: (name != "snappy" && name != "marshaller").then(|| Levels {
            min: 1,
            max: 9,
            default: 6,
            representative: vec![1, 6, 9],
        }),
        options: vec![],
        sets: vec!["cache".into()],
        nominal: vec![(1, 80.0), (9, 8.0)],
        missing: missing.map(str::to_owned),
        remedy: missing.map(|_| format!("apt install php-{name}")),
    }
}

fn runtime(name: &str, codecs: Vec<CodecDescription>, serializers: &[&str]) -> RuntimeEntry {
    let serializers = serializers.iter().map(|s| SerializerDescription {
        name: (*s).into(),
        library: None,
        missing: (*s == "igbinary").then(|| "the extension igbinary is not loaded".into()),
        remedy: (*s == "igbinary").then(|| "apt install php-igbinary".into()),
    });
    RuntimeEntry {
        plan: Runtime {
            name: name.into(),
            binary: (name != "native").then(|| PathBuf::from("/usr/bin/php")),
            version: "8.2.36".into(),
            ..Runtime::default()
        },
        codecs,
        serializers: serializers.collect(),
        ..RuntimeEntry::default()
    }
}

fn inventory() -> Inventory {
    let php = vec![
        codec("gzdeflate", None),
        codec("zstd", Some("no extension and no FFI")),
        codec("snappy", None),
        codec("marshaller", None),
    ];
    Inventory {
        runtimes: vec![
            runtime("native", vec![codec("zlib", None)], &[]),
            runtime("php8.2", php, &["serialize", "igbinary"]),
        ],
        ..Inventory::default()
    }
}

fn payload(name: &str) -> Payload {
    Payload {
        name: name.trim_start_matches("value:").into(),
        kind: "php-value".into(),
        blob: "/nowhere".into(),
        bytes: 2_400_000,
        items: vec![2_400_000],
        value: name.starts_with("value:").then(|| "serialize".into()),
        origin: Origin::Synthetic { imitates: "rows".into() },
        ..Payload::default()
    }
}

fn plan_with(block: &str, ask: &PlanOptions) -> anyhow::Result<Plan> {
    let text = format!("schema=1\nname=\"t\"\ntitle=\"T\"\nquestion=\"Q\"\nreading=\"R\"\n{block}");
    let study = Study::parse(&text, "t.toml")?;
    build(&study, ask, &inventory(), &mut |name, _| Ok(vec![payload(name)]))
}

fn plan(block: &str) -> Plan {
    plan_with(block, &PlanOptions::default()).unwrap()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.cells.iter().map(|c| c.id.as_str()).collect()
}

#[test]
fn factors_multiply_and_repeated_cells_count_once() {
    let twice = "[[cells]]\ncontent=[\"value:v\"]\nruntimes=[\"php\"]\nserializers=[\"serialize\"]\ncodecs=[\"gzdeflate:6\"]\n";
    let plan = plan(&format!(
        "{twice}{}{twice}keep=true\n",
        "[[cells]]\ncontent=[\"value:v\"]\nruntimes=[\"native\"]\ncodecs=[\"zlib:1|9\"]\n"
    ));
    assert_eq!(ids(&plan), ["v/php8.2/serialize/gzdeflate:6", "v/native/-/zlib:1", "v/native/-/zlib:9"]);
    assert!(plan.cells[0].keep, "one block that keeps a cell is enough");
    assert_eq!(plan.payloads.len(), 1);
    assert_eq!(plan.runtimes.len(), 2);
}

#[test]
fn what_cannot_run_here_is_excluded_with_its_remedy() {
    let plan = plan(
        "[[cells]]\ncontent=[\"value:v\"]\nruntimes=[\"php\"]\nserializers=[\"serialize\",\"igbinary\"]\ncodecs=[\"gzdeflate:6\",\"zstd:3\"]\n",
    );
    assert_eq!(ids(&plan), ["v/php8.2/serialize/gzdeflate:6"]);
    let expected = [
        Exclusion {
            cell: "v/php8.2/serialize/zstd".into(),
            reason: "no extension and no FFI".into(),
            remedy: Some("apt install php-zstd".into()),
        },
        Exclusion {
            cell: "v/php8.2/igbinary/*".into(),
            reason: "the extension igbinary is not loaded".into(),
            remedy: Some("apt install php-igbinary".into()),
        },
    ];
    assert_eq!(plan.exclusions, expected);
}

#[test]
fn a_marshaller_stands_once_whatever_the_serializers() {
    let plan = plan(
        "[[cells]]\ncontent=[\"value:v\",\"bytes\"]\nruntimes=[\"php\"]\nserializers=[\"serialize\",\"-\"]\ncodecs=[\"marshaller\",\"snappy\"]\n",
    );
    assert_eq!(
        ids(&plan),
        ["v/php8.2/-/marshaller", "v/php8.2/serialize/snappy", "v/php8.2/-/snappy", "bytes/php8.2/-/snappy"]
    );
    let reasons: Vec<_> = plan.exclusions.iter().map(|e| e.reason.as_str()).collect();
    assert_eq!(reasons, ["bytes is not a PHP value", "takes a PHP value, not bytes"]);
}

#[test]
fn a_call_that_would_eat_the_budget_is_excluded_unless_all_is_asked_for() {
    let block = "[[cells]]\ncontent=[\"bytes\"]\nruntimes=[\"native\"]\ncodecs=[\"zlib:9\"]\n";
    let tight = PlanOptions { budget_seconds: Some(0.5), ..PlanOptions::default() };
    let left_out = plan_with(block, &tight).unwrap();
    assert!(left_out.cells.is_empty());
    assert!(left_out.exclusions[0].remedy.as_deref().unwrap().contains("--exhaustive"));
    let all = PlanOptions { exhaustive: true, ..tight };
    assert_eq!(plan_with(block, &all).unwrap().cells.len(), 1);
}

#[test]
fn a_larger_budget_is_larger_for_each_cell() {
    let block = "[budget]\nseconds=100\ncell_seconds=4\n[[cells]]\ncontent=[\"bytes\"]\nruntimes=[\"native\"]\ncodecs=[\"zlib:9\"]\n";
    for (asked, cell) in [(None, 4.0), (Some(300.0), 12.0), (Some(50.0), 4.0)] {
        let ask = PlanOptions { budget_seconds: asked, ..PlanOptions::default() };
        assert_eq!(plan_with(block, &ask).unwrap().policy.cell_seconds, cell, "{asked:?}");
    }
}

#[test]
fn mistyped_names_end_in_one_line() {
    let error = |block: &str| plan_with(block, &PlanOptions::default()).unwrap_err().to_string();
    let block = |runtime: &str, codec: &str| {
        format!("[[cells]]\ncontent=[\"b\"]\nruntimes=[\"{runtime}\"]\ncodecs=[\"{codec}\"]\n")
    };
    assert_eq!(error(&block("nativ", "zlib")), "no runtime `nativ`; did you mean `native`?");
    assert_eq!(error(&block("native", "zlibb")), "no codec `zlibb`; did you mean `zlib`?");
    assert_eq!(error(&block("native", "set:cach")), "no set `cach`; did you mean `cache`?");
    assert_eq!(error(&block("native", "zlib:12")), "zlib has levels 1 to 9, not 12");
}

#[test]
fn without_php_its_cells_are_one_exclusion() {
    let text = "schema=1\nname=\"t\"\ntitle=\"T\"\nquestion=\"Q\"\nreading=\"R\"\n[[cells]]\ncontent=[\"b\"]\nruntimes=[\"php\"]\ncodecs=[\"gzdeflate\"]\n";
    let study = Study::parse(text, "t.toml").unwrap();
    let native = Inventory { runtimes: vec![runtime("native", vec![], &[])], ..Inventory::default() };
    let plan =
        build(&study, &PlanOptions::default(), &native, &mut |name, _| Ok(vec![payload(name)])).unwrap();
    assert_eq!(plan.exclusions[0].reason, "no PHP was found");
    assert!(plan.exclusions[0].remedy.as_deref().unwrap().contains("--php"));
}

#[test]
fn configurations_that_are_named_are_planned_alone_with_what_they_use() {
    let block = "[[cells]]\ncontent=[\"value:v\"]\nruntimes=[\"php\"]\nserializers=[\"serialize\",\"igbinary\"]\ncodecs=[\"gzdeflate:6\",\"zstd:3\"]\n\
        [[cells]]\ncontent=[\"value:v\"]\nruntimes=[\"native\"]\ncodecs=[\"zlib:1|9\"]\n";
    let only = |ids: &[&str]| {
        let configurations: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        let plan = plan_with(
            block,
            &PlanOptions { configurations: configurations.clone(), ..PlanOptions::default() },
        )
        .unwrap();
        let checked = has_each(std::slice::from_ref(&plan), &configurations).map_err(|e| e.to_string());
        (plan, checked)
    };
    let (one, checked) = only(&["v/native/-/zlib:9"]);
    assert_eq!((ids(&one), one.exclusions.len(), checked), (vec!["v/native/-/zlib:9"], 0, Ok(())));
    assert_eq!(one.runtimes.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["native"]);
    let (both, checked) = only(&["v/native/-/zlib:9", "v/php8.2/serialize/gzdeflate:6"]);
    assert_eq!((both.cells.len(), both.runtimes.len(), checked), (2, 2, Ok(())));
    let why = |id: &str| only(&[id]).1.unwrap_err();
    assert_eq!(
        why("v/php8.2/serialize/zstd:3"),
        "--configuration v/php8.2/serialize/zstd:3 is left out here: no extension and no FFI; apt install php-zstd"
    );
    assert!(why("v/native/-/zlib:8").ends_with("has this id here; list them: weigh run --dry-run t --cells"));
}
