//! Private PHP-FPM pools: started under guard on unix sockets of their own, with the status on a second one, so that it answers
//! while every worker is busy.

mod config;
pub mod embedded;
pub(super) mod fastcgi;
mod status;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::service::{Draft, Service};
pub use status::{Gauge, Status};
use weigh_os::command::answer;
use weigh_os::guard::{LaunchContext, Program};
use weigh_os::programs::{Query, folders, numbered};

/// How long a script that is asked directly may take.
const SCRIPT: Duration = Duration::from_secs(10);

/// A PHP-FPM binary that tells its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FoundFpm {
    /// The binary.
    pub binary: PathBuf,
    /// Its PHP version as queried: `8.2.36`.
    pub version: String,
}

/// The PHP-FPM binaries of the machine (`php-fpm`, `php-fpm8.2`), each once whatever its links, that tell their version.
pub fn find(path: &OsStr) -> Vec<FoundFpm> {
    numbered("php-fpm", folders(path)).iter().filter_map(|binary| named(binary)).collect()
}

/// One binary, if it is PHP-FPM.
pub fn named(binary: &Path) -> Option<FoundFpm> {
    let query = Query { args: vec!["-v".into()], pattern: r"^PHP (\S+) \(fpm-fcgi\)".into() };
    let version = query.ask(binary).ok()?.into_iter().next()?;
    Some(FoundFpm { binary: binary.to_owned(), version })
}

/// What a PHP-FPM says to `-h`: its options. The user's ini files may add a line to it.
fn help(program: &[OsString]) -> Result<String> {
    let [first, leading @ ..] = program else { bail!("no program") };
    let said = answer(Command::new(first).args(leading).arg("-h"))?;
    Ok(said.stdout + &said.stderr)
}

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
    pub workers: u32,
    /// Whether they are there from the begin.
    pub mode: Mode,
    /// PHP settings by name, `opcache.jit` = `tracing`; they win over the user's ini, which stays in force.
    pub ini: BTreeMap<String, String>,
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

    #[must_use]
    pub fn ini(mut self, name: &str, value: &str) -> PoolSpec {
        self.ini.insert(name.into(), value.into());
        self
    }
}

/// A running pool: its master and workers.
pub type Pool = Service<Gauge>;

impl Service<Gauge> {
    /// Starts a pool and waits until it answers.
    ///
    /// # Errors
    /// What is wrong with the spec, or why the pool does not start, in its own last words.
    pub fn start(spec: &PoolSpec, place: &LaunchContext) -> Result<Pool> {
        if spec.workers == 0 || spec.program.is_empty() {
            bail!("a PHP-FPM pool needs a program and at least one worker");
        }
        let binary = Path::new(spec.program.last().unwrap_or(&spec.program[0]));
        let (name, is_embedded) = (binary.display().to_string(), embedded::is_embedded(binary));
        // Asked before there is a directory, which has no guard yet.
        let root = place.is_real_root();
        let help = if is_embedded { String::new() } else { help(&spec.program)? };
        let mut draft = Draft::new(&name, "fpm", place)?;
        let mut env: Vec<(OsString, OsString)> = spec.env.iter().map(|(k, v)| (k.into(), v.into())).collect();
        let command = if is_embedded {
            draft.write(embedded::FILE, embedded::settings(spec))?;
            env.push(("PHP_INI_SCAN_DIR".into(), format!(":{}", draft.path().display()).into()));
            embedded::command(spec, draft.path())?
        } else {
            draft.write(config::FILE, config::render(spec, draft.path(), root)?)?;
            config::command(spec, draft.path(), root, &help)
        };
        let program = Program { command, env, cpus: spec.cpus.clone() };
        let gauge = Gauge::new(draft.path(), &spec.version);
        let answers = |gauge: &Gauge| match is_embedded {
            true => fastcgi::connect(&gauge.socket).map(drop).context("it does not listen"),
            false => gauge.status().map(drop),
        };
        draft
            .start(&program, rustix::process::Signal::QUIT, None, gauge, answers)
            .map_err(|refused| refused.error)
    }

    /// The socket that a web server passes requests to.
    pub fn socket(&self) -> PathBuf {
        self.own.socket.clone()
    }

    /// See [`Gauge::status`].
    pub fn status(&self) -> Result<Status> {
        self.own.status()
    }

    /// See [`Gauge::listen_queue`].
    pub fn listen_queue(&self) -> Option<u32> {
        self.own.listen_queue()
    }

    /// The same two questions for another thread; none where the status would take a worker from its work (PHP before 8.0).
    pub fn gauge(&self) -> Option<Gauge> {
        self.own.has_status_socket().then(|| self.own.clone())
    }

    /// The body that a script answers to a query, within ten seconds; it is asked past any server.
    pub fn ask(&self, script: &Path, query: &str) -> Result<Vec<u8>> {
        let path = script.to_str().with_context(|| format!("{}: not a name in UTF-8", script.display()))?;
        fastcgi::get(&self.own.socket, path, query, SCRIPT)
            .with_context(|| format!("no answer from {}", script.display()))
    }
}
