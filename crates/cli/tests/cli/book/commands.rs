//! The commands of a document's blocks, and their small forms: what is shown, with budgets of seconds.
//!
//! Blocks of `sh` hold commands, those of `console` hold them after `$ `. A comment before a block may say what is not run and why:
//!
//! ```text
//! <!-- not run: the reason, for all lines of the block -->
//! <!-- not run `weigh runs open latest --open`: the reason, for lines that begin like this -->
//! ```

use super::desk::Desk;
use super::markdown::{Block, Document, root};

/// A command of a document.
pub struct Command {
    pub document: String,
    /// As it is shown, without the comment behind it.
    pub line: String,
    pub words: Vec<String>,
    /// Why it is not run.
    pub left_out: Option<String>,
}

impl Command {
    pub fn is_weigh(&self) -> bool {
        self.words[0] == "weigh"
    }

    /// Whether it is run, and looks at a site.
    pub fn is_of_a_site(&self) -> bool {
        let names = ["site", "advise", "prove", "pack"];
        let is_of = |word: &String| {
            names.contains(&word.as_str()) || word.contains("values") || word.contains("cache/")
        };
        self.is_weigh() && self.left_out.is_none() && self.words.iter().any(is_of)
    }

    /// Its small form, of a command that is run and measures by itself, whatever was run before.
    pub fn measures(&self) -> Option<Vec<String>> {
        let has = |flag: &str| self.words.iter().any(|word| word == flag);
        let is_alone = match self.words.get(1).map(String::as_str)? {
            "codec" | "load" | "profile" | "check" => true,
            "run" => !has("--resume"),
            "compare" => has("--paired"),
            _ => false,
        };
        (self.is_weigh() && is_alone && self.left_out.is_none()).then(|| small(&self.words[1..]))
    }
}

/// The commands of a document, in its order. A line of several, joined by `&&`, is several.
pub fn commands(document: &Document) -> Vec<Command> {
    document.blocks.iter().flat_map(|block| of_block(&document.name, block)).collect()
}

fn of_block(document: &str, block: &Block) -> Vec<Command> {
    let lines: Vec<&str> = match block.language.as_str() {
        "sh" => block.text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect(),
        "console" => block.text.lines().filter_map(|line| line.strip_prefix("$ ")).collect(),
        _ => {
            let shown = block.text.lines().find(|line| {
                let line = line.trim_start_matches("$ ");
                line.starts_with("weigh ") || line.starts_with("make ")
            });
            assert!(
                shown.is_none(),
                "{document}: a command in a block that is neither sh nor console: {shown:?}"
            );
            Vec::new()
        }
    };
    let reasons = reasons(document, &block.note);
    let split = |line: &str| {
        let words = shell_words::split(line).unwrap_or_else(|e| panic!("{document}: {e}: {line}"));
        let parts: Vec<Vec<String>> = words.split(|word| word == "&&").map(<[String]>::to_vec).collect();
        parts
    };
    let of = |line: &&str| {
        let reason = reasons.iter().find(|(beginning, _)| line.starts_with(beginning.as_str()));
        let left_out = reason.map(|(_, reason)| reason.clone());
        let command = |words: Vec<String>| Command {
            document: document.to_owned(),
            line: shell_words::join(&words),
            words,
            left_out: left_out.clone(),
        };
        split(line).into_iter().map(command).collect::<Vec<_>>()
    };
    for (beginning, _) in &reasons {
        assert!(
            lines.iter().any(|line| line.starts_with(beginning.as_str())),
            "{document}: no line {beginning}"
        );
    }
    lines.iter().flat_map(of).collect()
}

/// What the comment before a block says: how lines begin, and why they are not run.
fn reasons(document: &str, note: &str) -> Vec<(String, String)> {
    let lines = note.lines().filter_map(|line| line.trim().strip_prefix("not run"));
    let parsed = lines.map(|said| {
        let (beginning, reason) = match said.strip_prefix(" `") {
            Some(rest) => rest.split_once("`: ").unwrap_or_else(|| panic!("{document}: {note}")),
            None => ("", said.strip_prefix(": ").unwrap_or_else(|| panic!("{document}: {note}"))),
        };
        assert!(reason.len() > 10, "{document}: a reason is a sentence: {note}");
        (beginning.to_owned(), reason.to_owned())
    });
    parsed.collect()
}

/// Runs a command; what is wrong with it. Of `make`, only its targets are looked up.
pub fn run(desk: &Desk, command: &Command) -> Option<String> {
    if command.left_out.is_some() {
        return None;
    }
    let of_make = |target: &String| {
        let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
        let has = |line: &str| line.split(':').next().unwrap().split(' ').any(|name| name == target);
        (!makefile.lines().any(has)).then(|| format!("{}: make has no target {target}", command.document))
    };
    match command.words[0].as_str() {
        "weigh" => desk.weigh(command, &small(&desk.here(&command.words[1..]))),
        "make" => command.words[1..].iter().find_map(of_make),
        _ => Some(format!("{}: say in a comment why this is not run: {}", command.document, command.line)),
    }
}

/// The same command with budgets of seconds.
fn small(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    let has = |words: &[String], flag: &str| words.iter().any(|word| word == flag);
    match words.first().map(String::as_str) {
        // Of the blocks of a study that is run elsewhere, it is looked up whether there are such.
        Some("run") if has(&words, "--only") => {
            if let Some(at) = words.iter().position(|word| word == "--budget") {
                words.drain(at..at + 2);
            }
            words.insert(1, "--dry-run".to_owned());
        }
        Some("run") if has(&words, "--dry-run") => {}
        // The desk's own study is small.
        Some("run") if !has(&words, "--resume") && !has(&words, "my-study.toml") => {
            set(&mut words, "--budget", "2s");
            if !has(&words, "--quick") {
                words.push("--quick".to_owned());
            }
        }
        Some("codec") => set(&mut words, "--budget", "500ms"),
        Some("advise") => {
            set(&mut words, "--budget", "2s");
            words.push("--force".to_owned());
            if has(&words, "--objective") {
                // What the next commands name is the usual one's.
                set(&mut words, "--out", "other");
            }
        }
        Some("site") if words.len() > 1 => words.push("--force".to_owned()),
        Some("prove") => set(&mut words, "--budget", "2s"),
        Some("pack") if !has(&words, "--policy") && !has(&words, "--clean") => {
            set(&mut words, "--effort", "fast");
        }
        Some("compare") if has(&words, "--paired") => set(&mut words, "--for", "2s"),
        Some("load") if has(&words, "--ab-args") => {}
        Some("load") if has(&words, "--vs") => {
            set(&mut words, "--block-time", "100ms");
            set(&mut words, "--blocks", "5");
        }
        Some("load") if has(&words, "-n") => set(&mut words, "-n", "500"),
        Some("load") if has(&words, "--find-capacity") => set(&mut words, "-d", "2s"),
        Some("load") => set(&mut words, "-d", "300ms"),
        _ => {}
    }
    words
}

/// Gives a flag this value, whether it has one or not.
fn set(words: &mut Vec<String>, flag: &str, value: &str) {
    match words.iter().position(|word| word == flag) {
        Some(at) => value.clone_into(&mut words[at + 1]),
        None => words.extend([flag, value].map(str::to_owned)),
    }
}
