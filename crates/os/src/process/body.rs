//! What is at the other end of a worker's lines: a child of this process, or a process on another machine.

use std::fmt::Debug;
use std::io;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use super::pipes::LastLine;
use super::{Worker, WorkerSpec};
use crate::command::{SHORT_OF_MEMORY, how, kill_group};

/// How often a wait looks.
const GLANCE: Duration = Duration::from_millis(5);

/// The process that a worker is.
pub trait Body: Debug + Send {
    /// Its process id, if it runs on this machine.
    fn id(&self) -> Option<u32>;

    /// How it ended; none: it has not after `patience`.
    fn ended(&mut self, patience: Duration) -> Option<String>;

    /// The last line of its stderr.
    fn last_words(&self) -> Option<String>;

    /// Ends it with all that it started.
    fn kill(&mut self);
}

/// Another machine, as a place where workers are started: this same program there.
pub trait WorkerHost: Debug + Send + Sync {
    /// Starts the program there with the arguments of `spec`.
    ///
    /// # Errors
    /// Nothing can be started there.
    fn start(&self, spec: &WorkerSpec) -> io::Result<Worker>;
}

/// [`WorkerHost`], in specs.
pub type SharedWorkerHost = Arc<dyn WorkerHost>;

/// A child of this process, in a group of its own.
#[derive(Debug)]
pub(super) struct LocalChild {
    child: Child,
    stderr: LastLine,
    status: Option<ExitStatus>,
}

impl LocalChild {
    pub(super) fn new(child: Child, stderr: LastLine) -> LocalChild {
        LazyLock::force(&SHORT_OF_MEMORY);
        LocalChild { child, stderr, status: None }
    }
}

impl Body for LocalChild {
    fn id(&self) -> Option<u32> {
        Some(self.child.id())
    }

    fn ended(&mut self, patience: Duration) -> Option<String> {
        let deadline = Instant::now() + patience;
        while self.status.is_none() && Instant::now() < deadline {
            self.status = self.child.try_wait().ok().flatten();
            std::thread::sleep(GLANCE);
        }
        self.status.map(how)
    }

    fn last_words(&self) -> Option<String> {
        self.stderr.last()
    }

    fn kill(&mut self) {
        if self.status.is_none() {
            // The group while its leader is not yet waited for: its number cannot be another's by now.
            kill_group(self.child.id());
            let _ = self.child.kill();
            self.status = self.child.wait().ok();
        }
    }
}
