//! How a variant gets its name: written under another one beside its place, with the source's attributes, then renamed. What is not
//! the program's own is never replaced.

use std::ffi::OsString;
use std::fs::{File, FileTimes, Metadata, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;

use sha2::{Digest, Sha256};

use super::names::DRAFT;
use super::sum::{Short, short};
use weigh_os::open_folder::OpenFolder;

/// A new file in a folder, that nobody else reads, and its name.
///
/// # Errors
/// As the file system says.
pub fn draft(folder: &OpenFolder) -> io::Result<(OsString, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name: OsString = format!("{}{}-{number}{}", DRAFT.0, std::process::id(), DRAFT.1).into();
        match folder.file(&name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL) {
            Ok(file) => return Ok((name, file)),
            // A killed run with the same process id left it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// What stands where a variant goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingEntry {
    Nothing,
    /// A regular file with this content.
    File(Short),
    /// A folder, a link, or what cannot be read; or a link leads there.
    Other,
}

/// Looks at the place of a variant below the tree.
pub fn there(tree: &OpenFolder, below: &Path) -> ExistingEntry {
    match tree.of_file(below).and_then(|(folder, name)| folder.file(name, OFlags::RDONLY)) {
        Err(error) if error.kind() == ErrorKind::NotFound => ExistingEntry::Nothing,
        file => file.and_then(content).map_or(ExistingEntry::Other, ExistingEntry::File),
    }
}

fn content(mut file: File) -> io::Result<Short> {
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; weigh_os::digest::BUFFER]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(short(&digest.finalize().into())),
            got => digest.update(&buffer[..got]),
        }
    }
}

/// Writes a variant with the attributes of its source. `replaces`: a file of the program's own stands there. Its folder stays the same from begin
/// to end, whatever takes its name meanwhile.
///
/// # Errors
/// As the file system says; [`ErrorKind::AlreadyExists`]: something stands there that was not there before. Nothing is left.
pub fn put(tree: &OpenFolder, below: &Path, bytes: &[u8], like: &Metadata, replaces: bool) -> io::Result<()> {
    let (folder, name) = tree.of_file(below)?;
    let (draft, mut file) = draft(&folder)?;
    let placed = file
        .write_all(bytes)
        .and_then(|()| attributes(&file, like))
        .and_then(|()| folder.rename(&draft, name, replaces));
    if placed.is_err() {
        let _ = folder.remove(&draft, false);
    }
    placed
}

/// Removes a file below the tree.
///
/// # Errors
/// As the file system says.
pub fn remove(tree: &OpenFolder, below: &Path) -> io::Result<()> {
    tree.of_file(below).and_then(|(folder, name)| folder.remove(name, false))
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
pub fn refresh(tree: &OpenFolder, below: &Path, like: &Metadata) -> io::Result<()> {
    let (folder, name) = tree.of_file(below)?;
    attributes(&folder.file(name, OFlags::RDONLY)?, like)
}

/// The folders of a tree that mirrors another, with the modes of the others.
///
/// # Errors
/// As the file system says.
pub fn folders(from: &Path, tree: &OpenFolder, path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| from != tree.path() && tree.folder(folder).is_err())
    else {
        return Ok(());
    };
    let from = OpenFolder::open(from)?;
    let mut below = PathBuf::new();
    for part in folder.components() {
        below.push(part);
        let mode = from.folder(&below)?.metadata()?.mode() & 0o777;
        let (above, name) = tree.of_file(&below)?;
        match above.make_folder(name, mode | 0o700) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        let (tree, below) = (OpenFolder::open(home.path()).unwrap(), Path::new("a.js.gz"));
        put(&tree, below, b"one", &like, false).unwrap();
        let meta = place.metadata().unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.modified().unwrap()), (0o640, time));
        assert_eq!(put(&tree, below, b"two", &like, false).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&place).unwrap(), b"one");
        put(&tree, below, b"two", &like, true).unwrap();
        assert_eq!(there(&tree, below), ExistingEntry::File(short(&crate::sum::sum(b"two"))));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "no draft is left");
        std::os::unix::fs::symlink("a.js", home.path().join("a.js.br")).unwrap();
        assert_eq!(there(&tree, "a.js.br".as_ref()), ExistingEntry::Other);
        assert_eq!(there(&tree, "none".as_ref()), ExistingEntry::Nothing);
    }
}
