//! The files of a tree, folder by folder in the order of their names. Memory is that of the names of the folders on the way.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::names::{is_draft, is_own, variant_of};
use super::source::Source;
use weigh_os::permissions::is_open_to_all;

#[derive(Debug)]
pub enum TreeEntry {
    /// A file that may have variants.
    Source(Source),
    /// A file that a killed run left, below the tree.
    Draft(PathBuf),
    /// A link that leads out of the tree to what not everybody may read, to a folder, or nowhere: it is not followed.
    Link(PathBuf),
    /// A folder, before its files.
    Folder(PathBuf),
    /// What has no variants, below the tree, and why.
    LeftOut(PathBuf, &'static str),
    /// What has the name of a variant of a file beside it, below the tree.
    Variant(PathBuf),
    /// What cannot be looked at, below the tree.
    Failed(PathBuf, io::Error),
}

/// Folders that no server sends, but for this one.
const SENT: &str = ".well-known";

/// Walks a tree, with the folder that `skip` names left out.
///
/// # Errors
/// Those of `see`.
pub fn walk<E>(
    root: &Path,
    skip: Option<&Path>,
    see: &mut dyn FnMut(TreeEntry) -> Result<(), E>,
) -> Result<(), E> {
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let folder = root.join(&below);
        if skip == Some(folder.as_path()) {
            continue;
        }
        let mut names = match names(&folder) {
            Ok(names) => names,
            Err(error) => {
                see(TreeEntry::Failed(below, error))?;
                continue;
            }
        };
        see(TreeEntry::Folder(folder.clone()))?;
        names.sort();
        let first = folders.len();
        for name in names {
            let path = below.join(&name);
            match inspect_entry(root, &path, &name) {
                Ok(Some(Found::Folder)) => folders.push(path),
                Ok(Some(Found::Entry(met))) => see(met)?,
                Ok(None) => {}
                Err(error) => see(TreeEntry::Failed(path, error))?,
            }
        }
        folders[first..].reverse();
    }
    Ok(())
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

enum Found {
    Folder,
    Entry(TreeEntry),
}

fn inspect_entry(root: &Path, path: &Path, name: &OsString) -> io::Result<Option<Found>> {
    let full = root.join(path);
    let is_hidden = name.as_encoded_bytes().starts_with(b".");
    if is_hidden && name != SENT {
        // The manifest and the lock are nobody's business.
        let left_out = || (!is_own(name)).then(|| TreeEntry::LeftOut(path.to_owned(), "hidden"));
        let met = if is_draft(name) { Some(TreeEntry::Draft(path.to_owned())) } else { left_out() };
        return Ok(met.map(Found::Entry));
    }
    let met = |met| Ok(Some(Found::Entry(met)));
    let file = |meta: &Metadata| {
        met(match (variant_of(path), Source::of(path, meta)) {
            (Some(source), _) if root.join(&source).exists() => TreeEntry::Variant(path.to_owned()),
            (Some(_), _) => TreeEntry::LeftOut(
                path.to_owned(),
                "precompressed by its name, with no file beside it that it is of",
            ),
            (None, Ok(source)) => TreeEntry::Source(source),
            (None, Err(why)) => TreeEntry::LeftOut(path.to_owned(), why),
        })
    };
    let meta = full.symlink_metadata()?;
    if meta.is_dir() {
        return Ok(Some(Found::Folder));
    }
    if meta.is_file() {
        return file(&meta);
    }
    if !meta.is_symlink() {
        return met(TreeEntry::LeftOut(path.to_owned(), "a socket, a pipe or a device"));
    }
    // A link to a file of the tree, or to one that everybody may read, is sent under its own name, and has variants of its own.
    match (full.canonicalize(), fs::metadata(&full)) {
        (Ok(to), Ok(meta)) if meta.is_file() && (to.starts_with(root) || is_open_to_all(&to)) => file(&meta),
        _ => met(TreeEntry::Link(path.to_owned())),
    }
}

/// The drafts in a folder of a tree that mirrors another, by their paths below the tree.
pub fn drafts(tree: &Path, folder: &Path) -> Vec<PathBuf> {
    let names = names(&tree.join(folder)).unwrap_or_default();
    names.into_iter().filter(|name| is_draft(name)).map(|name| folder.join(name)).collect()
}
