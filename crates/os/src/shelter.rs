//! Temporary folders that a killed lab does not leave for ever: each is locked as long as it is in use, and the next start of a lab
//! removes those whose lock nobody holds. While one is made, its root is locked too, shared: so a folder without a lock is known to be one that
//! a killed lab was making.
//!
//! It is for what a lab writes itself. Private instances have a guard that removes theirs at once.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::regular;
use crate::user::OwnUser;

/// The random part of a name, in small letters: Apache's `AddHandler` makes letters of the path of a socket small.
pub fn small_letters() -> String {
    format!("{:08x}", rand::random::<u32>())
}

/// What their names begin with, below the system's folder for temporary files.
const PREFIX: &str = "weigh-tmp-";
/// The file that is locked.
const LOCK: &str = ".lock";

/// The file that holds the path of a draft elsewhere, and how long that may be.
const NOTE: &str = "draft";
const NOTE_LENGTH: u64 = 8 << 10;

/// How long another may keep a shelter from being made; no sweep takes that long.
const MAKING: Duration = Duration::from_secs(1);

/// A folder of mode 0700 that goes when it is dropped.
#[derive(Debug)]
pub struct Shelter {
    dir: tempfile::TempDir,
    _lock: File,
}

impl Shelter {
    pub fn new() -> io::Result<Shelter> {
        Shelter::below(&std::env::temp_dir())
    }

    fn below(root: &Path) -> io::Result<Shelter> {
        let _making = lock_root(root, FlockOperation::NonBlockingLockShared, MAKING);
        let name = format!("{PREFIX}{}", small_letters());
        let dir = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(root)?;
        // It gets its name when it is locked already, so that nobody finds it free.
        let draft = dir.path().join(".lock-draft");
        let lock = OpenOptions::new().write(true).create_new(true).open(&draft)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(draft, dir.path().join(LOCK))?;
        Ok(Shelter { dir, _lock: lock })
    }

    /// A new one through which programs of this user reach what they are given in it. The folder itself stays the lab's: nothing in it is renamed
    /// or linked by what runs there, so the lab can use paths in it.
    pub fn of(user: Option<OwnUser>) -> io::Result<Shelter> {
        let shelter = Shelter::new()?;
        if let Some(user) = user {
            std::os::unix::fs::chown(shelter.path(), None, Some(user.gid()))?;
            fs::set_permissions(shelter.path(), PermissionsExt::from_mode(0o710))?;
        }
        Ok(shelter)
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// A folder of mode 0700 that gets its name when it is whole, and until then has one beside it that begins with a dot. A shelter holds where it
/// is: the next start removes it with that.
#[derive(Debug)]
pub struct Draft {
    dir: tempfile::TempDir,
    _noted: Shelter,
}

impl Draft {
    /// One in a folder.
    ///
    /// # Errors
    /// The folder, or that of temporary files, cannot be written.
    pub fn beside(parent: &Path, prefix: &str, suffix: &str) -> io::Result<Draft> {
        Draft::noted_in(Shelter::new()?, &std::path::absolute(parent)?, prefix, suffix)
    }

    fn noted_in(noted: Shelter, parent: &Path, prefix: &str, suffix: &str) -> io::Result<Draft> {
        let name = format!("{prefix}{}{suffix}", small_letters());
        fs::write(noted.path().join(NOTE), parent.join(&name).as_os_str().as_bytes())?;
        let dir = tempfile::Builder::new()
            .prefix(&name)
            .rand_bytes(0)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        Ok(Draft { dir, _noted: noted })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// It has its name now, and stays.
    pub fn keep(self) {
        let _ = self.dir.keep();
    }

    /// Removes it.
    ///
    /// # Errors
    /// Something of it stays.
    pub fn close(self) -> io::Result<()> {
        self.dir.close()
    }
}

/// Removes the draft that a shelter of this user's own tells of.
fn remove_draft(shelter: &Path, me: u32) {
    let is_mine = |path: &Path| path.symlink_metadata().is_ok_and(|data| data.uid() == me);
    let Ok(noted) = regular::read(&shelter.join(NOTE), NOTE_LENGTH) else { return };
    let draft = Path::new(OsStr::from_bytes(&noted));
    let is_draft = draft.is_absolute() && draft.file_name().is_some_and(|n| n.as_bytes().starts_with(b"."));
    if is_draft && is_mine(shelter) && is_mine(draft) {
        let _ = fs::remove_dir_all(draft);
    }
}

/// Locks the folder that shelters are made in, within `patience`; none where another holds it for longer, which only keeps half-made shelters.
fn lock_root(root: &Path, how: FlockOperation, patience: Duration) -> Option<File> {
    let folder = regular::open_folder(root).ok()?;
    let begun = Instant::now();
    while flock(&folder, how).is_err() {
        if begun.elapsed() >= patience {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(folder)
}

/// Removes this user's folders whose labs have ended without doing it. What cannot be removed stays.
pub fn sweep() {
    sweep_below(&std::env::temp_dir());
}

fn sweep_below(root: &Path) {
    let me = rustix::process::geteuid().as_raw();
    let alone = lock_root(root, FlockOperation::NonBlockingLockExclusive, Duration::ZERO);
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let is_mine = entry
            .metadata()
            .is_ok_and(|data| data.is_dir() && (data.uid() == me || me == 0 && OwnUser::is_one(data.uid())));
        if is_mine
            && entry.file_name().to_string_lossy().starts_with(PREFIX)
            && is_free(&entry.path(), alone.is_some())
        {
            remove_draft(&entry.path(), me);
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether nobody holds its lock; without one, whether nobody makes it.
fn is_free(folder: &Path, nobody_makes: bool) -> bool {
    match regular::open_itself(folder.join(LOCK)) {
        Ok(lock) => flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound && nobody_makes,
    }
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
        let half_made = root.path().join("weigh-tmp-without-a-lock");
        fs::create_dir(&half_made).unwrap();
        fs::create_dir(root.path().join("another")).unwrap();
        let making = lock_root(root.path(), FlockOperation::NonBlockingLockShared, MAKING);
        sweep_below(root.path());
        assert!(used.path().is_dir() && !path.exists());
        assert!(half_made.exists(), "somebody may be making it");
        drop(making);
        sweep_below(root.path());
        assert!(used.path().is_dir() && !half_made.exists());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2, "what is another's, too");
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    fn a_draft_elsewhere_goes_with_the_shelter_that_tells_of_it() {
        let (root, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let draft = || {
            let noted = Shelter::below(root.path()).unwrap();
            Draft::noted_in(noted, place.path(), ".run.", ".partial").unwrap()
        };
        let abandon = |Draft { dir, _noted }: Draft| {
            let Shelter { dir: shelter, _lock } = _noted;
            (dir.keep(), shelter.keep())
        };
        let (used, (left, _)) = (draft(), abandon(draft()));
        fs::write(left.join("content"), "x").unwrap();
        // What a shelter tells of is a draft by its name, or nobody's affair.
        let other = place.path().join("precious");
        fs::create_dir(&other).unwrap();
        let (_, shelter) = abandon(draft());
        fs::write(shelter.join(NOTE), other.as_os_str().as_bytes()).unwrap();
        sweep_below(root.path());
        assert!(used.path().is_dir() && other.is_dir() && !left.exists());
        fs::rename(used.path(), place.path().join("run")).unwrap();
        used.keep();
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0, "nothing is noted any more");
    }
}
