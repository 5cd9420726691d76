//! The answers that README and QUESTIONS quote are those of the stored runs. `UPDATE_DOCS=1` writes them anew.

use std::fs;
use std::path::PathBuf;

use weigh_answer::document::sentences;
use weigh_answer::text::wrap;

use crate::stored;
use weigh_answer::report::advice::StatementKind;

/// The runs in the order of the questions.
const RUNS: [&str; 5] = ["cache-levels", "page-output", "static-assets", "downloads", "cache-client"];

fn path(document: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(document)
}

/// The answer of a run: as the terminal shows it, and what to use in one line.
fn answer(run: &str) -> (String, String) {
    let report = stored::report(run);
    let lines: Vec<String> = sentences(&report).iter().flat_map(|one| wrap(one, 80)).collect();
    let advice = report.advice.unwrap();
    let uses = advice.sentences.iter().filter(|one| one.part == StatementKind::Use);
    (lines.join("\n"), uses.map(|one| one.text.clone()).collect::<Vec<_>>().join(" "))
}

/// The document with every quoted answer as it is now.
fn with_answers(document: &str) -> String {
    let mut text = document.to_owned();
    for run in RUNS {
        let (lines, _) = answer(run);
        let command = format!("$ weigh run {run} --quick\n");
        let Some((before, rest)) = text.split_once(&command) else { continue };
        let (_, after) = rest.split_once("\n```").unwrap();
        text = format!("{before}{command}{lines}\n```{after}");
    }
    // The table of questions.
    let mut runs = RUNS.iter();
    let line = |line: &str| match line.split_once("](docs/QUESTIONS.md#") {
        Some((question, rest)) if line.starts_with("| [") => {
            let anchor = rest.split_once(')').unwrap().0;
            format!("{question}](docs/QUESTIONS.md#{anchor}) | {} |", answer(runs.next().unwrap()).1)
        }
        _ => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn readme_and_questions_quote_the_answers_of_the_stored_runs() {
    for document in ["README.md", "docs/QUESTIONS.md"] {
        let text = fs::read_to_string(path(document)).unwrap();
        let now = with_answers(&text);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(path(document), &now).unwrap();
        }
        assert_eq!(
            fs::read_to_string(path(document)).unwrap(),
            now,
            "{document}: UPDATE_DOCS=1 writes it anew"
        );
        assert!(now.contains("$ weigh run page-output --quick\n"), "{document}");
    }
}
