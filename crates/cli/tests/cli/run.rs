//! `weigh run`: studies into run directories.

use crate::codec::ids;
use crate::lab::{Lab, SMALL, has_php};

#[test]
fn a_study_leaves_a_whole_private_directory() {
    let lab = Lab::new();
    // One item and no family: its pass is far from where a visit takes fewer samples.
    lab.write("small.toml", SMALL.replace("codecs =", "block_bytes = 4096\ncodecs ="));
    let text = lab.fine(&["run", "small.toml", "--out", "run"]);
    assert!(text.contains("Which of two?") && text.contains("SYNTHETIC"), "{text}");
    let mut names: Vec<_> = std::fs::read_dir(lab.path("run"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["lock", "logs", "plan.json", "records.ndjson", "report", "run.json", "seal"]);

    let run = lab.json("run/run.json");
    assert_eq!((&run["schema"], &run["seed"]), (&1.into(), &1.into()));
    assert_eq!(run["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(run["command"].as_array().unwrap()[1..], ["run", "small.toml", "--out", "run"]);
    assert_eq!(run["digests"]["plan.json"].as_str().unwrap().len(), 64);

    let records = lab.records("run");
    let of = |kind: &str| records.iter().filter(|r| r["type"] == kind).count();
    assert_eq!((of("stop"), of("end"), of("fault"), of("resumed")), (4, 1, 0, 0));
    assert_eq!(records.last().unwrap()["type"], "end");
    for record in records.iter().filter(|r| r["type"] == "visit") {
        assert_eq!(
            record["phases"]["encode"]["cpu_ns"].as_array().unwrap().len(),
            5,
            "every sample: {record}"
        );
    }
    let kinds: Vec<_> = std::fs::read_dir(lab.path("run/report")).unwrap().collect();
    assert!(kinds.len() >= 5, "{kinds:?}");
    assert!(std::fs::read(lab.path("run/report").join("cells.csv")).unwrap().starts_with(b"cell,payload,"));
}

#[test]
fn native_and_php_stand_side_by_side() {
    needs!(has_php());
    let lab = Lab::new();
    let both = SMALL.replace("[\"native\"]", "[\"native\", \"php\"]");
    lab.write("both.toml", both.replace("\"zstd:3\"", "\"gzdeflate:6\""));
    let found = lab.told(&["run", "both.toml", "--php", "php", "--json"]);
    assert_eq!(ids(&found).len(), 5, "{:?}", ids(&found));
    assert_eq!(found["groups"].as_array().unwrap().len(), 2);
}

#[test]
fn several_studies_are_several_runs_and_two_in_a_second_are_two() {
    let lab = Lab::new();
    lab.write("one.toml", SMALL);
    lab.write("two.toml", SMALL);
    lab.fine(&["run", "one.toml", "two.toml"]);
    assert_eq!(std::fs::read_dir(lab.path("weigh-runs")).unwrap().count(), 2);
    let line = lab.refused(&["run", "one.toml", "two.toml", "--out", "x"]);
    assert!(line.contains("--out names one folder"), "{line}");
}

#[test]
fn a_mistake_in_a_later_study_is_found_before_anything_is_measured() {
    let lab = Lab::new();
    lab.write("one.toml", SMALL);
    lab.write("two.toml", SMALL.replace("zstd:3", "zstdd:3"));
    assert_eq!(lab.refused(&["run", "one.toml", "two.toml"]), "no codec `zstdd`; did you mean `zstd`?");
    assert!(!lab.path("weigh-runs").exists());
}

#[test]
fn a_study_without_cells_here_leaves_the_others_their_answers() {
    let lab = Lab::new();
    lab.write("one.toml", SMALL);
    lab.write("two.toml", SMALL.replace("[\"native\"]", "[\"php\"]").replace("small", "other"));
    let ran = without_php(&lab, &["run", "two.toml", "one.toml"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("other: nothing to measure: no PHP was found"), "{}", ran.stderr);
    assert!(ran.stdout.contains("A small study"));
    let line = without_php(&lab, &["run", "two.toml"]).refusal();
    assert!(line.contains("nothing to measure: no PHP was found (apt install php-cli"), "{line}");
}

#[test]
fn what_only_php_has_is_left_out_where_there_is_none() {
    let lab = Lab::new();
    let both = SMALL.replace("[\"native\"]", "[\"native\", \"php\"]");
    lab.write("both.toml", both.replace("\"zstd:3\"", "\"gzdeflate:6\""));
    let ran = without_php(&lab, &["run", "both.toml", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ids(&found).len(), 3, "{:?}", ids(&found));
    let reasons: Vec<_> =
        found["exclusions"].as_array().unwrap().iter().map(|e| e["reason"].clone()).collect();
    assert!(reasons.contains(&"no PHP was found".into()), "{reasons:?}");
    assert!(reasons.contains(&"native has no codec `gzdeflate`".into()), "{reasons:?}");
}

/// Runs with a `PATH` on which there is nothing.
fn without_php(lab: &Lab, args: &[&str]) -> crate::lab::Ran {
    crate::lab::Ran::of(lab.weigh(args).env("PATH", lab.work()).output().unwrap())
}

#[test]
fn definitions_of_ones_own_are_laid_over_the_built_in_ones() {
    let lab = Lab::new();
    lab.write("defs/studies/small.toml", SMALL);
    let list = lab.fine(&["--defs", "defs", "run", "--dry-run"]);
    assert!(list.contains("cache-levels") && list.contains("small"), "{list}");
    lab.fine(&["--defs", "defs", "run", "small", "--out", "run"]);
    let line = lab.refused(&["--defs", "nowhere", "run", "small"]);
    assert_eq!(line, "--defs nowhere: not a folder; give one that has studies/ or php/");
}

#[test]
fn native_cells_need_no_cache_that_can_be_written() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.write("a-file", "");
    let mut command = lab.weigh(&["codec", "small.toml", "--codecs", "lz4", "--budget", "20"]);
    let ran = crate::lab::Ran::of(command.env("WEIGH_CACHE", lab.path("a-file")).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}
