//! A private instance of a store: started under guard in a directory of its own, on a unix socket or on an address of a network
//! that is the lab's own, and ready.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::definition::{Found, Probe};
use crate::service::{
    ATTEMPTS, Draft, Refused, Service, command, free_ports, refuse_missing, signal, start_on_first,
};
use weigh_model::protocol::client::Address;
use weigh_model::text::clean_bytes;
use weigh_os::guard::{LaunchContext, Program};
use weigh_os::template::path_text;

/// How long one question whether it is ready may take.
const ANSWER: Duration = Duration::from_secs(2);

pub type StoreInstance = Service<Address>;

#[derive(Serialize)]
struct Values {
    dir: String,
    /// Empty: it listens on TCP.
    socket: String,
    host: String,
    /// 0: it listens on a unix socket alone.
    port: u16,
    port1: u16,
    port2: u16,
    user: &'static str,
}

impl Service<Address> {
    /// Starts one and waits until it answers. With a host it listens there on TCP; else on its unix socket, or, where it has none, on
    /// the machine's loopback. To be called inside the network that the host belongs to.
    ///
    /// # Errors
    /// What is missing or wrong, in the store's own last lines.
    pub fn start(
        found: &Found,
        host: Option<Ipv4Addr>,
        cpus: &[u32],
        place: &LaunchContext,
    ) -> Result<StoreInstance> {
        let definition = &found.definition;
        let missing = found.missing.as_ref();
        refuse_missing(&definition.name, "cannot be started", missing, found.remedy.as_ref())?;
        let has_socket = definition.socket.is_some() && host.is_none();
        let listens = host.unwrap_or(Ipv4Addr::LOCALHOST);
        let ports = (0..ATTEMPTS)
            .map(|_| if has_socket { Ok(Vec::new()) } else { free_ports(listens, definition.ports) });
        start_on_first(&definition.name, ports, |ports| attempt(found, listens, &ports, cpus, place))
    }

    pub fn address(&self) -> &Address {
        &self.own
    }

    /// How it ended, with its last words; none while it runs.
    pub fn ended(&mut self) -> Option<String> {
        if self.is_alive() {
            return None;
        }
        Some(format!("{}{}", self.how_it_ended().unwrap_or("it is gone"), self.words()))
    }
}

/// One attempt on these ports; on its unix socket where there are none.
fn attempt(
    found: &Found,
    host: Ipv4Addr,
    ports: &[u16],
    cpus: &[u32],
    place: &LaunchContext,
) -> Result<StoreInstance, Refused> {
    let definition = &found.definition;
    let name = &definition.name;
    let mut draft = Draft::new(name, name, place)?;
    let socket = definition.socket.as_ref().filter(|_| ports.is_empty()).map(|s| draft.path().join(s));
    let port = |at: usize| ports.get(at).copied().unwrap_or(0);
    let values = Values {
        dir: path_text(draft.path())?,
        socket: socket.as_deref().map(path_text).transpose()?.unwrap_or_default(),
        host: host.to_string(),
        port: port(0),
        port1: port(1),
        port2: port(2),
        user: if place.is_real_root() { "root" } else { "nobody" },
    };
    for folder in &definition.folders {
        let made = std::fs::create_dir(draft.path().join(folder));
        made.with_context(|| format!("the folder {folder} of {name} cannot be made"))?;
    }
    draft.render(&format!("stores/{name}"), &definition.templates, |_| true, &values)?;
    let whence = format!("stores/{name}/store.toml");
    let command = command(found.program.as_ref(), &whence, &definition.run, &values)?;
    let program = Program { command, env: Vec::new(), cpus: cpus.to_vec() };
    let listens = ports.first().map(|port| SocketAddrV4::new(host, *port));
    let address = Address {
        unix: socket,
        host: listens.map(|listens| listens.ip().to_string()),
        port: listens.map(|listens| listens.port()),
        namespace: definition.namespace.clone(),
        ..Address::default()
    };
    draft.start(&program, signal(&definition.stop)?, listens, address, |address| {
        is_ready(address.unix.as_ref(), listens, definition.probe.as_ref())
    })
}

/// Whether a store answers one question with the begin that is expected. A connection alone is enough only where nothing is asked.
fn is_ready(socket: Option<&PathBuf>, listens: Option<SocketAddrV4>, probe: Option<&Probe>) -> Result<()> {
    if let Some(socket) = socket {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(ANSWER))?;
        return probe.map_or(Ok(()), |probe| ask(stream, probe));
    }
    let listens = listens.context("it listens nowhere")?;
    let stream = TcpStream::connect_timeout(&SocketAddr::from(listens), ANSWER)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    probe.map_or(Ok(()), |probe| ask(stream, probe))
}

fn ask(mut stream: impl Read + Write, probe: &Probe) -> Result<()> {
    stream.write_all(probe.send.as_bytes())?;
    let mut answer = vec![0; probe.expect.len()];
    stream.read_exact(&mut answer)?;
    if answer != probe.expect.as_bytes() {
        bail!("it answers `{}`, not `{}`", clean_bytes(&answer), probe.expect.trim_end());
    }
    Ok(())
}

/// The folder of a store that is one: private, and removed with this value.
#[derive(Debug)]
pub struct StoreFolder {
    dir: tempfile::TempDir,
}

impl StoreFolder {
    pub fn new(name: &str, place: &LaunchContext) -> Result<StoreFolder> {
        let dir = place.directory(name).with_context(|| format!("cannot make a directory for {name}"))?;
        Ok(StoreFolder { dir })
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }
}
