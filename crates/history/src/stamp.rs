//! The stamp of a run: what a look at its folder tells without reading a file. As long as it stays, so does what was
//! derived.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use weigh_run::kept::StoredMeasurement;

/// Lengths, times and inodes of the files from which everything is derived, in one text.
pub fn stamp_files(run: &Path) -> String {
    let about = |path: &Path| path.metadata().map_or_else(|_| "-".into(), |found| text(&found));
    let all: Vec<String> = StoredMeasurement::files(run).iter().map(|name| about(&run.join(name))).collect();
    all.join(" ")
}

fn text(about: &Metadata) -> String {
    // The time of a change of the inode tells of a file whose time of writing was put back.
    let (written, changed) = (about.mtime_nsec() + about.mtime() * 1_000_000_000, about.ctime_nsec());
    format!("{}.{written}.{}.{changed}.{}", about.len(), about.ctime(), about.ino())
}
