//! Heads: any bytes parse in the same way however they are split, and the result agrees with the headers.

use weigh_load::fault::HttpFaultKind;
use weigh_load::protocol::h1::head::{Head, HeadLimits, fields, parse};

use super::splits;

/// Small, so that both limits are reached.
const LIMITS: HeadLimits = HeadLimits { bytes: 512, fields: 8 };

/// Checks one input against the module's promises.
pub fn hold(bytes: &[u8]) {
    let [at_once, others @ ..] = splits(bytes).map(|pieces| read(&pieces, bytes));
    for other in others {
        assert_eq!(other, at_once);
    }
    if let Ok(Some(head)) = at_once {
        agrees(bytes, &head);
    }
    // Never panics, even if the bytes are not a head.
    assert!(fields(bytes).count() <= bytes.len());
}

fn read(pieces: &[&[u8]], bytes: &[u8]) -> Result<Option<Head>, HttpFaultKind> {
    let (mut there, mut scanned) = (0, 0);
    for piece in pieces {
        there += piece.len();
        match parse(&bytes[..there], &mut scanned, &LIMITS) {
            Ok(None) => {}
            Ok(head) => return Ok(head),
            Err(fault) => return Err(fault.kind),
        }
    }
    Ok(None)
}

/// Compares a head with the result of a slow and simple parser.
fn agrees(bytes: &[u8], head: &Head) {
    let own = &bytes[..head.bytes];
    assert!(own.len() <= LIMITS.bytes as usize);
    assert!((100..1000).contains(&head.status));
    assert_eq!(parse(own, &mut 0, &LIMITS), Ok(Some(*head)), "what follows a head does not count");
    assert_eq!(parse(&own[..own.len() - 1], &mut 0, &LIMITS), Ok(None), "a head needs its last byte");

    let all: Vec<(&[u8], &[u8])> = fields(own).collect();
    assert!(all.len() <= LIMITS.fields as usize);
    let named =
        |name: &str| all.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes())).collect::<Vec<_>>();
    let lengths = named("content-length");
    assert_eq!(head.length.is_some(), !lengths.is_empty());
    for (_, value) in lengths {
        for member in std::str::from_utf8(value).expect("digits").split(',') {
            assert_eq!(member.trim_ascii().parse().ok(), head.length);
        }
    }
    let transfer = named("transfer-encoding");
    assert!(head.length.is_none() || transfer.is_empty());
    let chunked = transfer.iter().any(|(_, value)| value.to_ascii_lowercase().ends_with(b"chunked"));
    assert_eq!(head.chunked, chunked);
}
