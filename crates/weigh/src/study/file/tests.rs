//! Studies as written: accepted, refused, and in their quick form.

use super::*;

const MINIMAL: &str = r#"
schema = 1
name = "mine"
title = "T"
question = "Q?"
reading = "R"
[[cells]]
content = ["value:rows-1k"]
runtimes = ["php"]
codecs = ["gzdeflate"]
"#;

fn error(text: &str) -> String {
    format!("{:#}", Study::parse(text, "mine.toml").unwrap_err())
}

#[test]
fn a_minimal_study_has_defaults() {
    let study = Study::parse(MINIMAL, "mine.toml").unwrap();
    assert_eq!(study.cells[0].serializers, ["-"]);
    assert_eq!(study.precision.min_samples, 7);
    assert_eq!(study.quick_cells().len(), 1);
}

#[test]
fn unknown_keys_name_the_nearest() {
    let text = MINIMAL.replace("runtimes", "runtime");
    assert_eq!(error(&text), "mine.toml, line 9: unknown key `runtime`; did you mean `runtimes`?");
}

#[test]
fn nonsense_is_refused_in_one_line() {
    assert!(error("schema = 1\nname = \"x\"").contains("missing field"));
    assert!(error(&MINIMAL.replace("\"mine\"", "\"Mein Test\"")).contains("lower-case"));
    assert!(error(&MINIMAL.replace("schema = 1", "schema = 7")).contains("reads schema = 1"));
    assert!(error(&format!("{MINIMAL}\n[budget]\nseconds = 0")).contains("above zero"));
    assert!(error(&format!("{MINIMAL}\n[links]\nmbit=[100, 10]\nreads_per_write=[1]")).contains("ascending"));
    assert_eq!(error("schema = ").lines().count(), 1);
}

#[test]
fn the_quick_form_may_drop_or_change_blocks() {
    let dropped = Study::parse(&format!("{MINIMAL}quick = false\n"), "m").unwrap();
    assert!(dropped.quick_cells().is_empty());
    let changed =
        Study::parse(&format!("{MINIMAL}[cells.quick]\ncodecs = [\"gzdeflate:6\"]\n"), "m").unwrap();
    assert_eq!(changed.quick_cells()[0].codecs, ["gzdeflate:6"]);
    assert_eq!(changed.quick_cells()[0].content, ["value:rows-1k"]);
}
