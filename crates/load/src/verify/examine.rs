//! The preflight: finds out what a server really sends for a request, and what can be checked of further responses.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::changes::Changes;
use super::decode::decode;
use super::expectation::{Decoded, Expectation, layer};
use super::finding::{Finding, value};
use super::template::{LONGEST, SHARED, Template};
use super::variants::Variant;
use crate::escape::shown;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::{Check, Limits, LoadPlan, Request};
use crate::protocol::coding::Coding;
use crate::protocol::h1::head::Head;
use crate::result::{Checked, Framing, Preflight};

/// Bytes of accepted bodies that a run may keep; requests beyond that are checked in samples.
pub(crate) const KEPT: u64 = 512 << 20;

/// The least responses per content: with fewer, another content may still appear.
const RESPONSES_PER_CONTENT: usize = 3;
/// Parts that vary may become this many bytes longer than in the preflight, and twice as long.
const GROWTH: u64 = 4096;

/// The name in [`Check::Verify`]'s `vary_by` that stands for bodies; all others are names of headers.
const BODY: &str = "body";

/// A response that was received in full.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The protocol version of the response, such as `HTTP/1.1`.
    pub version: String,
    pub head: Head,
    /// Names and values of its headers, in order.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// How the end of its body was marked.
    pub framing: Framing,
    pub body: Body,
}

/// A body in its content coding, without framing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Whole(Arc<Vec<u8>>),
    /// Longer than [`Limits::body_bytes`]: only its length.
    Long(u64),
}

/// Examines the responses of preflights, by request.
#[derive(Debug)]
pub struct Examiner {
    limits: Limits,
    /// None: bodies are discarded.
    vary_by: Option<Vec<String>>,
    /// Bytes of bodies that may still be kept.
    room: u64,
    /// The preflight repeats requests after a pause, to find what varies: then a page may also change during the load.
    may_change: bool,
}

impl Examiner {
    pub fn new(plan: &LoadPlan) -> Examiner {
        let vary_by = match &plan.check {
            Check::Verify { vary_by, .. } => Some(vary_by.clone()),
            Check::Discard => None,
        };
        Examiner { limits: plan.limits, vary_by, room: KEPT, may_change: plan.again_seconds > 0.0 }
    }

