//! What the responses to a request must be.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::changes::Changes;
use super::checker::State;
use super::decode::{decode, sha256, token};
use super::decoder::Waiting;
use super::inner::still_compressed;
use super::template::Template;
use super::variants::{Variant, Variants, find, nearest};
use super::wrong;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::{Check, Limits, LoadPlan};
use crate::protocol::coding::Coding;
use crate::result::Checked;

/// The limit on bytes of bodies that wait to be decoded, over all threads.
const WAITING: usize = 16 << 20;
/// The limit on bytes of bodies that are kept in addition to the preflight's, over all requests.
const LEARNED: usize = 64 << 20;

/// What the responses to one request must be. Made by [`super::Examiner`]; shared by all threads.
#[derive(Debug, Default)]
pub struct Expectation {
    pub(super) status: u16,
    /// Content-Type; empty without one, and of downloads.
    pub(super) content_type: String,
    /// The dictionary that the request offers.
    pub(super) dictionary: Option<Arc<[u8]>>,
    /// The accepted content codings; empty: any.
    pub(super) codings: Vec<Coding>,
    pub(super) checked: Checked,
    /// The length of the body, if it is checked separately.
    pub(super) length: Option<u64>,
    /// The decoded length of every body; none: it varies, or is unknown.
    pub(super) decoded: Option<Decoded>,
    /// The accepted decoded bodies, if they are compared: one content, or a few that the server alternates.
    pub(super) contents: Vec<Decoded>,
    /// What the bodies of a page that varies have in common.
    pub(super) template: Option<Template>,
    /// The accepted decoded lengths, if bodies differ.
    pub(super) plausible: Option<RangeInclusive<u64>>,
    /// The media type, if bodies differ.
    pub(super) media_type: Option<Vec<u8>>,
    pub(super) variants: Variants,
    /// What changes during the load, if it may: the preflight looked for what varies, and the response is not a file.
    pub(super) changes: Option<Changes>,
}

/// What is known about a decoded body.
pub(super) enum Judged {
    /// Its decoded length, or what is wrong.
    Told(Result<u64, HttpFault>),
    /// It is complete but differs from the preflight's; the failure that applies unless the page has changed.
    Other(Vec<u8>, HttpFault),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub bytes: u64,
    pub sha256: [u8; 32],
}

impl Expectation {
    /// What is wrong with a body that decodes to this many bytes, if anything.
    pub(super) fn implausible(&self, bytes: u64) -> Option<HttpFault> {
        let plausible = self.plausible.as_ref().filter(|range| !range.contains(&bytes))?;
        Some(wrong::implausible(bytes, plausible))
    }

    /// Makes sure that a decoded body is not compressed still. Of one without a content coding the preflight's notes tell.
    ///
    /// # Errors
    /// `Corrupt`.
    pub(super) fn once_compressed(&self, coding: Coding, body: &[u8]) -> Result<(), HttpFault> {
        let found = (coding != Coding::Identity).then(|| still_compressed(&self.content_type, coding, body));
        found.flatten().map_or(Ok(()), |message| Err(HttpFault::new(HttpFaultKind::Corrupt, message)))
    }

    /// The coding to decode for that header value.
    #[inline]
    pub(super) fn layer(&self, label: Coding) -> Coding {
        layer(self.status, label)
    }
}

/// The coding to decode for a response: a part of a compressed body (206) cannot be decoded, and is used unchanged.
#[inline]
pub(super) fn layer(status: u16, label: Coding) -> Coding {
    if status == 206 { Coding::Identity } else { label }
}

/// What the responses of a run must be, in the order of the plan's requests.
#[derive(Debug)]
pub struct Expectations {
    pub(super) list: Vec<Expectation>,
    pub(super) limits: Limits,
    /// One in this many bodies that are not compared is decoded.
    pub(super) decode_every: u32,
    /// The memory budget of captured bodies.
    waiting: Arc<Budget>,
    learned: Arc<Budget>,
    /// Threads that may send bodies.
    threads: AtomicUsize,
}

impl Expectations {
    /// One expectation for each request of the plan.
    pub fn new(list: Vec<Expectation>, plan: &LoadPlan) -> Arc<Expectations> {
        let decode_every = match plan.check {
            Check::Verify { decode_every, .. } => decode_every.max(1),
            Check::Discard => 1,
        };
        let (waiting, learned) = (Budget::of(WAITING), Budget::of(LEARNED));
        Arc::new(Expectations {
            list,
            limits: plan.limits,
            decode_every,
            waiting,
            learned,
            threads: AtomicUsize::new(0),
        })
    }

