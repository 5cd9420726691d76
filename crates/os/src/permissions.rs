//! What the users of the machine may read, by the permissions of a path and the folders above it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Whether every user of the machine may read what is there.
pub fn is_open_to_all(path: &Path) -> bool {
    first_closed(path, None).is_none()
}

/// Of a file and the folders above it, the first from the root that neither lets everybody through nor is this owner's; none where all do.
pub fn first_closed(path: &Path, owner: Option<u32>) -> Option<PathBuf> {
    let Ok(path) = path.canonicalize() else { return Some(path.to_owned()) };
    let lets = |path: &Path| {
        fs::metadata(path).is_ok_and(|data| {
            let bit = if data.is_dir() { 0o1 } else { 0o4 };
            data.mode() & bit != 0 || Some(data.uid()) == owner
        })
    };
    path.ancestors().filter(|path| !lets(path)).last().map(Path::to_owned)
}
