//! Old runs are removed: whole, and never one that is measuring.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::{Filter, History, RunRow, State};
use crate::run::baseline::BASELINES;
use crate::run::lock::Lock;
use weigh_model::text::clean_path;

impl History {
    /// The runs that may be removed, the newest first: started before a time (RFC 3339, UTC), not measuring, and not among the newest
    /// `keep`. A run that does not say when it was started stays.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn prunable(&self, before: &str, keep: usize) -> Result<Vec<RunRow>> {
        let runs = self.runs(&Filter::default())?.into_iter().skip(keep);
        let is_old = |run: &RunRow| !run.started.is_empty() && run.started.as_str() < before;
        let may_go = |run: &RunRow| run.state != State::Running && run.name != BASELINES;
        // A link leads to what may be elsewhere, and is not ours.
        let is_here = |run: &RunRow| !self.folder.join(&run.name).is_symlink();
        Ok(runs.filter(|run| is_old(run) && may_go(run) && is_here(run)).collect())
    }
}

/// Removes a run: under another name first, so that what is left of an interrupted removal is no run.
///
/// # Errors
/// A process measures there, or the system refuses.
pub fn remove(folder: &Path, name: &str) -> Result<()> {
    let run = folder.join(name);
    let doing = || format!("{}: cannot be removed", clean_path(&run));
    let lock = Lock::take(&run)?;
    let aside = tempfile::Builder::new().prefix(".pruned-").tempdir_in(folder).with_context(doing)?;
    let gone = aside.path().join("run");
    if let Err(error) = fs::rename(&run, &gone) {
        bail!("{}: cannot be removed: {error}", clean_path(&run));
    }
    drop(lock);
    aside.close().with_context(doing)
}
