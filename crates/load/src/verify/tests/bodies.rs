//! Bodies that are correct in another form, truncated, extended, or in another coding.

use super::*;

#[test]
fn every_coding_compares_in_every_split() {
    for coding in [&CODINGS[..], &[Coding::Identity]].concat() {
        let body = page(5000);
        let wire = encode(coding, 4, &body);
        let mut world = World::accepting(coding, &[&wire]);
        for piece in [1, 3, 100, wire.len()] {
            let (verdict, decoded) = world.judged(coding, &wire, piece);
            assert_eq!((verdict, decoded), (Ok(5000), false), "{coding:?} in pieces of {piece}");
        }
    }
}

#[test]
fn other_encodings_of_the_content_are_decoded_once_and_compared_from_then_on() {
    for coding in CODINGS {
        let body = page(4000);
        let known = encode(coding, 6, &body);
        let other = encode(coding, 1, &body);
        assert_ne!(known, other);
        let mut world = World::accepting(coding, &[&known]);
        assert_eq!(world.judged(coding, &other, 100), (Ok(4000), true), "{coding:?}");
        for wire in [&other, &known, &other, &other, &known] {
            assert_eq!(world.judged(coding, wire, 100), (Ok(4000), false), "{coding:?}");
        }
    }
}

#[test]
fn deflate_is_read_with_and_without_its_wrapper() {
    let body = page(4000);
    let wrapped = encode(Coding::Deflate, 6, &body);
    let mut raw = Vec::new();
    coder("zlib", Some(6), Some("raw")).encode(&body, &mut raw).unwrap();
    assert_eq!(&wrapped[2..wrapped.len() - 4], &raw[..]);
    let mut world = World::accepting(Coding::Deflate, &[&wrapped]);
    assert_eq!(world.judged(Coding::Deflate, &raw, 100), (Ok(4000), true));
    let mut world = World::accepting(Coding::Deflate, &[&raw, &wrapped]);
    assert_eq!(world.judged(Coding::Deflate, &wrapped, 100), (Ok(4000), false));
}

#[test]
fn every_truncation_is_a_fault() {
    for coding in CODINGS {
        let wire = encode(coding, 6, &page(200));
        for length in 0..wire.len() {
            let mut world = World::accepting(coding, &[&wire]);
            let fault = world.judged(coding, &wire[..length], 50).0.unwrap_err();
            assert_eq!(fault.kind, HttpFaultKind::Corrupt, "{coding:?} cut to {length}: {fault:?}");
            assert_eq!(fault.difference.unwrap().offset, length as u64);
        }
    }
}

#[test]
fn bytes_after_the_end_are_a_fault() {
    for coding in CODINGS {
        let wire = encode(coding, 6, &page(200));
        let long = [&wire[..], b"<!-- served in 3 ms -->"].concat();
        let mut world = World::accepting(coding, &[&wire]);
        let fault = world.judged(coding, &long, 50).0.unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Corrupt, "{coding:?}");
        assert_eq!(fault.difference.unwrap().offset, wire.len() as u64);
    }
}

#[test]
fn other_content_is_a_mismatch_and_known_the_next_time() {
    for coding in CODINGS {
        let mut world = World::accepting(coding, &[&encode(coding, 6, &page(400))]);
        let other = encode(coding, 6, &page(401));
        let (first, decoded) = world.judged(coding, &other, 50);
        let first = first.unwrap_err();
        assert_eq!((first.kind, decoded), (HttpFaultKind::Mismatch, true), "{coding:?}");
        let (second, decoded) = world.judged(coding, &other, 50);
        assert_eq!((second.unwrap_err(), decoded), (first, false), "{coding:?}");
    }
}

#[test]
fn a_bomb_is_stopped_at_the_limit() {
    for coding in CODINGS {
        let bomb = encode(coding, 6, &vec![0; 8 << 20]);
        let limits = Limits { decoded_bytes: 1 << 20, ..Limits::default() };
        let mut world = World::limited(coding, &[&encode(coding, 6, &page(400))], limits);
        let fault = world.judged(coding, &bomb, 4096).0.unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Bomb, "{coding:?}: {fault:?}");
        assert!(fault.message.contains("more than 1048576 bytes"), "{}", fault.message);
    }
}

#[test]
fn a_plain_body_under_a_label_is_corrupt_and_shows_itself() {
    for coding in CODINGS {
        let mut world = World::accepting(coding, &[&encode(coding, 6, &page(400))]);
        let fault = world.judged(coding, b"<!doctype html>\r\n", 50).0.unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Corrupt);
        assert!(
            fault.message.contains("the body starts with `<!doctype html>"),
            "{coding:?}: {}",
            fault.message
        );
    }
}

#[test]
fn another_status_and_another_coding_are_faults_of_the_head() {
    let wire = encode(Coding::Gzip, 6, &page(400));
    let mut world = World::accepting(Coding::Gzip, &[&wire]);
    let kind =
        |world: &mut World, head: Head| world.verifier.head(0, &head, RAW).map_err(|f| (f.kind, f.message));
    let (status, message) = kind(&mut world, Head { status: 503, ..head(Coding::Gzip) }).unwrap_err();
    assert_eq!((status, message.as_str()), (HttpFaultKind::Status, "status 503; the preflight's was 200"));
    for other in [Coding::Identity, Coding::Brotli, Coding::Other] {
        assert_eq!(kind(&mut world, head(other)).unwrap_err().0, HttpFaultKind::ContentCoding);
    }
}

#[test]
fn a_body_far_over_the_limit_is_a_fault_and_is_not_kept() {
    let wire = encode(Coding::Gzip, 6, &page(400));
    let limits = Limits { body_bytes: 1000, ..Limits::default() };
    let mut world = World::limited(Coding::Gzip, &[&wire], limits);
    let mut checker = world.verifier.head(0, &head(Coding::Gzip), RAW).unwrap();
    assert!(checker.reads());
    for _ in 0..3 {
        world.verifier.body(&mut checker, &[b'x'; 500]);
    }
    assert!(!checker.reads());
    let Verdict::Fault(fault) = world.verifier.end(checker, 1500) else { panic!("it is too long") };
    assert_eq!(fault.kind, HttpFaultKind::Length);
}

#[test]
fn wrong_bodies_that_are_remembered_do_not_crowd_out_right_ones() {
    let body = page(3000);
    let wires: Vec<Vec<u8>> = (1..=9).map(|level| encode(Coding::Gzip, level, &body)).collect();
    let mut world = World::accepting(Coding::Gzip, &[&wires[0]]);
    for size in 100..140 {
        let wrong = encode(Coding::Gzip, 6, &page(size));
        assert_eq!(world.judged(Coding::Gzip, &wrong, 700).0.unwrap_err().kind, HttpFaultKind::Mismatch);
    }
    for wire in &wires[..8] {
        assert_eq!(world.judged(Coding::Gzip, wire, 700).0, Ok(3000));
        assert_eq!(world.judged(Coding::Gzip, wire, 700), (Ok(3000), false));
    }
}
