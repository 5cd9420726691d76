//! Data flows one way: what reads records knows nothing of how they were measured.

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms that only read a plan and records. `advice` belongs to them from the day it exists.
const DOWNSTREAM: [&str; 3] = ["analysis", "report", "advice"];

/// Rooms that measure, or that drive those who do.
const UPSTREAM: [&str; 8] = ["run", "agent", "loading", "rig", "content", "cli", "subject", "lab"];

/// What of the standard library would reach past the records: processes, files, clocks, the network, the
/// environment. A report writes through the writer it is given.
const OUTSIDE: [&str; 5] = ["process", "fs", "time", "net", "env"];

fn sources(room: &str) -> Vec<PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: Vec<PathBuf> =
        Some(src.join(format!("{room}.rs"))).filter(|p| p.is_file()).into_iter().collect();
    let mut folders = vec![src.join(room)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|e| e == "rs") => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// The code of a source without comments, and without white space but between words, so that a path cannot hide
/// in a line break. What follows the unit tests of a file is theirs.
fn code(source: &str) -> String {
    let (code, _tests) = source.split_once("#[cfg(test)]").unwrap_or((source, ""));
    let lines = code.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let mut text = String::new();
    for word in lines.flat_map(str::split_whitespace) {
        if text.ends_with(is_word) && word.starts_with(is_word) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names that follow `root` in paths, with the members of braces: `crate::{run::x,cell}` names run and cell.
fn names_below(code: &str, root: &str) -> Vec<String> {
    let prefix = format!("{root}::");
    let mut names = Vec::new();
    for (at, _) in code.match_indices(&prefix) {
        if code[..at].ends_with(is_word) {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => names.push(rest.chars().take_while(|c| is_word(*c)).collect()),
            Some(group) => {
                let mut depth = 0;
                let mut at_start = true;
                let mut name = String::new();
                for c in group.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            names.push(std::mem::take(&mut name));
                            at_start = true;
                        }
                        c if depth == 0 && at_start && is_word(c) => name.push(c),
                        _ if depth == 0 => at_start = false,
                        _ => {}
                    }
                }
                names.push(name);
            }
        }
    }
    names
}

fn trespasses(source: &str) -> Vec<String> {
    let code = code(source);
    let inside = ["crate", "weigh"].iter().flat_map(|root| names_below(&code, root));
    let inside = inside.filter(|name| UPSTREAM.contains(&name.as_str())).map(|name| format!("crate::{name}"));
    let outside = names_below(&code, "std").into_iter().filter(|name| OUTSIDE.contains(&name.as_str()));
    inside.chain(outside.map(|name| format!("std::{name}"))).collect()
}

#[test]
fn nothing_points_back() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in DOWNSTREAM.into_iter().flat_map(sources) {
        seen += 1;
        for name in trespasses(&fs::read_to_string(&path).unwrap()) {
            wrong.push(format!("{}: {name}", path.display()));
        }
    }
    assert!(seen > 10, "the rooms were not found: {seen} files");
    assert!(wrong.is_empty(), "these may read a plan and records only:\n{}", wrong.join("\n"));
}

#[test]
fn the_mathematics_stands_alone() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stats/Cargo.toml");
    let manifest = fs::read_to_string(manifest).unwrap();
    assert!(!manifest.contains("weigh-codec") && !manifest.contains("weigh ="));
}

#[test]
fn a_trespass_is_found_however_it_is_written() {
    for source in [
        "use crate::run::Lab;",
        "use crate::{cell::Cell, rig::machine};",
        "use crate::{\n    cell::{Cell, Subject},\n    cli,\n};",
        "fn f() { crate ::\n agent::go() }",
        "use std::fs;",
        "use std::{fmt, process::Command};",
        "fn f() { std::time::Instant::now(); }",
        "use weigh::content::Corpus;",
    ] {
        assert_eq!(trespasses(source).len(), 1, "{source}");
    }
    for source in [
        "use crate::record::Record; // not crate::run",
        "use crate::{cell::{run, Cell}, runtime};",
        "use std::{fmt, io::Write};",
        "let mycrate::run = 1;",
        "use crate::plan::Runtime;\n#[cfg(test)]\nmod tests { use std::fs; }",
    ] {
        assert!(trespasses(source).is_empty(), "{source}: {:?}", trespasses(source));
    }
}