    /// The findings from the responses to a request: `seen` is one of them, `others` are more. More responses are
    /// better; without others, a body that varies is later taken for a wrong one.
    ///
    /// If [`Preflight::fault`] is set, nothing can be verified, and the expectation is of no use.
    pub fn examine(
        &mut self,
        request: &Request,
        seen: &Captured,
        others: &[Captured],
    ) -> (Preflight, Expectation) {
        if let Some(odd) = odd_one_out(seen, others) {
            let rest: Vec<Captured> = [seen]
                .into_iter()
                .chain(others)
                .enumerate()
                .filter(|(at, _)| *at != odd)
                .map(|(_, c)| c.clone())
                .collect();
            let (mut preflight, expectation) = self.examine(request, &rest[0], &rest[1..]);
            let all = rest.len() + 1;
            let message = format!(
                "response {} of the preflight's {all} had another body than the others, which were all the same: responses must have the body of the others",
                odd + 1
            );
            preflight.notes.push(message);
            return (preflight, expectation);
        }
        let mut finding = Finding::begin(request, seen);
        let known = self.vary_by.as_deref().unwrap_or_default();
        if let Some(names) = differing(seen, others, known) {
            finding.note(format!("headers that differ between responses: {names}"));
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
    ) -> Result<(), HttpFault> {
        if let Some(other) = others.iter().find(|o| o.head.status != seen.head.status) {
            let message = format!("status {} and then {}", seen.head.status, other.head.status);
            return Err(HttpFault::new(HttpFaultKind::Status, message));
        }
        let known = self.vary_by.as_deref().unwrap_or_default();
        let bodies_vary = known.iter().any(|name| name == BODY);
        let vary = bodies_vary || others.iter().any(|other| other.body != seen.body);
        finding.expectation.length =
            constant_length(seen, others).filter(|_| !vary || is_bodiless(request, seen));
        if self.vary_by.is_none() {
            return Ok(());
        }
        for captured in [seen].into_iter().chain(others) {
            finding.accept_coding(request, captured)?;
        }
        if is_bodiless(request, seen) {
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
            finding
                .note(format!("of bodies over {} bytes only the length is checked", self.limits.body_bytes));
            return Ok(());
        }
        let decoded = finding.decode(&whole, &self.limits)?;
        finding.notes_on_body(seen, whole[0].1);
        if bodies_vary {
            finding.varies();
            return Ok(());
        }
        if decoded.iter().any(|other| *other != decoded[0]) {
            finding.expectation.media_type = Some(media_type(borrowed(seen)));
            self.varying(finding, &whole, &decoded)?;
        }
        self.choose(finding, &whole, &decoded);
        // A response with a validator, or a part of one, promises its bytes (RFC 9110, 8.8 and 14).
        let promised = seen.head.status == 206
            || ["etag", "last-modified"].iter().any(|name| value(seen, name).is_some());
        // A body without parts that vary could not be distinguished from a change: another body is wrong at once, and
        // need not be kept.
        let is_short = decoded.iter().all(|d| d.bytes <= LONGEST as u64);
        let expectation = &mut finding.expectation;
        if self.may_change
            && is_short
            && !promised
            && matches!(expectation.checked, Checked::Bytes | Checked::Parts)
        {
            expectation.changes = Some(Changes::default());
            expectation.length = None;
            expectation.media_type = Some(media_type(borrowed(seen)));
        }
        Ok(())
    }

    /// What can be checked of bodies that are not all the same.
    fn varying(
        &self,
        finding: &mut Finding,
        bodies: &[(Coding, &[u8])],
        decoded: &[Decoded],
    ) -> Result<(), HttpFault> {
        finding.varies();
        let lengths = || decoded.iter().map(|d| d.bytes);
        let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        let contents = distinct(decoded);
        let mut whole = Vec::with_capacity(contents.len());
        for content in &contents {
            let at = decoded.iter().position(|d| d == content).unwrap_or(0);
            let (coding, wire) = bodies[at];
            let dictionary = finding.expectation.dictionary.as_deref();
            let body = decode(coding, dictionary, wire, content.bytes, self.limits.decoded_bytes)?;
            whole.push(body.into_owned());
        }
        let template = Template::of(&whole).filter(|t| t.fixed_bytes() as f64 >= SHARED * most as f64);
        let expectation = &mut finding.expectation;
        if let Some(template) = template {
            let note = format!(
                "{} of {most} bytes are the same in every response; parts that vary: {}",
                template.fixed_bytes(),
                template.varying()
            );
            expectation.plausible = Some(template.fixed_bytes() as u64..=2 * most + GROWTH);
            expectation.checked = Checked::Parts;
            expectation.template = Some(template);
            finding.note(note);
        } else if contents.len() * RESPONSES_PER_CONTENT <= decoded.len() && recurs(decoded) {
            let note = format!("the response has {} different bodies, which recur", contents.len());
            expectation.checked = Checked::Bytes;
            expectation.contents = contents;
            finding.note(note);
        } else {
            finding.expectation.plausible = Some(least / 2..=2 * most + GROWTH);
        }
        Ok(())
    }

    /// How responses will be checked: keeps the bodies for comparison.
    fn choose(&mut self, finding: &mut Finding, bodies: &[(Coding, &[u8])], decoded: &[Decoded]) {
        let expectation = &mut finding.expectation;
        if expectation.decoded.is_some() {
            expectation.checked = Checked::Samples;
            expectation.length = None;
            expectation.contents = vec![decoded[0]];
        } else if expectation.checked == Checked::Samples {
            return;
        }
        let kept = distinct(bodies);
        let bytes: u64 = kept.iter().map(|(_, wire)| wire.len() as u64).sum();
        if bytes > self.room {
            finding.note(
                "bodies are checked in samples, because those of other requests fill the memory limit".into(),
            );
            finding.expectation.checked = Checked::Samples;
            return;
        }
        self.room -= bytes;
        if expectation.checked != Checked::Parts {
            expectation.checked = Checked::Bytes;
        }
        for (coding, wire) in kept {
            let at = bodies.iter().position(|body| *body == (coding, wire)).unwrap_or(0);
            let decoded_bytes = decoded[at].bytes;
            expectation.variants.add(Variant { coding, wire: wire.into(), decoded_bytes, fault: None });
        }
    }
}

/// The one response whose body differs from all others, if these are enough to call it wrong rather than a part that
/// varies: at least [`AGREEING`].
fn odd_one_out(seen: &Captured, others: &[Captured]) -> Option<usize> {
    let bodies: Vec<&Body> = [seen].into_iter().chain(others).map(|captured| &captured.body).collect();
    if bodies.len() <= AGREEING {
        return None;
    }
    // Of three bodies, at least two are those of the majority if one is different.
    let usual = if bodies[0] == bodies[1] || bodies[0] == bodies[2] { bodies[0] } else { bodies[1] };
    let mut odd = bodies.iter().enumerate().filter(|(_, body)| **body != usual);
    let (at, _) = odd.next()?;
    odd.next().is_none().then_some(at)
}

/// The least number of equal responses for which a single different one counts as wrong.
const AGREEING: usize = 5;

pub(super) fn length(captured: &Captured) -> u64 {
    match &captured.body {
        Body::Whole(bytes) => bytes.len() as u64,
        Body::Long(bytes) => *bytes,
    }
}

/// RFC 9112, section 6.3: these have no body, whatever their headers say.
fn is_bodiless(request: &Request, seen: &Captured) -> bool {
    request.method == "HEAD" || matches!(seen.head.status, 204 | 304)
}

/// Each value once, in the order of first appearance.
fn distinct<T: PartialEq + Copy>(all: &[T]) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for one in all {
        if !distinct.contains(one) {
            distinct.push(*one);
        }
    }
    distinct
}

