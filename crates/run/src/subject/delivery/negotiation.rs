//! Asks a private server what it sends to whom: a matrix of Accept-Encoding values, and for each variant that shows itself
//! whether it is revalidated, sent in parts and headed as it should be.
//!
//! It owns the requests and keeps the answers. It refuses to judge them, to ask anybody but this machine, and to go on for
//! longer than it may: what is not asked is said.

mod body;
mod matrix;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use weigh_load::escape::shown;
use weigh_load::fault::HttpFault;

use body::Content;
use weigh_model::record::negotiation::{
    Answer, Body, Exchange, IDENTITY, Negotiation, NegotiationRequest, Purpose,
};
use weigh_os::interrupt::Interrupt;
use weigh_rig::http::{self, Peer, Reply, Security};

/// What all requests together may take.
const IN_ALL: Duration = Duration::from_secs(30);
const EACH: Duration = Duration::from_secs(10);
/// A larger content is not asked for some sixty times.
const LARGEST: usize = 16 << 20;
/// Apache calls what was changed within the last second weak, because it might be changed again: files of a run are fresh.
const FRESH: Duration = Duration::from_millis(1100);
/// Variants that are looked at; no server has as many.
const VARIANTS: usize = 8;
/// Characters of a server's text that are kept.
const KEPT: usize = 200;

/// A variant that has shown itself.
struct Variant {
    coding: String,
    /// The Accept-Encoding that it was sent for first.
    accept: Option<String>,
    /// As the server said it, in full.
    etag: Option<Vec<u8>>,
    body: Vec<u8>,
}

/// Asks `url`, whose whole content is `content`, for everything; `host` is the one that requests name, where it is not the address.
/// None when the user wants the run to end.
pub fn ask(url: &str, host: Option<&str>, content: &[u8], interrupt: &Interrupt) -> Option<Negotiation> {
    let not_asked = |why: String| Some(Negotiation { exchanges: Vec::new(), ended: Some(why) });
    if content.len() > LARGEST {
        return not_asked(format!("the content is larger than {} MiB", LARGEST >> 20));
    }
    let link = match Link::to(url, host) {
        Ok(link) => link,
        Err(why) => return not_asked(why),
    };
    let until = Instant::now() + IN_ALL;
    let talk = Talk { link, content: Content::new(content), variants: Vec::new(), until, interrupt };
    talk.all()
}

struct Talk<'a> {
    link: Link,
    content: Content<'a>,
    variants: Vec<Variant>,
    until: Instant,
    interrupt: &'a Interrupt,
}

impl Talk<'_> {
    fn all(mut self) -> Option<Negotiation> {
        let mut told = Negotiation::default();
        self.each(matrix::choices(), &mut told)?;
        let is_weak = |variant: &Variant| variant.etag.as_ref().is_some_and(|etag| etag.starts_with(b"W/"));
        if self.variants.iter().any(is_weak) {
            self.interrupt.wait(FRESH)?;
            (told, self.variants) = Default::default();
            self.each(matrix::choices(), &mut told)?;
        }
        let tags: Vec<(String, Option<String>)> =
            self.variants.iter().map(|v| (v.coding.clone(), v.etag.as_deref().map(sendable))).collect();
        for at in 0..self.variants.len() {
            let variant = &self.variants[at];
            let asks = matrix::of_variant(&variant.coding, variant.accept.as_deref(), &tags);
            self.each(asks, &mut told)?;
        }
        Some(told)
    }

    fn each(&mut self, asks: Vec<NegotiationRequest>, told: &mut Negotiation) -> Option<()> {
        for ask in asks {
            if self.interrupt.is_set() {
                return None;
            }
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                told.ended = Some(format!("the requests took more than {} s", IN_ALL.as_secs()));
                return Some(());
            }
            let most = self.content.most();
            let (request, is_head) = (matrix::request(&ask, &self.link), ask.purpose == Purpose::Head);
            let within = (left.min(EACH), self.interrupt);
            let reply = http::exchange(self.link.peer, &request, is_head, most, within);
            let answer = self.answer(&ask, reply);
            told.exchanges.push(Exchange { ask, answer });
        }
        Some(())
    }

    fn answer(&mut self, ask: &NegotiationRequest, reply: Result<Reply, HttpFault>) -> Answer {
        let reply = match reply {
            Ok(reply) => reply,
            Err(fault) => return Answer { fault: Some(fault.message), ..Answer::default() },
        };
        let mut answer = Answer {
            status: reply.status,
            content_encoding: reply.field("content-encoding").map(|value| text(&value)),
            vary: reply.field("vary").map(|value| text(&value)),
            etag: reply.field("etag").map(|value| text(&value)),
            content_length: reply.length,
            content_range: reply.field("content-range").map(|value| text(&value)),
            bytes: reply.body.len() as u64,
            body: Body::None,
            fault: None,
        };
        let coding = answer.coding();
        (answer.body, answer.fault) = match (reply.status, reply.body.is_empty()) {
            _ if reply.is_head => (Body::None, None),
            (200, _) => self.content.whole(reply.coding, &reply.body),
            (206, _) => {
                let variant = self.variants.iter().find(|v| v.coding == coding);
                let whole = variant.map(|v| v.body.as_slice());
                (body::part(whole, answer.content_range.as_deref(), &reply.body), None)
            }
            (_, true) => (Body::None, None),
            (_, false) => (Body::Message, None),
        };
        if ask.purpose == Purpose::Choose && answer.status == 200 && answer.body == Body::Content {
            self.remember(coding, ask, reply);
        }
        answer
    }

    fn remember(&mut self, coding: String, ask: &NegotiationRequest, reply: Reply) {
        if self.variants.len() < VARIANTS && self.variants.iter().all(|v| v.coding != coding) {
            let etag = reply.field("etag");
            self.variants.push(Variant { coding, accept: ask.accept.clone(), etag, body: reply.body });
            // As it is first, for what comes after it is compared with it.
            self.variants.sort_by_key(|v| v.coding != IDENTITY);
        }
    }
}

/// A server's text for a record.
fn text(bytes: &[u8]) -> String {
    let printable = |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '?' };
    bytes.iter().take(KEPT).map(printable).collect()
}

/// An ETag as it can be sent back: as it came, unless that would break a request.
fn sendable(etag: &[u8]) -> String {
    match std::str::from_utf8(etag) {
        Ok(tag) if tag.len() <= 1024 && !tag.contains(char::is_control) => tag.to_owned(),
        _ => shown(etag),
    }
}

struct Link {
    peer: Peer<'static>,
    host: String,
    path: String,
}

impl Link {
    /// To the server of an instance's URL.
    fn to(url: &str, host: Option<&str>) -> Result<Link, String> {
        let security = if url.starts_with("https://") { Security::Own } else { Security::Plain };
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        let (authority, path) = rest.and_then(|rest| rest.split_once('/')).unwrap_or_default();
        match authority.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => {
                let host = host.map_or_else(|| address.to_string(), str::to_owned);
                Ok(Link { peer: Peer { address, security }, host, path: format!("/{path}") })
            }
            _ => Err("only servers of this machine are asked".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
