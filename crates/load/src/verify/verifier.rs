//! One thread's view of what is expected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use super::checker::{Checker, Evidence, State, Verdict};
use super::decoder::{Decoder, Job, Reply};
use super::examine::media_type;
use super::expectation::{Capture, Expectation, Expectations};
use super::variants::{View, find};
use super::wrong;
use crate::fault::HttpFault;
use crate::protocol::coding::Coding;
use crate::protocol::h1::head::{Head, fields};
use crate::result::Checked;

/// Verifies the responses of one thread. `T` identifies a response that could not be judged at its end: the engine gets
/// it back with the result, and counts the response then, and once.
#[derive(Debug)]
pub struct Verifier<T> {
    expectations: Arc<Expectations>,
    requests: Vec<Local>,
    decoder: Decoder,
    reply: Sender<Reply>,
    replies: Receiver<Reply>,
    /// Responses that are at the decoder, by the numbers of their jobs.
    pending: Vec<(u64, T)>,
    jobs: u64,
    unproven: u64,
    /// Tells the decoder that nobody waits for this thread's jobs any more.
    over: Arc<AtomicBool>,
}

/// What a thread keeps about a request.
#[derive(Debug, Default)]
struct Local {
    view: View,
    /// Responses until the next sample.
    until_sample: u32,
}

#[derive(Debug)]
pub struct JudgedResponse<T> {
    /// What was passed with it.
    pub tag: T,
    pub proof: Proof,
    /// CPU nanoseconds of decoding.
    pub decode_ns: u64,
}

#[derive(Debug)]
pub enum Proof {
    Decoded {
        /// Bytes after decoding.
        decoded_bytes: u64,
    },
    /// It was not decoded in time.
    Unread,
    Fault(HttpFault),
}

impl<T> Verifier<T> {
    pub fn new(expectations: Arc<Expectations>, decoder: Decoder) -> Verifier<T> {
        let requests = expectations.list.iter().map(|_| Local::default()).collect();
        let (reply, replies) = channel();
        let over = Arc::new(AtomicBool::new(false));
        expectations.begin();
        Verifier {
            expectations,
            requests,
            decoder,
            reply,
            replies,
            pending: Vec::new(),
            jobs: 0,
            unproven: 0,
            over,
        }
    }

    /// A verifier for another thread of the same run.
    pub fn sibling(&self) -> Verifier<T> {
        Verifier::new(Arc::clone(&self.expectations), self.decoder.clone())
    }

    /// Starts a response to the request with that index in the plan; `head` is its final head, and `raw` the bytes of
    /// the head.
    ///
    /// # Errors
    /// `Status`, `ContentCoding` and `ContentType`. The body does not matter then.
    #[inline]
    pub fn head(&mut self, request: u32, head: &Head, raw: &[u8]) -> Result<Checker, HttpFault> {
        let expected = &self.expectations.list[request as usize];
        if head.status != expected.status {
            return Err(wrong::status(head.status, expected));
        }
        if !expected.codings.is_empty() && !expected.codings.contains(&head.coding) {
            return Err(wrong::coding(head.coding, expected));
        }
        if let Some(expected) = &expected.media_type {
            let got = media_type(fields(raw));
            if got != *expected {
                return Err(wrong::media_type(&got, expected));
            }
        }
        let coding = expected.layer(head.coding);
        let local = &mut self.requests[request as usize];
        let state = match expected.checked {
            Checked::Length => State::Unread,
            Checked::Bytes | Checked::Parts => {
                local.view.refresh(&expected.variants);
                match local.view.first(coding) {
                    Some(variant) => State::Compare { variant, at: 0 },
                    None => self.expectations.capture(&[]),
                }
            }
            // Any content is accepted.
            Checked::Samples if expected.decoded.is_none() && coding == Coding::Identity => State::Unread,
            Checked::Samples if local.until_sample > 0 => {
                local.until_sample -= 1;
                State::Unread
            }
            Checked::Samples => {
                local.until_sample = self.expectations.decode_every - 1;
                self.expectations.capture(&[])
            }
        };
        Ok(Checker { request, coding, state })
    }

    /// Takes the next bytes of the body, without framing.
    #[inline]
    pub fn body(&mut self, checker: &mut Checker, bytes: &[u8]) {
        let view = &self.requests[checker.request as usize].view;
        checker.body(bytes, view, &self.expectations);
    }

    /// Ends a response whose body had `body_bytes` bytes, in its coding and without framing.
    #[inline]
    pub fn end(&mut self, checker: Checker, body_bytes: u64) -> Verdict {
        let Checker { request, coding, state } = checker;
        let expected = &self.expectations.list[request as usize];
        if let Some(length) = expected.length
            && length != body_bytes
        {
            return Verdict::Fault(wrong::length(body_bytes, length));
        }
        let view = &mut self.requests[request as usize].view;
        match state {
            State::Compare { variant, at } if view.list()[variant].wire.len() == at => {
                view.matched(variant);
                known(view, variant)
            }
            State::Compare { variant, at } => self.short(request, coding, variant, at),
            State::Capture(capture) => self.kept(request, coding, capture),
            State::Differs(found) => Verdict::Fault(found.fault(view, body_bytes)),
            State::NoRoom
                if matches!(expected.checked, Checked::Bytes | Checked::Parts)
                    && body_bytes > self.expectations.limits.body_bytes =>
            {
                Verdict::Fault(wrong::too_long(body_bytes, self.expectations.limits.body_bytes))
            }
            State::NoRoom => self.without_room(request, coding, body_bytes),
            State::Unread if expected.plausible.is_some() && coding == Coding::Identity => {
                match expected.implausible(body_bytes) {
                    Some(fault) => Verdict::Fault(fault),
                    None => Verdict::Unread { decoded_bytes: body_bytes },
                }
            }
            State::Unread => Verdict::Unread { decoded_bytes: unread(expected, coding, body_bytes) },
        }
    }

