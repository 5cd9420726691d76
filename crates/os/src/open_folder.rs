//! A folder that is held open. What is done below it stays below it, whatever somebody renames or links meanwhile: paths are walked from the
//! folder itself, a component at a time, and no symbolic link is followed.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, mkdirat, open, openat, renameat, renameat_with, unlinkat,
};

use crate::regular::regular;

/// What a folder is opened with: to be gone through, not to be listed.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The folder. Errors are those of the file system, unless more is said.
#[derive(Debug)]
pub struct OpenFolder {
    fd: OwnedFd,
    path: PathBuf,
}

impl OpenFolder {
    /// Opens a folder by a path that the user gave: links in it are followed.
    pub fn open(path: &Path) -> io::Result<OpenFolder> {
        Ok(OpenFolder { fd: open(path, FOLDER, Mode::empty())?, path: path.to_owned() })
    }

    /// The path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder below.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: the path leads elsewhere.
    pub fn folder(&self, below: &Path) -> io::Result<OpenFolder> {
        let mut at = self.fd.try_clone()?;
        for part in below.components() {
            let Component::Normal(name) = part else { return Err(ErrorKind::InvalidInput.into()) };
            at = openat(&at, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        }
        Ok(OpenFolder { fd: at, path: self.path.join(below) })
    }

    /// The folder that a file below lies in, with the file's name there.
    pub fn of_file<'p>(&self, below: &'p Path) -> io::Result<(OpenFolder, &'p OsStr)> {
        match below.components().next_back() {
            Some(Component::Normal(name)) => {
                Ok((self.folder(below.parent().unwrap_or(Path::new("")))?, name))
            }
            _ => Err(ErrorKind::InvalidInput.into()),
        }
    }

    /// A handle of what has this name in the folder, whatever it is, that reads nothing of it; a link is what it is.
    pub fn handle(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.fd, name, flags, Mode::empty())?.into())
    }

    /// What the file system says of it.
    pub fn about(&self, name: &OsStr) -> io::Result<Metadata> {
        self.handle(name)?.metadata()
    }

    /// Opens a regular file of the folder with these flags.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`]: it is not a regular file.
    pub fn file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)?);
        regular(&file.metadata()?)?;
        Ok(file)
    }

    /// Renames within the folder; without `replaces`, what has the name stays, which is [`ErrorKind::AlreadyExists`].
    pub fn rename(&self, from: &OsStr, to: &OsStr, replaces: bool) -> io::Result<()> {
        if replaces {
            return Ok(renameat(&self.fd, from, &self.fd, to)?);
        }
        match renameat_with(&self.fd, from, &self.fd, to, RenameFlags::NOREPLACE) {
            // Where the file system cannot tell, nobody is expected to take the name in between.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if self.about(to).is_err() => {
                Ok(renameat(&self.fd, from, &self.fd, to)?)
            }
            other => Ok(other?),
        }
    }

    /// Moves what has a name here into another folder.
    pub fn move_to(&self, name: &OsStr, folder: &OpenFolder, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.fd, name, &folder.fd, to)?)
    }

    /// Writes a file whole or not at all, in place of what has its name. Drafts of killed processes are removed.
    pub fn put(&self, name: &OsStr, content: &[u8]) -> io::Result<()> {
        let start = format!(".tmp-{}-", Path::new(name).with_extension("").display());
        let is_left = |name: &OsStr| {
            let process = name.to_str().and_then(|name| name.strip_prefix(&start));
            process.is_some_and(|process| !Path::new("/proc").join(process).exists())
        };
        let names = fs::read_dir(&self.path)?.flatten().map(|entry| entry.file_name());
        for left in names.filter(|name| is_left(name)) {
            let _ = self.remove(&left, false);
        }
        let draft = format!("{start}{}", std::process::id());
        let draft = OsStr::new(&draft);
        let mut file = self.file(draft, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        let written = file.write_all(content).and_then(|()| self.rename(draft, name, true));
        if written.is_err() {
            let _ = self.remove(draft, false);
        }
        written
    }

    /// Removes a file, or a folder that is empty.
    pub fn remove(&self, name: &OsStr, is_folder: bool) -> io::Result<()> {
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(unlinkat(&self.fd, name, flags)?)
    }

    pub fn make_folder(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        mkdirat(&self.fd, name, Mode::RWXU)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        File::from(openat(&self.fd, name, flags, Mode::empty())?)
            .set_permissions(Permissions::from_mode(mode))
    }

    /// What the system knows of the folder itself.
    pub fn metadata(&self) -> io::Result<Metadata> {
        File::from(self.fd.try_clone()?).metadata()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_below_leads_out_whatever_is_linked_or_renamed() {
        let home = tempfile::tempdir().unwrap();
        let (tree, outside) = (home.path().join("tree"), home.path().join("outside"));
        fs::create_dir_all(tree.join("js")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("a"), "theirs").unwrap();
        symlink(&outside, tree.join("linked")).unwrap();
        symlink(outside.join("a"), tree.join("a")).unwrap();
        let open = OpenFolder::open(&tree).unwrap();
        for path in ["linked/a", "../outside/a", "/etc/passwd", "js/../../outside/a", "..", "."] {
            let found =
                open.of_file(path.as_ref()).and_then(|(folder, name)| folder.file(name, OFlags::RDONLY));
            assert!(found.is_err(), "{path}");
        }
        assert!(open.file("a".as_ref(), OFlags::RDONLY).is_err(), "a link");
        let (js, name) = open.of_file("js/new".as_ref()).unwrap();
        fs::rename(tree.join("js"), home.path().join("moved")).unwrap();
        symlink(&outside, tree.join("js")).unwrap();
        drop(js.file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).unwrap());
        assert!(home.path().join("moved/new").exists() && !outside.join("new").exists());
        assert!(open.folder("js".as_ref()).is_err());
    }
}
