//! The cache folder: where fetched archives, the files in them and the values made from them stay.
//!
//! `archives/` as the registries gave them · `files/` · `values/` · `tmp/` work in progress · `lock`.
//! A file gets its final name only once it is whole and verified. What is not pinned in the corpus's table has a
//! note beside it, `NAME.json`, with its digest.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::source::Package;
use weigh_model::text::clean_path;
use weigh_os::digest::{self, Sum};
use weigh_os::regular;

/// A cache folder; it need not be there yet.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// What is known of a file that the table does not pin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
    /// Why it is not pinned, or what made it.
    pub about: String,
    /// Lengths in bytes of the values in it, one after the other, where they are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<u64>,
}

impl Note {
    pub fn sum(&self) -> Sum {
        Sum { bytes: self.bytes, sha256: self.sha256.clone() }
    }
}

/// The right to change a cache, until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Cache {
    pub fn at(root: impl Into<PathBuf>) -> Cache {
        Cache { root: root.into() }
    }

    /// `$WEIGH_CACHE`, else `$XDG_CACHE_HOME/weighbridge`, else `~/.cache/weighbridge`; none for a user without a home.
    pub fn default_folder() -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        // The base-directory rules: a relative value is to be ignored.
        let xdg = || Some(set("XDG_CACHE_HOME").filter(|folder| folder.is_absolute())?.join("weighbridge"));
        // Without the variable, what the system says of the user.
        let home = || Some(std::env::home_dir().filter(|home| home.is_dir())?.join(".cache/weighbridge"));
        set("WEIGH_CACHE").or_else(xdg).or_else(home)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn archive(&self, package: &Package) -> PathBuf {
        self.root.join("archives").join(package.file_name())
    }

    pub fn file(&self, id: &str) -> PathBuf {
        self.root.join("files").join(id)
    }

    pub fn value(&self, id: &str, form: &str) -> PathBuf {
        self.root.join("values").join(format!("{id}.{form}"))
    }

    pub fn instances(&self, id: &str, form: &str) -> PathBuf {
        self.root.join("values").join(format!("{id}.{form}.all"))
    }

    /// Makes the folders that are missing.
    pub fn prepare(&self) -> Result<()> {
        for folder in ["archives", "files", "values", "tmp"] {
            let folder = self.root.join(folder);
            fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make the cache folder {}", clean_path(&folder)))?;
        }
        Ok(())
    }

    /// Takes the lock; `waiting` is called once when another run has it.
    pub fn lock(&self, waiting: &mut dyn FnMut()) -> Result<Lock> {
        use rustix::fs::{FlockOperation, flock};
        let path = self.root.join("lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.with_context(|| format!("cannot lock the cache at {}", clean_path(&path)))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            waiting();
            flock(&file, FlockOperation::LockExclusive)
                .with_context(|| format!("cannot lock the cache at {}", clean_path(&path)))?;
        }
        // Nobody else is at work, so what lies here was left by an interrupted run.
        let left = self.root.join("tmp");
        if let Ok(entries) = fs::read_dir(&left) {
            for entry in entries.flatten() {
                let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
            }
        }
        Ok(Lock { _file: file })
    }

    /// A fresh folder for work in progress, on the same file system.
    pub fn scratch(&self) -> Result<tempfile::TempDir> {
        let folder = self.root.join("tmp");
        tempfile::tempdir_in(&folder).with_context(|| format!("cannot write in {}", clean_path(&folder)))
    }

    /// `true` when the file is there and has this digest.
    pub fn has(&self, path: &Path, sum: &Sum) -> Result<bool> {
        // The length is free to look at; most differences show there.
        match fs::metadata(path) {
            Ok(meta) if meta.len() == sum.bytes => Ok(digest::of_file(path)?.as_ref() == Some(sum)),
            _ => Ok(false),
        }
    }

    /// The note beside a file, if there is one and the file still is what the note says.
    pub fn noted(&self, path: &Path) -> Result<Option<Note>> {
        let note = note_path(path);
        if !note.exists() {
            return Ok(None);
        }
        let text = regular::read(&note, regular::TEXT)?;
        let Ok(note) = serde_json::from_slice::<Note>(&text) else { return Ok(None) };
        Ok(self.has(path, &note.sum())?.then_some(note))
    }

    /// Gives a finished file its final name, with a note beside it if it has one.
    pub fn install(&self, from: &Path, to: &Path, note: Option<&Note>) -> Result<()> {
        let fail = || format!("cannot write {}", clean_path(to));
        let beside = note_path(to);
        // The note goes first: a file whose note is about other bytes counts as absent.
        match note {
            Some(note) => {
                let fresh = from.with_extension("note");
                fs::write(&fresh, serde_json::to_vec_pretty(note)?).with_context(fail)?;
                fs::rename(&fresh, &beside).with_context(fail)?;
            }
            None => match fs::remove_file(&beside) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error).with_context(fail),
                _ => {}
            },
        }
        fs::rename(from, to).with_context(fail)
    }
}

fn note_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_counts_only_while_its_file_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("deep/cache"));
        cache.prepare().unwrap();
        let work = cache.scratch().unwrap();
        let fresh = work.path().join("x");
        fs::write(&fresh, b"abc").unwrap();
        let note = Note {
            bytes: 3,
            sha256: digest::sha256(b"abc"),
            about: "made by a test".into(),
            items: vec![1, 2],
        };
        let home = cache.file("x");
        cache.install(&fresh, &home, Some(&note)).unwrap();
        assert_eq!(cache.noted(&home).unwrap(), Some(note));
        fs::write(&home, b"abd").unwrap();
        assert_eq!(cache.noted(&home).unwrap(), None);
        fs::write(&fresh, b"abc").unwrap();
        cache.install(&fresh, &home, None).unwrap();
        assert_eq!(cache.noted(&home).unwrap(), None);
    }

    #[test]
    fn taking_the_lock_clears_what_an_interrupted_run_left() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        cache.prepare().unwrap();
        fs::create_dir(folder.path().join("tmp/left")).unwrap();
        fs::write(folder.path().join("tmp/half"), b"x").unwrap();
        let lock = cache.lock(&mut || panic!("nobody else is here")).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0);

        let (tell, told) = std::sync::mpsc::channel();
        let other = cache.clone();
        let waiter = std::thread::spawn(move || {
            other.lock(&mut || tell.send(()).unwrap()).unwrap();
        });
        told.recv().expect("the second run says that it waits");
        drop(lock);
        waiter.join().unwrap();
    }

    #[test]
    fn a_cache_that_cannot_be_made_says_where() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), b"").unwrap();
        let error = Cache::at(folder.path().join("file/cache")).prepare().unwrap_err();
        assert!(format!("{error:#}").contains("file/cache/archives"), "{error:#}");
    }
}
