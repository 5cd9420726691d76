//! Old runs are removed: whole, never one that is measuring, and nothing that is not a run.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use anyhow::{Context, Result, bail, ensure};

use super::folder::History;
use super::rows::{Filter, RunRow, State};
use weigh_model::text::clean_path;
use weigh_os::open_folder::OpenFolder;
use weigh_os::shelter::Draft;
use weigh_run::baseline::BASELINES;
use weigh_run::kept::StoredMeasurement;
use weigh_run::lock::Lock;

impl History {
    /// The runs that may be removed, the newest first: started before a time (RFC 3339, UTC), not measuring, and not among the newest
    /// `keep`. A run that does not say when it was started stays.
    pub fn prunable(&self, before: &str, keep: usize) -> Vec<RunRow> {
        let runs = self.runs(&Filter::default()).into_iter().skip(keep);
        let is_old = |run: &RunRow| !run.summary.started.is_empty() && *run.summary.started < *before;
        let may_go = |run: &RunRow| run.state != State::Running && run.name != BASELINES;
        // A link leads to what may be elsewhere, and is not ours.
        let is_here = |run: &RunRow| !self.folder.join(&run.name).is_symlink();
        runs.filter(|run| is_old(run) && may_go(run) && is_here(run)).collect()
    }
}

/// Removes a run: under another name first, so that what is left of an interrupted removal is not a run.
///
/// # Errors
/// It is not a run of this folder, or has more in it than a run; a process measures there, or the system refuses.
pub fn remove(folder: &Path, name: &str) -> Result<()> {
    let path = folder.join(name);
    let shown = clean_path(&path);
    let doing = || format!("{shown}: cannot be removed");
    let is_name = matches!(Path::new(name).components().collect::<Vec<_>>()[..], [Component::Normal(_)]);
    ensure!(is_name, "{shown}: not the name of a run");
    let runs = OpenFolder::open(folder).with_context(doing)?;
    let run = runs.folder(name.as_ref()).with_context(doing)?;
    refuse_others(&path)?;
    let lock = Lock::take(&path)?;
    let aside = Draft::beside(folder, ".pruned-", "").with_context(doing)?;
    let gone = OpenFolder::open(aside.path()).with_context(doing)?;
    if let Err(error) = runs.move_to(name.as_ref(), &gone, "run".as_ref()) {
        bail!("{shown}: cannot be removed: {error}");
    }
    let number = |folder: &OpenFolder| folder.metadata().map(|about| (about.dev(), about.ino()));
    let moved = gone.folder("run".as_ref()).and_then(|moved| number(&moved));
    if moved.ok() != Some(number(&run).with_context(doing)?) {
        // Another folder took its name after it was looked at.
        let _ = gone.move_to("run".as_ref(), &runs, name.as_ref());
        bail!("{shown}: cannot be removed: it changed meanwhile");
    }
    drop(lock);
    aside.close().with_context(doing)
}

/// Makes sure that a folder is a run or a load, and has nothing in it that these have not.
fn refuse_others(run: &Path) -> Result<()> {
    let shown = clean_path(run);
    ensure!(StoredMeasurement::is_in(run), "{shown}: cannot be removed: not a run");
    let entries = fs::read_dir(run).with_context(|| format!("{shown}: cannot be removed"))?;
    let names: Vec<OsString> = entries.flatten().map(|entry| entry.file_name()).collect();
    if let Some(other) = names.iter().find(|name| !StoredMeasurement::is_part(name)) {
        bail!(
            "{shown}: cannot be removed: {} in it is no part of a run; remove it by hand",
            clean_path(other.as_ref())
        );
    }
    Ok(())
}
