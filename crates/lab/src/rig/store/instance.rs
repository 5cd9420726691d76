//! A private instance of a store: started under guard in a directory of its own, on a unix socket or on an address of a network
//! that is the lab's own, and ready.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::definition::Found;
use super::probe;
use crate::rig::group::Group;
use crate::rig::guard::{Guarded, Home, Place, Program, is_real_root};
use crate::rig::ports;
use crate::rig::server::definition::signal;
use crate::rig::template::{self, is_harmless};
use weigh_model::protocol::client::Address;

/// Attempts, each on other ports.
const ATTEMPTS: u32 = 5;
/// How often a start looks whether it is done.
const GLANCE: Duration = Duration::from_millis(5);
/// How long a store may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// A running store. Dropping it kills all of it and removes its directory.
#[derive(Debug)]
pub struct StoreInstance {
    guarded: Guarded,
    stop: rustix::process::Signal,
    address: Address,
}

/// What templates are given.
#[derive(Serialize)]
struct Values<'a> {
    dir: &'a str,
    /// Empty: it listens on TCP.
    socket: &'a str,
    host: String,
    /// 0: it listens on a unix socket alone.
    port: u16,
    port1: u16,
    port2: u16,
    user: &'a str,
}

impl StoreInstance {
    /// Starts one and waits until it answers. With a host it listens there on TCP; else on its unix socket, or, where it has none, on
    /// the machine's loopback. To be called inside the network that the host belongs to.
    ///
    /// # Errors
    /// What is missing or wrong, in the store's own last lines.
    pub fn start(
        found: &Found,
        host: Option<Ipv4Addr>,
        cpus: &[u32],
        place: &Place,
    ) -> Result<StoreInstance> {
        let name = &found.definition.name;
        if let Some(missing) = &found.missing {
            let remedy = found.remedy.as_ref().map_or(String::new(), |r| format!(": {r}"));
            bail!("{name} cannot be started: {missing}{remedy}");
        }
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match attempt(found, host, cpus, place) {
                Ok(instance) => return Ok(instance),
                Err(Failed { error, again: true }) => last = Some(error),
                Err(Failed { error, .. }) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| anyhow::anyhow!("no port to try")))
            .context(format!("{name}: others took every port that was tried"))
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The meter of all its processes.
    pub fn group(&self) -> Group {
        self.guarded.group()
    }

    /// Whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        self.guarded.is_alive()
    }

    /// How it ended, with its last words; none while it runs.
    pub fn how_it_ended(&mut self) -> Option<String> {
        if self.guarded.is_alive() {
            return None;
        }
        let how = self.guarded.how_it_ended().unwrap_or("it is gone").to_owned();
        let words =
            self.guarded.last_words().map_or(String::new(), |words| format!("; its last words: {words}"));
        Some(format!("{how}{words}"))
    }

    /// Lets it end, kills what has not after 5 s; whether it ended by itself.
    pub fn stop(self) -> bool {
        self.guarded.stop(self.stop, GRACE)
    }
}

/// Why an attempt failed, and whether other ports may help.
struct Failed {
    error: anyhow::Error,
    again: bool,
}

impl<E: Into<anyhow::Error>> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed { error: error.into(), again: false }
    }
}

fn attempt(
    found: &Found,
    host: Option<Ipv4Addr>,
    cpus: &[u32],
    place: &Place,
) -> Result<StoreInstance, Failed> {
    let definition = &found.definition;
    let name = &definition.name;
    let directory = place.directory(name).with_context(|| format!("cannot make a directory for {name}"))?;
    let dir = directory.path().to_owned();
    let socket = definition.socket.as_ref().filter(|_| host.is_none()).map(|socket| dir.join(socket));
    let listens = host.unwrap_or(Ipv4Addr::LOCALHOST);
    let ports = match socket {
        Some(_) => vec![0; 4],
        None => ports::free(listens, definition.ports)?,
    };
    let files = Files { found, dir: &dir, socket: socket.as_deref(), host: listens, ports: &ports };
    let program = files.program(cpus, is_real_root(&place.launcher))?;
    let guarded = Guarded::start(&program, Home::Given(directory), place);
    let guarded = guarded.with_context(|| format!("cannot start {name}"))?;
    let address = match &socket {
        Some(socket) => Address { unix: Some(socket.clone()), ..Address::default() },
        None => {
            Address { host: Some(listens.to_string()), port: ports.first().copied(), ..Address::default() }
        }
    };
    let address = Address { namespace: definition.namespace.clone(), ..address };
    let mut instance = StoreInstance { guarded, stop: signal(&definition.stop)?, address };
    let ask = || match &socket {
        Some(socket) => probe::over_unix(socket, definition.probe.as_ref()),
        None => probe::over_tcp(listens, ports[0], definition.probe.as_ref()),
    };
    instance.await_answer(name, place, ask)?;
    Ok(instance)
}

