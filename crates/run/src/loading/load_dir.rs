//! The directory of a load run: the plan before it is carried out, the blocks as they come, and the document at the end,
//! so that nothing that was seen is thrown away.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde::Serialize;
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

/// A directory that this run writes.
#[derive(Debug)]
pub struct LoadDir {
    root: PathBuf,
    blocks: File,
}

/// A line of `blocks.ndjson`.
#[derive(Debug, Serialize)]
struct Block<'a> {
    plan: &'a LoadPlan,
    result: &'a LoadResult,
}

impl LoadDir {
    pub fn create(root: &Path) -> Result<LoadDir> {
        let doing = || format!("{}: the run directory cannot be created", root.display());
        let used = fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some());
        ensure!(!used, "{}: there are files in it already; give another directory", root.display());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(root).with_context(doing)?;
        let blocks = OpenOptions::new().append(true).create_new(true).open(root.join("blocks.ndjson"));
        Ok(LoadDir { root: root.to_owned(), blocks: blocks.with_context(doing)? })
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Where the agent's stderr goes.
    pub fn log(&self) -> PathBuf {
        self.root.join("agent.log")
    }

    /// Keeps a block that was carried out.
    pub fn keep(&mut self, plan: &LoadPlan, result: &LoadResult) -> Result<()> {
        let mut line = serde_json::to_vec(&Block { plan, result })?;
        line.push(b'\n');
        self.blocks.write_all(&line).with_context(|| format!("{}: cannot be written", self.root.display()))
    }

    /// Removes what was written, unless a block was carried out already: there is nothing to keep.
    pub fn discard(&self) {
        if self.blocks.metadata().is_ok_and(|blocks| blocks.len() > 0) {
            return;
        }
        for name in ["plan.json", "blocks.ndjson", "agent.log", "target.log"] {
            // What cannot be removed, or is not there, does no harm.
            let _ = fs::remove_file(self.root.join(name));
        }
        let _ = fs::remove_dir(&self.root);
        let _ = self.root.parent().map(fs::remove_dir);
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.root.join(name);
        write(&path, bytes)?;
        Ok(path)
    }
}

/// Makes sure that a file can be written, before anything is measured for it. Devices and pipes are left alone.
pub fn can_write(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Ok(());
    }
    ensure!(!path.is_dir(), "{}: cannot be written: it is a folder", path.display());
    ensure!(
        folder.is_dir(),
        "{}: cannot be written: there is no folder {}",
        path.display(),
        folder.display()
    );
    let tried = tempfile::NamedTempFile::new_in(folder);
    tried.map(drop).map_err(|error| anyhow!("{}: cannot be written: {}", path.display(), error.kind()))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file, whole or not at all. A device, a pipe or what a link leads to is written into: it stays what it is.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let doing = || format!("{}: cannot be written", path.display());
    if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        let opened = OpenOptions::new().write(true).open(path);
        return opened.and_then(|mut file| file.write_all(bytes)).with_context(doing);
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut draft = tempfile::NamedTempFile::new_in(folder_of(&path)).with_context(doing)?;
    draft.write_all(bytes).with_context(doing)?;
    draft.persist(&path).with_context(doing)?;
    Ok(())
}
