//! Examples in the documents are real: they are read by the program, keep their schemas, and stand in the code.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use weigh_model::protocol::{Reply, Request};

use crate::lab::Lab;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The fenced blocks of a kind, such as `json record`.
fn blocks(document: &str, kind: &str) -> Vec<String> {
    let fence = format!("\n```{kind}\n");
    let parts = document.split(&fence).skip(1);
    let found: Vec<_> = parts.map(|part| part.split("\n```").next().unwrap().to_owned()).collect();
    assert!(!found.is_empty(), "no example of {kind}");
    found
}

#[test]
fn examples_of_the_protocol_are_understood() {
    let format = document("docs/FORMAT.md");
    for line in blocks(&format, "json request") {
        let request: Request = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(serde_json::to_value(request).unwrap(), serde_json::from_str::<Value>(&line).unwrap());
    }
    let kinds: BTreeSet<_> = blocks(&format, "json reply")
        .iter()
        .map(|line| match serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")) {
            Reply::Description(_) => "description",
            Reply::Visit(_) => "visit",
            Reply::Checked(_) => "checked",
            Reply::Fault(_) => "fault",
        })
        .collect();
    assert_eq!(kinds.len(), 4, "one of each: {kinds:?}");
}

#[test]
fn examples_of_files_keep_their_schemas() {
    let format = document("docs/FORMAT.md");
    for kind in ["run", "record"] {
        for text in blocks(&format, &format!("json {kind}")) {
            crate::schema::keeps(kind, &serde_json::from_str(&text).unwrap());
        }
    }
}

#[test]
fn the_checksum_of_the_example_is_its_own() {
    let line = blocks(&document("docs/FORMAT.md"), "json record").remove(0);
    let lab = Lab::new();
    lab.write("records.ndjson", format!("{line}\n"));
    let log = weigh::log::read(&lab.path("records.ndjson")).unwrap();
    assert_eq!((log.records.len(), log.torn_bytes), (1, 0));
}

#[test]
fn the_studies_of_the_examples_have_every_key_and_can_be_planned() {
    let studies = blocks(&document("docs/FORMAT.md"), "toml study");
    let [study, delivered, stored] = studies.as_slice() else { panic!("one of each kind") };
    let lab = Lab::new();
    lab.write("example.toml", study);
    let known = |text: &str| -> Vec<String> {
        // The refusal of an unknown key lists those that are known.
        lab.write("wrong.toml", text);
        let line = lab.refused(&["plan", "wrong.toml"]);
        let list = line.split("; known: ").nth(1).unwrap_or_else(|| panic!("{line}"));
        list.split(", ").map(str::to_owned).collect()
    };
    for (study, before, after) in [
        (study, "schema = 1", "zzzzqqq = 1\nschema = 1"),
        (study, "[budget]", "[budget]\nzzzzqqq = 1"),
        (study, "[precision]", "[precision]\nzzzzqqq = 1"),
        (study, "[links]", "[links]\nzzzzqqq = 1"),
        (study, "[[cells]]", "[[cells]]\nzzzzqqq = 1"),
        (study, "[published]", "[published]\nzzzzqqq = 1"),
        (study, "rows = [{ ", "rows = [{ zzzzqqq = 1, "),
        (delivered, "[[deliveries]]", "[[deliveries]]\nzzzzqqq = 1"),
        (delivered, "[deliveries.slow]", "[deliveries.slow]\nzzzzqqq = 1"),
        (stored, "[[clients]]", "[[clients]]\nzzzzqqq = 1"),
        (stored, "[variants.jit]", "[variants.jit]\nzzzzqqq = 1"),
    ] {
        assert!(study.contains(before), "{before}");
        for key in known(&study.replacen(before, after, 1)) {
            let is_in = |text: &String| {
                let table =
                    [format!("[{key}]"), format!("[[{key}]]"), format!(".{key}]"), format!("[{key}.")];
                text.contains(&format!("{key} = ")) || table.iter().any(|k| text.contains(k))
            };
            assert!(studies.iter().any(is_in) || key == "quick", "{key} is not in the examples");
        }
    }
    let ran = lab.weigh(&["plan", "example.toml"]).env("PATH", lab.work()).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.contains("Which codec?"), "{text}{}", String::from_utf8_lossy(&ran.stderr));
}

/// A hunk of a diff in a document: which file it shows, the title between its signs, and its lines without those that were taken away.
struct Hunk<'a> {
    path: &'a str,
    title: &'a str,
    lines: Vec<&'a str>,
}

fn hunks(diff: &str) -> Vec<Hunk<'_>> {
    let (mut path, mut found) = ("", Vec::new());
    for line in diff.lines() {
        if let Some(named) = line.strip_prefix("+++ b/") {
            path = named;
        } else if let Some(title) = line.strip_prefix("@@") {
            found.push(Hunk { path, title: title.trim_matches([' ', '@']), lines: Vec::new() });
        } else if let (Some(hunk), Some(shown)) = (found.last_mut(), line.strip_prefix(['+', ' '])) {
            hunk.lines.push(shown);
        }
    }
    found
}

/// What the title of a hunk says that shows a file from its first line to its last.
const WHOLE: &str = "the whole of it";

#[test]
fn what_extending_shows_stands_in_the_code() {
    let mut extending = document("docs/EXTENDING.md");
    let update = std::env::var_os("UPDATE_EXAMPLES").is_some();
    let mut seen = 0;
    for diff in blocks(&extending.clone(), "diff") {
        for Hunk { path, title, lines } in hunks(&diff) {
            let source = document(path);
            let real: Vec<&str> = source.lines().collect();
            if title == WHOLE && update {
                let whole = |lines: &[&str]| lines.iter().map(|l| format!("+{l}\n")).collect::<String>();
                extending = extending.replace(&whole(&lines), &whole(&real));
            } else if title == WHOLE {
                assert_eq!(lines, real, "{path}: write it anew with UPDATE_EXAMPLES=1");
            } else {
                let there = real.windows(lines.len()).any(|window| window == lines);
                assert!(there, "no longer in {path}, one line after the other:\n{}", lines.join("\n"));
            }
            seen += lines.len();
        }
    }
    assert!(seen > 50, "{seen} lines");
    if update {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/EXTENDING.md"), extending)
            .unwrap();
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for name in [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/FORMAT.md",
        "docs/LOAD.md",
        "docs/LINKS.md",
        "docs/METHODOLOGY.md",
        "docs/PROFILES.md",
        "docs/LIMITS.md",
        "docs/EXTENDING.md",
    ] {
        let text = document(name);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !target.contains("://") && !target.starts_with('#') {
                let path = root.join(name).parent().unwrap().join(target.split('#').next().unwrap());
                assert!(path.exists(), "{name}: {target}");
                seen += 1;
            }
        }
    }
    assert!(seen > 5);
}