    /// A body that is the start of a variant.
    #[cold]
    fn short(&mut self, request: u32, coding: Coding, variant: usize, at: usize) -> Verdict {
        let view = &mut self.requests[request as usize].view;
        if let Some(other) = view.other(variant, at, &[], true) {
            view.matched(other);
            return known(view, other);
        }
        let wire = &view.list()[variant].wire;
        if coding == Coding::Identity && !self.expectations.varies(request) {
            let difference = wrong::difference(at, wire, &[]);
            return Verdict::Fault(wrong::body(difference, at as u64, wire.len() as u64));
        }
        match self.expectations.capture(&wire[..at]) {
            State::Capture(capture) => self.kept(request, coding, capture),
            _ => self.without_room(request, coding, at as u64),
        }
    }

    /// A body that should have been decoded.
    #[cold]
    fn without_room(&mut self, request: u32, coding: Coding, body_bytes: u64) -> Verdict {
        self.unproven += 1;
        let expected = &self.expectations.list[request as usize];
        Verdict::Unread { decoded_bytes: unread(expected, coding, body_bytes) }
    }

    /// A body that was kept as a whole: it may be known by now.
    #[cold]
    fn kept(&mut self, request: u32, coding: Coding, capture: Box<Capture>) -> Verdict {
        let expected = &self.expectations.list[request as usize];
        let view = &mut self.requests[request as usize].view;
        view.refresh(&expected.variants);
        match find(view.list(), coding, capture.bytes()) {
            Some(variant) => known(view, variant),
            None => Verdict::Unproven(Evidence { request, coding, capture }),
        }
    }

    /// Passes a body to the decoder; `tag` comes back with its [`JudgedResponse`].
    ///
    /// # Errors
    /// The tag, if the decoder has too much to do: the response then counts as unproven.
    pub fn submit(&mut self, evidence: Evidence, tag: T) -> Result<(), T> {
        self.jobs += 1;
        let number = self.jobs;
        let job = Job {
            number,
            evidence,
            expectations: Arc::clone(&self.expectations),
            reply: self.reply.clone(),
            over: Arc::clone(&self.over),
        };
        if self.decoder.take(job) {
            self.pending.push((number, tag));
            return Ok(());
        }
        self.unproven += 1;
        Err(tag)
    }

    /// The next response that the decoder has judged, if any; never waits.
    #[inline]
    pub fn proven(&mut self) -> Option<JudgedResponse<T>> {
        while !self.pending.is_empty() {
            let reply = self.replies.try_recv().ok()?;
            if let Some(outcome) = self.outcome(reply) {
                return Some(outcome);
            }
        }
        None
    }

    /// Waits until the decoder has judged every response, but no longer than this; the rest comes back as
    /// [`Proof::Unread`]. Afterwards nothing is pending.
    pub fn finish(&mut self, within: Duration) -> Vec<JudgedResponse<T>> {
        self.decoder.end(&self.expectations);
        let until = Instant::now() + within;
        let mut outcomes = Vec::new();
        while !self.pending.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(reply) = self.replies.recv_timeout(left) else { break };
            outcomes.extend(self.outcome(reply));
        }
        self.unproven += self.pending.len() as u64;
        self.over.store(true, Ordering::Relaxed);
        let rest = self.pending.drain(..);
        outcomes.extend(rest.map(|(_, tag)| JudgedResponse { tag, proof: Proof::Unread, decode_ns: 0 }));
        outcomes
    }

    /// Responses that equalled no accepted body, or were to be decoded as samples, but were not decoded because memory
    /// or time was missing.
    pub fn unproven(&self) -> u64 {
        self.unproven
    }

    /// The response that a reply is about; none if it was dropped.
    fn outcome(&mut self, reply: Reply) -> Option<JudgedResponse<T>> {
        let at = self.pending.iter().position(|(number, _)| *number == reply.number)?;
        let (_, tag) = self.pending.swap_remove(at);
        let proof = match reply.verdict {
            Ok(decoded_bytes) => Proof::Decoded { decoded_bytes },
            Err(fault) => Proof::Fault(fault),
        };
        Some(JudgedResponse { tag, proof, decode_ns: reply.decode_ns })
    }
}

/// The verdict on a body that equals that variant.
#[inline]
fn known(view: &View, variant: usize) -> Verdict {
    let variant = &view.list()[variant];
    match &variant.fault {
        None => Verdict::Compared { decoded_bytes: variant.decoded_bytes },
        Some(fault) => Verdict::Fault(HttpFault::clone(fault)),
    }
}

/// The decoded length of a body that was not decoded, if known.
fn unread(expected: &Expectation, coding: Coding, body_bytes: u64) -> u64 {
    match (expected.decoded, coding) {
        (Some(decoded), _) => decoded.bytes,
        (None, Coding::Identity) => body_bytes,
        _ => 0,
    }
}
