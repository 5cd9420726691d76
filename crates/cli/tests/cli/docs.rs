//! Examples in the documents are real: they are read by the program, keep their schemas, and stand in the code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
    let format = document("docs/dev/FORMATS.md");
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
    let format = document("docs/dev/FORMATS.md");
    for kind in ["run", "record"] {
        for text in blocks(&format, &format!("json {kind}")) {
            crate::schema::keeps(kind, &serde_json::from_str(&text).unwrap());
        }
    }
}

#[test]
fn the_checksum_of_the_example_is_its_own() {
    let line = blocks(&document("docs/dev/FORMATS.md"), "json record").remove(0);
    let lab = Lab::new();
    lab.write("records.ndjson", format!("{line}\n"));
    let log = weigh_run::log::read(&lab.path("records.ndjson")).unwrap();
    assert_eq!((log.records.len(), log.torn_bytes), (1, 0));
}

/// The examples of studies: those of the reference, and those in the first lines of a subject's folder.
fn studies() -> Vec<String> {
    let mut found = blocks(&document("docs/REFERENCE.md"), "toml study");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../run/src/subject");
    for path in files_below(&folder) {
        let source = std::fs::read_to_string(&path).unwrap();
        let lines = source.lines().filter_map(|line| line.strip_prefix("//!"));
        let about: String =
            lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
        if about.contains("```toml study") {
            found.extend(blocks(&about, "toml study"));
        }
    }
    found
}

/// The example with a key that nobody knows in one table after the other.
fn with_unknown_key(study: &str) -> Vec<String> {
    let lines: Vec<&str> = study.lines().collect();
    let mut found = vec![format!("zzzzqqq = 1\n{study}")];
    for (at, line) in lines.iter().enumerate() {
        let mut wrong = lines.clone();
        let inline = line.replacen("[{ ", "[{ zzzzqqq = 1, ", 1);
        // What a quick form knows is what its block knows.
        if line.starts_with('[') && !line.contains(".quick]") {
            wrong.insert(at + 1, "zzzzqqq = 1");
        } else if inline != *line {
            wrong[at] = &inline;
        } else {
            continue;
        }
        found.push(wrong.join("\n"));
    }
    found
}

#[test]
fn the_studies_of_the_examples_have_every_key_and_can_be_planned() {
    let (studies, lab) = (studies(), Lab::new());
    let is_in = |key: &str, text: &String| {
        let table = [format!("[{key}]"), format!("[[{key}]]"), format!(".{key}]"), format!("[{key}.")];
        text.contains(&format!("{key} = ")) || table.iter().any(|k| text.contains(k))
    };
    for wrong in studies.iter().flat_map(|study| with_unknown_key(study)) {
        // The refusal of an unknown key lists those that are known.
        lab.write("wrong.toml", wrong);
        let line = lab.refused(&["run", "--dry-run", "wrong.toml"]);
        let list = line.split("; known: ").nth(1).unwrap_or_else(|| panic!("{line}"));
        for key in list.split(", ") {
            let is_there = studies.iter().any(|study| is_in(key, study));
            assert!(is_there || key == "quick", "{key} is not in the examples");
        }
    }
    lab.write("example.toml", &studies[0]);
    let ran = lab.weigh(&["run", "--dry-run", "example.toml"]).env("PATH", lab.work()).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.contains("Which codec?"), "{text}{}", String::from_utf8_lossy(&ran.stderr));
}

/// A hunk of a diff in a document: which file it shows, the title between its signs, its lines without those that were taken away, and its
/// lines without those that were added.
struct Hunk<'a> {
    path: &'a str,
    title: &'a str,
    lines: Vec<&'a str>,
    before: Vec<&'a str>,
}

fn hunks(diff: &str) -> Vec<Hunk<'_>> {
    let (mut path, mut found) = ("", Vec::new());
    for line in diff.lines() {
        if line.starts_with("--- ") {
            // The file before; the next line has its name.
        } else if let Some(named) = line.strip_prefix("+++ b/") {
            path = named;
        } else if let Some(title) = line.strip_prefix("@@") {
            let title = title.trim_matches([' ', '@']);
            found.push(Hunk { path, title, lines: Vec::new(), before: Vec::new() });
        } else if let Some(hunk) = found.last_mut() {
            hunk.lines.extend(line.strip_prefix(['+', ' ']));
            hunk.before.extend(line.strip_prefix(['-', ' ']));
        }
    }
    found
}

/// The lines stand in the text one after the other.
fn stands_in(lines: &[&str], text: &str) -> bool {
    let all: Vec<&str> = text.lines().collect();
    all.windows(lines.len().max(1)).any(|window| window == lines)
}

/// What the title of a hunk says that shows a file from its first line to its last.
const WHOLE: &str = "the whole of it";

