//! How a variant gets its name: written under another one beside its place, with the source's attributes, then renamed. What is not
//! the program's own is never replaced.

use std::fs::{self, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};

use super::manifest::{Short, short};
use sha2::{Digest, Sha256};

/// What the names of drafts begin and end with.
const DRAFT: (&str, &str) = (".weigh-pack-", ".draft");

/// Whether a name is one of a draft, which only a killed run leaves.
pub fn is_draft(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(DRAFT.0.as_bytes()) && name.ends_with(DRAFT.1.as_bytes())
}

/// Whether a name is one of this program's own files: drafts, the manifest and the lock.
pub fn is_own(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".weigh-pack")
}

/// A new file in a folder, that nobody else reads, and where it is.
///
/// # Errors
/// As the file system says.
pub fn draft(folder: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{}{}-{number}{}", DRAFT.0, std::process::id(), DRAFT.1));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((path, file)),
            // A killed run with the same process id left it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// What stands where a variant goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There {
    /// Nothing.
    Nothing,
    /// A regular file with this content.
    File(Short),
    /// A folder, a link, or what cannot be read.
    Other,
}

/// Looks at the place of a variant.
pub fn there(path: &Path) -> There {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => There::Nothing,
        Ok(meta) if meta.is_file() => content(path).map_or(There::Other, There::File),
        _ => There::Other,
    }
}

fn content(path: &Path) -> io::Result<Short> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; crate::digest::BUFFER]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(short(&digest.finalize().into())),
            got => digest.update(&buffer[..got]),
        }
    }
}

/// Writes a variant with the attributes of its source. `replaces`: a file of the program's own stands there.
///
/// # Errors
/// As the file system says; [`ErrorKind::AlreadyExists`]: something stands there that was not there before. Nothing is left.
pub fn put(path: &Path, bytes: &[u8], like: &Metadata, replaces: bool) -> io::Result<()> {
    let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
    let (draft, mut file) = draft(folder)?;
    let placed = file
        .write_all(bytes)
        .and_then(|()| attributes(&file, like))
        .and_then(|()| if replaces { fs::rename(&draft, path) } else { rename_new(&draft, path) });
    if placed.is_err() {
        let _ = fs::remove_file(&draft);
    }
    placed
}

/// Renames to a name that is free; where the file system cannot tell, nobody is expected to take it in between.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if to.symlink_metadata().is_err() => {
            fs::rename(from, to)
        }
        other => Ok(other?),
    }
}

/// Gives a file the owner, the mode and the time of its source. The owner stays where it may not be changed.
pub fn attributes(file: &File, like: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        let _ = fchown(file, Some(like.uid()), Some(like.gid()))
            .or_else(|_| fchown(file, None, Some(like.gid())));
    }
    file.set_permissions(Permissions::from_mode(like.mode() & 0o777))?;
    file.set_times(FileTimes::new().set_modified(like.modified()?))
}

/// The same of a file that has its name already.
///
/// # Errors
/// As the file system says.
pub fn refresh(path: &Path, like: &Metadata) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    attributes(&OpenOptions::new().read(true).custom_flags(flags).open(path)?, like)
}

/// The folders of a tree that mirrors another, with the modes of the others.
///
/// # Errors
/// As the file system says.
pub fn folders(from: &Path, to: &Path, path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|_| from != to) else { return Ok(()) };
    if to.join(folder).is_dir() {
        return Ok(());
    }
    let mut below = PathBuf::new();
    for part in folder.components() {
        below.push(part);
        match fs::create_dir(to.join(&below)) {
            Ok(()) => {
                let mode = fs::metadata(from.join(&below))?.mode() & 0o777;
                fs::set_permissions(to.join(&below), Permissions::from_mode(mode | 0o700))?;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_has_its_sources_attributes_and_takes_no_ones_place() {
        let home = tempfile::tempdir().unwrap();
        let source = home.path().join("a.js");
        fs::write(&source, "text").unwrap();
        fs::set_permissions(&source, Permissions::from_mode(0o640)).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 5);
        File::open(&source).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        let (like, place) = (source.metadata().unwrap(), home.path().join("a.js.gz"));
        put(&place, b"one", &like, false).unwrap();
        let meta = place.metadata().unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.modified().unwrap()), (0o640, time));
        assert_eq!(put(&place, b"two", &like, false).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&place).unwrap(), b"one");
        put(&place, b"two", &like, true).unwrap();
        assert_eq!(there(&place), There::File(short(&super::super::manifest::sum(b"two"))));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no draft is left");
        std::os::unix::fs::symlink("a.js", home.path().join("a.js.br")).unwrap();
        assert_eq!(there(&home.path().join("a.js.br")), There::Other);
        assert_eq!(there(&home.path().join("none")), There::Nothing);
    }
}
