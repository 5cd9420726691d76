//! `perf record` around PHP: what its C functions spend, where the kernel permits it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Tool;
use crate::command::{answer, wait};
use crate::interrupt::Interrupt;
use crate::rig::process::Invocation;
use crate::shelter::Shelter;

/// The longest that it may take to read what it recorded.
const READING: Duration = Duration::from_secs(600);
const DATA: &str = "perf.data";

/// The version, when it may record; else why not.
pub(super) fn version() -> Result<String, String> {
    let work = Shelter::new().map_err(|e| format!("no temporary folder: {e}"))?;
    let say = answer(Command::new("perf").arg("--version")).map_err(|error| error.to_string())?;
    let mut record = Command::new("perf");
    record.args(["record", "-q", "-g", "-o"]).arg(work.path().join(DATA)).args(["--", "true"]);
    let tried = answer(&mut record).map_err(|e| e.to_string())?;
    if !tried.is_fine() {
        let said = tried.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        return Err(format!("perf may not record: {}", said.trim()));
    }
    Ok(say.stdout.trim().trim_start_matches("perf version ").to_owned())
}

pub(super) fn invocation(place: &Path) -> Invocation {
    let mut before: Vec<_> = ["perf", "record", "-q", "-g", "-F", "999", "-o"].map(Into::into).to_vec();
    before.extend([place.join(DATA).into_os_string(), "--".into()]);
    Invocation { before, ..Tool::plain() }
}

/// What was recorded, as text.
pub(super) fn written(place: &Path, interrupt: &Interrupt) -> Result<PathBuf> {
    let text = place.join("perf.txt");
    let mut command = Command::new("perf");
    command.args(["script", "-F", "comm,pid,time,event,ip,sym,dso", "-i"]).arg(place.join(DATA));
    command.stdin(Stdio::null()).stdout(File::create(&text)?).stderr(Stdio::null());
    let mut child = command.process_group(0).spawn().context("perf script cannot be started")?;
    let status = wait(&mut child, Instant::now() + READING, interrupt).context("perf script")?;
    let Some(status) = status else {
        bail!("perf script did not read what perf recorded within {} s", READING.as_secs());
    };
    if !status.success() {
        bail!("perf script cannot read what perf recorded: {status}");
    }
    Ok(text)
}