#[test]
fn what_extending_shows_stands_in_the_code() {
    let mut extending = document("docs/dev/EXTENDING.md");
    let update = std::env::var_os("UPDATE_EXAMPLES").is_some();
    let mut seen = 0;
    for diff in blocks(&extending.clone(), "diff") {
        for Hunk { path, title, lines, .. } in hunks(&diff) {
            let source = document(path);
            let real: Vec<&str> = source.lines().collect();
            if title == WHOLE && update {
                let whole = |lines: &[&str]| lines.iter().map(|l| format!("+{l}\n")).collect::<String>();
                extending = extending.replace(&whole(&lines), &whole(&real));
            } else if title == WHOLE {
                assert_eq!(lines, real, "{path}: write it anew with UPDATE_EXAMPLES=1");
            } else {
                assert!(
                    stands_in(&lines, &source),
                    "no longer in {path}, one line after the other:\n{}",
                    lines.join("\n")
                );
            }
            seen += lines.len();
        }
    }
    assert!(seen > 50, "{seen} lines");
    if update {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dev/EXTENDING.md"), extending)
            .unwrap();
    }
}

/// The first cells of a table's rows, of the table that follows these words.
fn first_cells(text: &str, words: &str) -> Vec<String> {
    let table = text.split(words).nth(1).unwrap_or_else(|| panic!("{words}")).trim_start();
    let rows =
        table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    rows.skip(2).map(|row| row.split('|').nth(1).unwrap().trim().to_owned()).collect()
}

#[test]
fn extending_shows_every_row_of_the_one_folder_rule() {
    let rule = first_cells(&document("ARCHITECTURE.md"), "## The one-folder rule");
    assert!(rule.len() > 10, "{rule:?}");
    assert_eq!(first_cells(&document("docs/dev/EXTENDING.md"), "# Extending"), rule);
}

/// The runs behind the pictures are small, can be read, name no place of a machine, and have the pictures that the script draws.
#[test]
fn pictures_of_the_documents_are_of_stored_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lab = Lab::new();
    let script = document("scripts/pictures");
    let drawn = script.lines().filter_map(|line| line.strip_prefix("draw ")).map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        <[&str; 3]>::try_from(words).unwrap_or_else(|words| panic!("{words:?}"))
    });
    let plain = |name: &str| document(name).split_whitespace().collect::<Vec<_>>().join(" ");
    let (questions, readme) = (plain("docs/QUESTIONS.md"), plain("README.md"));
    let mut images = BTreeSet::new();
    for [image, run, picture] in drawn {
        let folder = root.join("docs/runs").join(run);
        let files = ["run.json", "plan.json", "records.ndjson"].map(|file| {
            std::fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{run}/{file}: {e}"))
        });
        assert!(files.iter().map(String::len).sum::<usize>() <= 600 * 1024, "{run} is large");
        let is_local =
            |text: &String| ["\"/tmp/", "\"/home/", "\"/root/"].iter().any(|place| text.contains(place));
        assert!(!files.iter().any(is_local), "{run} names a place of a machine");
        let command: Value = serde_json::from_str(&files[0]).unwrap();
        assert_eq!(command["command"][0], "weigh", "{run}");
        lab.fine(&["runs", "show", folder.to_str().unwrap(), "-f", "svg", "--out", run]);
        assert!(lab.path(&format!("{run}/{picture}.svg")).exists(), "{run} has no picture {picture}");
        images.insert(format!("{image}.png"));
        // Slow clients are drawn from another run than the quick one that is quoted.
        let answer = lab.fine(&["runs", "show", folder.to_str().unwrap()]).replace('\u{a0}', " ");
        let answer = answer.split("\n\n").nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let (first, is_quoted) = (answer.split_inclusive(". ").next().unwrap(), questions.contains(&answer));
        assert!(run == "downloads" || is_quoted, "docs/QUESTIONS.md does not quote {run}: {answer}");
        assert!(run == "downloads" || readme.contains(first), "README does not quote {run}: {first}");
    }
    let there = std::fs::read_dir(root.join("docs/images")).unwrap();
    let there: BTreeSet<String> =
        there.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // Those of the page are of a browser, which the script runs too.
    assert!(script.contains("docs/images/page"));
    images.insert("page".to_owned());
    assert_eq!(images, there, "each picture of the documents is drawn by scripts/pictures");
}

/// A server and a store are a folder: its files are all there is to one, and have the lines that are said.
#[test]
fn folders_that_extending_lists_are_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for listing in blocks(&document("docs/dev/EXTENDING.md"), "stat folder") {
        let files: Vec<(&str, usize)> = listing
            .lines()
            .filter_map(|line| line.split_once(" | "))
            .map(|(path, count)| (path.trim(), count.split_whitespace().next().unwrap().parse().unwrap()))
            .collect();
        for (path, lines) in &files {
            assert_eq!(document(path).lines().count(), *lines, "{path}");
        }
        let folder: Vec<&str> = files[0].0.split('/').take(2).collect();
        let there = files_below(&root.join(folder.join("/")));
        assert_eq!(there.len(), files.len(), "files of {}", folder.join("/"));
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
