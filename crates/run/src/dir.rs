//! The run directory: everything a run is, on disk. It appears whole or not at all, is written by one
//! process at a time, and can be read by anyone at any time.
//!
//! `run.json` (facts), `plan.json`, `records.ndjson` (the truth), `logs/` (stderr of each worker), `lock`, and
//! until the run is complete `payloads/` (the inputs, so that a resumed run sees the same content) and `scratch/`.

mod stored;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

pub use stored::{RunFile, SCHEMA, StoredRun, started};

use super::lock::Lock;
use super::seal;
use crate::log::{self, LogWriter};
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::record::Record;
use weigh_os::machine::Machine;
use weigh_os::shelter::Draft;
use weigh_os::{digest, regular};

/// The file of a run's records.
pub const RECORDS: &str = "records.ndjson";
/// The file of a run's facts: a folder that has it is a run.
pub const RUN: &str = "run.json";
pub use super::seal::PLAN;
const LOGS: &str = "logs";
const PAYLOADS: &str = "payloads";
const SCRATCH: &str = "scratch";
/// The folder of a run's report and pictures.
pub const REPORT: &str = "report";
const PROFILES: &str = "profiles";
const PARTIAL: &str = ".partial";

/// A run directory that this process writes.
#[derive(Debug)]
pub struct RunDir {
    root: PathBuf,
    stored: StoredRun,
    log: LogWriter,
    _lock: Lock,
}

impl RunDir {
    /// Creates the directory of a new run of `plan`, whose blobs are copied into it. `command` is the command
    /// line, for the record.
    ///
    /// # Errors
    /// The directory has files already, cannot be created, or a payload is not what the plan says.
    pub fn create(path: &Path, plan: Plan, command: Vec<String>) -> Result<RunDir> {
        RunDir::create_of(path, plan, command, Machine::query())
    }

    /// The same of a run on that machine.
    ///
    /// # Errors
    /// As [`RunDir::create`].
    pub fn create_of(path: &Path, mut plan: Plan, command: Vec<String>, machine: Machine) -> Result<RunDir> {
        plan.check()?;
        let root = std::path::absolute(path).with_context(|| format!("{}: no such place", path.display()))?;
        let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else {
            bail!("{}: not a directory that a run can be written to", path.display());
        };
        refuse_used(&root)?;
        let doing = || format!("{}: the run directory cannot be created", path.display());
        fs::create_dir_all(parent).with_context(doing)?;
        let partial = Draft::beside(parent, &format!(".{}.", name.display()), PARTIAL).with_context(doing)?;
        let lock = Lock::take(partial.path())?;
        for folder in [LOGS, PAYLOADS, SCRATCH] {
            fs::create_dir(partial.path().join(folder)).with_context(doing)?;
        }
        copy_payloads(&mut plan, partial.path())?;
        let plan_json = to_json(&plan)?;
        let file = RunFile::new(&plan, &plan_json, command, machine);
        write_whole(&partial.path().join(PLAN), &plan_json)?;
        write_whole(&partial.path().join(RUN), &to_json(&file)?)?;
        seal::put(partial.path(), &digest::sha256(&plan_json));
        LogWriter::open(&partial.path().join(RECORDS), 0)?.sync()?;
        if let Err(e) = fs::rename(partial.path(), &root) {
            refuse_used(&root)?;
            return Err(e).with_context(doing);
        }
        // It has its name now: nothing is left to clean up under the old one.
        partial.keep();
        sync_dir(parent);
        let log = LogWriter::open(&root.join(RECORDS), 0)?;
        Ok(RunDir {
            root,
            stored: StoredRun { path: path.to_owned(), file, plan, records: Vec::new(), torn_bytes: 0 },
            log,
            _lock: lock,
        })
    }

