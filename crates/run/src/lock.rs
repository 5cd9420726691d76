//! One run directory, one writer: an advisory lock that the kernel drops with its holder, however that ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use weigh_os::regular;

/// The lock's file within a run directory; it holds the writer's process id.
pub const LOCK: &str = "lock";

/// How long a lock may be held by somebody who is about to be gone: a process that was killed just now, or one that
/// another thread of this program is starting, which has every open file until it becomes the other program.
const PATIENCE: Duration = Duration::from_secs(1);

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    pub fn take(dir: &Path) -> Result<Lock> {
        let path = dir.join(LOCK);
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let mut open = OpenOptions::new();
        let open = open.read(true).write(true).create(true).truncate(false).custom_flags(flags).open(&path);
        let open = open.and_then(|file| regular::regular(&file.metadata()?).map(|()| file));
        let mut file = open.with_context(|| {
            format!("{}: cannot be written; a run needs a directory that it can write to", dir.display())
        })?;
        match patiently(&file) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut holder = String::new();
                // The holder may not have written its id yet.
                let _ = Read::by_ref(&mut file).take(20).read_to_string(&mut holder);
                let holder = holder.trim();
                let by = if holder.is_empty() { String::new() } else { format!(" (process {holder})") };
                bail!(
                    "{}: another weigh{by} is measuring there; wait for it or use another directory",
                    dir.display()
                );
            }
            Err(e) => {
                return Err(e).with_context(|| format!("{}: cannot be locked", path.display()));
            }
        }
        let write_id = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        write_id(&mut file).with_context(|| format!("{}: cannot be written", path.display()))?;
        Ok(Lock { _file: file })
    }

    /// Whether some process holds the lock of a directory; a directory without a lock file counts as held,
    /// because its writer may be about to take it.
    pub fn is_held(dir: &Path) -> bool {
        let Ok(file) = regular::open_itself(dir.join(LOCK)) else { return true };
        flock(&file, FlockOperation::NonBlockingLockExclusive).is_err()
    }
}

fn patiently(file: &File) -> Result<(), Errno> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10))
            }
            other => return other,
        }
    }
}
