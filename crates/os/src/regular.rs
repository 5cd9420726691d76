//! Regular files of the user's: read whole within a bound, or one line that says what stands in the way.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use crate::permissions::is_open_to_all;
pub use weigh_load::regular::{open, open_folder, open_itself, regular, special, system, whole};
use weigh_model::text::{clean, clean_path};

/// The longest text that people write: a study, a site, a policy, a configuration. In bytes, as all bounds here.
pub const TEXT: u64 = 16 << 20;
/// The longest result, plan or manifest.
pub const RESULT: u64 = 256 << 20;
/// The longest log of a run that is copied.
pub const RECORDS: u64 = 2 << 30;

/// A whole regular file of at most this many bytes.
///
/// # Errors
/// One line: the file, and that it cannot be read, is no regular one, or is longer.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    weigh_load::regular::read(path, most).map_err(|error| refused(path, error))
}

/// The same of text.
///
/// # Errors
/// As [`read`]; it is not text.
pub fn text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(read(path, most)?).with_context(|| format!("{}: no text", clean_path(path)))
}

/// A file that cannot be read, in a line.
pub fn refused(path: &Path, error: io::Error) -> anyhow::Error {
    let shown = clean_path(path);
    match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::FileTooLarge => anyhow!("{shown}: {error}"),
        _ => anyhow::Error::new(error).context(format!("{shown}: cannot be read")),
    }
}

/// Where an open file really lies now, whatever led to it.
///
/// # Errors
/// The kernel does not tell.
pub fn place_of(file: &File) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Opens a regular file below a folder, or below one of the `others`, whose real paths these are. A link is followed as long as it stays there, or
/// leads to what every user may read where `follows`. That is judged by what was opened: what a path leads to may change between two looks at it.
///
/// # Errors
/// As [`open`]; it lies elsewhere.
pub fn open_below((root, others, follows): (&Path, &[PathBuf], bool), path: &Path) -> io::Result<File> {
    let file = open(path)?;
    let place = place_of(&file)?;
    if place.starts_with(root) || others.iter().any(|other| place.starts_with(other)) {
        return Ok(file);
    }
    match follows {
        true if is_open_to_all(&place) => Ok(file),
        true => Err(io::Error::other(
            "a symbolic link leads out of the folder, to a file that not everybody may read",
        )),
        false => Err(io::Error::other("a symbolic link leads out of the folder")),
    }
}

/// Why a file cannot be opened or read.
pub fn plain_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "it may not be read by this user".into(),
        _ => clean(&error.to_string()),
    }
}
