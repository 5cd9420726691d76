//! Private PHP-FPM pools: started under guard on unix sockets of their own, with the status on a second one, so that it answers
//! while every worker is busy.

mod config;
mod fastcgi;
mod found;
mod gauge;
mod queue;
mod status;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

pub(super) use found::folders;
pub use found::{FoundFpm, find, named};
pub use gauge::Gauge;
pub use status::Status;

use super::group::Group;
use super::guard::{Guarded, Home, Place, Program};

/// How often a start looks whether it is done.
const GLANCE: Duration = Duration::from_millis(5);
/// How long a pool may take to let its workers finish.
const GRACE: Duration = Duration::from_secs(5);
/// How long a script that is asked directly may take.
const SCRIPT: Duration = Duration::from_secs(10);
/// How long one question for the status may take.
const ANSWER: Duration = Duration::from_secs(2);

/// How many workers there are.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Always all of them.
    Static,
    /// As many as are needed, from one up.
    Dynamic,
}

/// One configuration of a pool. Two cells with equal specs share a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PoolSpec {
    /// The FPM binary, after the loader with its arguments if it needs one.
    pub program: Vec<OsString>,
    /// Its PHP version as queried, `8.2.36`: what the configuration may use.
    pub version: String,
    /// Workers at most.
    pub workers: u32,
    /// Whether they are there from the begin.
    pub mode: Mode,
    /// PHP settings by name, `opcache.jit` = `tracing`; they win over the user's ini, which stays in force.
    pub ini: BTreeMap<String, String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// The processors that it is pinned to; empty: all.
    pub cpus: Vec<u32>,
}

impl PoolSpec {
    /// A static pool of a binary that was found, with no settings of its own.
    pub fn new(fpm: &FoundFpm, workers: u32) -> PoolSpec {
        PoolSpec {
            program: vec![fpm.binary.clone().into()],
            version: fpm.version.clone(),
            workers,
            mode: Mode::Static,
            ini: BTreeMap::new(),
            env: BTreeMap::new(),
            cpus: Vec::new(),
        }
    }

    /// With a further setting.
    #[must_use]
    pub fn ini(mut self, name: &str, value: &str) -> PoolSpec {
        self.ini.insert(name.into(), value.into());
        self
    }

    /// With a limit of the memory that a script may take, `20M`.
    #[must_use]
    pub fn memory_limit(self, limit: &str) -> PoolSpec {
        self.ini("memory_limit", limit)
    }

    /// With an output buffer of so many bytes; 0: none.
    #[must_use]
    pub fn output_buffering(self, bytes: u32) -> PoolSpec {
        self.ini("output_buffering", &bytes.to_string())
    }

    /// With a script that runs once before all others (PHP 7.4 and newer).
    #[must_use]
    pub fn preload(self, script: &Path) -> PoolSpec {
        self.ini("opcache.preload", &script.display().to_string())
    }
}

/// A running pool. Dropping it kills all of it.
#[derive(Debug)]
pub struct Pool {
    guarded: Guarded,
    dir: PathBuf,
    config: String,
    version: String,
}

impl Pool {
    /// Starts a pool and waits until it answers.
    ///
    /// # Errors
    /// What is wrong with the spec, or why the pool does not start, in its own last words.
    pub fn start(spec: &PoolSpec, place: &Place) -> Result<Pool> {
        if spec.workers == 0 || spec.program.is_empty() {
            bail!("a PHP-FPM pool needs a program and at least one worker");
        }
        let name = Path::new(spec.program.last().unwrap_or(&spec.program[0])).display().to_string();
        // Asked before there is a directory, which has no guard yet.
        let root = super::guard::is_real_root(&place.launcher);
        let dir = place.directory("fpm").with_context(|| format!("cannot make a directory for {name}"))?;
        let path = dir.path().to_owned();
        let text = config::render(spec, &path, root)?;
        std::fs::write(path.join("fpm.conf"), &text).with_context(|| format!("cannot configure {name}"))?;
        let program = Program {
            command: config::command(spec, &path, root),
            env: spec.env.iter().map(|(k, v)| (k.into(), v.into())).collect(),
            cpus: spec.cpus.clone(),
        };
        let guarded = Guarded::start(&program, Home::Given(dir), place);
        let guarded = guarded.with_context(|| format!("cannot start {name}"))?;
        let mut pool = Pool { guarded, dir: path, config: text, version: spec.version.clone() };
        pool.await_answer(&name, place)?;
        Ok(pool)
    }

    fn await_answer(&mut self, name: &str, place: &Place) -> Result<()> {
        let deadline = Instant::now() + place.limit;
        loop {
            let error = match self.status() {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let alive = self.guarded.is_alive();
            if alive && Instant::now() < deadline {
                std::thread::sleep(GLANCE);
                continue;
            }
            let how = match self.guarded.how_it_ended() {
                Some(how) => format!("ended: {how}"),
                None => format!("did not answer within {} s: {error:#}", place.limit.as_secs()),
            };
            let words = self.guarded.last_words().map_or(String::new(), |w| format!("; its last words: {w}"));
            bail!("{name} {how}{words}; its stderr is in {}", place.log.display());
        }
    }

    /// The socket that a web server passes requests to.
    pub fn socket(&self) -> PathBuf {
        self.dir.join(config::SOCKET)
    }

    /// The configuration in force, `fpm.conf`.
    pub fn config(&self) -> &str {
        &self.config
    }

    /// The meter of the master and its workers.
    pub fn group(&self) -> Group {
        self.guarded.group()
    }

    /// Whether the master still runs.
    pub fn is_alive(&mut self) -> bool {
        self.guarded.is_alive()
    }

    /// How the master ended; none while it runs.
    pub fn how_it_ended(&self) -> Option<&str> {
        self.guarded.how_it_ended()
    }

    /// The last lines that it or a script of it wrote to stderr, such as a fatal error.
    pub fn last_words(&self) -> Option<String> {
        self.guarded.last_words()
    }

    /// What its workers do at this moment. The answer costs the pool about 0.07 ms of CPU time, by a worker of its own that is in the
    /// group but not in the numbers. On PHP before 8.0 the question waits for an idle worker, two seconds at most.
    ///
    /// # Errors
    /// When it does not answer, or not with a status.
    pub fn status(&self) -> Result<Status> {
        let socket =
            if config::has_status_socket(&self.version) { config::STATUS_SOCKET } else { config::SOCKET };
        Status::ask(&self.dir.join(socket), ANSWER)
    }

    /// Connections that wait for a worker in the socket's queue; none when the kernel does not tell.
    pub fn listen_queue(&self) -> Option<u32> {
        queue::waiting(&self.socket())
    }

    /// The same two questions for another thread; none where the status would take a worker from its work (PHP before 8.0).
    pub fn gauge(&self) -> Option<Gauge> {
        let status = config::has_status_socket(&self.version).then(|| self.dir.join(config::STATUS_SOCKET));
        Some(Gauge::new(status?, self.socket()))
    }

    /// The body that a script answers to a query, within ten seconds; it is asked past any server.
    ///
    /// # Errors
    /// When the pool does not answer.
    pub fn ask(&self, script: &Path, query: &str) -> Result<Vec<u8>> {
        let path = script.to_str().with_context(|| format!("{}: not a name in UTF-8", script.display()))?;
        fastcgi::get(&self.socket(), path, query, SCRIPT)
            .with_context(|| format!("no answer from {}", script.display()))
    }

    /// Lets its workers finish, kills what has not after 5 s; whether it ended by itself.
    pub fn stop(self) -> bool {
        self.guarded.stop(rustix::process::Signal::QUIT, GRACE)
    }
}
