//! One run at a time in a folder. The folder itself is locked, so that no file is left.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use weigh_model::text::clean_path;
use weigh_os::regular;

/// Another run is at work in the folder.
#[derive(Debug, thiserror::Error)]
#[error("{0}: another `weigh pack` is at work there; wait until it ends, or end it")]
pub struct Busy(String);

/// Held as long as it lives, and by the kernel no longer than this process.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "it is held, not used")] File);

impl Lock {
    /// Takes the folder's.
    ///
    /// # Errors
    /// [`Busy`]: another run has it.
    pub fn of(folder: &Path) -> Result<Lock> {
        let named = clean_path(folder);
        let held = regular::open_folder(folder).with_context(|| format!("{named}: cannot be opened"))?;
        match flock(&held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(held)),
            Err(Errno::WOULDBLOCK) => Err(Busy(named).into()),
            Err(error) => Err(error).with_context(|| format!("{named}: cannot be locked")),
        }
    }
}
