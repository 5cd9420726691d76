//! A private instance of a server: configured, linted, started under guard on a free port of the machine's loopback or of
//! an address in a network that is the lab's own, and ready.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::definition::Php;
use super::found::Found;
use super::own;
use super::ready;
use super::render::{Attempt, Values};
use super::site::Site;
use crate::rig::group::Group;
use crate::rig::guard::{self, Guarded, Home, Place, Program, is_real_root};
use crate::rig::ports;

/// Attempts, each on another port: one that was free may be taken before the server binds it.
const ATTEMPTS: u16 = 5;
/// How often a start looks whether it is done.
const GLANCE: Duration = Duration::from_millis(5);
/// How long a server may take to finish what it does.
const GRACE: Duration = Duration::from_secs(5);

/// A running server. Dropping it kills all of it and removes its directory.
#[derive(Debug)]
pub struct Instance {
    guarded: Guarded,
    stop: rustix::process::Signal,
    scheme: &'static str,
    address: SocketAddrV4,
    dir: PathBuf,
    files: BTreeMap<String, String>,
}

/// Why an attempt failed: whether another port may help.
enum Failed {
    PortTaken(anyhow::Error),
    Other(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed::Other(error.into())
    }
}

impl Instance {
    /// Starts a site and waits until it answers with 200.
    ///
    /// # Errors
    /// What is missing or wrong, in the words of the server's own check or its last lines.
    pub fn start(found: &Found, site: &Site, place: &Place) -> Result<Instance> {
        Instance::start_at(Ipv4Addr::LOCALHOST, found, site, place)
    }

    /// As [`Instance::start`], on this address. To be called inside the network that it belongs to.
    ///
    /// # Errors
    /// As [`Instance::start`].
    pub fn start_at(host: Ipv4Addr, found: &Found, site: &Site, place: &Place) -> Result<Instance> {
        let ports = ports::free(host, ATTEMPTS)?;
        begin(ports.into_iter().map(|port| Ok(SocketAddrV4::new(host, port))), found, site, place)
    }

    /// As [`Instance::start`], on the first of these ports of 127.0.0.1 that nobody else takes.
    ///
    /// # Errors
    /// As [`Instance::start`], and that all were taken.
    pub fn start_on(
        ports: impl Iterator<Item = Result<u16>>,
        found: &Found,
        site: &Site,
        place: &Place,
    ) -> Result<Instance> {
        begin(ports.map(|port| Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port?))), found, site, place)
    }

    /// The URL of a path, which begins with `/`.
    pub fn url(&self, path: &str) -> String {
        self.url_at(self.address.into(), path)
    }

    /// The same for clients who reach it at another address.
    pub fn url_at(&self, address: SocketAddr, path: &str) -> String {
        format!("{}://{address}{path}", self.scheme)
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The meter of all its processes.
    pub fn group(&self) -> Group {
        self.guarded.group()
    }

    /// The configuration in force: the text of each file by its name.
    pub fn config(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Its private directory, which goes with it.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        self.guarded.is_alive()
    }

    /// How it ended; none while it runs.
    pub fn how_it_ended(&self) -> Option<&str> {
        self.guarded.how_it_ended()
    }

    /// The last lines of its log.
    pub fn last_words(&self) -> Option<String> {
        self.guarded.last_words()
    }

    /// Lets it finish what it does, kills what has not after 5 s; whether it ended by itself.
    pub fn stop(self) -> bool {
        self.guarded.stop(self.stop, GRACE)
    }
}

/// Starts a site on the first of these addresses that nobody else takes.
fn begin(
    addresses: impl Iterator<Item = Result<SocketAddrV4>>,
    found: &Found,
    site: &Site,
    place: &Place,
) -> Result<Instance> {
    check(found, site)?;
    let mut last = anyhow::anyhow!("no port to try");
    for address in addresses {
        match attempt(found, site, place, address?) {
            Ok(instance) => return Ok(instance),
            Err(Failed::Other(error)) => return Err(error),
            Err(Failed::PortTaken(error)) => last = error,
        }
    }
    Err(last.context(format!("{}: others took every port that was tried", found.definition.name)))
}