    /// Whether parts of a request's bodies vary or may start to: then a body that equals none may still be correct.
    pub(super) fn varies(&self, request: u32) -> bool {
        let expected = &self.list[request as usize];
        expected.template.is_some() || expected.changes.is_some()
    }

    /// Starts to keep a body.
    pub(super) fn capture(&self, sofar: &[u8]) -> State {
        Capture::begin(&self.waiting, sofar).map_or(State::NoRoom, State::Capture)
    }

    /// Keeps more of a body; false: there is no room, or the body is too long to keep.
    pub(super) fn keep(&self, capture: &mut Capture, bytes: &[u8]) -> bool {
        let length = capture.bytes().len() as u64 + bytes.len() as u64;
        length <= self.limits.body_bytes && capture.push(bytes)
    }

    /// Decodes a body that equals no known variant. Returns its decoded length, and adds it to the accepted variants or
    /// to the wrong ones.
    ///
    /// # Errors
    /// `Corrupt`, `Bomb` or `Mismatch`, with the place of the difference from the most similar accepted body.
    pub(super) fn judge(&self, request: u32, coding: Coding, wire: &[u8]) -> Judged {
        let expected = &self.list[request as usize];
        // The same body may have been queued more than once.
        let known = expected.variants.copy();
        if let Some(at) = find(&known, coding, wire) {
            return Judged::Told(match &known[at].fault {
                Some(fault) => Err(HttpFault::clone(fault)),
                None => Ok(known[at].decoded_bytes),
            });
        }
        let mut other = None;
        let verdict = self.decode(expected, coding, wire, &mut other).map_err(|mut fault| {
            // If a page varies, the first difference is in a part that may vary.
            let near = nearest(&known, coding, wire).filter(|_| expected.template.is_none());
            let Some((near, at)) = near else { return fault };
            let difference = wrong::difference(at, &near.wire, &wire[at..]);
            if coding == Coding::Identity && other.is_some() {
                return wrong::body(difference, wire.len() as u64, near.wire.len() as u64);
            }
            fault.difference = Some(difference);
            fault
        });
        let verdict = match (verdict, other, &expected.changes) {
            (Err(_), Some(body), Some(changes)) if changes.have(&body) => Ok(body.len() as u64),
            (Err(fault), Some(body), Some(_)) => return Judged::Other(body, fault),
            (verdict, ..) => verdict,
        };
        let fault = verdict.as_ref().err().cloned().map(Arc::new);
        let wrong = fault.is_some();
        if matches!(expected.checked, Checked::Bytes | Checked::Parts)
            && expected.variants.has_room(wrong)
            && self.learned.take(wire.len(), 0)
        {
            let decoded_bytes = verdict.as_ref().copied().unwrap_or(0);
            expected.variants.add(Variant { coding, wire: wire.into(), decoded_bytes, fault });
        }
        Judged::Told(verdict)
    }

    /// A body that is complete and differs from the preflight's: it waits until others agree with it, or the load ends.
    pub(super) fn changed(&self, request: u32, body: Vec<u8>, fault: HttpFault, waiting: Waiting) {
        let expected = &self.list[request as usize];
        let Some(changes) = &expected.changes else { return waiting.tell(Err(fault)) };
        let accepted = expected.variants.copy().into_iter().filter(|variant| variant.fault.is_none());
        let decoded = |variant: Variant| {
            let dictionary = expected.dictionary.as_deref();
            let (likely, limit) = (variant.decoded_bytes, self.limits.decoded_bytes);
            let body = decode(variant.coding, dictionary, &variant.wire, likely, limit);
            body.ok().map(Cow::into_owned)
        };
        let mut preflight: Vec<Vec<u8>> = accepted.filter_map(decoded).collect();
        if expected.template.is_none() {
            // Each accepted body is a content of its own: the most similar one has changed.
            let alike = |other: &Vec<u8>| wrong::common(other, &body);
            preflight = preflight.into_iter().max_by_key(alike).into_iter().collect();
        }
        changes.take(&preflight, body, fault, waiting);
    }

    /// A further thread sends load.
    pub(super) fn begin(&self) {
        self.threads.fetch_add(1, Ordering::Relaxed);
    }

