//! The folders of a run: a tree and where its variants go.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use weigh_model::text::clean_path;

/// A folder as the file system knows it.
///
/// # Errors
/// One line: it is not a folder.
pub fn real(folder: &Path) -> Result<PathBuf> {
    let named = clean_path(folder);
    ensure!(folder.exists(), "{named}: there is no such folder");
    ensure!(folder.is_dir(), "{named} is no folder; name the folder whose files are to be packed");
    folder.canonicalize().with_context(|| format!("{named}: cannot be opened"))
}

/// The folders of a tree and of its variants, as the file system knows them.
///
/// # Errors
/// One line: which is not a folder.
pub(super) fn folders(tree: &Path, out: Option<&Path>, makes: bool) -> Result<(PathBuf, PathBuf)> {
    let root = real(tree)?;
    let Some(out) = out else { return Ok((root.clone(), root)) };
    if makes && !out.exists() {
        let made =
            fs::create_dir(out).and_then(|()| fs::set_permissions(out, root.metadata()?.permissions()));
        made.with_context(|| format!("{}: cannot be made", clean_path(out)))?;
    }
    Ok((root, real(out)?))
}
