//! A private instance of a server: configured, linted, started under guard on a free port of the machine's loopback or of
//! an address in a network that is the lab's own, and ready: its ready path answers 200 with the instance's own token, which nobody else on
//! that port can.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use anyhow::{Result, bail};

use super::definition::Php;
use super::found::Found;
use super::own;
use super::render::{Attempt, Values};
use super::site::Site;
use crate::http::{self, Peer, Security};
use crate::service::{
    ATTEMPTS, Decided, Draft, Refused, Service, free_ports, refuse_missing, signal, start_on_first,
};
use weigh_os::guard::LaunchContext;
use weigh_os::interrupt::Interrupt;

/// How long one question whether it is ready may take.
const ANSWER: Duration = Duration::from_secs(2);
/// The answer is short; what is longer is not ours.
const LONGEST: usize = 16 << 10;

pub type Instance = Service<Listens>;

/// Where a server listens.
#[derive(Clone, Copy, Debug)]
pub struct Listens {
    is_secure: bool,
    address: SocketAddrV4,
}

impl Service<Listens> {
    /// Starts a site and waits until it answers with 200.
    ///
    /// # Errors
    /// What is missing or wrong, in the words of the server's own check or its last lines.
    pub fn start(found: &Found, site: &Site, place: &LaunchContext) -> Result<Instance> {
        Instance::start_at(Ipv4Addr::LOCALHOST, found, site, place)
    }

    /// As [`Instance::start`], on this address. To be called inside the network that it belongs to.
    pub fn start_at(host: Ipv4Addr, found: &Found, site: &Site, place: &LaunchContext) -> Result<Instance> {
        let ports = free_ports(host, ATTEMPTS)?;
        begin(ports.into_iter().map(|port| Ok(SocketAddrV4::new(host, port))), found, site, place)
    }

    /// As [`Instance::start`], on the first of these ports of 127.0.0.1 that nobody else takes.
    pub fn start_on(
        ports: impl Iterator<Item = Result<u16>>,
        found: &Found,
        site: &Site,
        place: &LaunchContext,
    ) -> Result<Instance> {
        begin(ports.map(|port| Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port?))), found, site, place)
    }

    /// The URL of a path, which begins with `/`.
    pub fn url(&self, path: &str) -> String {
        self.url_at(self.own.address.into(), path)
    }

    /// The same for clients who reach it at another address.
    pub fn url_at(&self, address: SocketAddr, path: &str) -> String {
        let scheme = if self.own.is_secure { "https" } else { "http" };
        format!("{scheme}://{address}{path}")
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.own.address.into()
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.own.address.port()
    }
}

/// Starts a site on the first of these addresses that nobody else takes, after what can be refused before anything is made.
fn begin(
    addresses: impl Iterator<Item = Result<SocketAddrV4>>,
    found: &Found,
    site: &Site,
    place: &LaunchContext,
) -> Result<Instance> {
    let name = &found.definition.name;
    refuse_missing(name, "cannot be started", found.missing.as_ref(), found.remedy.as_ref())?;
    let tls_remedy = found.definition.tls.as_ref().and_then(|t| t.remedy.as_ref());
    let tls_missing = found.tls_missing.as_ref().filter(|_| site.tls.is_some());
    refuse_missing(name, "cannot serve HTTPS", tls_missing, tls_remedy)?;
    if found.definition.php == Php::Itself && site.fpm.is_some() {
        bail!("{name} carries out PHP itself: it takes no PHP-FPM pool");
    }
    found.row(site.way.as_ref())?;
    start_on_first(name, addresses, |address| attempt(found, site, place, address))
}

fn attempt(
    found: &Found,
    site: &Site,
    place: &LaunchContext,
    address: SocketAddrV4,
) -> Result<Instance, Refused> {
    let definition = &found.definition;
    let name = &definition.name;
    let root = place.is_real_root();
    let mut draft = Draft::new(name, name, place)?;
    let token = format!("{:016x}", rand::random::<u64>());
    let dir = draft.path().to_owned();
    let values = Values::new(found, site, &Attempt { dir: &dir, address, token: &token, root })?;
    values.write(found, site, &mut draft)?;
    if let Some(lint) = &definition.lint
        && let Some((how, words)) = draft.lint(&found.launched(lint, &values, &site.cpus)?)?
    {
        let way = site.way.as_ref().map(|way| way.codec.as_str());
        let words = own::in_file(definition, way, &dir, &words);
        return Err(anyhow::anyhow!("{name} refuses its configuration ({how}): {words}").into());
    }
    let own = site.way.as_ref().and_then(|way| definition.own_config(&way.codec));
    let host = own.and_then(|own| own.host.as_deref()).unwrap_or("localhost");
    let listens = Listens { is_secure: site.tls.is_some(), address };
    let program = found.launched(&definition.run, &values, &site.cpus)?;
    draft.start(&program, signal(&definition.stop)?, Some(address), listens, |listens| {
        is_ready(listens, &definition.ready, host, &token, &place.interrupt)
    })
}

/// Whether an instance answers its ready path with 200 and its own token. A connection alone says little: another server may have taken
/// the port, and some accept before they can serve.
fn is_ready(listens: &Listens, path: &str, host: &str, token: &str, interrupt: &Interrupt) -> Result<()> {
    let security = if listens.is_secure { Security::Own } else { Security::Plain };
    let peer = Peer { address: listens.address.into(), security };
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let reply = http::exchange(peer, request.as_bytes(), false, LONGEST, (ANSWER, interrupt))
        .map_err(|fault| anyhow::anyhow!(fault.message))?;
    if let Some(to) = reply.shown_field("location").filter(|_| (300..400).contains(&reply.status)) {
        bail!(Decided(format!(
            "it redirects every request to {to} (status {}); give a copy of its configuration without that",
            reply.status
        )));
    }
    match (reply.status, String::from_utf8_lossy(&reply.body).contains(token)) {
        (200, true) => Ok(()),
        (200, false) => bail!("another server answers on its port"),
        (status, _) => bail!("{path} is answered with status {status}"),
    }
}
