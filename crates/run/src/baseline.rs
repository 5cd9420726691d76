//! Baselines: runs and loads kept under a name of their own, with what a comparison needs and nothing else.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::kept::StoredMeasurement;
use super::list::{FOLDER, Found, kept_below};
use weigh_model::suggest::nearest_hint;
use weigh_model::text::{clean, clean_path};
use weigh_os::{atomic_dir, regular};

const LONGEST: usize = 80;

/// The folder of baselines among runs, and no run itself.
pub const BASELINES: &str = "baselines";

pub fn folder() -> PathBuf {
    Path::new(FOLDER).join(BASELINES)
}

pub fn all() -> Vec<Found> {
    let mut all = kept_below(&folder());
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The folder of a baseline.
///
/// # Errors
/// One line: there is none, and what was probably meant.
pub fn find(name: &str) -> Result<PathBuf> {
    check(name)?;
    let all = all();
    match all.iter().find(|found| found.name == name) {
        Some(found) => Ok(found.path.clone()),
        None if all.is_empty() => bail!("{name}: no such baseline; make one: weigh compare --save {name}"),
        None => bail!(
            "{name}: no such baseline{}",
            nearest_hint(name, all.iter().map(|found| found.name.as_str()))
        ),
    }
}

/// Keeps a run or a load under a name; what has the name is replaced, whole.
///
/// # Errors
/// The name is none, the run is not complete or damaged, or the folder cannot be written.
pub fn save(name: &str, run: &Path) -> Result<PathBuf> {
    check(name)?;
    let kept = StoredMeasurement::read(run)?;
    let shown = clean_path(run);
    match &kept {
        StoredMeasurement::Run(stored) => ensure!(
            stored.is_complete(),
            "{shown}: the run is not complete; go on with it: weigh run --resume {shown}"
        ),
        StoredMeasurement::Load(load) => ensure!(
            load.is_complete() && load.is_single(),
            "{shown}: not one complete load, with which another can be compared"
        ),
    }
    let file = |name: &str| {
        let path = run.join(name);
        Ok((PathBuf::from(name), regular::text(&path, regular::RECORDS)?))
    };
    let files = StoredMeasurement::files(run).iter().copied().map(file).collect::<Result<Vec<_>>>()?;
    let folder = folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    let into = folder.join(name);
    atomic_dir::write(&files, &into)?;
    Ok(into)
}

/// Removes a baseline.
///
/// # Errors
/// There is none of this name, or it cannot be removed.
pub fn remove(name: &str) -> Result<()> {
    let path = find(name)?;
    std::fs::remove_dir_all(&path).with_context(|| format!("{}: cannot be removed", clean_path(&path)))
}

/// Checks a name. It is one folder's name: letters, digits, dots, hyphens and underscores, beginning with a letter or
/// digit.
///
/// # Errors
/// It is none; one line.
pub fn check(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    ensure!(
        begins && name.len() <= LONGEST && name.chars().all(plain),
        "{}: not a name for a baseline; use letters, digits, dots, hyphens and underscores, such as main",
        clean(name)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        for name in ["main", "v1.2", "feature_x-2", "8.4"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["", ".", "..", "../x", "a/b", ".hidden", "-x", "a b", "a\n", &"x".repeat(81)] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