/// What can be refused before anything is made.
fn check(found: &Found, site: &Site) -> Result<()> {
    let name = &found.definition.name;
    if let Some(missing) = &found.missing {
        let remedy = found.remedy.as_ref().map_or(String::new(), |r| format!(": {r}"));
        bail!("{name} cannot be started: {missing}{remedy}");
    }
    if let Some(missing) = found.tls_missing.as_ref().filter(|_| site.tls.is_some()) {
        let remedy = found.definition.tls.as_ref().and_then(|t| t.remedy.as_ref());
        bail!("{name} cannot serve HTTPS: {missing}{}", remedy.map_or(String::new(), |r| format!(": {r}")));
    }
    if found.definition.php == Php::Itself && site.fpm.is_some() {
        bail!("{name} carries out PHP itself: it takes no PHP-FPM pool");
    }
    found.row(site.way.as_ref()).map(|_| ())
}

fn attempt(found: &Found, site: &Site, place: &Place, address: SocketAddrV4) -> Result<Instance, Failed> {
    let definition = &found.definition;
    let name = &definition.name;
    let root = is_real_root(&place.launcher);
    let dir = place.directory(name).with_context(|| format!("cannot make a directory for {name}"))?;
    let path = dir.path().to_owned();
    let token = format!("{:016x}", rand::random::<u64>());
    let (host, port) = (*address.ip(), address.port());
    let values = Values::new(found, site, &Attempt { dir: &path, host, port, token: &token, root })?;
    let files = values.write(found, site, &path)?;
    let program = |templates: &[String]| -> Result<Program> {
        let own = found.program.clone().unwrap_or_default().into_os_string();
        let arguments = values.arguments(name, templates)?;
        let keys = definition.env.keys().map(Into::into);
        let texts: Vec<String> = definition.env.values().cloned().collect();
        let env = keys.zip(values.arguments(name, &texts)?.into_iter().map(Into::into)).collect();
        let command = std::iter::once(own).chain(arguments.into_iter().map(Into::into)).collect();
        Ok(Program { command, env, cpus: site.cpus.clone() })
    };
    if let Some(lint) = &definition.lint {
        let (how, words) =
            guard::run(&program(lint)?, &path, place).with_context(|| format!("{name}'s own check"))?;
        if how != "exit status: 0" {
            let words = words.unwrap_or_else(|| "it said nothing".into());
            let words = own::in_file(definition, &path, words);
            return Err(anyhow::anyhow!("{name} refuses its configuration ({how}): {words}").into());
        }
    }
    let guarded = Guarded::start(&program(&definition.run)?, Home::Given(dir), place);
    let guarded = guarded.with_context(|| format!("cannot start {name}"))?;
    let scheme = if site.tls.is_some() { "https" } else { "http" };
    let stop = definition.stop_signal()?;
    let mut instance = Instance { guarded, stop, scheme, address, dir: path, files };
    let ask = || ready::ask(address.into(), &definition.ready, &token, site.tls.is_some());
    instance.await_answer(name, place, ask)?;
    Ok(instance)
}

impl Instance {
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
            let how = match self.guarded.how_it_ended() {
                Some(how) => format!("ended: {how}"),
                None => format!("was not ready within {} s: {error}", place.limit.as_secs()),
            };
            let words = self.guarded.last_words().map_or(String::new(), |w| format!("; its last words: {w}"));
            let error = anyhow::anyhow!("{name} {how}{words}; its log is {}", place.log.display());
            let ended = self.guarded.how_it_ended().is_some();
            let taken = ended && TcpListener::bind(self.address).is_err();
            return Err(if taken { Failed::PortTaken(error) } else { Failed::Other(error) });
        }
    }
}
