//! A folder of files that is written whole or not at all: beside its place first, for its owner alone, and renamed when it is complete.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use weigh_model::text::clean_path;

/// Writes files, by their paths below the folder, and puts the folder in its place. What stands there is replaced, and stays if
/// something cannot be written: whether it may be replaced is for the caller to ask.
///
/// # Errors
/// One line: the folder that cannot be written.
pub fn write(files: &[(PathBuf, String)], into: &Path) -> Result<()> {
    let doing = || format!("{}: cannot be written", clean_path(into));
    let full = std::path::absolute(into).with_context(doing)?;
    let parent = full.parent().with_context(doing)?;
    let draft = tempfile::Builder::new()
        .prefix(".weigh-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .with_context(doing)?;
    let (fresh, former) = (draft.path().join("new"), draft.path().join("former"));
    DirBuilder::new().mode(0o700).create(&fresh).with_context(doing)?;
    files.iter().try_for_each(|(name, text)| put(&fresh.join(name), text)).with_context(doing)?;
    let is_moved = full.symlink_metadata().is_ok();
    if is_moved {
        fs::rename(&full, &former).with_context(doing)?;
    }
    if let Err(error) = fs::rename(&fresh, &full) {
        if is_moved {
            let _ = fs::rename(&former, &full);
        }
        return Err(error).with_context(doing);
    }
    Ok(())
}

/// Writes a new file, whole or not at all; what has its name stays.
///
/// # Errors
/// One line: the file that cannot be written.
pub fn put_new(path: &Path, content: &[u8]) -> Result<()> {
    let doing = || format!("{}: cannot be written", clean_path(path));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new()
        .prefix(".weigh-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .with_context(doing)?;
    draft.write_all(content).with_context(doing)?;
    draft.persist_noclobber(path).with_context(doing)?;
    Ok(())
}

fn put(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_replaced_whole_and_stays_if_something_cannot_be_written() {
        let home = tempfile::tempdir().unwrap();
        let into = home.path().join("advice");
        let files = |names: &[&str]| -> Vec<(PathBuf, String)> {
            names.iter().map(|name| (PathBuf::from(name), "text".to_owned())).collect()
        };
        write(&files(&["a", "sub/b"]), &into).unwrap();
        write(&files(&["c"]), &into).unwrap();
        assert!(into.join("c").is_file() && !into.join("a").exists());
        // The same file twice cannot be.
        assert!(write(&files(&["d", "d"]), &into).is_err());
        assert!(into.join("c").is_file() && !into.join("d").exists());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing else is left");
    }
}