/// Whether one comes again after another. One that only follows the other may be that of a clock, and a third the next.
fn recurs(all: &[Decoded]) -> bool {
    let mut turns = all.to_vec();
    turns.dedup();
    distinct(&turns).len() < turns.len()
}

/// The names and values of a response's headers.
fn borrowed(captured: &Captured) -> impl Iterator<Item = (&[u8], &[u8])> {
    captured.fields.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
}

/// The media type of Content-Type without parameters, in lower case; empty without the header.
pub(super) fn media_type<'a>(mut fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let named = fields.find(|(name, _)| name.eq_ignore_ascii_case(b"content-type"));
    let value = named.map_or(&b""[..], |(_, value)| value);
    value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase()
}

/// The length of all bodies, if it is the same and at least two responses or Content-Length show it.
fn constant_length(seen: &Captured, others: &[Captured]) -> Option<u64> {
    let bytes = length(seen);
    let told = !others.is_empty() || seen.framing == Framing::Length;
    (told && others.iter().all(|other| length(other) == bytes)).then_some(bytes)
}

/// Headers that differ by nature.
const PASSING: [&[u8]; 5] = [b"date", b"age", b"expires", b"connection", b"keep-alive"];
/// The most names that are listed.
const LISTED: usize = 8;

/// The names of headers whose values differ between responses, on one line, without those in `known`. None: no header
/// differs.
pub(super) fn differing(first: &Captured, others: &[Captured], known: &[String]) -> Option<String> {
    let passing = |name: &[u8]| {
        PASSING.iter().any(|p| name.eq_ignore_ascii_case(p))
            || known.iter().any(|k| name.eq_ignore_ascii_case(k.as_bytes()))
    };
    let reference = by_name(first);
    let mut names: Vec<Vec<u8>> = Vec::new();
    for other in others.iter().map(by_name) {
        for name in reference.keys().chain(other.keys()) {
            if reference.get(name) != other.get(name) && !passing(name) && !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let mut listed: Vec<String> = names.iter().take(LISTED).map(|name| shown(name)).collect();
    if names.len() > LISTED {
        listed.push(format!("{} more", names.len() - LISTED));
    }
    (!listed.is_empty()).then(|| listed.join(", "))
}

/// Values by the name in lower case.
fn by_name(captured: &Captured) -> BTreeMap<Vec<u8>, Vec<&[u8]>> {
    let mut fields: BTreeMap<Vec<u8>, Vec<&[u8]>> = BTreeMap::new();
    for (name, value) in &captured.fields {
        fields.entry(name.to_ascii_lowercase()).or_default().push(value);
    }
    fields
}
