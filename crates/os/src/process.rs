//! A worker process: started, spoken to by lines with time limits, and ended by handle.
//!
//! It knows lines, not what they mean: that is its caller's. Whatever a worker does (floods, hangs,
//! never reads its stdin, leaves children behind), no call here blocks past its limit or grows without bound.

mod body;
mod pipes;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;
use crate::lifeline;
use body::LocalChild;
pub use body::{Body, SharedWorkerHost, WorkerHost};
pub use pipes::OutputLine;
pub use pipes::{LastLine, NO_LOG, isolate, keep_log, open_log};

/// A reply may not be longer than this, where the spec says nothing else.
const LONGEST_LINE: usize = 16 << 20;
/// How often a wait looks at the interrupt.
const GLANCE: Duration = Duration::from_millis(50);
/// Environment variables that reach a worker: where programs and libraries are, and what changes PHP's memory.
const PASSED: [&str; 6] =
    ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "USE_ZEND_ALLOC", "USE_ZEND_ALLOC_HUGE_PAGES"];

/// The part of a command line that turns something on, such as a profiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Arguments of the program's own, before the script.
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

/// How to start a worker.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    /// The runtime's name, for messages.
    pub name: String,
    /// The program; never looked up by a shell.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Environment variables beside the fixed ones.
    pub env: Vec<(OsString, OsString)>,
    /// Where its stderr is kept (the first MiB of each start).
    pub log: PathBuf,
    /// The launcher: this same program, except in tests.
    pub launcher: OsString,
    /// The longest line that it may answer, in bytes.
    pub longest_line: usize,
    /// The network namespace that it runs in; none: the lab's own.
    pub network: Option<PathBuf>,
    /// The machine that it runs on, by this same program whatever `program` is; none: this one.
    pub elsewhere: Option<SharedWorkerHost>,
}

impl WorkerSpec {
    /// The native worker: this program as `agent`.
    pub fn native(name: impl Into<String>, log: PathBuf) -> WorkerSpec {
        WorkerSpec::program(name, lifeline::this_program(), vec!["agent".into()], log)
    }

    pub fn program(
        name: impl Into<String>,
        program: impl Into<OsString>,
        args: Vec<OsString>,
        log: PathBuf,
    ) -> WorkerSpec {
        let launcher = lifeline::this_program();
        WorkerSpec {
            name: name.into(),
            program: program.into(),
            args,
            env: Vec::new(),
            log,
            launcher,
            longest_line: LONGEST_LINE,
            network: None,
            elsewhere: None,
        }
    }

    /// The same with what turns something on, such as a profiler: arguments before the last one, which is PHP's script, and
    /// variables.
    #[must_use]
    pub fn under(mut self, on: &Invocation) -> WorkerSpec {
        let last = self.args.len().saturating_sub(1);
        self.args.splice(last..last, on.arguments.iter().cloned());
        self.env.extend(on.environment.iter().cloned());
        self
    }

    /// The same on another machine.
    #[must_use]
    pub fn on(self, place: SharedWorkerHost) -> WorkerSpec {
        WorkerSpec { elsewhere: Some(place), ..self }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.launcher);
        command.args(["agent", "--exec", &std::process::id().to_string()]);
        if let Some(network) = &self.network {
            command.arg(lifeline::NETWORK).arg(network);
        }
        command.arg("--");
        command.arg(&self.program).args(&self.args);
        isolate(&mut command, &PASSED, &self.env);
        // A group of its own: Ctrl-C in the terminal is the lab's affair.
        command.process_group(0);
        command
    }
}

#[derive(Debug)]
pub enum Silence {
    /// The worker ended: its status, and the last line of its stderr.
    Ended(String),
    Timeout,
    /// A line over the limit began with these bytes.
    TooLong(Vec<u8>),
    /// The user wants the lab to end.
    Interrupted,
}

/// A running worker. Dropping it kills it.
#[derive(Debug)]
pub struct Worker {
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<OutputLine>,
    body: Box<dyn Body>,
}

