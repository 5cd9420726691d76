//! The folder of fetched runtimes: who may change it, what is removed from it, and which names are free.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::rig::runtime::{self, prefixes, short_name};
use weigh_model::text::clean_path;

/// What a started but unfinished runtime's folder begins with.
pub(super) const DRAFT: &str = ".draft-";

/// Removes a fetched runtime, by the name it has in `folder`.
///
/// # Errors
/// There is none of that name, or it cannot be removed.
pub fn remove(name: &str, folder: &Path) -> Result<()> {
    let known = prefixes(folder);
    let Some((root, _)) = known.iter().find(|(_, prefix)| prefix.name == name) else {
        let names: Vec<&str> = known.iter().map(|(_, prefix)| prefix.name.as_str()).collect();
        let there = if names.is_empty() {
            "there is none".into()
        } else {
            format!("there are: {}", names.join(", "))
        };
        bail!("no fetched runtime is called `{name}`; {there}");
    };
    let _lock = lock(folder)?;
    // Out of sight first: what is removed in part must not be taken for a runtime.
    let gone = tempfile::Builder::new().prefix(DRAFT).tempdir_in(folder);
    let gone = gone.with_context(|| format!("cannot write in {}", clean_path(folder)))?;
    fs::rename(root, gone.path().join("gone"))
        .with_context(|| format!("cannot remove {}", clean_path(root)))?;
    gone.close().with_context(|| format!("cannot remove all of {name}"))
}

/// The right to change the folder; what an ended call left unfinished is cleared away.
pub(super) fn lock(folder: &Path) -> Result<File> {
    use rustix::fs::{FlockOperation, flock};
    let fail = || format!("cannot make the folder of runtimes {}", clean_path(folder));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(fail)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).with_context(fail)?;
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(".lock"));
    let file = file.with_context(fail)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!("another `weigh runtime` is at work in {}; wait until it has ended", clean_path(folder));
    }
    for entry in fs::read_dir(folder).with_context(fail)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(DRAFT) {
            fs::remove_dir_all(entry.path())
                .with_context(|| format!("cannot remove {}", clean_path(&entry.path())))?;
        }
    }
    Ok(file)
}

/// A name that no fetched runtime and no program on `PATH` has.
pub(super) fn free_name(version: &str, folder: &Path) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut taken: Vec<String> = prefixes(folder).into_iter().map(|(_, prefix)| prefix.name).collect();
    let short = short_name(version, &[]);
    if runtime::named(Path::new(&short), &path).is_some() {
        taken.push(short);
    }
    short_name(version, &taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_ended_call_left_is_cleared_and_two_do_not_work_at_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".draft-x")).unwrap();
        fs::create_dir(folder.path().join(".fetch-debian-trixie")).unwrap();
        let held = lock(folder.path()).unwrap();
        assert!(!folder.path().join(".draft-x").exists());
        assert!(folder.path().join(".fetch-debian-trixie").exists(), "downloads are taken up again");
        assert!(lock(folder.path()).unwrap_err().to_string().contains("is at work"));
        drop(held);
        let error = remove("php8.4", folder.path()).unwrap_err().to_string();
        assert_eq!(error, "no fetched runtime is called `php8.4`; there is none");
    }
}
