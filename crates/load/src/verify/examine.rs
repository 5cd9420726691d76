//! The preflight: what a server really sends for a request, and what can be asked of every further response.

use std::sync::Arc;

use super::expectation::{Expectation, layer};
use super::fields::differing;
use super::finding::Finding;
use super::variants::Variant;
use crate::fault::{Fault, FaultKind};
use crate::plan::{Check, Limits, LoadPlan, Request};
use crate::protocol::coding::Coding;
use crate::protocol::h1::head::Head;
use crate::result::{Checked, Framing, Preflight};

/// Bytes of accepted bodies that a run may keep; requests beyond them are checked in samples.
const KEPT: u64 = 512 << 20;

/// The name in [`Check::Verify`]'s `vary_by` that stands for bodies; every other one is a field's.
const BODY: &str = "body";

/// A response that was read in full.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The protocol as the server spoke it, as `HTTP/1.1`.
    pub version: String,
    /// Its head.
    pub head: Head,
    /// Names and values of its fields, in their order.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// How the end of its body was told.
    pub framing: Framing,
    /// Its body.
    pub body: Body,
}

/// A body in its content coding, without framing.
#[derive(Clone, Debug)]
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// One over [`Limits::body_bytes`], that was only counted.
    Long(u64),
}

/// Examines the responses of preflights, request by request.
#[derive(Debug)]
pub struct Examiner {
    limits: Limits,
    /// None: bodies are discarded.
    vary_by: Option<Vec<String>>,
    /// Bytes of bodies that may still be kept.
    room: u64,
}

impl Examiner {
    /// An examiner for the requests of a plan.
    pub fn new(plan: &LoadPlan) -> Examiner {
        let vary_by = match &plan.check {
            Check::Verify { vary_by, .. } => Some(vary_by.clone()),
            Check::Discard => None,
        };
        Examiner { limits: plan.limits, vary_by, room: KEPT }
    }

    /// What the responses to a request tell: `seen` is one of them, `others` are more, the more the better; without any,
    /// a body that differs from response to response is taken for a wrong one later.
    ///
    /// Where [`Preflight::fault`] is set nothing can be verified, and the expectation is of no use.
    pub fn examine(
        &mut self,
        request: &Request,
        seen: &Captured,
        others: &[Captured],
    ) -> (Preflight, Expectation) {
        let mut finding = Finding::begin(request, seen);
        let known = self.vary_by.as_deref().unwrap_or_default();
        if let Some(names) = differing(seen, others, known) {
            finding.note(format!("fields that differ from response to response: {names}"));
        }
        if let Err(fault) = self.look(&mut finding, request, seen, others) {
            finding.preflight.fault = Some(fault);
        }
        finding.preflight.checked = finding.expectation.checked;
        (finding.preflight, finding.expectation)
    }

    fn look(
        &mut self,
        finding: &mut Finding,
        request: &Request,
        seen: &Captured,
        others: &[Captured],
    ) -> Result<(), Fault> {
        if let Some(other) = others.iter().find(|o| o.head.status != seen.head.status) {
            let message = format!("status {} and then {}", seen.head.status, other.head.status);
            return Err(Fault::new(FaultKind::Status, message));
        }
        let known = self.vary_by.as_deref().unwrap_or_default();
        let bodies_vary = known.iter().any(|name| name == BODY);
        finding.expectation.length = constant_length(seen, others).filter(|_| !bodies_vary);
        if self.vary_by.is_none() {
            return Ok(());
        }
        for captured in [seen].into_iter().chain(others) {
            finding.accept_coding(request, captured)?;
        }
        // RFC 9112, section 6.3: these have no body, whatever their fields say.
        if request.method == "HEAD" || matches!(seen.head.status, 204 | 304) {
            return Ok(());
        }
        let bodies = [seen].into_iter().chain(others).map(|c| (c, &c.body));
        let whole: Vec<(Coding, &[u8])> = bodies
            .filter_map(|(c, body)| match body {
                Body::Whole(bytes) => Some((layer(c.head.status, c.head.coding), bytes.as_slice())),
                Body::Long(_) => None,
            })
            .collect();
        if whole.len() <= others.len() {
            finding.note(format!(
                "bodies over {} bytes are checked by their length alone",
                self.limits.body_bytes
            ));
            return Ok(());
        }
        let same = finding.decode(&whole, &self.limits)?;
        finding.notes_on_body(seen, whole[0].1);
        self.choose(finding, &whole, same && !bodies_vary);
        Ok(())
    }

    /// How responses will be checked.
    fn choose(&mut self, finding: &mut Finding, bodies: &[(Coding, &[u8])], same: bool) {
        let expectation = &mut finding.expectation;
        expectation.checked = Checked::Samples;
        let identity = bodies.iter().all(|(coding, _)| *coding == Coding::Identity);
        if !same {
            expectation.decoded = None;
            finding.preflight.decoded_sha256 = None;
            // Content of one length may well be encoded in another next time.
            if !identity {
                expectation.length = None;
            }
            return;
        }
        expectation.length = None;
        let mut distinct: Vec<(Coding, &[u8])> = Vec::new();
        for body in bodies {
            if !distinct.contains(body) {
                distinct.push(*body);
            }
        }
        let bytes: u64 = distinct.iter().map(|(_, wire)| wire.len() as u64).sum();
        if bytes > self.room {
            finding.note(
                "its bodies are checked in samples: those of other requests fill the memory set apart".into(),
            );
            return;
        }
        self.room -= bytes;
        expectation.checked = Checked::Bytes;
        for (coding, wire) in distinct {
            expectation.variants.add(Variant { coding, wire: Arc::new(wire.into()), fault: None });
        }
    }
}

pub(super) fn length(captured: &Captured) -> u64 {
    match &captured.body {
        Body::Whole(bytes) => bytes.len() as u64,
        Body::Long(bytes) => *bytes,
    }
}

/// The length of all bodies, if it is one and at least two say so, or Content-Length does.
fn constant_length(seen: &Captured, others: &[Captured]) -> Option<u64> {
    let bytes = length(seen);
    let told = !others.is_empty() || seen.framing == Framing::Length;
    (told && others.iter().all(|other| length(other) == bytes)).then_some(bytes)
}
