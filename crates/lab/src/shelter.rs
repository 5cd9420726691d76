//! Temporary folders that a killed lab does not leave for ever: each is locked as long as it is in use, and the next start of a lab
//! removes those whose lock nobody holds.
//!
//! It is for what a lab writes itself. Private instances have a guard that removes theirs at once.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// What their names begin with, below the system's folder for temporary files.
const PREFIX: &str = "weigh-tmp-";
/// The file that is locked.
const LOCK: &str = ".lock";

/// A folder of mode 0700 that goes when it is dropped.
#[derive(Debug)]
pub struct Shelter {
    dir: tempfile::TempDir,
    _lock: File,
}

impl Shelter {
    /// A new one.
    pub fn new() -> io::Result<Shelter> {
        Shelter::below(&std::env::temp_dir())
    }

    fn below(root: &Path) -> io::Result<Shelter> {
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(root)?;
        // It gets its name when it is locked already, so that nobody finds it free.
        let draft = dir.path().join(".lock-draft");
        let lock = OpenOptions::new().write(true).create_new(true).open(&draft)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(draft, dir.path().join(LOCK))?;
        Ok(Shelter { dir, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes this user's folders whose labs have ended without doing it. What cannot be removed stays.
pub fn sweep() {
    sweep_below(&std::env::temp_dir());
}

fn sweep_below(root: &Path) {
    let me = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let is_mine = entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == me);
        if is_mine && entry.file_name().to_string_lossy().starts_with(PREFIX) && is_free(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether there is a lock that nobody holds.
fn is_free(folder: &Path) -> bool {
    File::open(folder.join(LOCK))
        .is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_stays_and_what_a_killed_lab_left_goes() {
        let root = tempfile::tempdir().unwrap();
        let used = Shelter::below(root.path()).unwrap();
        let left = Shelter::below(root.path()).unwrap();
        let path = left.path().to_owned();
        fs::write(path.join("content"), "x").unwrap();
        let Shelter { dir, _lock } = left;
        let _ = dir.keep();
        drop(_lock);
        fs::create_dir(root.path().join("weigh-tmp-without-a-lock")).unwrap();
        fs::create_dir(root.path().join("another")).unwrap();
        sweep_below(root.path());
        assert!(used.path().is_dir() && !path.exists());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 3, "what is another's, too");
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