    /// Opens the directory of an interrupted run, to go on with it.
    ///
    /// # Errors
    /// It is not a run directory, is damaged, belongs to another version, is in use, cannot be written, or lacks a
    /// payload that is still needed.
    pub fn open(path: &Path) -> Result<RunDir> {
        let root = std::path::absolute(path).with_context(|| format!("{}: no such place", path.display()))?;
        // Says what is wrong with a directory that is none before a lock file is put into it.
        StoredRun::read(&root)?;
        refuse_links(&root)?;
        let lock = Lock::take(&root)?;
        let (stored, valid_bytes) = StoredRun::read_by(&root, |path, _| log::read(path))?;
        if !stored.is_complete() {
            verify_payloads(&stored.plan, &root)?;
            let scratch = root.join(SCRATCH);
            // What an interrupted visit left there.
            let _ = fs::remove_dir_all(&scratch);
            fs::create_dir_all(&scratch)
                .with_context(|| format!("{}: cannot be created", scratch.display()))?;
        }
        let log = LogWriter::open(&root.join(RECORDS), valid_bytes)?;
        Ok(RunDir { root, stored, log, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The facts in `run.json`.
    pub fn file(&self) -> &RunFile {
        &self.stored.file
    }

    /// The plan; its blobs are relative to the directory.
    pub fn plan(&self) -> &Plan {
        &self.stored.plan
    }

    pub fn records(&self) -> &[Record] {
        &self.stored.records
    }

    /// The run as it stands.
    pub fn stored(&self) -> &StoredRun {
        &self.stored
    }

    /// The folder of what workers, servers and pools say on stderr.
    pub fn logs(&self) -> PathBuf {
        self.root.join(LOGS)
    }

    /// A folder for files that do not outlive a visit, or the process that makes them.
    pub fn scratch(&self) -> PathBuf {
        self.root.join(SCRATCH)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// The log cannot be written; the record does not count then.
    pub fn append(&mut self, record: Record) -> Result<()> {
        self.log.append(&record)?;
        self.stored.records.push(record);
        Ok(())
    }

    /// Waits until everything appended is on the disk.
    pub fn sync(&self) -> Result<()> {
        Ok(self.log.sync()?)
    }

    /// The run is complete: removes what only measuring needs.
    pub fn finish(&self) {
        for folder in [PAYLOADS, SCRATCH] {
            // Left-overs cost space and nothing else.
            let _ = fs::remove_dir_all(self.root.join(folder));
        }
    }
}

/// Where, in a folder of logs, the stderr of the worker of that name is kept.
pub fn log_of(logs: &Path, worker: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = worker.chars().map(plain).collect();
    logs.join(format!("{}.log", name.trim_start_matches('.')))
}

/// Where a payload is kept, relative to the run directory.
pub fn kept(payload: &Payload) -> PathBuf {
    Path::new(PAYLOADS).join(&payload.sha256)
}

/// Copies every payload's blob into the run directory and lets the plan name the copies.
fn copy_payloads(plan: &mut Plan, root: &Path) -> Result<()> {
    for payload in &mut plan.payloads {
        let kept = kept(payload);
        if !root.join(&kept).exists() {
            copy_one(payload, &root.join(&kept))?;
        }
        payload.blob = kept;
    }
    Ok(())
}

fn copy_one(payload: &Payload, to: &Path) -> Result<()> {
    let from = payload.blob.display();
    let mut source = regular::open(&payload.blob).with_context(|| format!("{from}: cannot be read"))?;
    let doing = || format!("{}: cannot be written", to.display());
    let mut copy = fs::File::create_new(to).with_context(doing)?;
    let found = digest::copy(&mut source, &mut copy, u64::MAX).with_context(doing)?;
    ensure!(
        (found.bytes, &found.sha256) == (payload.bytes, &payload.sha256),
        "{from}: not the content that was planned (payload {}); plan again",
        payload.name
    );
    copy.sync_all().with_context(doing)
}

/// Makes sure that what is written goes into the run's own folders.
fn refuse_links(root: &Path) -> Result<()> {
    let folders = [LOGS, PAYLOADS, SCRATCH, REPORT, PROFILES].map(|name| root.join(name));
    match folders.iter().find(|folder| folder.is_symlink()) {
        Some(link) => {
            bail!("{}: a symbolic link, through which nothing is written; remove it to go on", link.display())
        }
        None => Ok(()),
    }
}

/// Makes sure that every payload is still there, by length; workers check the digests.
fn verify_payloads(plan: &Plan, root: &Path) -> Result<()> {
    for payload in &plan.payloads {
        let path = root.join(kept(payload));
        let is_digest =
            payload.sha256.len() == 64 && payload.sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        ensure!(
            is_digest && payload.blob == kept(payload),
            "{}: payload {} is none of the run's own; start a new run",
            root.join(PLAN).display(),
            payload.name
        );
        let found = path.symlink_metadata().map(|m| if m.is_file() { m.len() } else { 0 });
        if !found.is_ok_and(|length| length == payload.bytes) {
            bail!(
                "{}: payload {} is missing or cut, so this run cannot go on; start a new one (what it has \
                 measured can still be reported)",
                path.display(),
                payload.name
            );
        }
    }
    Ok(())
}

/// A directory with files in it is never written over.
///
/// # Errors
/// One line: what is in it, and what to do.
pub fn refuse_used(root: &Path) -> Result<()> {
    ensure!(!root.is_file(), "{}: not a folder; give another one for the run", root.display());
    let used = match fs::read_dir(root) {
        Ok(mut entries) => entries.next().is_some(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => false,
        Err(e) => bail!("{}: cannot be a run directory: {e}", root.display()),
    };
    if used && root.join(RUN).exists() {
        bail!(
            "{0}: there is a run already; go on with it (--resume {0}) or give another directory",
            root.display()
        );
    }
    ensure!(!used, "{}: there are files in it already; give another directory", root.display());
    Ok(())
}

fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(value).context("a plan that cannot be written as JSON")?;
    json.push(b'\n');
    Ok(json)
}

/// Writes a file that is on the disk when this returns; the directory around it is not in use yet.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        let mut file = fs::File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().with_context(|| format!("{}: cannot be written", path.display()))
}

fn sync_dir(path: &Path) {
    // A file system that cannot do this has its own way to be safe.
    let _ = regular::open_folder(path).and_then(|dir| dir.sync_all());
}
