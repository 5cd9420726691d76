//! The module in the way the engine uses it: preflight, load, verdicts.

mod accounting;
mod bodies;
mod deltas;
mod flips;
mod preflight;

use std::collections::BTreeMap;
use std::time::Duration;

use weigh_codec::{Coder, Params, codecs};

use super::*;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::{Check, Limits, LoadPlan, Request};
use crate::protocol::coding::Coding;
use crate::protocol::h1::head::Head;
use crate::result::{Checked, Framing, Preflight};

/// The bytes of heads.
const RAW: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

/// Long enough to decode in any test; a test that passes never waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

const CODINGS: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

/// A page of text with about this many bytes.
fn page(bytes: usize) -> Vec<u8> {
    let lines = (0..).map(|i: u32| format!("<p>Line {i} says {:x}</p>\n", i.wrapping_mul(2_654_435_761)));
    let mut page: Vec<u8> = lines.take(bytes / 20 + 1).flat_map(String::into_bytes).collect();
    page.truncate(bytes);
    page
}

/// The codec of this workspace that writes a coding, and its container.
fn codec(coding: Coding) -> (&'static str, Option<&'static str>) {
    match coding {
        Coding::Gzip => ("zlib", None),
        Coding::Deflate => ("zlib", Some("zlib")),
        Coding::Brotli => ("brotli", None),
        Coding::Zstd => ("zstd", None),
        _ => ("identity", None),
    }
}

fn coder(codec: &str, level: Option<i32>, container: Option<&str>) -> Box<dyn Coder> {
    let options: BTreeMap<_, _> =
        container.map(|c| ("container".to_owned(), c.to_owned())).into_iter().collect();
    codecs::find(codec).unwrap().coder(&Params { level, options, dictionary: None }).unwrap()
}

fn encode(coding: Coding, level: i32, body: &[u8]) -> Vec<u8> {
    let (codec, container) = codec(coding);
    let mut wire = Vec::new();
    let level = (coding != Coding::Identity).then_some(level);
    coder(codec, level, container).encode(body, &mut wire).unwrap();
    wire
}

/// The result of the libraries that browsers use for a body.
fn reference(coding: Coding, wire: &[u8], expected: usize) -> Option<Vec<u8>> {
    let (codec, container) = codec(coding);
    let mut body = Vec::new();
    coder(codec, None, container).decode(wire, expected, &mut body).ok().map(|()| body)
}

fn head(coding: Coding) -> Head {
    Head { status: 200, minor: 1, length: None, chunked: false, keep: true, coding, bytes: 100 }
}

fn request() -> Request {
    Request {
        name: "page".into(),
        url: "http://127.0.0.1/".into(),
        headers: vec![("Accept-Encoding".into(), "gzip, deflate, br, zstd".into())],
        class: "page".into(),
        ..Request::default()
    }
}

fn plan(limits: Limits, check: Check) -> LoadPlan {
    LoadPlan { requests: vec![request()], limits, check, ..LoadPlan::default() }
}

fn verify() -> Check {
    Check::Verify { decode_every: 3, vary_by: Vec::new() }
}

fn captured(coding: Coding, wire: &[u8]) -> Captured {
    let mut fields = vec![(b"Content-Type".to_vec(), b"text/html".to_vec())];
    if coding != Coding::Identity {
        fields.push((b"Content-Encoding".to_vec(), decode::token(coding).into()));
        fields.push((b"Vary".to_vec(), b"Accept-Encoding".to_vec()));
    }
    Captured {
        version: "HTTP/1.1".into(),
        head: head(coding),
        fields,
        framing: Framing::Chunked,
        body: Body::Whole(wire.to_vec().into()),
    }
}

/// Examines one response and others with the default plan.
fn examine(seen: &Captured, others: &[Captured]) -> (Preflight, Expectation) {
    Examiner::new(&plan(Limits::default(), verify())).examine(&request(), seen, others)
}

/// One thread with a decoder.
struct World {
    verifier: Verifier<u32>,
}

impl World {
    /// One that accepts these bodies, all of one content.
    fn accepting(coding: Coding, wires: &[&[u8]]) -> World {
        World::limited(coding, wires, Limits::default())
    }

    fn limited(coding: Coding, wires: &[&[u8]], limits: Limits) -> World {
        World::deciding(coding, wires, limits, Decoder::start().unwrap())
    }

    fn deciding(coding: Coding, wires: &[&[u8]], limits: Limits, decoder: Decoder) -> World {
        let seen: Vec<Captured> = wires.iter().map(|wire| captured(coding, wire)).collect();
        let plan = plan(limits, verify());
        let (preflight, expectation) = Examiner::new(&plan).examine(&request(), &seen[0], &seen[1..]);
        assert_eq!(preflight.fault, None);
        World { verifier: Verifier::new(Expectations::new(vec![expectation], &plan), decoder) }
    }

    /// Feeds a response with a body in pieces of that size.
    fn respond(&mut self, coding: Coding, wire: &[u8], piece: usize) -> Verdict {
        let mut checker = self.verifier.head(0, &head(coding), RAW).unwrap();
        for bytes in wire.chunks(piece) {
            self.verifier.body(&mut checker, bytes);
        }
        self.verifier.end(checker, wire.len() as u64)
    }

    /// The final result of a response, and whether it had to be decoded.
    fn judged(&mut self, coding: Coding, wire: &[u8], piece: usize) -> (Result<u64, HttpFault>, bool) {
        match self.respond(coding, wire, piece) {
            Verdict::Compared { decoded_bytes } => (Ok(decoded_bytes), false),
            Verdict::Fault(fault) => (Err(fault), false),
            Verdict::Unread { .. } => panic!("nothing was read"),
            Verdict::Unproven(evidence) => {
                self.verifier.submit(evidence, 7).unwrap();
                (self.outcome(), true)
            }
        }
    }

    fn outcome(&mut self) -> Result<u64, HttpFault> {
        loop {
            if let Some(outcome) = self.verifier.proven() {
                assert_eq!(outcome.tag, 7);
                return match outcome.proof {
                    Proof::Decoded { decoded_bytes } => Ok(decoded_bytes),
                    Proof::Fault(fault) => Err(fault),
                    Proof::Unread => panic!("the decoder gave up"),
                };
            }
            std::thread::yield_now();
        }
    }
}
