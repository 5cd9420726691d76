//! Regular files of the user's: opened without waiting, and what stands in the way in words.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rustix::fs::OFlags;

use weigh_model::text::{clean, clean_path};

/// Opens without waiting for anything, and inside a folder without following a link that was put there since.
pub fn open(path: &Path, in_folder: bool) -> io::Result<File> {
    let flags = if in_folder { OFlags::NONBLOCK | OFlags::NOFOLLOW } else { OFlags::NONBLOCK };
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// A whole regular file of at most this many bytes.
///
/// # Errors
/// One line: the file, and that it cannot be read, is no regular one, or is longer.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let shown = clean_path(path);
    let unread = || format!("{shown}: cannot be read");
    let file = open(path, false).with_context(unread)?;
    let about = file.metadata().with_context(unread)?;
    ensure!(about.is_file(), "{shown}: {}", special(&about));
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).with_context(unread)?;
    ensure!(bytes.len() as u64 <= most, "{shown}: longer than {most} bytes, the most that is read");
    Ok(bytes)
}

/// What something is that is no regular file.
pub fn special(meta: &Metadata) -> &'static str {
    let kind = meta.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else {
        "not a regular file"
    }
}

/// Why a file cannot be opened or read.
pub fn plain_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "it may not be read by this user".into(),
        _ => clean(&error.to_string()),
    }
}
