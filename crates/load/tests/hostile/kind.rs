//! One kind of hostile server: its misbehaviour in place of a response or a handshake, and the expected result.

use std::sync::Arc;
use std::time::Duration;

use weigh_load::fault::HttpFaultKind;

use crate::frames;
use crate::secure::Secure;
use crate::server::{Step, response};

/// When a server becomes hostile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// From the first response, which is the preflight's.
    First,
    /// After good responses, for the rest.
    After,
    /// Once among good responses, all of which must be complete.
    Once,
    /// The same if bodies are discarded.
    OnceUnread,
}

impl When {
    pub fn name(self) -> &'static str {
        match self {
            When::First => "first",
            When::After => "after",
            When::Once => "once",
            When::OnceUnread => "unread",
        }
    }
}

type Act = Arc<dyn Fn(u32) -> Vec<Step> + Send + Sync>;

/// One kind of hostile server.
#[derive(Clone)]
pub struct Kind {
    pub name: String,
    pub is_http2: bool,
    pub tls: Option<Secure>,
    /// The expected failures; none: the behaviour is legal, and responses complete.
    pub ends: Vec<HttpFaultKind>,
    /// The expected failures from the first response on, if different.
    pub first: Option<Vec<HttpFaultKind>>,
    pub whens: Vec<When>,
    /// A part of the failure's message.
    pub says: &'static str,
    /// A good answer to the request on this stream.
    pub good: Act,
    /// Its steps for a request on this stream.
    pub answer: Option<Act>,
    /// Its steps for a connection before it reads a request.
    pub greeting: Option<Vec<Step>>,
    /// Each request has a connection of its own.
    pub is_fresh: bool,
    /// The request's body.
    pub body: Vec<u8>,
}

/// A kind in HTTP/1.
pub fn http1(name: impl Into<String>, ends: &[HttpFaultKind], steps: Vec<Step>) -> Kind {
    let good = response("", b"hello");
    let whens = vec![When::First, When::After, When::Once, When::OnceUnread];
    let kind = Kind {
        name: name.into(),
        is_http2: false,
        tls: None,
        ends: ends.to_vec(),
        first: None,
        whens,
        says: "",
        good: Arc::new(move |_| vec![Step::Send(good.clone())]),
        answer: Some(Arc::new(move |_| steps.clone())),
        greeting: None,
        is_fresh: false,
        body: Vec::new(),
    };
    if ends.is_empty() { kind.lasting() } else { kind }
}

/// A kind in HTTP/2; the steps are those of the request's stream.
pub fn http2(
    name: impl Into<String>,
    ends: &[HttpFaultKind],
    steps: impl Fn(u32) -> Vec<Step> + Send + Sync + 'static,
) -> Kind {
    Kind {
        is_http2: true,
        good: Arc::new(|stream| vec![Step::Send(frames::answer(stream, b"ok"))]),
        answer: Some(Arc::new(steps)),
        ..http1(name, ends, Vec::new()).lasting()
    }
}

impl Kind {
    /// The steps are carried out when a connection is accepted.
    pub fn greeting(self) -> Kind {
        let steps = self.answer.as_ref().map_or_else(Vec::new, |answer| answer(0));
        Kind { greeting: Some(steps), answer: None, is_fresh: true, ..self }
    }

    /// Each request has a connection of its own.
    pub fn fresh(self) -> Kind {
        Kind { is_fresh: true, ..self }
    }

    /// Over TLS, to one like this.
    pub fn over(self, tls: Secure) -> Kind {
        Kind { tls: Some(tls), ..self }
    }

    /// It does not become good again.
    pub fn lasting(self) -> Kind {
        Kind { whens: vec![When::First, When::After], ..self }
    }

    /// Only that.
    pub fn only(self, when: &[When]) -> Kind {
        Kind { whens: when.to_vec(), ..self }
    }

    /// It needs verified bodies.
    pub fn read(mut self) -> Kind {
        self.whens.retain(|when| *when != When::OnceUnread);
        self
    }

    /// From the first response on it ends in one of these failures, or completes.
    pub fn first(self, ends: &[HttpFaultKind]) -> Kind {
        Kind { first: Some(ends.to_vec()), ..self }
    }

    /// Good answers are these bytes.
    pub fn instead_of(self, good: Vec<u8>) -> Kind {
        Kind { good: Arc::new(move |_| vec![Step::Send(good.clone())]), ..self }
    }

    /// The failure's message contains this.
    pub fn saying(self, says: &'static str) -> Kind {
        Kind { says, ..self }
    }

    /// The request has this body.
    pub fn asked_with(self, body: Vec<u8>) -> Kind {
        Kind { body, ..self }
    }

    /// The expected failures.
    pub fn ends(&self, when: When) -> &[HttpFaultKind] {
        match (&self.first, when) {
            (Some(first), When::First) => first,
            _ => &self.ends,
        }
    }

    /// Protocol, as the table names it.
    pub fn protocol(&self) -> &'static str {
        match (self.is_http2, self.tls.is_some()) {
            (false, false) => "HTTP/1",
            (true, false) => "HTTP/2",
            (false, true) => "HTTP/1 TLS",
            (true, true) => "HTTP/2 TLS",
        }
    }
}

/// The same kinds over TLS.
pub fn also_over_tls(kinds: Vec<Kind>) -> Vec<Kind> {
    let secure: Vec<Kind> = kinds.iter().map(|kind| kind.clone().over(Secure::Good)).collect();
    [kinds, secure].concat()
}

/// Sends these bytes.
pub fn send(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(bytes.as_ref().to_vec())
}

/// Sends these bytes without end.
pub fn flood(bytes: impl AsRef<[u8]>) -> Step {
    Step::Flood(bytes.as_ref().to_vec())
}

/// Sends these bytes so slowly that they exceed any time limit.
pub fn drip(bytes: impl AsRef<[u8]>) -> Step {
    Step::Drip(bytes.as_ref().to_vec(), Duration::from_millis(60))
}

/// Longer than any time limit.
pub const FOR_EVER: Step = Step::Wait(Duration::from_secs(30));
