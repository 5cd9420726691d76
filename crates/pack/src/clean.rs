//! Removes everything that was written, and nothing else.

use anyhow::Result;

use super::folders::folders;
use super::lock::Lock;
use super::outcome::PackOutcome;
use super::run::{PackRequest, Run};
use weigh_os::interrupt::Interrupt;

/// Cleans a tree.
///
/// # Errors
/// One line: the tree cannot be used, or the manifest not removed.
pub fn clean(ask: PackRequest<'_>, interrupt: &Interrupt) -> Result<PackOutcome> {
    let places = folders(ask.tree, ask.out, false)?;
    let _lock = if ask.dry_run { None } else { Some(Lock::of(&places.1)?) };
    let mut run = Run::begin(ask, places, interrupt)?;
    // The walk removes what killed runs left.
    run.look()?;
    (run.outcome.kept, run.outcome.left_out) = Default::default();
    run.manifest.entries.values_mut().for_each(|entry| entry.is_there = false);
    run.prune();
    if !ask.dry_run {
        run.file.remove(&run.target)?;
    }
    Ok(run.outcome)
}
