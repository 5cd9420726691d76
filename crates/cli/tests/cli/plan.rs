//! `weigh run --dry-run`: what would be measured, without measuring it.

use serde_json::Value;

use crate::lab::{Lab, SMALL, has_php};

#[test]
fn without_a_study_it_lists_them() {
    let lab = Lab::new();
    let list = lab.fine(&["run", "--dry-run"]);
    let levels = list.lines().find(|l| l.starts_with("cache-levels")).expect("the built-in study");
    assert!(levels.contains("Which codec, level and serializer should a PHP application use"), "{list}");
    let json = lab.told(&["run", "--dry-run", "--json"]);
    crate::schema::keeps("studies", &json);
    let names: Vec<_> = json["studies"].as_array().unwrap().iter().map(|study| &study["name"]).collect();
    assert!(names.contains(&&"cache-levels".into()), "{names:?}");
}

#[test]
fn it_shows_cells_exclusions_and_the_expected_time_and_leaves_nothing() {
    let lab = Lab::new();
    lab.write("small.toml", format!("{SMALL}serializers = [\"-\", \"serialize\"]\n"));
    let text = lab.fine(&["run", "--dry-run", "small.toml"]);
    for word in
        ["Which of two?", "synthetic-rows-4k", "4 configurations, seed 1", "estimated time ", "at most 200 s"]
    {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(text.contains("left out: PHP values are serialized by PHP only"), "{text}");
    assert!(
        lab.fine(&["run", "--dry-run", "small.toml", "--cells"])
            .contains("synthetic-rows-4k/native/-/zlib:6")
    );
    let names: Vec<_> = std::fs::read_dir(lab.work()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["small.toml"]);
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn one_configuration_is_planned_and_measured_alone() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    let id = "synthetic-rows-4k/native/-/zlib:6";
    let text = lab.fine(&["run", "--dry-run", "small.toml", "--cells", "--configuration", id]);
    assert!(text.contains(id) && text.contains("1 configuration, seed 1"), "{text}");
    lab.fine(&["run", "small.toml", "--configuration", id, "--out", "run"]);
    let plan = lab.json("run/plan.json");
    assert_eq!((plan["cells"].as_array().unwrap().len(), &plan["cells"][0]["id"]), (1, &id.into()));
    let line = lab.refused(&["run", "small.toml", "--configuration", "zlib:6"]);
    assert!(line.contains("no configuration of small has this id here"), "{line}");
}

fn planned(lab: &Lab) -> Value {
    without_facts(serde_json::from_str(&lab.fine(&["run", "--dry-run", "small.toml", "--json"])).unwrap())
}

/// What a clock costs is measured anew each time.
fn without_facts(mut plan: Value) -> Value {
    assert!(plan["runtimes"][0]["facts"].is_object());
    plan["runtimes"][0]["facts"] = Value::Null;
    plan
}

#[test]
fn as_json_it_is_the_plan_of_a_run() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "run"]);
    assert_eq!(planned(&lab), without_facts(lab.json("run/plan.json")));
}

#[test]
fn a_built_in_study_is_planned_whole_and_quick() {
    needs!(has_php());
    let lab = Lab::new();
    let plan = |args: &[&str]| -> (Value, String) {
        let ran = lab.done(args);
        (serde_json::from_str(&ran.stdout).unwrap(), ran.stderr)
    };
    let (whole, said) = plan(&["run", "--dry-run", "cache-levels", "--json", "--php", "php"]);
    let (quick, _) = plan(&["run", "--dry-run", "cache-levels", "--quick", "--json", "--php", "php"]);
    let cells = |plan: &Value| plan["cells"].as_array().unwrap().len();
    assert!(cells(&whole) > 2 * cells(&quick) && cells(&quick) > 50, "{} {}", cells(&whole), cells(&quick));
    assert!(quick["policy"]["budget_seconds"].as_f64() < whole["policy"]["budget_seconds"].as_f64());
    for level in 1..=9 {
        let id = format!("/serialize/gzdeflate:{level}");
        let cell =
            quick["cells"].as_array().unwrap().iter().find(|c| c["id"].as_str().unwrap().ends_with(&id));
        assert_eq!(cell.map(|c| &c["keep"]), Some(&Value::Bool(true)), "the published table: {id}");
    }
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("not in the cache: synthetic content is used instead"), "{said}");
}

#[test]
fn quick_forms_measure_fewer_cells_rather_than_fewer_rounds_than_a_claim_takes() {
    let lab = Lab::new();
    let list = lab.fine(&["run", "--dry-run"]);
    let studies: Vec<&str> = list
        .lines()
        .filter(|line| line.ends_with('?'))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(studies.len() >= 6, "{list}");
    for study in studies {
        let text = lab.done(&["run", "--dry-run", study, "--quick"]).stdout;
        assert!(text.contains("estimated time ") && !text.contains("A difference is claimed from"), "{text}");
    }
    lab.write("small.toml", SMALL.replace("seconds = 200", "seconds = 0.01"));
    let text = lab.fine(&["run", "--dry-run", "small.toml"]);
    assert!(
        text.contains(
            "A difference is claimed from 5 rounds on, which take about 1 s: weigh run --budget 1s"
        ),
        "{text}"
    );
}

#[test]
fn a_plan_follows_from_its_study_and_seed() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    assert_eq!(planned(&lab), planned(&lab));
}
