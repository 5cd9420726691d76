//! A program that the lab runs to its end: package clients, a PHP that is asked for its version, a profiler. Each has a deadline, and what is
//! kept of what it says a bound.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::regular;
use weigh_model::text::clean_path;

/// How often a wait looks at its child, the clock and the user's wish.
const GLANCE: Duration = Duration::from_millis(2);
/// How long a program may take to answer a question, unless `WEIGH_PATIENCE` says it.
const PATIENCE: f64 = 15.0;
/// Bytes that are kept of each output.
const KEPT: usize = 1 << 20;

/// Programs that did not answer in time: nobody waits for one twice.
static HUNG: Mutex<BTreeSet<OsString>> = Mutex::new(BTreeSet::new());

#[derive(Debug)]
pub struct Ended {
    /// None: it ran out of time.
    pub status: Option<ExitStatus>,
    /// At most a megabyte.
    pub stdout: String,
    /// At most a megabyte.
    pub stderr: String,
}

impl Ended {
    /// Whether it ended by itself, and well.
    pub fn is_fine(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }
}

/// Runs a program to its end or until `patience` is over; then it and all it started are killed. Of each output at most a megabyte
/// comes back.
///
/// # Errors
/// It cannot be started, or a signal that is caught ended the wait.
pub fn run_within(command: &mut Command, patience: Duration) -> io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn()?;
    let mut out = CapturedOutput::of(child.stdout.take())?;
    let mut err = CapturedOutput::of(child.stderr.take())?;
    let listen = || {
        out.take_in();
        err.take_in();
    };
    let deadline = Instant::now() + patience;
    let status = Interrupt::or_end(|interrupt| wait_listening(&mut child, deadline, interrupt, listen))??;
    Ok(Ended { status, stdout: out.text(), stderr: err.text() })
}

/// What a program says of itself, or carries out in a moment: it ended in time, well or not.
///
/// # Errors
/// One line that names the program: it cannot be started, or does not answer in time, now or when it was asked before.
pub fn answer(command: &mut Command) -> io::Result<Ended> {
    let name = named(command);
    let shown = clean_path(Path::new(&name));
    let late = || io::Error::new(ErrorKind::TimedOut, format!("{shown} {}", no_answer()));
    if HUNG.lock().unwrap_or_else(PoisonError::into_inner).contains(&name) {
        return Err(late());
    }
    let ended = run_within(command, patience())
        .map_err(|error| io::Error::new(error.kind(), format!("{shown} cannot be started: {error}")))?;
    if ended.status.is_none() {
        HUNG.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        return Err(late());
    }
    Ok(ended)
}

/// Programs that did not answer in time, each with that in words.
pub fn hung() -> Vec<(PathBuf, String)> {
    let known = HUNG.lock().unwrap_or_else(PoisonError::into_inner);
    known.iter().map(|program| (program.into(), no_answer())).collect()
}

fn no_answer() -> String {
    format!("did not answer within {} s", patience().as_secs_f64())
}

/// How long a program may take to answer a question.
pub fn patience() -> Duration {
    let set = std::env::var("WEIGH_PATIENCE").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs_f64(set.filter(|seconds| (0.001..=3600.0).contains(seconds)).unwrap_or(PATIENCE))
}

/// The program; behind a loader it is the third argument.
fn named(command: &Command) -> OsString {
    let is_loaded = command.get_args().next().is_some_and(|word| word == "--library-path");
    let behind_loader = command.get_args().nth(2).filter(|_| is_loaded);
    behind_loader.unwrap_or(command.get_program()).to_owned()
}

/// What a program says on one of its outputs. All of it is read, so that it goes on; what has no end ends with its time.
struct CapturedOutput<P> {
    pipe: Option<P>,
    kept: Vec<u8>,
    chunk: Vec<u8>,
}

