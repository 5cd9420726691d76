//! Whole exchanges over HTTP/1: the bytes of a server that then closes lead to one result, however they arrive and are
//! read.

use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::plan::Limits;
use weigh_load::protocol::h1::Machine;
use weigh_load::protocol::h1::head::Head;
use weigh_load::protocol::{Drive, Events, ExchangeId, Means};

use super::splits;
use super::wire::Wire;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// Checks one input against the module's promises.
pub fn hold(bytes: &[u8]) {
    let head_only = bytes.first().is_some_and(|byte| byte % 16 == 1);
    let bytes = if head_only { &bytes[1..] } else { bytes };
    let [at_once, others @ ..] = splits(bytes).map(|pieces| {
        let [kept, others @ ..] = [(4096, false), (16, false), (4096, true), (16, true)]
            .map(|(room, drop)| run(&pieces, room, drop, head_only));
        for other in others {
            assert_eq!(other, kept);
        }
        kept
    });
    for other in others {
        assert_eq!(other, at_once);
    }
}

/// Runs one exchange to its end; returns how it ended, and the bytes of its body.
fn run(pieces: &[&[u8]], room: usize, drop: bool, head_only: bool) -> (Option<HttpFaultKind>, u64) {
    let limits = Limits { head_bytes: 512, head_fields: 8, informational: 2, ..Limits::default() };
    let mut machine = Machine::new(&limits);
    let mut wire = Wire::of(pieces);
    let (mut seen, mut buffer, mut scratch) = (EventCheck::default(), vec![0; room], vec![0; room]);
    machine.start(7, head_only);
    // Every piece takes at least one drive, and every byte at most one, with one more for each time it would block.
    for _ in 0..2 * pieces.iter().map(|piece| piece.len() + 1).sum::<usize>() + 4 {
        let discard = drop.then_some(&mut scratch[..]);
        let means = Means { buffer: &mut buffer, allowance: 24, turn: usize::MAX, discard, ended: false };
        let drive = machine.drive(&mut wire, REQUEST, means, &mut seen);
        if machine.in_flight().is_none() {
            assert!(seen.ended.is_some());
            assert!(drive != Drive::Open || machine.is_free());
            let total: usize = pieces.iter().map(|piece| piece.len()).sum();
            assert!(seen.wire <= total && seen.body <= total as u64);
            // Whether bytes after the end arrive with it or later depends on the network.
            let ended = seen.ended.flatten().filter(|kind| *kind != HttpFaultKind::Overlong);
            return (ended, seen.body);
        }
        assert!(drive == Drive::Open || drive == Drive::Paused);
    }
    panic!("the exchange does not end");
}

/// The events of the exchange.
#[derive(Default)]
struct EventCheck {
    begun: bool,
    head: bool,
    wire: usize,
    body: u64,
    ended: Option<Option<HttpFaultKind>>,
}

impl Events for EventCheck {
    fn tick(&mut self) {}

    fn first_byte(&mut self, x: ExchangeId) {
        assert!(x == 7 && !self.begun && self.ended.is_none());
        self.begun = true;
    }

    fn wire(&mut self, x: ExchangeId, bytes: usize) {
        assert!(x == 7 && self.ended.is_none());
        self.wire += bytes;
    }

    fn head(&mut self, x: ExchangeId, head: &Head, raw: &[u8]) -> Result<(), HttpFault> {
        assert!(x == 7 && self.begun && !self.head && self.ended.is_none());
        assert!(head.bytes == raw.len() && raw.starts_with(b"HTTP/1."));
        self.head = true;
        Ok(())
    }

    fn body(&mut self, x: ExchangeId, bytes: &[u8]) -> Result<(), HttpFault> {
        assert!(x == 7 && self.head && self.ended.is_none() && !bytes.is_empty());
        self.body += bytes.len() as u64;
        Ok(())
    }

    fn discarded(&mut self, x: ExchangeId, bytes: u64) {
        assert!(x == 7 && self.head && self.ended.is_none());
        self.body += bytes;
    }

    fn end(&mut self, x: ExchangeId) {
        assert!(x == 7 && self.head && self.ended.is_none());
        self.ended = Some(None);
    }

    fn fault(&mut self, x: ExchangeId, fault: HttpFault, untouched: bool) {
        assert!(x == 7 && self.ended.is_none() && !untouched);
        self.ended = Some(Some(fault.kind));
    }
}
