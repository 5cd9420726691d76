//! Bodies that are encoded against a dictionary which the client has.

use weigh_codec::delta;

use super::*;

const DELTAS: [(Coding, delta::Coding); 2] =
    [(Coding::DictionaryBrotli, delta::Coding::Dcb), (Coding::DictionaryZstd, delta::Coding::Dcz)];
const VARY: &[u8] = b"Accept-Encoding, Available-Dictionary";

/// The version before, and the one that is sent.
fn versions() -> (Vec<u8>, Vec<u8>) {
    let old = page(4000);
    let new = [&old[..2000], b"<p>This is new.</p>\n", &old[2000..]].concat();
    (old, new)
}

/// The request of a client that has this.
fn having(dictionary: &[u8]) -> Request {
    let headers = vec![("Accept-Encoding".into(), "gzip, br, zstd, dcb, dcz".into())];
    Request { headers, dictionary: dictionary.into(), ..request() }
}

/// The response with a delta, with this Vary.
fn response(coding: Coding, wire: &[u8], vary: &[u8]) -> Captured {
    let mut seen = captured(coding, wire);
    seen.fields.retain(|(name, _)| name != b"Vary");
    seen.fields.push((b"Vary".to_vec(), vary.to_vec()));
    seen
}

fn examined(request: &Request, seen: &Captured) -> (Preflight, Expectation) {
    Examiner::new(&plan(Limits::default(), verify())).examine(request, seen, std::slice::from_ref(seen))
}

fn world(expectation: Expectation) -> World {
    let expectations = Expectations::new(vec![expectation], &plan(Limits::default(), verify()));
    World { verifier: Verifier::new(expectations, Decoder::start().unwrap()) }
}

#[test]
fn a_delta_is_decoded_with_the_dictionary_and_then_compared() {
    let (old, new) = versions();
    for (coding, with) in DELTAS {
        let wire = delta::encode(with, &old, &new, with.best_level()).unwrap();
        assert!(wire.len() < 200, "{} bytes are no delta", wire.len());
        let (preflight, expectation) = examined(&having(&old), &response(coding, &wire, VARY));
        assert_eq!((preflight.fault, preflight.notes), (None, vec![]));
        assert_eq!(preflight.decoded_sha256, Some(wrong::hex(&decode::sha256(&new))));
        let mut world = world(expectation);
        assert_eq!(world.judged(coding, &wire, 11), (Ok(new.len() as u64), false));
        // The same content otherwise encoded is right, too, and is decoded once.
        let other = delta::encode(with, &old, &new, 5).unwrap();
        let is_known = other == wire;
        assert_eq!(world.judged(coding, &other, 11), (Ok(new.len() as u64), !is_known));
        assert_eq!(world.judged(coding, &other, 11), (Ok(new.len() as u64), false));
        // Another content is wrong, although it decodes.
        let old_again = delta::encode(with, &old, &old, 11).unwrap();
        assert_eq!(world.judged(coding, &old_again, 11).0.unwrap_err().kind, HttpFaultKind::Mismatch);
    }
}

#[test]
fn a_delta_against_another_dictionary_is_corrupt() {
    let (old, new) = versions();
    for (coding, with) in DELTAS {
        let seen = response(coding, &delta::encode(with, &old, &new, 9).unwrap(), VARY);
        let fault = examined(&having(&old[1..]), &seen).0.fault.unwrap();
        assert_eq!(fault.kind, HttpFaultKind::Corrupt);
        let begin = format!("not valid {}: it was encoded against another dictionary;", with.name());
        assert!(fault.message.starts_with(&begin), "{}", fault.message);
    }
}

#[test]
fn every_flipped_byte_of_a_delta_is_found() {
    let (old, new) = versions();
    for (coding, with) in DELTAS {
        let right = delta::encode(with, &old, &new, with.best_level()).unwrap();
        let mut world = world(examined(&having(&old), &response(coding, &right, VARY)).1);
        let mut harmless = 0;
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= 0x40;
            match world.judged(coding, &wrong, 11).0 {
                Err(fault) => assert!(
                    matches!(fault.kind, HttpFaultKind::Corrupt | HttpFaultKind::Mismatch),
                    "{coding:?}, byte {at}: {fault:?}"
                ),
                // Bits that fill a byte up: the content is right.
                Ok(bytes) => {
                    assert_eq!(bytes, new.len() as u64);
                    harmless += 1;
                }
            }
        }
        assert!(harmless <= 1, "{coding:?}: {harmless} of {} bytes change nothing", right.len());
    }
}

#[test]
fn a_delta_for_nobody_is_a_fault() {
    let (old, new) = versions();
    for (coding, with) in DELTAS {
        let seen = response(coding, &delta::encode(with, &old, &new, 9).unwrap(), VARY);
        let without = examined(&having(b""), &seen).0.fault.unwrap();
        assert_eq!(without.kind, HttpFaultKind::ContentCoding);
        assert!(without.message.contains("offered no dictionary"), "{}", without.message);
        // A client that has the dictionary and does not accept the coding.
        let unasked = Request { dictionary: old.clone(), ..request() };
        let fault = examined(&unasked, &seen).0.fault.unwrap();
        assert_eq!(fault.kind, HttpFaultKind::ContentCoding);
        assert!(fault.message.ends_with("which Accept-Encoding does not ask for"), "{}", fault.message);
    }
}

#[test]
fn a_delta_that_grows_without_bound_is_a_bomb() {
    let old = vec![b'a'; 100_000];
    let new = old.repeat(20);
    for (coding, with) in DELTAS {
        let seen = response(coding, &delta::encode(with, &old, &new, 9).unwrap(), VARY);
        let limits = Limits { decoded_bytes: 1_999_999, ..Limits::default() };
        let preflight = Examiner::new(&plan(limits, verify())).examine(&having(&old), &seen, &[]).0;
        assert_eq!(preflight.fault.unwrap().kind, HttpFaultKind::Bomb);
    }
}

#[test]
fn what_caches_need_to_know_is_noted() {
    let (old, new) = versions();
    let wire = delta::encode(delta::Coding::Dcz, &old, &new, 9).unwrap();
    let notes = |vary: &[u8]| examined(&having(&old), &response(Coding::DictionaryZstd, &wire, vary)).0.notes;
    assert_eq!(notes(b"available-dictionary, accept-encoding"), [""; 0]);
    assert_eq!(notes(b"*"), [""; 0]);
    let noted = notes(b"Accept-Encoding");
    assert!(
        matches!(&noted[..], [one] if one.starts_with("a delta without `Vary: Available-Dictionary`")),
        "{noted:?}"
    );
}
