//! Verifying a correct response allocates no memory.

use weigh_load::plan::{Check, LoadPlan, Request};
use weigh_load::protocol::coding::Coding;
use weigh_load::protocol::h1::head::Head;
use weigh_load::result::Framing;
use weigh_load::verify::{Body, Captured, Decoder, Examiner, Expectations, Verdict, Verifier};

fn head(coding: Coding) -> Head {
    Head { status: 200, minor: 1, length: None, chunked: false, keep: true, coding, bytes: 100 }
}

fn plan() -> LoadPlan {
    let request = Request {
        name: "page".into(),
        url: "http://127.0.0.1/".into(),
        headers: vec![("Accept-Encoding".into(), "gzip".into())],
        ..Request::default()
    };
    let check = Check::Verify { decode_every: 1_000_000, vary_by: Vec::new() };
    LoadPlan { requests: vec![request], check, ..LoadPlan::default() }
}

fn gzip(level: i32, body: &[u8]) -> Vec<u8> {
    let codec = weigh_codec::codecs::find("zlib").unwrap();
    let mut wire = Vec::new();
    codec.coder(&weigh_codec::Params::level(level)).unwrap().encode(body, &mut wire).unwrap();
    wire
}

/// Feeds a response in arbitrary pieces.
fn respond(verifier: &mut Verifier<u64>, coding: Coding, wire: &[u8]) -> Verdict {
    let mut checker = verifier.head(0, &head(coding), b"").unwrap();
    for bytes in wire.chunks(1000) {
        verifier.body(&mut checker, bytes);
    }
    assert!(verifier.proven().is_none());
    verifier.end(checker, wire.len() as u64)
}

/// Allocations for many responses with these bodies after the first; `right` checks each result.
fn allocations(coding: Coding, wires: &[Vec<u8>], right: fn(&Verdict) -> bool) -> u64 {
    let seen = wires.iter().map(|wire| Captured {
        version: "HTTP/1.1".into(),
        head: head(coding),
        fields: Vec::new(),
        framing: Framing::Length,
        body: Body::Whole(wire.clone().into()),
    });
    let seen: Vec<Captured> = seen.collect();
    let plan = plan();
    let (_, expectation) = Examiner::new(&plan).examine(&plan.requests[0], &seen[0], &seen[1..]);
    let mut verifier = Verifier::new(Expectations::new(vec![expectation], &plan), Decoder::start().unwrap());
    // A thread's first response copies the variants, or is the first sample.
    drop(respond(&mut verifier, coding, &wires[0]));
    let used = allocation_counter::measure(|| {
        for wire in wires.iter().cycle().take(10_000) {
            let verdict = respond(&mut verifier, coding, wire);
            assert!(right(&verdict), "{verdict:?}");
        }
    });
    used.count_total
}

#[test]
fn responses_as_expected_allocate_nothing() {
    let body: Vec<u8> = (0..6_000).flat_map(|i: u32| format!("{:05}", i * 7 % 99_991).into_bytes()).collect();
    let compared = |verdict: &Verdict| matches!(verdict, Verdict::Compared { decoded_bytes: 30_000 });
    let unread = |verdict: &Verdict| matches!(verdict, Verdict::Unread { .. });
    assert_eq!(allocations(Coding::Identity, std::slice::from_ref(&body), compared), 0);
    assert_eq!(allocations(Coding::Gzip, &[gzip(1, &body), gzip(9, &body)], compared), 0);
    assert_eq!(allocations(Coding::Gzip, &[gzip(1, &body), gzip(1, &body[1..])], unread), 0, "dynamic");
}
