//! A script under a profiler: run once for its profile, and then in pairs, plain and profiled in turn, for what profiling
//! costs.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
use weigh_stats::{Rule, median};

use super::tools::{Tool, UNSET};
use weigh_answer::profile::document::{Overhead, Run};
use weigh_model::profile::Profile;
use weigh_os::command::wait;
use weigh_os::group::Group;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::process::Invocation;
use weigh_os::shelter::Shelter;
use weigh_os::{lifeline, umask};
use weigh_rig::runtime::PhpRuntime;

/// How long what a script left behind may take to end.
const CLEARING: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Script<'a> {
    pub php: &'a PhpRuntime,
    pub tool: &'a Tool,
    /// The script and its arguments.
    pub words: &'a [OsString],
    /// All runs together may take this long.
    pub limit: Duration,
    /// Pairs of a plain and a profiled run; 0: what profiling costs is not measured, and the script runs once.
    pub pairs: usize,
}

#[derive(Debug)]
pub struct Profiled {
    pub profile: Profile,
    pub run: Run,
    pub file: PrivateFile,
}

/// A profiler's file in a private folder, which goes when this is dropped.
#[derive(Debug)]
pub struct PrivateFile {
    file: PathBuf,
    _place: Shelter,
}

impl PrivateFile {
    /// `file` lies in `place`.
    pub fn new(file: PathBuf, place: Shelter) -> PrivateFile {
        PrivateFile { file, _place: place }
    }

    pub fn path(&self) -> &Path {
        &self.file
    }
}

struct End {
    /// None: its time was over, and it was ended.
    status: Option<ExitStatus>,
    cpu_seconds: f64,
    pid: u32,
}

impl Script<'_> {
    /// Runs it. What the script writes in the first run goes to stderr; further runs are silent.
    pub fn profile(&self, interrupt: &Interrupt) -> Result<Profiled> {
        let deadline = Instant::now() + self.limit;
        let place = Shelter::new().context("no temporary folder")?;
        let end = self.once(&self.tool.invocation(place.path()), false, deadline, interrupt)?;
        let ended = match end.status {
            Some(status) => status.to_string(),
            None => format!("ended after {} s, the limit", self.limit.as_secs_f64()),
        };
        let read = self.tool.output(place.path(), end.pid).and_then(|file| {
            let profile = self.tool.read(&file, interrupt)?;
            Ok((file, profile))
        });
        let (file, profile) = read.with_context(|| format!("{} left no profile ({ended})", self.php.name))?;
        let overhead = if end.status.is_some() { self.overhead(deadline, interrupt)? } else { None };
        let run = Run {
            php: self.php.name.clone(),
            version: self.php.version.clone(),
            profiler: format!("{} {}", self.tool.profiler.name(), self.tool.version),
            remark: self.tool.remark().map(str::to_owned),
            script: self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            ended,
            is_fine: end.status.is_some_and(|status| status.success()),
            overhead,
        };
        Ok(Profiled { profile, run, file: PrivateFile::new(file, place) })
    }

    /// Pairs of runs, as many as the time allows; which comes first changes from pair to pair.
    fn overhead(&self, deadline: Instant, interrupt: &Interrupt) -> Result<Option<Overhead>> {
        let (mut plain, mut profiled) = (Vec::new(), Vec::new());
        for pair in 0..self.pairs {
            let place = Shelter::new().context("no temporary folder")?;
            let ways = [Tool::plain(), self.tool.invocation(place.path())];
            let mut seconds = [0.0; 2];
            for way in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
                let end = self.once(&ways[way], true, deadline, interrupt)?;
                if end.status.is_none() {
                    return Ok(summed_up(plain, profiled));
                }
                seconds[way] = end.cpu_seconds;
            }
            plain.push(seconds[0]);
            profiled.push(seconds[1]);
        }
        Ok(summed_up(plain, profiled))
    }

    fn once(&self, on: &Invocation, silent: bool, deadline: Instant, interrupt: &Interrupt) -> Result<End> {
        let before = children_seconds()?;
        let doing = || format!("cannot start {}", self.php.name);
        // What it leaves behind becomes a child of this process, and ends with it.
        set_child_subreaper(Some(getpid())).with_context(doing)?;
        let others = Group::below(std::process::id()).processes();
        let mut child = lifeline::spawn(self.command(on, silent)).with_context(doing)?;
        let pid = child.id();
        let status = wait(&mut child, deadline, interrupt).with_context(doing);
        end_rest(&others);
        let status = status?;
        // Ctrl-C is the script's own affair only where it got the signal itself.
        if status.is_some_and(|s| s.signal() == Some(2)) && interrupt.is_set() {
            bail!(INTERRUPTED);
        }
        Ok(End { status, cpu_seconds: children_seconds()? - before, pid })
    }

    fn command(&self, on: &Invocation, silent: bool) -> Command {
        let mut command = umask::users_launcher();
        command.args(&self.php.cli).args(&on.arguments).args(self.words);
        UNSET.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.envs(on.environment.iter().cloned()).stdin(Stdio::null()).process_group(0);
        if silent {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        } else {
            // The script's output is not part of ours.
            command.stdout(io::stderr()).stderr(Stdio::inherit());
        }
        command
    }
}

/// Ends the processes below this one that were not there before.
fn end_rest(before: &[u32]) {
    let deadline = Instant::now() + CLEARING;
    while Instant::now() < deadline {
        let all = Group::below(std::process::id()).processes();
        let rest = all.into_iter().filter(|id| !before.contains(id));
        let rest: Vec<Pid> = rest.filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?)).collect();
        if rest.is_empty() {
            return;
        }
        for id in rest {
            // One that has ended is waited for; others are not this process's children yet.
            let _ = kill_process(id, Signal::KILL);
            let _ = waitpid(Some(id), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// CPU seconds of all children that have ended, with what they waited for.
fn children_seconds() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("the kernel does not tell CPU times")?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// What pairs of plain and profiled CPU seconds say; none without a pair.
pub fn summed_up(plain: Vec<f64>, profiled: Vec<f64>) -> Option<Overhead> {
    if plain.is_empty() {
        return None;
    }
    let pairs: Vec<(f64, f64)> = profiled.iter().copied().zip(plain.iter().copied()).collect();
    let middle = median(&pairs.iter().map(|(a, b)| a / b).collect::<Vec<_>>());
    let ratio = middle.and_then(|middle| Rule::ALONE.compare(pairs, middle));
    Some(Overhead {
        plain_seconds: plain,
        profiled_seconds: profiled,
        ratio: ratio.map(|r| r.value),
        low: ratio.map(|r| r.low),
        high: ratio.map(|r| r.high),
    })
}
