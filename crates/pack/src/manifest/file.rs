//! Where a manifest is kept: beside its folder where that can be written.

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{Access, access};

use super::FORMER;
use crate::names::DRAFT;
use crate::sum::sum;
use weigh_model::text::clean_path;
use weigh_os::digest::hex;
use weigh_os::open_folder::OpenFolder;

/// The file that a manifest is kept in, its folder held open.
#[derive(Debug)]
pub struct ManifestFile {
    pub(super) folder: OpenFolder,
    pub(super) name: OsString,
}

impl ManifestFile {
    /// That of a folder whose path is resolved: beside it; where nothing can be written there, in the user's folder of state; of a user
    /// without a home, in the folder itself.
    ///
    /// # Errors
    /// One line: the folder that it is in cannot be opened.
    pub fn of(target: &Path) -> Result<ManifestFile> {
        let beside = target.parent().zip(target.file_name()).map(|(parent, own)| {
            let mut name = OsString::from(DRAFT.0);
            name.push(own);
            name.push(".ndjson");
            (parent.to_owned(), name)
        });
        let is_usable = |(parent, name): &(PathBuf, OsString)| {
            parent.join(name).exists() || access(parent, Access::WRITE_OK).is_ok()
        };
        let (folder, name) = match beside.filter(is_usable) {
            Some(beside) => beside,
            None => match state_folder() {
                Some(state) => {
                    (state, format!("{}.ndjson", hex(&sum(target.as_os_str().as_bytes())[..16])).into())
                }
                None => (target.to_owned(), FORMER.into()),
            },
        };
        let opened = OpenFolder::open(&folder);
        let folder = opened.with_context(|| format!("{}: cannot be opened", clean_path(&folder)))?;
        Ok(ManifestFile { folder, name })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// Removes it, and a former one in the folder itself.
    ///
    /// # Errors
    /// One line: which cannot be removed.
    pub fn remove(&self, target: &OpenFolder) -> Result<()> {
        remove(&self.folder, &self.name)?;
        remove(target, FORMER.as_ref())
    }
}

/// The user's folder of state, made where it is missing; none for a user without a home.
fn state_folder() -> Option<PathBuf> {
    let state = std::env::home_dir()?.join(".local/state/weighbridge/pack");
    DirBuilder::new().recursive(true).mode(0o700).create(&state).ok()?;
    Some(state)
}

pub(super) fn remove(folder: &OpenFolder, name: &OsStr) -> Result<()> {
    match folder.remove(name, false) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error)
            .with_context(|| format!("{}: cannot be removed", clean_path(&folder.path().join(name)))),
        _ => Ok(()),
    }
}
