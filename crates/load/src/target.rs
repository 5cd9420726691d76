//! Parses a URL into the parts that HTTP needs, resolves its addresses, and decides whether load may be sent there.
//! This module uses the resolver; it never connects.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use url::{Host, Position, Url};

use crate::escape::shown;

const MOST_ADDRESSES: usize = 16;
/// The most hosts that one run may resolve.
const MOST_HOSTS: usize = 256;
/// The longest URL in bytes; most servers accept a request line of 8 KB.
const MOST_BYTES: usize = 16 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    Http,
    Https,
}

/// The parts of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub scheme: Scheme,
    /// A name in lower case and ASCII, or an address without brackets.
    pub host: String,
    /// The port; the scheme's default if none is given.
    pub port: u16,
    /// For the Host header: brackets around IPv6, no port if it is the scheme's default.
    pub authority: String,
    /// Path and query, never empty.
    pub path: String,
}

/// A location with its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The parts of the URL.
    pub location: Location,
    /// In the resolver's order; never empty.
    pub addresses: Vec<SocketAddr>,
}

/// A URL to which load cannot or may not be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

impl Location {
    /// The parts of an absolute URL; a fragment is removed, as in any request.
    ///
    /// # Errors
    /// One line with the URL, what is wrong, and what to write.
    pub fn parse(text: &str) -> Result<Location, TargetError> {
        Location::of(&parse_url(text)?, text)
    }

    pub(crate) fn of(url: &Url, text: &str) -> Result<Location, TargetError> {
        let wrong = |what: &str| Err(TargetError(format!("{}: {what}", shown(text.as_bytes()))));
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            // `localhost:8080/x` parses as a URL with the scheme `localhost`.
            other if !text.contains("://") => {
                return wrong(&format!(
                    "{} is not a scheme; write http://{}",
                    shown(other.as_bytes()),
                    shown(text.as_bytes())
                ));
            }
            other => {
                return wrong(&format!(
                    "{} is not supported; only http and https are",
                    shown(other.as_bytes())
                ));
            }
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TargetError(
                "a URL with a user name or password is refused; send them in an Authorization header".into(),
            ));
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return wrong("the URL has no host");
        };
        if port == 0 {
            return wrong("port 0 cannot be connected to");
        }
        let host = match host {
            Host::Domain(name) => name.to_string(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        let authority = url[Position::BeforeHost..Position::AfterPort].to_string();
        let path = url[Position::BeforePath..Position::AfterQuery].to_string();
        Ok(Location { scheme, host, port, authority, path })
    }
}

pub(crate) fn parse_url(text: &str) -> Result<Url, TargetError> {
    let text = text.trim();
    let wrong = |what: String| TargetError(format!("{}: {what}", shown(text.as_bytes())));
    if text.len() > MOST_BYTES {
        return Err(wrong(format!("longer than the limit for URLs ({MOST_BYTES} bytes)")));
    }
    Url::parse(text).map_err(|e| match e {
        url::ParseError::RelativeUrlWithoutBase => {
            // `shop.example/page` may be a host; in a file of requests it may be a path that needs a base.
            let meant = Url::parse(&format!("http://{text}")).ok().filter(|_| !text.starts_with('/'));
            wrong(match meant {
                Some(url) => format!("did you mean {}?", shown(url.as_str().as_bytes())),
                None => "not an absolute URL; write http://HOST/PATH, or give a base".into(),
            })
        }
        e => wrong(format!("not a URL: {e}")),
    })
}

impl Target {
    /// Whether all its addresses are loopback addresses of this machine.
    pub fn is_loopback(&self) -> bool {
        self.addresses.iter().all(|address| address.ip().to_canonical().is_loopback())
    }
}

/// Whether load may be sent there: any host but loopback must be listed in `allowed`.
///
/// # Errors
/// One line that says what to write.
pub fn permit(target: &Target, allowed: &[String]) -> Result<(), TargetError> {
    let host = &target.location.host;
    let is_it = |name: &String| {
        let name = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
        let as_address = |text: &str| text.parse::<IpAddr>().ok();
        name.eq_ignore_ascii_case(host) || as_address(name).is_some_and(|a| Some(a) == as_address(host))
    };
    if target.is_loopback() || allowed.iter().any(is_it) {
        return Ok(());
    }
    let addresses: Vec<String> = target.addresses.iter().take(3).map(|a| a.ip().to_string()).collect();
    Err(TargetError(format!(
        "{host} ({}) is not this machine; load is sent there only with --allow-remote {host}",
        addresses.join(", ")
    )))
}

/// Resolves the addresses of each host once.
#[derive(Debug, Default)]
pub struct Resolver {
    known: RefCell<HashMap<(String, u16), Vec<SocketAddr>>>,
}

impl Resolver {
    /// The target of a URL.
    ///
    /// # Errors
    /// Those of [`Location::parse`]; a host without an address.
    pub fn target(&self, url: &str) -> Result<Target, TargetError> {
        let location = Location::parse(url)?;
        let key = (location.host.clone(), location.port);
        let known = self.known.borrow().get(&key).cloned();
        let addresses = match known {
            Some(addresses) => addresses,
            None if self.known.borrow().len() >= MOST_HOSTS => {
                return Err(TargetError(format!("{}: more than {MOST_HOSTS} hosts in one run", key.0)));
            }
            None => {
                let addresses = addresses(&key.0, key.1)?;
                self.known.borrow_mut().insert(key, addresses.clone());
                addresses
            }
        };
        Ok(Target { location, addresses })
    }
}

fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>, TargetError> {
    // RFC 6761, 6.3: these names mean this machine, whatever a resolver says.
    if host == "localhost" || host.ends_with(".localhost") {
        let own: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        return Ok(own.map(|ip| SocketAddr::new(ip, port)).to_vec());
    }
    let wrong = |what: String| TargetError(format!("{}: {what}", shown(host.as_bytes())));
    let found = (host, port).to_socket_addrs();
    let found = found.map_err(|e| wrong(format!("this host has no address ({e}); check its name")))?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if addresses.len() < MOST_ADDRESSES && !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(wrong("this host has no address; check its name".into()));
    }
    Ok(addresses)
}
