//! One run at a time in a folder. The folder itself is locked, so that no file is left.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use weigh_model::text::clean_path;

/// Held as long as it lives, and by the kernel no longer than this process.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "it is held, not used")] File);

impl Lock {
    /// Takes the folder's.
    ///
    /// # Errors
    /// One line: another run has it.
    pub fn of(folder: &Path) -> Result<Lock> {
        let named = clean_path(folder);
        let held = File::open(folder).with_context(|| format!("{named}: cannot be opened"))?;
        match flock(&held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(held)),
            Err(Errno::WOULDBLOCK) => {
                bail!("{named}: another `weigh pack` is at work there; wait until it ends, or end it")
            }
            Err(error) => Err(error).with_context(|| format!("{named}: cannot be locked")),
        }
    }
}
