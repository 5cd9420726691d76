//! A transport that always has more data: whatever it sends, a connection gives the others their turn.

use std::io;

use proptest::prelude::*;
use weigh_load::fault::HttpFault;
use weigh_load::plan::{Limits, Request as Planned};
use weigh_load::protocol::h1::head::Head;
use weigh_load::protocol::{Drive, Events, ExchangeId, Machine, Means, Request, h1, h2};
use weigh_load::transport::Transport;

use crate::frames::frame;

/// Bytes of work that a drive may do.
const TURN: usize = 64 << 10;
/// Bytes per read of the engine: a turn may exceed its limit by this.
const READ: usize = 256 << 10;
/// Drives of one connection: in each the transport has more.
const DRIVES: usize = 20;

/// The start once, then the same bytes repeatedly.
struct Endless {
    begin: Vec<u8>,
    again: Vec<u8>,
    given: usize,
    /// Bytes and reads since the last drive.
    bytes: usize,
    reads: usize,
    /// The most bytes of one read.
    portion: usize,
    /// Writes are never accepted.
    is_deaf: bool,
}

impl Transport for Endless {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let part = buf.len().min(self.portion);
        for byte in &mut buf[..part] {
            let beyond = self.given.checked_sub(self.begin.len());
            *byte = beyond.map_or_else(|| self.begin[self.given], |at| self.again[at % self.again.len()]);
            self.given += 1;
        }
        self.bytes += part;
        self.reads += 1;
        Ok(part)
    }

    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.is_deaf { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(buf.len()) }
    }

    fn discard(&mut self, max: usize, scratch: &mut [u8]) -> io::Result<usize> {
        let most = max.min(scratch.len());
        self.read(&mut scratch[..most])
    }

    fn short_read_drains(&self) -> bool {
        false
    }
}

/// Records only whether the exchange has ended, and how many parts of its body arrived.
#[derive(Default)]
struct Ended(bool, usize);

impl Events for Ended {
    fn tick(&mut self) {}
    fn first_byte(&mut self, _: ExchangeId) {}
    fn wire(&mut self, _: ExchangeId, _: usize) {}
    fn head(&mut self, _: ExchangeId, _: &Head, _: &[u8]) -> Result<(), HttpFault> {
        Ok(())
    }
    fn body(&mut self, _: ExchangeId, _: &[u8]) -> Result<(), HttpFault> {
        self.1 += 1;
        Ok(())
    }
    fn discarded(&mut self, _: ExchangeId, _: u64) {}
    fn end(&mut self, _: ExchangeId) {
        self.0 = true;
    }
    fn fault(&mut self, _: ExchangeId, _: HttpFault, _: bool) {
        self.0 = true;
    }
}

/// Drives a connection repeatedly, and checks each drive against its limit.
fn holds(
    mut machine: Machine,
    mut io: Endless,
    request: Request<'_>,
    discards: bool,
) -> Result<(), TestCaseError> {
    let mut events = Ended::default();
    let (mut buffer, mut scratch) = (vec![0; READ], vec![0; READ]);
    let mut drive = machine.start(0, request, &mut io, &mut events);
    for _ in 0..DRIVES {
        if drive == Drive::Closed || events.0 {
            return Ok(());
        }
        (io.bytes, io.reads) = (0, 0);
        let discard = discards.then_some(scratch.as_mut_slice());
        let means = Means { buffer: &mut buffer, allowance: usize::MAX, turn: TURN, discard, ended: false };
        drive = machine.drive(&mut io, request.bytes, means, &mut events);
        // Bytes that the kernel discards count as a sixteenth of bytes that are read.
        let most = if discards { 16 * TURN } else { TURN } + READ;
        prop_assert!(io.bytes <= most, "{} bytes in a turn of {TURN}", io.bytes);
        prop_assert!(io.reads <= TURN / 1024, "{} reads in a turn", io.reads);
    }
    Ok(())
}

/// A frame of any kind for the connection, the stream in flight or another, with a valid length or any other.
pub fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        Just(vec![0; 8]),
        Just(vec![0, 0, 0, 1]),
        Just(vec![0, 0, 0, 0, 1]),
        Just(Vec::new()),
        Just(vec![0x88]),
        Just(b"\x08\x03103".to_vec()),
        prop::collection::vec(any::<u8>(), 0..60),
    ];
    (
        0u8..11,
        prop_oneof![Just(0u8), Just(1), Just(4), Just(5), any::<u8>()],
        prop_oneof![Just(0u32), Just(1), Just(3)],
        payload,
    )
        .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn http1_gives_way_whatever_comes(
        head in prop_oneof![
            Just("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Just("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
            Just("HTTP/1.0 200 OK\r\n\r\n"),
            Just("HTTP/1.1 200 OK\r\n"),
            Just(""),
        ],
        again in prop_oneof![
            Just(b"1\r\nx\r\n".to_vec()),
            Just(b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec()),
            Just(b"X: y\r\n".to_vec()),
            prop::collection::vec(any::<u8>(), 1..100),
        ],
        portion in prop_oneof![Just(1usize), Just(100), Just(usize::MAX)],
        discards in any::<bool>(),
    ) {
        let limits = Limits { head_bytes: 1 << 24, head_fields: 10_000, informational: u32::MAX, ..Limits::default() };
        let io = Endless { begin: head.into(), again, given: 0, bytes: 0, reads: 0, portion, is_deaf: false };
        let request = Request { bytes: b"GET / HTTP/1.1\r\n\r\n", message: None, head_only: false };
        holds(Machine::Http1(h1::Machine::new(&limits)), io, request, discards)?;
    }

    #[test]
    fn http2_gives_way_whatever_comes(
        first in prop::collection::vec(any_frame(), 0..4),
        again in prop::collection::vec(any_frame(), 1..6),
        portion in prop_oneof![Just(1usize), Just(100), Just(usize::MAX)],
        discards in any::<bool>(),
        is_deaf in any::<bool>(),
    ) {
        let planned = Planned { url: "http://127.0.0.1/".into(), ..Planned::default() };
        let message = h2::Message::new(&planned, false, "127.0.0.1", "/").unwrap();
        let machine = h2::Machine::new(&h2::Http2Thread::default(), &Limits::default(), 1, true).unwrap();
        let begin = [frame(4, 0, 0, &[]), first.concat()].concat();
        let io = Endless { begin, again: again.concat(), given: 0, bytes: 0, reads: 0, portion, is_deaf };
        let request = Request { bytes: b"", message: Some(&message), head_only: false };
        holds(Machine::Http2(Box::new(machine)), io, request, discards)?;
    }
}

#[test]
fn chunks_count_in_a_turn_beside_their_bytes() {
    let begin = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let again = b"1\r\nx\r\n".to_vec();
    let mut io = Endless { begin, again, given: 0, bytes: 0, reads: 0, portion: 64 << 10, is_deaf: false };
    let request = Request { bytes: b"GET / HTTP/1.1\r\n\r\n", message: None, head_only: false };
    let (mut machine, mut events) = (Machine::Http1(h1::Machine::new(&Limits::default())), Ended::default());
    machine.start(0, request, &mut io, &mut events);
    // The bytes alone would be sixteen such reads.
    let mut buffer = vec![0; READ];
    let means =
        Means { buffer: &mut buffer, allowance: usize::MAX, turn: 16 * TURN, discard: None, ended: false };
    assert_eq!(machine.drive(&mut io, request.bytes, means, &mut events), Drive::Paused);
    assert_eq!((io.reads, io.bytes), (1, 64 << 10));
    assert!(events.1 > 10_000, "{} chunks", events.1);
}
