//! Waits until something changes in a tree. The kernel tells; where it watches no more folders, the tree is looked at again and again.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use super::folders::folders;
use super::names::{is_own, variant_of};
use super::walk::{TreeEntry, walk};
use weigh_os::interrupt::Interrupt;

/// How long a tree is to be quiet: editors and deployments write many files one after the other.
const QUIET: Duration = Duration::from_millis(300);
/// A tree that is never quiet is packed anyway.
const LONGEST: Duration = Duration::from_secs(3);
/// How often the user's wish to end is looked at.
const STEP: Duration = Duration::from_millis(100);
/// How often a tree is looked at that the kernel does not watch.
const POLL: Duration = Duration::from_secs(2);

/// A tree that is watched.
#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    skip: Option<PathBuf>,
    events: Option<OwnedFd>,
    is_told: bool,
}

impl Watch {
    /// Begins to watch a tree.
    ///
    /// # Errors
    /// It is not a folder.
    pub fn of(tree: &Path, out: Option<&Path>) -> Result<Watch> {
        let (root, target) = folders(tree, out, true)?;
        let skip = (root != target).then_some(target);
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        let mut watch = Watch { root, skip, events, is_told: false };
        watch.renew();
        Ok(watch)
    }

    /// Whether the kernel tells of changes.
    pub fn is_told(&self) -> bool {
        self.is_told
    }

    /// Watches every folder that there is now; those that are watched already stay so.
    fn renew(&mut self) {
        let Some(events) = &self.events else { return };
        let flags = WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ATTRIB
            | WatchFlags::ONLYDIR;
        let watched = walk(&self.root, self.skip.as_deref(), &mut |met| match met {
            TreeEntry::Folder(folder) => inotify::add_watch(events, folder, flags).map(drop),
            _ => Ok(()),
        });
        self.is_told = watched.is_ok();
    }

    /// Waits for a change and for the quiet after it; no change: the user wants an end.
    ///
    /// # Errors
    /// The tree is gone.
    pub fn changed(&mut self, interrupt: &Interrupt) -> Result<bool> {
        self.renew();
        let (begun, mut first, mut last) = (Instant::now(), None, Instant::now());
        while !interrupt.is_set() {
            ensure!(self.root.is_dir(), "the folder is gone");
            if !self.is_told && begun.elapsed() >= POLL {
                return Ok(true);
            }
            if self.heard() {
                last = Instant::now();
                first.get_or_insert(last);
            }
            if first.is_some_and(|first| last.elapsed() >= QUIET || first.elapsed() >= LONGEST) {
                // Before new folders are read, so that nothing is missed in between.
                self.renew();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether something happened within a moment that was not this program's own doing.
    fn heard(&self) -> bool {
        let Some(events) = self.events.as_ref().filter(|_| self.is_told) else {
            std::thread::sleep(STEP);
            return false;
        };
        let step = Timespec { tv_sec: 0, tv_nsec: STEP.as_nanos() as i64 };
        if !poll(&mut [PollFd::new(events, PollFlags::IN)], Some(&step)).is_ok_and(|ready| ready > 0) {
            return false;
        }
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut reader = inotify::Reader::new(events, &mut buffer);
        let mut is_other = false;
        while let Ok(event) = reader.next() {
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            is_other |= variant_of(Path::new(&name)).is_none() && !is_own(name.as_ref());
        }
        is_other
    }
}
