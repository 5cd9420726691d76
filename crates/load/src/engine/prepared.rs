//! Requests as bytes: made once, before the load.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ClientConfig;

use crate::escape::is_token;
use crate::plan::{LoadPlan, Protocol, Request};
use crate::protocol::h2::Message;
use crate::target::{Location, Resolver, Scheme, Target};
use crate::transport::tls;

/// The idempotent methods (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];

/// Where connections lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The first address of the host.
    pub address: SocketAddr,
    /// The name for TLS; none: plain TCP.
    pub tls: Option<String>,
    /// The host with its port, for the Host header.
    pub authority: String,
}

/// A request that is ready to send.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub endpoint: u32,
    pub class: u32,
    /// Head and body for HTTP/1; empty in a plan for HTTP/2.
    pub bytes: Box<[u8]>,
    /// Head and body for HTTP/2, in a plan for it.
    pub message: Option<Message>,
    /// The method is HEAD: the response has no body.
    pub head_only: bool,
    /// It may be sent again if it is unknown whether the server processed it (RFC 9110, 9.2.2).
    pub is_idempotent: bool,
}

/// Why a plan cannot run; nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// A plan's requests, endpoints and classes.
#[derive(Clone, Debug, Default)]
pub struct Arsenal {
    pub requests: Vec<Prepared>,
    pub endpoints: Vec<Endpoint>,
    /// Each class once, in the order of first use.
    pub classes: Vec<String>,
    /// For endpoints with TLS, if there are any.
    pub tls: Option<Arc<ClientConfig>>,
}

impl Arsenal {
    /// Prepares every request of a plan.
    ///
    /// # Errors
    /// The URL or header that cannot be sent.
    pub fn of(plan: &LoadPlan) -> Result<Arsenal, Refusal> {
        let mut all = Arsenal::default();
        let resolver = Resolver::default();
        for request in &plan.requests {
            let Target { location, addresses } =
                resolver.target(&request.url).map_err(|e| Refusal(e.to_string()))?;
            let Location { scheme, host, authority, path, .. } = location;
            let address = addresses[0];
            let endpoint = Endpoint { address, tls: (scheme == Scheme::Https).then_some(host), authority };
            let keepalive = plan.streams.get(request.stream as usize).is_none_or(|s| s.keepalive);
            let (bytes, message) = if plan.protocol == Protocol::Http2 {
                let is_tls = endpoint.tls.is_some();
                let message = Message::new(request, is_tls, &endpoint.authority, &path).map_err(Refusal)?;
                (Vec::new(), Some(message))
            } else {
                (bytes(request, &endpoint, &path, plan.protocol, keepalive)?, None)
            };
            let endpoint = find_or_add(&mut all.endpoints, endpoint);
            let class = find_or_add(&mut all.classes, request.class.clone());
            let head_only = request.method.eq_ignore_ascii_case("HEAD");
            let is_idempotent = IDEMPOTENT.iter().any(|m| request.method.eq_ignore_ascii_case(m));
            let bytes = bytes.into();
            all.requests.push(Prepared { endpoint, class, bytes, message, head_only, is_idempotent });
        }
        if all.endpoints.iter().any(|e| e.tls.is_some()) {
            all.tls = Some(tls::config(&plan.tls, plan.protocol).map_err(|e| Refusal(e.to_string()))?);
        }
        Ok(all)
    }
}

fn find_or_add<T: PartialEq>(all: &mut Vec<T>, one: T) -> u32 {
    let at = all.iter().position(|t| *t == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    });
    at as u32
}

/// Head and body of a request (RFC 9112, 3).
fn bytes(
    request: &Request,
    endpoint: &Endpoint,
    path: &str,
    protocol: Protocol,
    keepalive: bool,
) -> Result<Vec<u8>, Refusal> {
    token(&request.method, || format!("{}: the method", request.name))?;
    let is_old = protocol == Protocol::Http10;
    let version = if is_old { "1.0" } else { "1.1" };
    let mut head = format!("{} {path} HTTP/{version}\r\n", request.method);
    let has = |name: &str| request.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
    let mut add = |name: &str, value: &str| head.push_str(&format!("{name}: {value}\r\n"));
    if !has("host") {
        add("Host", &endpoint.authority);
    }
    for (name, value) in &request.headers {
        token(name, || format!("{}: the header name `{name}`", request.name))?;
        if value.bytes().any(|b| matches!(b, b'\r' | b'\n' | 0)) {
            return Err(Refusal(format!(
                "{}: the value of {name} contains a line end or a NUL",
                request.name
            )));
        }
        add(name, value);
    }
    let needs_length =
        !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    if needs_length && !has("content-length") && !has("transfer-encoding") {
        add("Content-Length", &request.body.len().to_string());
    }
    if !has("connection") {
        match (is_old, keepalive) {
            (true, true) => add("Connection", "Keep-Alive"),
            (false, false) => add("Connection", "close"),
            (true, false) | (false, true) => {}
        }
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&request.body);
    Ok(bytes)
}

fn token(text: &str, what: impl Fn() -> String) -> Result<(), Refusal> {
    if is_token(text) {
        Ok(())
    } else {
        Err(Refusal(format!("{} is not an HTTP token (letters, digits and !#$%&'*+-.^_`|~)", what())))
    }
}