impl Worker {
    /// Starts it.
    ///
    /// # Errors
    /// The log cannot be written, or the launcher cannot be started. A program that is not there shows as a
    /// worker that ends at once.
    pub fn start(spec: &WorkerSpec) -> io::Result<Worker> {
        if let Some(place) = &spec.elsewhere {
            return place.start(spec);
        }
        let log = open_log(&spec.log)?;
        let mut child = lifeline::spawn(spec.command())?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the worker has no pipes"));
        };
        let (requests, replies) = (pipes::write_lines(stdin), pipes::read_lines(stdout, spec.longest_line));
        Ok(Worker::of(requests, replies, Box::new(LocalChild::new(child, keep_log(stderr, log)))))
    }

    /// One whose lines are carried by somebody: with their newlines to it, without them from it. Both end with their channel.
    pub fn of(requests: Sender<Vec<u8>>, replies: Receiver<OutputLine>, body: Box<dyn Body>) -> Worker {
        Worker { requests: Some(requests), replies, body }
    }

    /// What carries lines to it, each with its newline, for as long as it runs; none: its input is closed.
    pub fn requests(&self) -> Option<Sender<Vec<u8>>> {
        self.requests.clone()
    }

    /// Sends one line (its newline is added) and waits for the next line of the worker.
    ///
    /// # Errors
    /// [`Silence`]: why none came. The worker is of no further use then; drop it.
    pub fn ask(&mut self, line: Vec<u8>, limit: Duration, interrupt: &Interrupt) -> Result<Vec<u8>, Silence> {
        self.say(line)?;
        self.hear_by(Instant::now() + limit, interrupt)
    }

    /// The next line of the worker.
    ///
    /// # Errors
    /// [`Silence`]: why none came until then. The worker is of no further use; drop it.
    pub fn hear_by(&mut self, deadline: Instant, interrupt: &Interrupt) -> Result<Vec<u8>, Silence> {
        loop {
            if interrupt.is_set() {
                return Err(Silence::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.hear(left.min(GLANCE))? {
                Some(line) => return Ok(line),
                None if left.is_zero() => return Err(Silence::Timeout),
                None => {}
            }
        }
    }

    /// Sends one line; its newline is added.
    ///
    /// # Errors
    /// [`Silence::Ended`]. The worker is of no further use then; drop it.
    pub fn say(&mut self, mut line: Vec<u8>) -> Result<(), Silence> {
        line.push(b'\n');
        if self.requests.as_ref().is_none_or(|requests| requests.send(line).is_err()) {
            return Err(self.ended());
        }
        Ok(())
    }

    /// The next line of the worker; none when there was none within `patience`.
    ///
    /// # Errors
    /// [`Silence`]: why none will come. The worker is of no further use then; drop it.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<Vec<u8>>, Silence> {
        match self.replies.recv_timeout(patience) {
            Ok(OutputLine::Line(line)) => Ok(Some(line)),
            Ok(OutputLine::TooLong(begin)) => Err(Silence::TooLong(begin)),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => Ok(None),
        }
    }

    /// Its process id, if it runs on this machine.
    pub fn id(&self) -> Option<u32> {
        self.body.id()
    }

    /// Waiting for a request with nothing said out of turn; a worker that is not would spoil the next answer.
    pub fn is_idle(&self) -> bool {
        matches!(self.replies.try_recv(), Err(TryRecvError::Empty))
    }

    /// The worker closed its stdout: ends what may be left of it, and says how it ended.
    fn ended(&mut self) -> Silence {
        let how = self.body.ended(Duration::from_secs(1));
        let how = how.unwrap_or_else(|| "it closed its output and stayed".into());
        self.body.kill();
        match self.body.last_words() {
            Some(last) => Silence::Ended(format!("{how}; its last words: {last}")),
            None => Silence::Ended(how),
        }
    }

    /// Asks the worker to end by closing its stdin, and kills it when it has not after `patience`.
    pub fn end(mut self, patience: Duration) {
        self.requests = None;
        self.body.ended(patience);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.body.kill();
    }
}
