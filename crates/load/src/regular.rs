//! Files that are read: regular ones alone, opened without waiting for anybody, and judged by what was opened and not by its path.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The longest file of the kernel's or of the system's that is read, in bytes.
const SYSTEM: u64 = 16 << 20;

/// Opens a regular file; links are followed.
///
/// # Errors
/// As the file system says; [`ErrorKind::InvalidInput`] with what it is if it is not a regular file.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    opened(path, &fs::metadata(path)?, OFlags::empty())
}

/// The same of a file that is itself there: no link.
pub fn open_itself(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    opened(path, &fs::symlink_metadata(path)?, OFlags::NOFOLLOW)
}

/// Opens a folder, to lock it or to have it written to the disk.
pub fn open_folder(path: impl AsRef<Path>) -> io::Result<File> {
    File::options().read(true).custom_flags(OFlags::DIRECTORY.bits() as i32).open(path)
}

/// `before` keeps devices and sockets from being opened at all; what was opened decides.
fn opened(path: &Path, before: &Metadata, flags: OFlags) -> io::Result<File> {
    regular(before)?;
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::options().read(true).custom_flags(flags.bits() as i32).open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Makes sure that a file is a regular one.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] with what it is.
pub fn regular(about: &Metadata) -> io::Result<()> {
    let not = || io::Error::new(ErrorKind::InvalidInput, format!("it is {}", special(about)));
    if about.is_file() { Ok(()) } else { Err(not()) }
}

/// A whole file of at most this many bytes.
///
/// # Errors
/// As [`open`]; [`ErrorKind::FileTooLarge`]: it is longer.
pub fn read(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    whole(open(path)?, most)
}

/// All that an open file has from where it stands, at most this many bytes.
///
/// # Errors
/// As [`read`].
pub fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let too_long = || {
        io::Error::new(ErrorKind::FileTooLarge, format!("longer than {most} bytes, the most that is read"))
    };
    // A sparse file of any length is refused before it is read.
    if file.metadata()?.len() > most {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// The text of a file of the kernel's or of the system's, such as one in `/proc`: opened at once, for meters read many of them.
///
/// # Errors
/// As the file system says; it is longer than 16 MiB, or no text.
pub fn system(path: impl AsRef<Path>) -> io::Result<String> {
    let file = File::options().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let mut text = String::new();
    match file.take(SYSTEM + 1).read_to_string(&mut text)? as u64 {
        0..=SYSTEM => Ok(text),
        _ => Err(ErrorKind::FileTooLarge.into()),
    }
}

/// What something is that is not a regular file.
pub fn special(about: &Metadata) -> &'static str {
    let kind = about.file_type();
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
