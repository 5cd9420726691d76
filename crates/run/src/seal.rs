//! What shows that a run was begun here, by this user: a digest of its plan with a secret of this user's cache. A run that came from elsewhere, or
//! whose plan was changed, has none that fits.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use weigh_content::cache::Cache;
use weigh_model::text::clean_path;
use weigh_os::digest::{hex, sha256};
use weigh_os::regular::{self, open_itself, whole};

/// The file of a run's plan.
pub const PLAN: &str = "plan.json";
/// The file in a run's folder.
const SEAL: &str = "seal";
/// The file in the cache.
const SECRET: &str = "secret";
/// Bytes of either file at most.
const LONGEST: u64 = 100;

/// Seals a run whose plan has this digest. Where the cache cannot be written there is no seal, and the run is resumed as one of others.
pub fn put(run: &Path, plan: &str) {
    let sealed = seal(plan, true).and_then(|seal| Ok(std::fs::write(run.join(SEAL), seal)?));
    drop(sealed);
}

/// Whether the run in a folder, whose plan has this digest, was begun here.
pub fn fits(run: &Path, plan: &str) -> bool {
    let kept = open_itself(run.join(SEAL)).and_then(|file| whole(file, LONGEST));
    kept.is_ok_and(|kept| seal(plan, false).is_ok_and(|seal| seal.as_bytes() == kept))
}

/// Whether the run in a folder was begun here, by the plan that lies there.
pub fn is_own(run: &Path) -> bool {
    regular::read(&run.join(PLAN), regular::RESULT).is_ok_and(|plan| fits(run, &sha256(&plan)))
}

fn seal(plan: &str, makes: bool) -> Result<String> {
    let path = Cache::default_folder().context("no home folder")?.join(SECRET);
    let file = match open_itself(&path) {
        Err(error) if makes && error.kind() == ErrorKind::NotFound => {
            make(&path).and_then(|()| Ok(open_itself(&path)?))?
        }
        file => file?,
    };
    let about = file.metadata()?;
    let is_own = about.uid() == rustix::process::geteuid().as_raw() && about.mode() & 0o077 == 0;
    ensure!(is_own, "{}: others may know it", clean_path(&path));
    Ok(sha256(&[&whole(file, LONGEST)?, plan.as_bytes()].concat()))
}

/// Makes the secret, unless another process does so at the same time.
fn make(path: &Path) -> Result<()> {
    let folder = path.parent().context("no folder")?;
    std::fs::create_dir_all(folder)?;
    let mut draft = tempfile::NamedTempFile::new_in(folder)?;
    draft.write_all(hex(rand::random::<[u8; 32]>()).as_bytes())?;
    match draft.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error.into()),
        _ => Ok(()),
    }
}
