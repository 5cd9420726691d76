//! The preflight: every request a few times before the load, to see what the server really sends for it.

use crate::fault::{Fault, FaultKind};
use crate::plan::{LoadPlan, Protocol, Request};
use crate::protocol::h1::head::{Head, fields};
use crate::result::{Framing, Preflight};
use crate::verify::{Body, Captured, Examiner, Expectation};

/// How often each request is sent: twice shows what differs, and the third time what differs only sometimes.
pub const TIMES: u32 = 3;

/// A response that is being kept.
#[derive(Debug)]
pub struct Keeping {
    captured: Captured,
    most: u64,
}

impl Keeping {
    /// Begins with its head; `raw` is what that was read from.
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
        let captured = Captured { version, head: *head, fields, framing, body: Body::Whole(Vec::new()) };
        Keeping { captured, most }
    }

    /// Takes the next bytes of the body.
    pub fn body(&mut self, bytes: &[u8]) {
        let more = bytes.len() as u64;
        match &mut self.captured.body {
            Body::Whole(kept) if kept.len() as u64 + more <= self.most => kept.extend_from_slice(bytes),
            Body::Whole(kept) => self.captured.body = Body::Long(kept.len() as u64 + more),
            Body::Long(length) => *length += more,
        }
    }
}

/// Gathers what the preflight brings, request by request.
#[derive(Debug)]
pub struct Scout<'a> {
    plan: &'a LoadPlan,
    examiner: Examiner,
    /// Responses to the request that is being asked for.
    responses: Vec<Result<Captured, Fault>>,
    /// What was found, in the plan's order.
    pub found: Vec<(Preflight, Option<Expectation>)>,
}

impl<'a> Scout<'a> {
    /// One that has seen nothing.
    pub fn new(plan: &'a LoadPlan) -> Scout<'a> {
        Scout { plan, examiner: Examiner::new(plan), responses: Vec::new(), found: Vec::new() }
    }

    /// Begins to keep a response.
    pub fn keep(&self, request: u32, head: &Head, raw: &[u8]) -> Keeping {
        let most = self.plan.limits.body_bytes;
        Keeping::begin(self.plan.protocol, &self.plan.requests[request as usize], head, raw, most)
    }

    /// A response is whole.
    pub fn whole(&mut self, request: u32, keeping: Keeping) {
        self.response(request, Ok(keeping.captured));
    }

    /// A request has ended in a fault.
    pub fn fault(&mut self, request: u32, fault: Fault) {
        self.response(request, Err(fault));
    }

    fn response(&mut self, request: u32, response: Result<Captured, Fault>) {
        self.responses.push(response);
        if self.responses.len() < TIMES as usize {
            return;
        }
        let request = &self.plan.requests[request as usize];
        let all: Result<Vec<Captured>, Fault> = self.responses.drain(..).collect();
        self.found.push(match all {
            Ok(all) => {
                let (seen, others) = all.split_first().expect("there are several");
                let (preflight, expectation) = self.examiner.examine(request, seen, others);
                (preflight, Some(expectation))
            }
            Err(fault) => {
                let request = request.name.clone();
                (Preflight { request, fault: Some(fault), ..Preflight::default() }, None)
            }
        });
    }

    /// What was found, with a fault for each request that got no answer in time.
    pub fn finish(mut self) -> Vec<(Preflight, Option<Expectation>)> {
        for request in &self.plan.requests[self.found.len()..] {
            let fault =
                Some(Fault::new(FaultKind::Timeout, "the preflight was ended before it was answered"));
            self.found
                .push((Preflight { request: request.name.clone(), fault, ..Preflight::default() }, None));
        }
        self.found
    }
}
