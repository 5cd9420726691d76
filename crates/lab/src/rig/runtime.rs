//! PHP runtimes: where binaries are found, how a worker is started on one, and what it is called.

mod php;
pub mod prefix;

pub use php::{Origin, PhpRuntime, ask, command, prefixes, version};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::programs::numbered;

/// PHP binaries on `PATH`: see [`numbered`].
pub fn on_path(path: &OsStr) -> Vec<PathBuf> {
    numbered("php", std::env::split_paths(path).filter(|folder| folder.is_absolute()))
}

/// The binary a user named: a path, or a name to look up on `PATH`.
pub fn named(binary: &Path, path: &OsStr) -> Option<PathBuf> {
    if binary.components().count() > 1 {
        return binary.is_file().then(|| binary.to_owned());
    }
    std::env::split_paths(path).map(|f| f.join(binary)).find(|b| b.is_file())
}

/// The binary of the fetched runtime of that name.
pub fn fetched(name: &Path, folder: &Path) -> Option<PathBuf> {
    let (root, prefix) = prefixes(folder).into_iter().find(|(_, prefix)| Path::new(&prefix.name) == name)?;
    Some(root.join(prefix.cli))
}

/// The arguments that start the worker on a PHP binary.
///
/// The user's own ini files stay in force, because the extensions that they load are what is measured; a
/// profiler or debugger is switched off, because it would be measured instead. Output must be the worker's alone.
pub fn worker_arguments(worker: &Path) -> Vec<OsString> {
    let settings = [
        "xdebug.mode=off",
        "pcov.enabled=0",
        "display_errors=stderr",
        "log_errors=0",
        "html_errors=0",
        "output_buffering=0",
        "zlib.output_compression=0",
        "implicit_flush=0",
        "max_execution_time=0",
        "memory_limit=-1",
        "auto_prepend_file=",
        "auto_append_file=",
    ];
    let mut arguments: Vec<OsString> = Vec::new();
    for setting in settings {
        arguments.extend(["-d".into(), setting.into()]);
    }
    arguments.push(worker.into());
    arguments
}

/// `php8.2` from `8.2.36`, made unique among `taken` by a further part of the version or a number.
pub fn short_name(version: &str, taken: &[String]) -> String {
    let mut parts = version.split('.');
    let short = match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) => format!("php{major}.{minor}"),
        _ => format!("php{version}"),
    };
    let full = format!("php{version}");
    let numbered = (2..).map(|n| format!("{full}#{n}"));
    [short, full.clone()].into_iter().chain(numbered).find(|n| !taken.contains(n)).unwrap_or(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_on_path() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("php8.2"), "").unwrap();
        let path = folder.path().as_os_str();
        assert_eq!(named(Path::new("php8.2"), path), Some(folder.path().join("php8.2")));
        assert_eq!(named(Path::new("php9"), path), None);
    }

    #[test]
    fn names_are_short_and_unique() {
        assert_eq!(short_name("8.2.36", &[]), "php8.2");
        assert_eq!(short_name("8.2.36", &["php8.2".into()]), "php8.2.36");
        assert_eq!(short_name("8.2.36", &["php8.2".into(), "php8.2.36".into()]), "php8.2.36#2");
    }
}
