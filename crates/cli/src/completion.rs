//! Completions: what a shell offers while a command is typed. The parser says which words there are; here stands what is there to be named:
//! studies, runs, baselines, runtimes, servers, stores and links. Nothing is started, written or parsed for it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use weigh_content::cache::Cache;
use weigh_content::defs::Definitions;
use weigh_model::text::clean;
use weigh_rig::runtime::{on_path, prefixes};
use weigh_run::baseline;
use weigh_run::list::{FOLDER, LATEST, folders};

/// The most names of one kind that are offered.
const MOST: usize = 1000;

/// Answers a shell that asks, or writes the script that makes it ask: `COMPLETE=bash weigh`. Does not return then.
pub fn answer(command: fn() -> Command) {
    CompleteEnv::with_factory(move || with_names(command())).bin("weigh").completer("weigh").complete();
}

/// What an argument takes, by the name of its value.
const KINDS: [(&str, Kind); 9] = [
    ("STUDY", Kind { names: studies, paths: true }),
    ("RUN", Kind { names: runs, paths: true }),
    ("BASELINE", Kind { names: baselines, paths: false }),
    ("BINARY", Kind { names: programs, paths: true }),
    ("RUNTIME", Kind { names: fetched, paths: false }),
    ("SUITE", Kind { names: suites, paths: false }),
    ("SERVER", Kind { names: servers, paths: false }),
    ("STORE", Kind { names: stores, paths: false }),
    ("LINK", Kind { names: links, paths: false }),
];

/// Names that are looked up when a shell asks, and whether the argument takes paths too.
#[derive(Clone, Copy)]
struct Kind {
    names: fn() -> Vec<String>,
    paths: bool,
}

impl ValueCompleter for Kind {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let begun = current.to_string_lossy();
        let names = (self.names)().into_iter().filter(|name| name.starts_with(&*begun));
        // A shell gets a name on a line of its own: one that is not plain text is not offered.
        let plain = names.filter(|name| *name == clean(name)).take(MOST);
        let mut found: Vec<CompletionCandidate> = plain.map(CompletionCandidate::new).collect();
        if self.paths {
            found.extend(PathCompleter::any().complete(current));
        }
        found
    }
}

/// The parser, its arguments completed.
fn with_names(command: Command) -> Command {
    let completed = |arg: clap::Arg| {
        let names = arg.get_value_names().unwrap_or_default();
        let kind = KINDS.iter().find(|(name, _)| names.iter().any(|n| n == name)).map(|(_, kind)| *kind);
        match kind {
            Some(kind) => arg.add(ArgValueCompleter::new(kind)),
            None => arg,
        }
    };
    command.mut_args(completed).mut_subcommands(with_names)
}

/// What the built-in definitions have; a folder of `--defs` is not looked into.
fn defined(names: fn(&Definitions) -> Vec<String>) -> Vec<String> {
    Definitions::load(None).map(|definitions| names(&definitions)).unwrap_or_default()
}

fn studies() -> Vec<String> {
    defined(Definitions::study_names)
}

fn links() -> Vec<String> {
    defined(Definitions::link_names)
}

fn servers() -> Vec<String> {
    defined(|all| all.folders("servers").unwrap_or_default().into_keys().collect())
}

fn stores() -> Vec<String> {
    defined(|all| all.folders("stores").unwrap_or_default().into_keys().collect())
}

fn suites() -> Vec<String> {
    ["bullseye", "bookworm", "trixie"].map(|suite| format!("debian:{suite}")).into()
}

fn runs() -> Vec<String> {
    let mut names: Vec<String> = folders(Path::new(FOLDER)).into_iter().map(|(name, _)| name).collect();
    if !names.is_empty() {
        names.push(LATEST.to_owned());
    }
    names.sort();
    names
}

fn baselines() -> Vec<String> {
    folders(&baseline::folder()).into_iter().map(|(name, _)| name).collect()
}

/// PHPs by the names that `--php` takes; none is asked for its version.
fn programs() -> Vec<String> {
    let found = on_path(&std::env::var_os("PATH").unwrap_or_default());
    let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    let mut names: Vec<String> = found.iter().filter_map(name).chain(fetched()).collect();
    names.sort();
    names.dedup();
    names
}

fn fetched() -> Vec<String> {
    let Some(cache) = Cache::default_folder() else { return Vec::new() };
    prefixes(&cache.join("runtimes")).into_iter().map(|(_, prefix)| prefix.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_name_is_that_of_an_argument() {
        fn named(command: &Command, name: &str) -> bool {
            let of = |arg: &clap::Arg| arg.get_value_names().unwrap_or_default().iter().any(|n| n == name);
            command.get_arguments().any(of) || command.get_subcommands().any(|verb| named(verb, name))
        }
        for (name, _) in KINDS {
            assert!(named(&super::super::command(), name), "{name}");
        }
    }

    #[test]
    fn names_begin_as_typed() {
        let values = |kind: Kind, begun: &str| -> Vec<String> {
            let found = kind.complete(OsStr::new(begun));
            found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(values(KINDS[0].1, "cache-l"), ["cache-levels"]);
        assert_eq!(values(Kind { names: servers, paths: false }, "ng"), ["nginx"]);
        assert_eq!(values(Kind { names: || vec!["a\nb".into(), "ab".into()], paths: false }, "a"), ["ab"]);
    }
}