impl<P: Read + AsFd> CapturedOutput<P> {
    fn of(pipe: Option<P>) -> io::Result<CapturedOutput<P>> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(CapturedOutput { pipe, kept: Vec::new(), chunk: vec![0; 64 << 10] })
    }

    /// Takes in what there is by now; of a flood so much that the clock is still looked at.
    fn take_in(&mut self) {
        for _ in 0..32 {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut self.chunk) {
                Ok(0) => self.pipe = None,
                Ok(read) => self.kept.extend_from_slice(&self.chunk[..read.min(KEPT - self.kept.len())]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

/// Waits for a child that leads a group, until `deadline` (none) or until the user wants an end; then all of the group is killed.
///
/// # Errors
/// It cannot be waited for, or the user wants an end.
pub fn wait(child: &mut Child, deadline: Instant, interrupt: &Interrupt) -> io::Result<Option<ExitStatus>> {
    wait_listening(child, deadline, interrupt, || {})
}

fn wait_listening(
    child: &mut Child,
    deadline: Instant,
    interrupt: &Interrupt,
    mut listen: impl FnMut(),
) -> io::Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait()?;
        listen();
        if status.is_some() {
            return Ok(status);
        }
        let is_interrupted = interrupt.is_set();
        if is_interrupted || Instant::now() >= deadline {
            kill_group(child.id());
            child.wait()?;
            return if is_interrupted { Err(io::Error::other(INTERRUPTED)) } else { Ok(None) };
        }
        std::thread::sleep(GLANCE);
    }
}

/// How a program ended, in words: also that the kernel ended it, where memory was short since this program began to start others.
pub fn how(status: ExitStatus) -> String {
    describe_exit(status, *SHORT_OF_MEMORY, short_of_memory())
}

/// How often the kernel had ended a process for want of memory when this was asked first: where the first program is started.
pub static SHORT_OF_MEMORY: LazyLock<Option<u64>> = LazyLock::new(short_of_memory);

fn short_of_memory() -> Option<u64> {
    let all = regular::system("/proc/vmstat").ok()?;
    all.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

fn describe_exit(status: ExitStatus, before: Option<u64>, now: Option<u64>) -> String {
    let is_short = status.signal() == Some(Signal::KILL.as_raw()) && before.is_some() && now > before;
    let why = if is_short { ": the kernel ended it, as memory was short" } else { "" };
    format!("{status}{why}")
}

/// Kills a process and all of the group that it leads. What has ended already cannot be killed.
pub fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child that leads a group and does not end by itself.
    fn endless() -> Child {
        Command::new("sleep").arg("1000").process_group(0).spawn().unwrap()
    }

    #[test]
    fn a_child_is_waited_for_until_it_ends_its_time_is_over_or_the_user_wants_an_end() {
        let (interrupt, never) = (Interrupt::new(), Instant::now() + Duration::from_secs(1000));
        let mut short = Command::new("true").process_group(0).spawn().unwrap();
        assert!(wait(&mut short, never, &interrupt).unwrap().unwrap().success());
        let mut late = endless();
        assert_eq!(wait(&mut late, Instant::now(), &interrupt).unwrap(), None);
        assert!(late.try_wait().unwrap().is_some(), "it was killed");
        interrupt.set();
        let mut unwanted = endless();
        assert_eq!(wait(&mut unwanted, never, &interrupt).unwrap_err().to_string(), INTERRUPTED);
        assert!(unwanted.try_wait().unwrap().is_some(), "it was killed");
    }

    #[test]
    fn what_a_program_does_ends_in_time_and_within_bounds() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let long = Duration::from_secs(600);
        let said = run_within(&mut shell("echo out; echo err >&2; exit 3"), long).unwrap();
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(said.status.unwrap().code(), Some(3));
        // What stays behind with the pipe is not waited for.
        assert!(run_within(&mut shell("sleep 1000 & echo x"), long).unwrap().is_fine());
        let flood = run_within(&mut shell("head -c 9000000 /dev/zero"), long).unwrap();
        assert_eq!((flood.is_fine(), flood.stdout.len()), (true, KEPT));
        let short = Duration::from_millis(300);
        for endless in ["sleep 1000", "exec yes", "yes >&2", "trap '' TERM INT; while :; do :; done"] {
            let ended = run_within(&mut shell(endless), short).unwrap();
            assert!(ended.status.is_none() && ended.stdout.len() <= KEPT && ended.stderr.len() <= KEPT);
        }
    }

    #[test]
    fn a_child_that_the_kernel_ended_for_want_of_memory_is_said_to_be() {
        let killed = ExitStatus::from_raw(9);
        assert_eq!(
            describe_exit(killed, Some(3), Some(4)),
            "signal: 9 (SIGKILL): the kernel ended it, as memory was short"
        );
        for (before, now) in [(Some(3), Some(3)), (None, Some(4)), (None, None)] {
            assert_eq!(describe_exit(killed, before, now), "signal: 9 (SIGKILL)");
        }
        assert_eq!(describe_exit(ExitStatus::from_raw(256), Some(3), Some(4)), "exit status: 1");
    }

    #[test]
    fn an_error_names_its_program_behind_a_loader_too() {
        let error = answer(&mut Command::new("/nonexistent/nginx")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().starts_with("/nonexistent/nginx cannot be started: "), "{error}");
        let mut loaded = Command::new("ld.so");
        loaded.args(["--library-path", "lib", "php", "-v"]);
        assert_eq!(named(&loaded), "php");
    }
}