/// What is needed to write an instance's files and its command line.
struct Files<'a> {
    found: &'a Found,
    dir: &'a Path,
    socket: Option<&'a Path>,
    host: Ipv4Addr,
    ports: &'a [u16],
}

impl Files<'_> {
    /// Writes the configuration and gives the command.
    fn program(&self, cpus: &[u32], root: bool) -> Result<Program> {
        let name = &self.found.definition.name;
        let text = |path: &Path| path.to_str().filter(|p| is_harmless(p)).map(str::to_owned);
        let dir = text(self.dir).with_context(|| {
            format!(
                "the temporary folder {} has signs in its name that a configuration cannot hold",
                self.dir.display()
            )
        })?;
        let socket = self.socket.and_then(text).unwrap_or_default();
        let port = |at: usize| self.ports.get(at).copied().unwrap_or(0);
        let values = Values {
            dir: &dir,
            socket: &socket,
            host: self.host.to_string(),
            port: port(0),
            port1: port(1),
            port2: port(2),
            user: if root { "root" } else { "nobody" },
        };
        for folder in &self.found.definition.folders {
            let made = std::fs::create_dir(self.dir.join(folder));
            made.with_context(|| format!("the folder {folder} of {name} cannot be made"))?;
        }
        for (file, template) in &self.found.definition.templates {
            let rendered = template::render(&format!("stores/{name}/{file}"), template, &values)?;
            std::fs::write(self.dir.join(file), rendered)
                .with_context(|| format!("{file} of {name} cannot be written"))?;
        }
        let whence = format!("stores/{name}/store.toml, run");
        let arguments =
            self.found.definition.run.iter().map(|argument| template::render(&whence, argument, &values));
        let arguments: Vec<String> = arguments.collect::<Result<_>>()?;
        let program = self.found.program.clone().unwrap_or_default().into_os_string();
        let command = std::iter::once(program).chain(arguments.into_iter().map(Into::into)).collect();
        Ok(Program { command, env: Vec::new(), cpus: cpus.to_vec() })
    }
}

impl StoreInstance {
    fn await_answer(
        &mut self,
        name: &str,
        place: &Place,
        ask: impl Fn() -> std::io::Result<()>,
    ) -> Result<(), Failed> {
        let deadline = Instant::now() + place.limit;
        loop {
            let Err(error) = ask() else { return Ok(()) };
            if self.guarded.is_alive() && Instant::now() < deadline {
                std::thread::sleep(GLANCE);
                continue;
            }
            let log = place.log.display();
            let Some(how) = self.how_it_ended() else {
                let limit = place.limit.as_secs();
                return Err(anyhow::anyhow!(
                    "{name} was not ready within {limit} s: {error}; its log is {log}"
                )
                .into());
            };
            let (host, port) = (self.address.host.as_ref(), self.address.port);
            let host = host.and_then(|h| h.parse::<Ipv4Addr>().ok());
            let again = host.zip(port).is_some_and(|at| TcpListener::bind(at).is_err());
            return Err(Failed { error: anyhow::anyhow!("{name} ended: {how}; its log is {log}"), again });
        }
    }
}

/// The folder of a store that is one: private, and removed with this value.
#[derive(Debug)]
pub struct StoreFolder {
    dir: tempfile::TempDir,
}

impl StoreFolder {
    /// Makes one.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new(name: &str, place: &Place) -> Result<StoreFolder> {
        let dir = place.directory(name).with_context(|| format!("cannot make a directory for {name}"))?;
        Ok(StoreFolder { dir })
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }
}