    /// A thread has no more bodies. After the last thread, a body that waits for others to agree with it is wrong.
    pub(super) fn end(&self) {
        if self.threads.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.list.iter().filter_map(|expected| expected.changes.as_ref()).for_each(Changes::end);
        }
    }

    /// Notes on each request whose page changed during the load, with its index in the plan.
    pub fn changes(&self) -> impl Iterator<Item = (usize, String)> {
        let varying = |expected: &Expectation| expected.changes.as_ref()?.varying();
        let changed = self.list.iter().enumerate().filter_map(move |(at, e)| Some((at, varying(e)?)));
        changed.map(|(at, parts)| {
            let note = format!(
                "the content changed during the load; from then on, everything was compared except for the parts that vary: {parts}"
            );
            (at, note)
        })
    }

    /// Decodes a body; `other` receives a body that is complete but differs from the preflight's.
    fn decode(
        &self,
        expected: &Expectation,
        coding: Coding,
        wire: &[u8],
        other: &mut Option<Vec<u8>>,
    ) -> Result<u64, HttpFault> {
        let likely = expected.decoded.map_or(0, |d| d.bytes);
        let dictionary = expected.dictionary.as_deref();
        let body = decode(coding, dictionary, wire, likely, self.limits.decoded_bytes)?;
        expected.once_compressed(coding, &body)?;
        let bytes = body.len() as u64;
        if let [right, ..] = expected.contents[..]
            && !expected.contents.contains(&Decoded { bytes, sha256: sha256(&body) })
        {
            let message = format!(
                "{} that decodes to {bytes} bytes other than the {} of the preflight",
                token(coding),
                right.bytes
            );
            *other = Some(body.into_owned());
            return Err(HttpFault::new(HttpFaultKind::Mismatch, message));
        }
        if let Some(fault) = expected.implausible(bytes) {
            return Err(fault);
        }
        match expected.template.as_ref().map(|template| template.fits(&body)) {
            Some(Err(at)) => {
                *other = Some(body.into_owned());
                Err(wrong::part(at, bytes))
            }
            _ => Ok(bytes),
        }
    }
}

/// A limit on bytes that are held at a time. A single holder may exceed it, so that one large body can be kept.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(super) fn of(limit: usize) -> Arc<Budget> {
        Arc::new(Budget { limit, used: AtomicUsize::new(0) })
    }

    /// Takes `more` bytes for a holder of `own` bytes; false: there is no room.
    pub(super) fn take(&self, more: usize, own: usize) -> bool {
        let before = self.used.fetch_add(more, Ordering::Relaxed);
        if before + more <= self.limit || before == own {
            return true;
        }
        self.used.fetch_sub(more, Ordering::Relaxed);
        false
    }

    /// Bytes held now.
    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// A body from its first byte on. Its bytes return to the budget when it is dropped, anywhere.
#[derive(Debug)]
pub(super) struct Capture {
    bytes: Vec<u8>,
    budget: Arc<Budget>,
}

impl Capture {
    /// Starts with the bytes so far; none if there is no room.
    pub(super) fn begin(budget: &Arc<Budget>, sofar: &[u8]) -> Option<Box<Capture>> {
        let mut capture = Box::new(Capture { bytes: Vec::new(), budget: Arc::clone(budget) });
        capture.push(sofar).then_some(capture)
    }

    /// Adds more of the body; false: there is no room, and the capture is of no use any more.
    pub(super) fn push(&mut self, more: &[u8]) -> bool {
        let room = self.budget.take(more.len(), self.bytes.len());
        if room {
            self.bytes.extend_from_slice(more);
        }
        room
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_goes_back() {
        let budget = Budget::of(10);
        let mut a = Capture::begin(&budget, b"12345").unwrap();
        let b = Capture::begin(&budget, b"1234").unwrap();
        assert_eq!(budget.used(), 9);
        assert!(Capture::begin(&budget, b"12").is_none());
        assert!(!a.push(b"12"), "two hold bytes: neither may exceed");
        assert_eq!(budget.used(), 9);
        drop(b);
        assert_eq!(budget.used(), 5);
        assert!(a.push(b"1234567"), "alone it may");
        assert_eq!(a.bytes(), b"123451234567");
        assert!(Capture::begin(&budget, b"1").is_none());
        drop(a);
        assert_eq!(budget.used(), 0);
    }
}
