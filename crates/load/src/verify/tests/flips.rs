//! One wrong byte at any position.

use super::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

/// The failure names the byte, the expected bytes and the received ones.
fn shows(fault: &HttpFault, at: usize, right: &[u8], wrong: &[u8]) {
    let difference = fault.difference.as_ref().unwrap_or_else(|| panic!("byte {at}: no place in {fault:?}"));
    assert_eq!(difference.offset, at as u64);
    assert_eq!(difference.expected, hex(&right[at..]), "byte {at}");
    assert_eq!(difference.got, hex(&wrong[at..]), "byte {at}");
}

#[test]
fn every_flipped_byte_without_coding_is_found_at_once() {
    let right = page(300);
    for at in 0..right.len() {
        let mut wrong = right.clone();
        wrong[at] ^= 0x40;
        for piece in [1, 7, 300] {
            let mut world = World::accepting(Coding::Identity, &[&right]);
            let (verdict, decoded) = world.judged(Coding::Identity, &wrong, piece);
            let fault = verdict.unwrap_err();
            assert_eq!((fault.kind, decoded), (HttpFaultKind::Mismatch, false));
            shows(&fault, at, &right, &wrong);
        }
    }
}

#[test]
fn every_flipped_byte_in_a_coding_is_found_and_shown() {
    for coding in CODINGS {
        let body = page(300);
        let right = encode(coding, 5, &body);
        let mut harmless = Vec::new();
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong[at] ^= 0x40;
            let mut world = World::accepting(coding, &[&right]);
            let (verdict, decoded) = world.judged(coding, &wrong, 11);
            assert!(decoded, "{coding:?}: byte {at} is nobody's to judge before it is decoded");
            match verdict {
                Err(fault) => {
                    assert!(
                        matches!(fault.kind, HttpFaultKind::Corrupt | HttpFaultKind::Mismatch),
                        "{fault:?}"
                    );
                    shows(&fault, at, &right, &wrong);
                }
                // For example a time stamp: the content is correct.
                Ok(bytes) => {
                    assert_eq!(bytes, 300);
                    harmless.push(at);
                }
            }
        }
        // For example the time in a gzip header, or the padding bits of the last byte: the encoding library knows
        // which.
        let free: Vec<usize> = (0..right.len())
            .filter(|at| {
                let mut wrong = right.clone();
                wrong[*at] ^= 0x40;
                reference(coding, &wrong, 300).is_some_and(|b| b == body)
            })
            .collect();
        assert_eq!(harmless, free, "{coding:?}");
    }
}

#[test]
fn the_one_wrong_response_of_many_is_found() {
    let right = encode(Coding::Gzip, 6, &page(2000));
    let mut wrong = right.clone();
    wrong[100] ^= 1;
    let mut world = World::accepting(Coding::Gzip, &[&right]);
    let mut faults = Vec::new();
    for i in 0..1000 {
        let wire = if i == 617 { &wrong } else { &right };
        if let (Err(fault), _) = world.judged(Coding::Gzip, wire, 512) {
            faults.push((i, fault));
        }
    }
    let [(617, fault)] = &faults[..] else { panic!("{faults:?}") };
    shows(fault, 100, &right, &wrong);
}

#[test]
fn the_place_is_told_against_the_nearest_accepted_body() {
    let body = page(3000);
    let fast = encode(Coding::Gzip, 1, &body);
    let small = encode(Coding::Gzip, 9, &body);
    assert_ne!(fast, small);
    for right in [&fast, &small] {
        let mut wrong = right.clone();
        wrong[500] ^= 1;
        for piece in [1, 64, 10_000] {
            let mut world = World::accepting(Coding::Gzip, &[&fast, &small]);
            let fault = world.judged(Coding::Gzip, &wrong, piece).0.unwrap_err();
            shows(&fault, 500, right, &wrong);
        }
    }
}

#[test]
fn a_short_and_a_long_body_are_told_apart_from_another_one() {
    let right = page(300);
    let mut world = World::accepting(Coding::Identity, &[&right]);
    let fault = world.judged(Coding::Identity, &right[..100], 30).0.unwrap_err();
    assert_eq!(fault.kind, HttpFaultKind::Length);
    shows(&fault, 100, &right, &right[..100]);
    let long = [&right[..], b"more"].concat();
    for piece in [1, 300, 304] {
        let fault = world.judged(Coding::Identity, &long, piece).0.unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Length);
        shows(&fault, 300, &right, &long);
    }
    let fault = world.judged(Coding::Identity, b"", 1).0.unwrap_err();
    assert_eq!(fault.kind, HttpFaultKind::Length);
    shows(&fault, 0, &right, b"");
}

#[test]
fn a_wrong_body_that_is_known_is_no_measure_for_the_next() {
    let right = encode(Coding::Gzip, 6, &page(2000));
    let mut wrong = right.clone();
    let mut world = World::accepting(Coding::Gzip, &[&right]);
    for at in [400, 100, 500] {
        wrong[at] ^= 1;
        let first = wrong.iter().zip(&right).position(|(a, b)| a != b).unwrap();
        let fault = world.judged(Coding::Gzip, &wrong, 64).0.unwrap_err();
        shows(&fault, first, &right, &wrong);
    }
}
