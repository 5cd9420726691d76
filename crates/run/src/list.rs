//! Runs below a folder: listed, and found by name.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::dir::RUN;
use super::kept::StoredMeasurement;
use super::lock::Lock;
use crate::loading::stored::is_load;
use weigh_model::suggest::nearest;
use weigh_model::text::clean_path;

/// Where runs are written unless the user names another folder.
pub const FOLDER: &str = "weigh-runs";
/// The word for the newest run.
pub const LATEST: &str = "latest";

/// A run that is there; it may be damaged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// When it was started, RFC 3339, UTC; empty where its file does not say.
    pub started: String,
    pub name: String,
    pub path: PathBuf,
}

/// A process writes the run in a folder.
pub fn is_running(run: &Path) -> bool {
    Lock::is_held(run)
}

/// The runs in a folder, the newest first; none where there is no such folder.
pub fn below(folder: &Path) -> Vec<Found> {
    newest_first(folders(folder))
}

/// The runs and loads in a folder, the newest first.
pub fn kept_below(folder: &Path) -> Vec<Found> {
    newest_first(kept_folders(folder))
}

fn newest_first(folders: Vec<(String, PathBuf)>) -> Vec<Found> {
    let found = folders.into_iter().map(|(name, path)| Found {
        started: StoredMeasurement::started(&path),
        name,
        path,
    });
    let mut found: Vec<Found> = found.collect();
    found.sort();
    found.reverse();
    found
}

/// Name and folder of each run in a folder, in no order; no file of a run is read.
pub fn folders(folder: &Path) -> Vec<(String, PathBuf)> {
    these(folder, |path| path.join(RUN).is_file())
}

/// The same of runs and loads.
pub fn kept_folders(folder: &Path) -> Vec<(String, PathBuf)> {
    these(folder, StoredMeasurement::is_in)
}

fn these(folder: &Path, is_one: impl Fn(&Path) -> bool) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = entries.map(|entry| entry.path()).filter(|path| is_one(path));
    runs.map(|path| (name_of(&path), path)).filter(|(name, _)| !name.starts_with('.')).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The folder of the run or load that a word names, as with [`find`]; [`LATEST`] is the newest of both.
///
/// # Errors
/// As with [`find`].
pub fn find_kept(word: &Path) -> Result<PathBuf> {
    if is_load(word) {
        return Ok(word.to_owned());
    }
    let text = word.to_string_lossy();
    let is_it = |found: &Found| text == LATEST || found.name == text;
    match kept_below(Path::new(FOLDER)).into_iter().find(is_it) {
        Some(found) if !word.join(RUN).is_file() => Ok(found.path),
        _ => find(word),
    }
}

/// The folder of the run that a word names: a path, the name of a run in [`FOLDER`], or [`LATEST`].
///
/// # Errors
/// One line: what there is instead, and what was probably meant.
pub fn find(word: &Path) -> Result<PathBuf> {
    find_below(Path::new(FOLDER), word)
}

/// The same with the runs of another folder.
///
/// # Errors
/// As with [`find`].
pub fn find_below(folder: &Path, word: &Path) -> Result<PathBuf> {
    if word.join(RUN).is_file() {
        return Ok(word.to_owned());
    }
    let runs = below(folder);
    let text = word.to_string_lossy();
    if let Some(run) = runs.iter().find(|run| text == LATEST || run.name == text) {
        return Ok(run.path.clone());
    }
    let (shown, shown_folder) = (clean_path(word), clean_path(folder));
    if runs.is_empty() && !word.exists() {
        bail!("{shown}: no such run, and {shown_folder} has none; measure one: weigh run --quick");
    }
    if word.join("blocks.ndjson").exists() {
        bail!("{shown}: a load, not a run of a study; its figures are in {shown}/result.json");
    }
    if word.exists() {
        bail!("{shown}: not a run (it has no {RUN}); weigh runs lists the runs in {shown_folder}");
    }
    match nearest(&name_of(word), runs.iter().map(|run| run.name.as_str())) {
        Some(near) => bail!("{shown}: no such run; did you mean `{near}`?"),
        None => bail!("{shown}: no such run; weigh runs lists the runs in {shown_folder}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_run_comes_first_and_what_is_no_run_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for (name, started) in [("a", "2026-01-02T00:00:00Z"), ("b", "2026-01-03T00:00:00Z"), ("c", "")] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            let json = format!("{{\"schema\": 1, \"started\": \"{started}\"}}");
            std::fs::write(folder.path().join(name).join(RUN), json).unwrap();
        }
        std::fs::create_dir(folder.path().join("load-1")).unwrap();
        let names: Vec<String> = below(folder.path()).into_iter().map(|run| run.name).collect();
        assert_eq!(names, ["b", "a", "c"]);
        assert_eq!(below(Path::new("/nonexistent")), []);
    }
}
