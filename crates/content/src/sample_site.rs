//! The sample site: an ordinary site made from the corpus, with a week of its access log, for those who have no site at hand.
//!
//! The document root, the scripts of its pages, its cached values, a configuration for each of nginx, Apache, lighttpd and Caddy. It leaves things to gain: gzip
//! at its lowest level on the fly, nothing precompressed, downloads through PHP, values uncompressed. The same seed makes the same files.

mod agents;
mod downloads;
mod files;
mod log;
mod pages;
mod traffic;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use include_dir::{Dir, include_dir};
use serde_json::json;

use super::library::Library;
use weigh_model::text::clean_path;
use weigh_os::shelter::Draft;
use weigh_os::template;

/// What is taken as it is, and the configurations, which are templates.
static FIXED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/embedded/corpus/sample");

/// Folders that web servers and PHP read.
const OF_THE_SERVER: [&str; 3] = ["public", "pages", "values"];

/// Lines of the log, broken ones among them.
pub const LINES: usize = 100_000;

/// The seed that is taken where none is given.
pub const SEED: u64 = 1;

#[derive(Debug)]
pub struct SampleSite {
    pub root: PathBuf,
    /// Files in the document root.
    pub files: usize,
    pub bytes: u64,
    pub values: usize,
    /// Lines of the log that are not requests.
    pub broken: usize,
    /// Contents of the corpus that synthetic ones stand for, because they are not in the cache.
    pub stand_ins: BTreeSet<String>,
}

/// Makes the site in a folder that is empty or not there.
///
/// # Errors
/// The folder holds something, or cannot be written; its path is none that a configuration can hold.
pub fn make(library: &Library, dir: &Path, seed: u64) -> Result<SampleSite> {
    let root = std::path::absolute(dir).with_context(|| format!("cannot find {}", clean_path(dir)))?;
    if fs::read_dir(&root).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty: name a new folder for the sample site", clean_path(dir));
    }
    let fail = || format!("cannot write {}", clean_path(dir));
    let (Some(parent), Some(_)) = (root.parent(), root.file_name()) else { bail!(fail()) };
    fs::create_dir_all(parent).with_context(fail)?;
    let draft = Draft::beside(parent, ".sample-site-", "").with_context(fail)?;
    let site = fill(library, draft.path(), &root, seed)?;
    fs::rename(draft.path(), &root).with_context(fail)?;
    draft.keep();
    Ok(site)
}

/// Makes everything in `draft`; the configurations say that it is in `root`.
fn fill(library: &Library, draft: &Path, root: &Path, seed: u64) -> Result<SampleSite> {
    fixed(&FIXED, draft, &template::path_text(root)?)?;
    let mut stand_ins = BTreeSet::new();
    let work = tempfile::tempdir_in(draft).context("no temporary folder")?;
    let mut stage = files::Stage::new(library, work.path(), &mut stand_ins);
    files::assets(&mut stage, &draft.join("public"))?;
    downloads::write(&mut stage, &draft.join("public/downloads"))?;
    let texts = files::texts(&mut stage, &draft.join("pages/content"))?;
    let values = files::values(&mut stage, &draft.join("values"))?;
    drop(work);
    let assets = json!({ "common": files::COMMON, "more": files::MORE });
    write(&draft.join("pages/assets.json"), serde_json::to_string_pretty(&assets)?.as_bytes())?;
    let served = files::served(&draft.join("public"))?;
    let hits = traffic::week(&served, &texts, LINES - broken(LINES), seed);
    log::write(&hits, broken(LINES), seed, &draft.join("log"))?;
    open(draft).with_context(|| format!("cannot write {}", clean_path(root)))?;
    Ok(SampleSite {
        root: root.to_owned(),
        files: served.len(),
        bytes: served.values().map(|size| size.plain).sum(),
        values,
        broken: broken(LINES),
        stand_ins,
    })
}

/// Lets the users of web servers and PHP read what they serve and run, as of any site; logs and configurations stay their owner's alone.
fn open(draft: &Path) -> Result<()> {
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set(draft, 0o711)?;
    for entry in OF_THE_SERVER.iter().flat_map(|folder| walkdir::WalkDir::new(draft.join(folder))) {
        let entry = entry?;
        set(entry.path(), if entry.file_type().is_dir() { 0o755 } else { 0o644 })?;
    }
    Ok(())
}

/// How many lines of a log are broken: one in a thousand.
fn broken(lines: usize) -> usize {
    lines / 1000
}

/// Writes the embedded files; configurations get the site's folder.
fn fixed(from: &Dir<'_>, into: &Path, root: &str) -> Result<()> {
    for file in from.files() {
        let text = file.contents_utf8().context("an embedded file is no text")?;
        let name = file.path().to_string_lossy();
        let rendered = if name.ends_with(".conf") || name == "Caddyfile" {
            template::render(&name, text, json!({ "root": root }))?
        } else {
            text.to_owned()
        };
        write(&into.join(file.path()), rendered.as_bytes())?;
    }
    from.dirs().try_for_each(|folder| fixed(folder, into, root))
}

/// Writes a file, and the folders above it.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    let fail = || format!("cannot write {}", clean_path(path));
    path.parent().map_or(Ok(()), fs::create_dir_all).with_context(fail)?;
    fs::write(path, content).with_context(fail)
}

#[cfg(test)]
mod tests;
