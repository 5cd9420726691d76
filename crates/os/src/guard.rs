//! A program under guard: a server or a PHP-FPM pool with all the processes that it starts, none of which outlives the lab.
//!
//! Between the lab and the program stands a guard, this same program as `agent --guard`. It leads a session of its own, every orphan
//! below it becomes its child, and it learns of the lab's end, even by SIGKILL, because a pipe closes. Then it kills all that is
//! left, and removes the private directory. What happens here is the lab's half; [`warden`] is the guard's.

pub mod warden;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::group::Group;
use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::process::{LastLine, isolate, keep_log, open_log};
use crate::shelter::small_letters;
use crate::user::OwnUser;
use crate::{lifeline, ordinary};
use weigh_model::text::clean_bytes;

/// How long a guard may take to end everything and to clear up.
const CLEARING: Duration = Duration::from_secs(10);
/// How often a wait looks at the interrupt.
const GLANCE: Duration = Duration::from_millis(50);
/// Lines of the log that an error shows, and the bytes that they are looked for in.
const WORDS: usize = 5;
const TAIL: usize = 4096;
/// Environment variables that reach a guarded program.
const PASSED: [&str; 5] = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "USE_ZEND_ALLOC_HUGE_PAGES"];

/// Where private instances live, and what they may take: the same for servers and pools.
#[derive(Clone, Debug)]
pub struct LaunchContext {
    /// The folder in which each makes its own directory, mode 0700.
    pub root: PathBuf,
    /// Where stderr is kept (the first MiB of each start).
    pub log: PathBuf,
    /// How long a start may take.
    pub limit: Duration,
    /// A start does not go on when the user wants an end.
    pub interrupt: Interrupt,
    /// The guard's program: this same program, except in tests.
    pub launcher: OsString,
    /// Who runs what is started here; none: the lab's own user, without root's privileges if it is available.
    pub user: Option<OwnUser>,
    /// Folders that a program of such a user finds at their own paths, read-only, wherever they lie; see [`crate::mounts`].
    pub shown: Vec<PathBuf>,
}

impl LaunchContext {
    /// A place below `root`, with a start limit of 20 s.
    pub fn new(root: impl Into<PathBuf>, log: impl Into<PathBuf>) -> LaunchContext {
        let launcher = lifeline::this_program();
        let (limit, interrupt) = (Duration::from_secs(20), Interrupt::new());
        LaunchContext {
            root: root.into(),
            log: log.into(),
            limit,
            interrupt,
            launcher,
            user: None,
            shown: Vec::new(),
        }
    }

    /// The same for programs of this user, who owns the root.
    #[must_use]
    pub fn of(self, user: Option<OwnUser>) -> LaunchContext {
        LaunchContext { user, ..self }
    }

    /// The same for programs that are shown these folders.
    #[must_use]
    pub fn showing(self, folders: &[PathBuf]) -> LaunchContext {
        LaunchContext { shown: folders.to_vec(), ..self }
    }

    /// Whether what is started here runs as root with all that belongs to it.
    pub fn is_real_root(&self) -> bool {
        self.user.is_none() && ordinary::is_real_root(&self.launcher)
    }

    /// Gives a directory that was made for a program to who runs it: once, for then it is theirs.
    fn give(&self, dir: &Path) -> io::Result<()> {
        let is_given = |user: OwnUser| dir.symlink_metadata().map(|about| about.uid() == user.uid());
        match self.user {
            Some(user) if !is_given(user)? => user.give(dir),
            _ => Ok(()),
        }
    }

    /// A new directory of mode 0700 that goes when it is dropped; a guard takes it over.
    pub fn directory(&self, name: &str) -> io::Result<tempfile::TempDir> {
        let root = self.root.canonicalize()?;
        // Short: the path of a unix socket may have 107 bytes.
        tempfile::Builder::new().prefix(&format!("{name}-{}", small_letters())).rand_bytes(0).tempdir_in(root)
    }
}

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program with its arguments; never a shell's affair.
    pub command: Vec<OsString>,
    /// Environment variables beside the fixed ones.
    pub env: Vec<(OsString, OsString)>,
    /// The processors that it is pinned to; empty: all.
    pub cpus: Vec<u32>,
}

/// The private directory of a program.
#[derive(Debug)]
pub enum Home<'a> {
    /// The guard's from now on, who removes it at the end.
    Given(tempfile::TempDir),
    /// The lab's; the guard removes it only when the lab ends first.
    Lent(&'a Path),
}

impl Home<'_> {
    fn path(&self) -> &Path {
        match self {
            Home::Given(dir) => dir.path(),
            Home::Lent(path) => path,
        }
    }
}

/// A running program with its guard. Dropping it kills all of it and removes its directory.
#[derive(Debug)]
pub struct Guarded {
    guard: Child,
    orders: Option<ChildStdin>,
    news: Receiver<String>,
    stderr: LastLine,
    ended: Option<String>,
    log: File,
    log_from: u64,
}

/// What a running program writes to its stderr.
#[derive(Debug)]
pub struct NewLines {
    log: File,
    at: u64,
}

impl NewLines {
    /// The lines since the last call, safe to print; of many the first.
    pub fn take(&mut self) -> Vec<String> {
        let mut bytes = [0; TAIL];
        let read = self.log.read_at(&mut bytes, self.at).unwrap_or(0);
        self.at = self.log.metadata().map_or(self.at, |data| data.len());
        let lines = bytes[..read].split(|b| *b == b'\n').map(clean_bytes);
        lines.filter(|line| !line.is_empty()).collect()
    }
}

