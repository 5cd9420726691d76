//! Profiles read back from the folders that `weigh profile --out` and `weigh run --profile` wrote: bounded, and checked
//! before they are believed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use weigh_answer::page::{Flame, PATHS};
use weigh_answer::profile::document::{Document, SCHEMA, ShownProfile};
use weigh_model::profile::{Inclusion, Profile};
use weigh_model::text::clean_path;

use super::collapsed;
use weigh_os::regular;

/// The file of the document: a folder that has it is a profile.
pub const PROFILE: &str = "profile.json";
/// The folder of a run's profiles.
pub const PROFILES: &str = "profiles";
/// The end of the names of files with call paths.
const PATHS_FILE: &str = ".stacks";
/// The longest file in bytes that is read.
const LONGEST: u64 = 64 << 20;
/// The most profiles of a folder.
const MOST: usize = 16;

pub fn is_profile(folder: &Path) -> bool {
    folder.join(PROFILE).is_file()
}

/// Reads the document of a folder.
///
/// # Errors
/// One line: there is none, it is damaged or too long, or a later version wrote it.
pub fn read(folder: &Path) -> Result<Document> {
    let path = folder.join(PROFILE);
    let shown = clean_path(&path);
    let bytes = regular::read(&path, LONGEST)?;
    let document: Document = serde_json::from_slice(&bytes)
        .with_context(|| format!("{shown}: no profile of weigh, or damaged"))?;
    ensure!(
        document.schema == SCHEMA,
        "{shown}: was written in schema {} and this weigh reads schema {SCHEMA}; use the version of weigh that wrote it",
        document.schema
    );
    Ok(document)
}

/// The flame graphs of a profile's folder; `most` paths in all. What cannot be read is left out: the document has the
/// figures.
pub fn flames(folder: &Path, document: &Document, most: usize) -> Vec<Flame> {
    let files = files(folder);
    let each = most / files.len().max(1);
    let flame = |(at, file): (usize, &PathBuf)| {
        let shown = document.profiles.get(at).or(document.profiles.first())?;
        let bytes = regular::read(file, LONGEST).ok()?;
        let profile = collapsed::read(bytes.as_slice(), None).ok()?;
        Flame::of(&shown.name, &about(shown), &named(profile, shown), each)
    };
    files.iter().enumerate().filter_map(flame).collect()
}

/// The flame graphs of a run's profiles.
pub fn flames_of_run(run: &Path) -> Vec<Flame> {
    let mut folders = entries(&run.join(PROFILES));
    folders.retain(|folder| is_profile(folder));
    folders.truncate(MOST);
    let each = PATHS / folders.len().max(1);
    let of = |folder: &PathBuf| Some(flames(folder, &read(folder).ok()?, each));
    folders.iter().filter_map(of).flatten().collect()
}

/// Files with call paths, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = entries(folder);
    files.retain(|file| file.to_string_lossy().ends_with(PATHS_FILE));
    files.truncate(MOST);
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A file with call paths does not say what the document says: the unit, and which functions are PHP's own.
fn named(mut profile: Profile, shown: &ShownProfile) -> Profile {
    profile.unit = shown.unit.clone();
    for function in &mut profile.functions {
        let row = shown.functions.iter().find(|row| row.name == function.name);
        function.file = row.and_then(|row| row.file.clone());
    }
    profile
}

fn about(shown: &ShownProfile) -> String {
    let run = shown.run.as_ref().map(|run| format!("{} {}, {}", run.php, run.version, run.profiler));
    let guessed = (shown.inclusion == Inclusion::Graph).then(|| "call paths estimated from sums".to_owned());
    run.into_iter().chain(guessed).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_profile_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_profile(folder.path()));
        assert!(read(folder.path()).unwrap_err().to_string().ends_with("profile.json: cannot be read"));
        std::fs::write(folder.path().join(PROFILE), "{\"schema\": 1}").unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("profile.json: no profile of weigh, or damaged"), "{error}");
        std::fs::create_dir_all(folder.path().join(PROFILES).join("x")).unwrap();
        assert_eq!(flames_of_run(folder.path()), []);
    }
}
