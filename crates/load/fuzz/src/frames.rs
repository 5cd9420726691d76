//! HTTP/2 connections: whatever frames a server sends before it closes, each exchange ends once, with bounded work,
//! however the bytes arrive.
//!
//! The input is the bytes of the server. If the first byte is below 8, it is a list of frames instead: kind, flags,
//! stream and payload length in a byte each, and the payload, so that lengths are correct.

use std::collections::BTreeMap;

use weigh_load::fault::HttpFault;
use weigh_load::plan::{Limits, Request as Planned};
use weigh_load::protocol::h1::head::Head;
use weigh_load::protocol::h2::{Http2Thread, Machine, Message};
use weigh_load::protocol::{Drive, Events, ExchangeId, Means};

use super::splits;
use super::wire::Wire;

/// Exchanges that are requested at once.
const EXCHANGES: ExchangeId = 3;

/// Checks one input against the module's promises.
pub fn hold(bytes: &[u8]) {
    let framed;
    let bytes = match bytes.split_first() {
        Some((first, rest)) if *first < 8 => {
            framed = frames(rest);
            &framed
        }
        _ => bytes,
    };
    for pieces in splits(bytes) {
        for discards in [false, true] {
            run(&pieces, discards);
        }
    }
}

/// SETTINGS, and then the frames.
fn frames(mut rest: &[u8]) -> Vec<u8> {
    let mut out = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
    while let [kind, flags, stream, length, after @ ..] = rest {
        let (payload, after) = after.split_at(after.len().min(usize::from(*length)));
        out.extend_from_slice(&[0, 0, payload.len() as u8, *kind, *flags, 0, 0, 0, *stream]);
        out.extend_from_slice(payload);
        rest = after;
    }
    out
}

/// Runs a connection until the server closes it.
fn run(pieces: &[&[u8]], discards: bool) {
    let planned = Planned { url: "http://127.0.0.1/".into(), ..Planned::default() };
    let message = Message::new(&planned, false, "127.0.0.1", "/").expect("a sound request");
    let limits = Limits { head_bytes: 4096, informational: 2, ..Limits::default() };
    let mut machine = Machine::new(&Http2Thread::default(), &limits, 1, true).expect("a sound connection");
    let mut wire = Wire::of(pieces);
    let (mut seen, mut buffer, mut scratch) = (EventCheck::default(), vec![0; 4096], vec![0; 4096]);
    for x in 0..EXCHANGES {
        machine.start(x, &message, &mut seen);
    }
    let mut drive = machine.flush(&mut wire, &mut seen);
    // Every piece takes at least one drive, and every byte at most one, with one more for each time it would block.
    for _ in 0..2 * pieces.iter().map(|piece| piece.len() + 1).sum::<usize>() + 16 {
        if drive == Drive::Closed {
            return assert_eq!(
                seen.ended.len(),
                EXCHANGES as usize,
                "a connection that is closed owes no end"
            );
        }
        let discard = discards.then_some(&mut scratch[..]);
        let means =
            Means { buffer: &mut buffer, allowance: usize::MAX, turn: 1 << 20, discard, ended: false };
        drive = machine.drive(&mut wire, means, &mut seen);
    }
    panic!("the connection does not end");
}

#[derive(Default)]
struct EventCheck {
    ended: BTreeMap<ExchangeId, bool>,
    heads: BTreeMap<ExchangeId, bool>,
}

impl EventCheck {
    fn end(&mut self, x: ExchangeId, well: bool) {
        assert!(x < EXCHANGES);
        assert!(self.ended.insert(x, well).is_none(), "it ended already");
    }
}

impl Events for EventCheck {
    fn tick(&mut self) {}

    fn first_byte(&mut self, x: ExchangeId) {
        assert!(!self.ended.contains_key(&x));
    }

    fn wire(&mut self, x: ExchangeId, _: usize) {
        assert!(!self.ended.contains_key(&x));
    }

    fn head(&mut self, x: ExchangeId, _: &Head, _: &[u8]) -> Result<(), HttpFault> {
        assert!(!self.ended.contains_key(&x) && self.heads.insert(x, true).is_none());
        Ok(())
    }

    fn body(&mut self, x: ExchangeId, _: &[u8]) -> Result<(), HttpFault> {
        assert!(self.heads.contains_key(&x) && !self.ended.contains_key(&x));
        Ok(())
    }

    fn discarded(&mut self, x: ExchangeId, _: u64) {
        assert!(self.heads.contains_key(&x) && !self.ended.contains_key(&x));
    }

    fn end(&mut self, x: ExchangeId) {
        assert!(self.heads.contains_key(&x));
        self.end(x, true);
    }

    fn fault(&mut self, x: ExchangeId, _: HttpFault, _: bool) {
        self.end(x, false);
    }
}