impl Guarded {
    /// Starts a program in its directory.
    ///
    /// # Errors
    /// The log cannot be written, or the guard cannot be started. A program that is not there shows as one that ends at once.
    pub fn start(program: &Program, home: Home<'_>, place: &LaunchContext) -> io::Result<Guarded> {
        let at = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        place.give(home.path()).map_err(|error| at(home.path(), error))?;
        let log = open_log(&place.log)?;
        let log_from = log.metadata()?.len();
        let mut command = Command::new(&place.launcher);
        command.arg("agent").arg(match home {
            Home::Given(_) => warden::GIVEN,
            Home::Lent(_) => warden::LENT,
        });
        command.arg(home.path());
        let cpus: Vec<String> = program.cpus.iter().map(u32::to_string).collect();
        command.arg(if cpus.is_empty() { "-".into() } else { cpus.join(",") });
        command.arg(place.user.map_or_else(|| "-".into(), |user| user.to_string()));
        command.args(&place.shown).arg("--").args(&program.command);
        isolate(&mut command, &PASSED, &program.env);
        let mut guard = command.spawn().map_err(|error| at(Path::new(&place.launcher), error))?;
        let (Some(orders), Some(news), Some(stderr)) =
            (guard.stdin.take(), guard.stdout.take(), guard.stderr.take())
        else {
            return Err(io::Error::other("the guard has no pipes"));
        };
        if let Home::Given(dir) = home {
            let _ = dir.keep();
        }
        let (news, stderr) = (listen(news), keep_log(stderr, log.try_clone()?));
        Ok(Guarded { guard, orders: Some(orders), news, stderr, ended: None, log, log_from })
    }

    /// The meter of all its processes.
    pub fn group(&self) -> Group {
        Group::below(self.guard.id())
    }

    /// Whether the program itself still runs.
    pub fn is_alive(&mut self) -> bool {
        self.hear(Duration::ZERO);
        self.ended.is_none()
    }

    /// How it ended, `exit status: 1`; none while it runs.
    pub fn how_it_ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Sends a signal to the program itself.
    pub fn signal(&mut self, signal: rustix::process::Signal) {
        let byte = u8::try_from(signal.as_raw()).unwrap_or(0);
        if let Some(orders) = &mut self.orders {
            // A guard that no longer reads has ended.
            let _ = orders.write_all(&[byte]).and_then(|()| orders.flush());
        }
    }

    /// Waits until the program has ended by itself; whether it has.
    pub fn wait(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.ended.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.hear(left);
        }
        true
    }

    /// Asks it to end by `signal`, kills what has not after `patience`; whether it ended by itself.
    pub fn stop(mut self, signal: rustix::process::Signal, patience: Duration) -> bool {
        self.signal(signal);
        self.wait(patience)
    }

    /// The last lines of its stderr since it was started, safe to print, joined by ` / `; none when it said nothing.
    pub fn last_words(&self) -> Option<String> {
        if self.ended.is_some() {
            self.stderr.last();
        }
        let length = self.log.metadata().ok()?.len();
        let mut bytes = [0; TAIL];
        let from = self.log_from.max(length.saturating_sub(TAIL as u64));
        let read = self.log.read_at(&mut bytes, from).ok()?;
        let lines = bytes[..read].split(|b| *b == b'\n').map(clean_bytes).filter(|l| !l.is_empty());
        let lines: Vec<String> = lines.collect();
        let last = &lines[lines.len().saturating_sub(WORDS)..];
        (!last.is_empty()).then(|| last.join(" / "))
    }

    /// What it writes to its stderr from now on; none when that may not be read.
    pub fn new_lines(&self) -> Option<NewLines> {
        Some(NewLines { at: self.log.metadata().ok()?.len(), log: self.log.try_clone().ok()? })
    }

    /// Takes in what the guard says within `patience`.
    fn hear(&mut self, patience: Duration) {
        if self.ended.is_some() {
            return;
        }
        match self.news.recv_timeout(patience) {
            Ok(how) => self.ended = Some(how),
            Err(RecvTimeoutError::Disconnected) => self.ended = Some("its guard was killed".into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.orders = None;
        let deadline = Instant::now() + CLEARING;
        while Instant::now() < deadline {
            if !matches!(self.guard.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // A guard that does not do its duty: its work is done here, as far as it can be.
        self.group().kill();
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

/// The guard's one line: how the program ended.
fn listen(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout.take(1000)).read_line(&mut line);
        if read.is_ok_and(|n| n > 0) {
            let _ = sender.send(clean_bytes(line.as_bytes()));
        }
    });
    receiver
}

/// Runs a program under guard in a directory to its end; how it ended, and its last words.
///
/// # Errors
/// As [`Guarded::start`], and that it had not ended after the place's limit.
pub fn run(program: &Program, dir: &Path, place: &LaunchContext) -> io::Result<(String, Option<String>)> {
    let mut guarded = Guarded::start(program, Home::Lent(dir), place)?;
    let deadline = Instant::now() + place.limit;
    while !guarded.wait(GLANCE.min(deadline.saturating_duration_since(Instant::now()))) {
        if place.interrupt.is_set() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, INTERRUPTED));
        }
        if Instant::now() < deadline {
            continue;
        }
        let limit = place.limit.as_secs();
        return Err(io::Error::new(io::ErrorKind::TimedOut, format!("had not ended after {limit} s")));
    }
    let how = guarded.ended.clone().unwrap_or_default();
    Ok((how, guarded.last_words()))
}
