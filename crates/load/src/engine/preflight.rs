//! The preflight: sends every request a few times before the load. It shows what the server sends, and what of that
//! varies between connections, between responses and with time.

use std::sync::Arc;

use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::{LoadPlan, Protocol, Request};
use crate::protocol::h1::head::{Head, fields};
use crate::result::{Framing, Preflight};
use crate::verify::{Body, Captured, Examiner, Expectation, KEPT};

/// How often each request is sent again after a pause, if the plan asks for that: clocks change in the meantime, and
/// content that is drawn from a few variants shows itself.
pub const AGAIN: u32 = 5;

/// Requests that a preflight sends per request of a plan, before a pause.
pub fn times(plan: &LoadPlan) -> u32 {
    plan.preflights.max(1)
}

/// Requests that a preflight sends per request of a plan.
pub fn preflights(plan: &LoadPlan) -> u32 {
    times(plan) + if plan.again_seconds > 0.0 { AGAIN } else { 0 }
}

/// A response that is being captured.
#[derive(Debug)]
pub struct Keeping {
    captured: Captured,
    most: u64,
}

impl Keeping {
    /// Starts with the head; `raw` is the bytes of the head.
    pub fn begin(protocol: Protocol, request: &Request, head: &Head, raw: &[u8], most: u64) -> Keeping {
        let version = match protocol {
            Protocol::Http2 => "HTTP/2".to_owned(),
            Protocol::Http10 | Protocol::Http11 => format!("HTTP/1.{}", head.minor),
        };
        let framing = match protocol {
            _ if request.method == "HEAD" || matches!(head.status, 204 | 304) => Framing::None,
            Protocol::Http2 => Framing::Frames,
            Protocol::Http10 | Protocol::Http11 if head.chunked => Framing::Chunked,
            Protocol::Http10 | Protocol::Http11 if head.length.is_some() => Framing::Length,
            Protocol::Http10 | Protocol::Http11 => Framing::Close,
        };
        let fields = fields(raw).map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        let captured = Captured { version, head: *head, fields, framing, body: Body::Whole(Arc::default()) };
        Keeping { captured, most }
    }

    pub fn body(&mut self, bytes: &[u8]) {
        let more = bytes.len() as u64;
        match &mut self.captured.body {
            Body::Whole(kept) if kept.len() as u64 + more <= self.most => {
                Arc::make_mut(kept).extend_from_slice(bytes);
            }
            Body::Whole(kept) => self.captured.body = Body::Long(kept.len() as u64 + more),
            Body::Long(length) => *length += more,
        }
    }
}

/// Collects the responses of the preflight, by request.
#[derive(Debug)]
pub struct Scout {
    plan: Arc<LoadPlan>,
    examiner: Examiner,
    requests: Vec<RequestState>,
    /// Bytes of bodies that wait to be examined.
    kept: u64,
}

/// What is known about one request.
#[derive(Debug)]
enum RequestState {
    /// Its responses so far; equal bodies are kept once.
    Open(Vec<Result<Captured, HttpFault>>),
    Examined(Box<(Preflight, Option<Expectation>)>),
}

impl Scout {
    pub fn new(plan: &LoadPlan) -> Scout {
        let requests = plan.requests.iter().map(|_| RequestState::Open(Vec::new())).collect();
        Scout { plan: Arc::new(plan.clone()), examiner: Examiner::new(plan), requests, kept: 0 }
    }

    /// Starts to capture a response.
    pub fn keep(&self, request: u32, head: &Head, raw: &[u8]) -> Keeping {
        let most = self.plan.limits.body_bytes;
        Keeping::begin(self.plan.protocol, &self.plan.requests[request as usize], head, raw, most)
    }

    pub fn whole(&mut self, request: u32, keeping: Keeping) {
        self.response(request, Ok(keeping.captured));
    }

    pub fn fault(&mut self, request: u32, fault: HttpFault) {
        self.response(request, Err(fault));
    }

    /// Whether further responses may help: every request was answered, and one is not examined yet.
    pub fn asks_again(&self) -> bool {
        let is_answered = |asked: &RequestState| match asked {
            RequestState::Open(responses) => {
                responses.len() >= times(&self.plan) as usize
                    && responses.iter().all(|response| response.is_ok())
            }
            RequestState::Examined(_) => true,
        };
        self.requests.iter().all(is_answered)
            && self.requests.iter().any(|a| matches!(a, RequestState::Open(_)))
    }

    fn response(&mut self, request: u32, mut response: Result<Captured, HttpFault>) {
        let index = request as usize;
        let RequestState::Open(responses) = &mut self.requests[index] else { return };
        if let Ok(captured) = &mut response {
            let known = responses.iter().flatten().find(|known| known.body == captured.body);
            match (known, &captured.body) {
                (Some(known), _) => captured.body = known.body.clone(),
                (None, Body::Whole(bytes)) => self.kept += bytes.len() as u64,
                (None, Body::Long(_)) => {}
            }
        }
        responses.push(response);
        let is_told = responses.len() >= times(&self.plan) as usize;
        if responses.len() >= preflights(&self.plan) as usize || (is_told && self.kept > KEPT) {
            self.examine(index);
        }
    }

    /// Examines the responses to a request, and frees them.
    fn examine(&mut self, index: usize) {
        let RequestState::Open(responses) = &mut self.requests[index] else { return };
        let request = &self.plan.requests[index];
        let mut responses = std::mem::take(responses);
        let missing = responses.len() < times(&self.plan) as usize && responses.iter().all(Result::is_ok);
        if missing {
            let message = "the preflight ended before the response arrived";
            responses.push(Err(HttpFault::new(HttpFaultKind::Timeout, message)));
        }
        let all: Result<Vec<Captured>, HttpFault> = responses.into_iter().collect();
        let found = match all {
            Ok(all) => {
                let (seen, others) = all.split_first().expect("there are several");
                self.kept = self.kept.saturating_sub(bytes(&all));
                let (preflight, expectation) = self.examiner.examine(request, seen, others);
                (preflight, Some(expectation))
            }
            Err(fault) => {
                let request = request.name.clone();
                (Preflight { request, fault: Some(fault), ..Preflight::default() }, None)
            }
        };
        self.requests[index] = RequestState::Examined(Box::new(found));
    }

    /// The results, in the plan's order, with a failure for each request that got no response in time. Each is
    /// reported, because together they may take a while.
    pub fn finish(mut self, each: impl Fn()) -> Vec<(Preflight, Option<Expectation>)> {
        for index in 0..self.requests.len() {
            self.examine(index);
            each();
        }
        let found = self.requests.into_iter().filter_map(|asked| match asked {
            RequestState::Examined(found) => Some(*found),
            RequestState::Open(_) => None,
        });
        found.collect()
    }
}

/// Bytes of bodies, each counted once.
fn bytes(all: &[Captured]) -> u64 {
    let mut bodies: Vec<&Arc<Vec<u8>>> = Vec::new();
    for captured in all {
        if let Body::Whole(body) = &captured.body
            && !bodies.iter().any(|known| Arc::ptr_eq(known, body))
        {
            bodies.push(body);
        }
    }
    bodies.iter().map(|body| body.len() as u64).sum()
}
