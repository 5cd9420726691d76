//! Chunks: any bytes decode in the same way however they are split, and encoding followed by decoding returns the
//! source.

use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::protocol::h1::chunked::{Chunked, Step};

use super::splits;

/// Checks one input against the module's promises.
pub fn hold(bytes: &[u8]) {
    let [at_once, others @ ..] = splits(bytes).map(|pieces| decode(&pieces));
    for other in others {
        assert_eq!(other, at_once);
    }
    assert!(at_once.0.len() <= bytes.len());

    for pieces in splits(bytes) {
        let wire = encode(&pieces);
        let whole = Ok(Step { consumed: wire.len(), done: true });
        for split in splits(&wire) {
            assert_eq!(decode(&split), (bytes.to_vec(), whole));
        }
    }
}

/// The body in the pieces, and how it ended.
fn decode(pieces: &[&[u8]]) -> (Vec<u8>, Result<Step, HttpFaultKind>) {
    let (mut chunked, mut body) = (Chunked::default(), Vec::new());
    let mut total = Step { consumed: 0, done: false };
    for piece in pieces {
        let fed = chunked.feed(piece, |part| {
            assert!(!part.is_empty());
            body.extend_from_slice(part);
            Ok::<(), HttpFault>(())
        });
        match fed.map_err(HttpFault::from) {
            Ok(step) => {
                assert!(step.done || step.consumed == piece.len());
                total = Step { consumed: total.consumed + step.consumed, done: step.done };
            }
            Err(fault) => return (body, Err(fault.kind)),
        }
    }
    (body, Ok(total))
}

/// A chunk for each piece.
fn encode(pieces: &[&[u8]]) -> Vec<u8> {
    let mut wire = Vec::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        wire.extend(format!("{:X}\r\n", piece.len()).bytes());
        wire.extend_from_slice(piece);
        wire.extend(b"\r\n");
    }
    wire.extend(b"0\r\n\r\n");
    wire
}
