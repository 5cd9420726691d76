//! A user's own store by URL: `redis://127.0.0.1:6379/2`, `redis:///run/redis.sock`, `memcached://user@host`, `aerospike://HOST:3000/NAMESPACE`.
//!
//! It is measured with keys of its own and never flushed. Its password is said to the workers alone.

use std::fmt;
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::definition::{StoreDefinition, UrlPath};
use weigh_model::protocol::client::Address;
use weigh_model::suggest::nearest_hint;

/// How long a store may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(5);

/// A store that others run.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl {
    /// The store's name: the folder.
    pub store: String,
    /// Where it is, with user and password.
    pub address: Address,
    /// The URL without its password, for plans and reports.
    shown: String,
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreUrl").field(&self.shown).finish()
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl StoreUrl {
    /// Reads a URL. What is no URL at all (no `://`) is not this one's affair.
    ///
    /// # Errors
    /// One line, without the password: an unknown scheme, a missing host, a path that says nothing to this store.
    pub fn parse(text: &str, stores: &[StoreDefinition]) -> Result<StoreUrl> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let known = || stores.iter().flat_map(|store| &store.schemes).map(String::as_str);
        let Some(store) = stores.iter().find(|store| store.schemes.iter().any(|s| s == scheme)) else {
            bail!(
                "--store {}: no store has URLs of the scheme `{scheme}`{}",
                hidden(text),
                nearest_hint(scheme, known())
            );
        };
        let read = read(rest, store).with_context(|| format!("--store {}", hidden(text)));
        Ok(StoreUrl { store: store.name.clone(), address: read?, shown: hidden(text) })
    }

    /// Makes sure that it is on this machine, or that the user allowed its host.
    pub fn permit(&self, allowed: &[String]) -> Result<()> {
        let Some(host) = &self.address.host else { return Ok(()) };
        if allowed.iter().any(|a| a == host) {
            return Ok(());
        }
        let found = (host.as_str(), self.address.port.unwrap_or(0)).to_socket_addrs();
        let found = found.with_context(|| format!("--store {self}: {host} is not known"))?;
        let elsewhere = found.map(|a| a.ip()).find(|ip: &IpAddr| !ip.is_loopback());
        if let Some(ip) = elsewhere {
            bail!("--store {self}: {ip} is not this machine; load on it needs --allow-remote {host}")
        }
        Ok(())
    }

    /// Makes sure that somebody accepts connections there.
    ///
    /// # Errors
    /// One line: nobody does.
    pub fn reach(&self) -> Result<()> {
        let doing =
            || format!("--store {self}: no store accepts connections there; start it, or check the URL");
        let Address { unix, host, port, .. } = &self.address;
        if let Some(socket) = unix {
            return UnixStream::connect(socket).map(drop).with_context(doing);
        }
        let place = (host.as_deref().unwrap_or_default(), port.unwrap_or(0));
        let mut last = Err(anyhow!("it has no address"));
        for address in place.to_socket_addrs().with_context(doing)? {
            last = TcpStream::connect_timeout(&address, PATIENCE).map(drop).map_err(Into::into);
            if last.is_ok() {
                break;
            }
        }
        last.with_context(doing)
    }
}

fn read(rest: &str, store: &StoreDefinition) -> Result<Address> {
    ensure!(!rest.contains(char::is_control), "control characters have no place in it");
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(a, p)| (a, p));
    if authority.is_empty() {
        ensure!(!path.is_empty(), "it names no host and no socket");
        ensure!(store.socket.is_some(), "{} has no unix socket; give HOST:PORT", store.name);
        return Ok(Address { unix: Some(PathBuf::from(format!("/{path}"))), ..Address::default() });
    }
    let (who, place) =
        authority.rsplit_once('@').map_or((None, authority), |(who, place)| (Some(who), place));
    let (user, password) = who.map_or((None, None), |who| match who.split_once(':') {
        Some((user, password)) => (Some(user), Some(password)),
        None => (Some(who), None),
    });
    let (host, port) = host_and_port(place)?;
    let mut address = Address {
        host: Some(host),
        port: Some(port.or(store.port).context("it names no port")?),
        user: user.filter(|u| !u.is_empty()).map(str::to_owned),
        password: password.map(str::to_owned),
        ..Address::default()
    };
    match (store.path, path) {
        (Some(UrlPath::Namespace), "") => {
            bail!("it names no namespace; write {}://HOST:PORT/NAMESPACE", store.schemes[0])
        }
        (Some(UrlPath::Namespace), name) => address.namespace = Some(name.to_owned()),
        (None, "") => {}
        (None, number) => {
            let number = number.parse().ok();
            address.database = Some(number.with_context(|| format!("`{path}` is not a database's number"))?);
        }
    }
    Ok(address)
}

fn host_and_port(place: &str) -> Result<(String, Option<u16>)> {
    let number = |port: &str| {
        port.parse::<u16>().ok().filter(|p| *p > 0).with_context(|| format!("`{port}` is no port"))
    };
    if let Some(rest) = place.strip_prefix('[') {
        let (host, port) = rest.split_once(']').context("its address has no closing bracket")?;
        let port = port.strip_prefix(':').map(number).transpose()?;
        return Ok((host.to_owned(), port));
    }
    let (host, port) = match place.split_once(':') {
        Some((host, port)) => (host, Some(number(port)?)),
        None => (place, None),
    };
    ensure!(!host.is_empty(), "it names no host");
    Ok((host.to_owned(), port))
}

/// A text without the password of the URL that it is, or ends with.
pub fn hidden(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let Some((who, place)) = rest[..end].rsplit_once('@') else { return text.to_owned() };
    let user = who.split_once(':').map_or(who, |(user, _)| user);
    format!("{scheme}://{user}@{place}{}", &rest[end..])
}
