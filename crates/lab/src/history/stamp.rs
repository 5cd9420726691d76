//! The stamp of a run: what a look at its folder tells without reading a file. As long as it stays, so does what was
//! derived.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::run::kept::Kept;

/// Lengths, times and inodes of the run's folder and of the files from which everything is derived, in one text.
pub fn of(run: &Path) -> String {
    let about = |path: &Path| path.metadata().map_or_else(|_| "-".into(), |found| text(&found));
    let files = Kept::files(run).iter().map(|name| run.join(name));
    let all: Vec<String> = std::iter::once(run.to_owned()).chain(files).map(|path| about(&path)).collect();
    all.join(" ")
}

fn text(about: &Metadata) -> String {
    let length = if about.is_dir() { 0 } else { about.len() };
    // The time of a change of the inode tells of a file whose time of writing was put back.
    let (written, changed) = (about.mtime_nsec() + about.mtime() * 1_000_000_000, about.ctime_nsec());
    format!("{length}.{written}.{}.{changed}.{}", about.ctime(), about.ino())
}
