//! Questions to a web server, as browsers and other clients put them: the one way in which the program finds out what a server answers, be
//! it a private instance with the user's configuration or a running site.

use std::time::Duration;

use anyhow::Result;
use weigh_load::fault::HttpFault;
use weigh_load::target::Target;

use super::http::{self, Peer, Reply, Security};
use super::server::{Found, Instance, Site};
use weigh_os::group::Group;
use weigh_os::guard::LaunchContext;
use weigh_os::interrupt::Interrupt;
use weigh_os::network::privately;

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(30);
/// What every question says of who asks. Servers treat what begins like this as a browser of today.
const AGENT: &str = concat!("Mozilla/5.0 (X11; Linux x86_64) weigh/", env!("CARGO_PKG_VERSION"));

/// Clients that accept the same content codings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The codings by name, as a site's file has them.
    pub codings: &'static [&'static str],
    /// Accept-Encoding as such clients send it; empty: they send none.
    pub header: &'static str,
}

/// The classes of clients that there are, the one that accepts most first.
pub const CLASSES: [Class; 4] = [
    Class { codings: &["zstd", "br", "gzip"], header: "gzip, deflate, br, zstd" },
    Class { codings: &["br", "gzip"], header: "gzip, deflate, br" },
    Class { codings: &["gzip"], header: "gzip, deflate" },
    Class { codings: &[], header: "" },
];

#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
    /// The path with its query.
    pub path: &'a str,
    /// Accept-Encoding; empty: none.
    pub accept: &'a str,
    /// Whether only the head is asked for.
    pub is_head: bool,
    /// Whether it is one of HTTP/1.0.
    pub is_http_1_0: bool,
    pub fields: &'a [(&'a str, &'a str)],
}

#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    pub peer: Peer<'a>,
    /// The host that requests name, with its port if it has one of its own.
    pub host: &'a str,
    /// The processes of a private instance; none: the site runs elsewhere.
    pub server: Option<Group>,
}

impl<'a> Asker<'a> {
    /// A running site.
    ///
    /// # Errors
    /// Its host has no address.
    pub fn of_target(target: &'a Target) -> Result<Asker<'a>, HttpFault> {
        Ok(Asker { peer: http::peer_of(target)?, host: &target.location.authority, server: None })
    }

    /// The answer, whatever its status.
    ///
    /// # Errors
    /// There is no whole answer of HTTP/1 in time.
    pub fn ask(&self, question: &Question<'_>) -> Result<Reply, HttpFault> {
        let method = if question.is_head { "HEAD" } else { "GET" };
        let version = if question.is_http_1_0 { "1.0" } else { "1.1" };
        let mut request = format!(
            "{method} {} HTTP/{version}\r\nHost: {}\r\nConnection: close\r\n",
            question.path, self.host
        );
        let is_own = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("user-agent");
        if !question.fields.iter().any(is_own) {
            request.push_str(&format!("User-Agent: {AGENT}\r\n"));
        }
        let accept = Some(("Accept-Encoding", question.accept)).filter(|(_, codings)| !codings.is_empty());
        for (name, value) in accept.iter().chain(question.fields) {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        let limit = (LIMIT, &Interrupt::caught());
        http::exchange(self.peer, request.as_bytes(), question.is_head, http::LONGEST, limit)
    }
}

/// Starts a private instance in a network of its own, lets it be asked, and ends it.
///
/// # Errors
/// It does not start, in the words of the server; or what the questions came to.
pub fn with_instance<T: Send>(
    found: &Found,
    site: &Site,
    place: &LaunchContext,
    host: Option<&str>,
    work: impl FnOnce(&Asker<'_>) -> Result<T> + Send,
) -> Result<T> {
    privately(|| {
        let instance = Instance::start(found, site, place)?;
        let security = if site.tls.is_some() { Security::Own } else { Security::Plain };
        let peer = Peer { address: instance.address(), security };
        let done = work(&Asker { peer, host: host.unwrap_or("localhost"), server: Some(instance.group()) });
        instance.stop();
        done
    })?
}
