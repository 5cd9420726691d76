use std::io;

use super::*;
use crate::protocol::h1::head::Head;

/// A connection on which these parts arrive, at most one per read.
struct Parts(Vec<Vec<u8>>);

impl Transport for Parts {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Some(part) = self.0.first_mut() else { return Err(ErrorKind::WouldBlock.into()) };
        let taken = part.len().min(buf.len());
        buf[..taken].copy_from_slice(&part[..taken]);
        part.drain(..taken);
        self.0.retain(|part| !part.is_empty());
        Ok(taken)
    }

    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(buf.len())
    }

    fn discard(&mut self, max: usize, scratch: &mut [u8]) -> io::Result<usize> {
        let most = max.min(scratch.len());
        self.read(&mut scratch[..most])
    }

    fn short_read_drains(&self) -> bool {
        false
    }
}

/// The result of a response.
#[derive(Default)]
struct ReceivedResponse {
    body: Vec<u8>,
    ends: usize,
}

impl Events for ReceivedResponse {
    fn tick(&mut self) {}
    fn first_byte(&mut self, _: ExchangeId) {}
    fn wire(&mut self, _: ExchangeId, _: usize) {}
    fn head(&mut self, _: ExchangeId, _: &Head, _: &[u8]) -> Result<(), HttpFault> {
        Ok(())
    }
    fn body(&mut self, _: ExchangeId, bytes: &[u8]) -> Result<(), HttpFault> {
        self.body.extend_from_slice(bytes);
        Ok(())
    }
    fn discarded(&mut self, _: ExchangeId, _: u64) {}
    fn end(&mut self, _: ExchangeId) {
        self.ends += 1;
    }
    fn fault(&mut self, _: ExchangeId, fault: HttpFault, _: bool) {
        panic!("{fault:?}");
    }
}

fn respond(machine: &mut Machine, parts: &[&[u8]], buffer: &mut [u8]) -> ReceivedResponse {
    let mut came = ReceivedResponse::default();
    let mut io = Parts(parts.iter().map(|part| part.to_vec()).collect());
    machine.start(0, false);
    let means = Means { buffer, allowance: usize::MAX, turn: usize::MAX, discard: None, ended: false };
    assert_eq!(machine.drive(&mut io, b"GET", means, &mut came), Drive::Open);
    assert_eq!(came.ends, 1);
    came
}

#[test]
fn a_body_comes_whole_through_any_buffer_in_any_parts() {
    let body: Vec<u8> = (0..5000).map(|n| (n % 251) as u8).collect();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let whole = [head.as_bytes(), &body].concat();
    let (first, rest) = whole.split_at(1777);
    let mut machine = Machine::new(&Limits::default());
    for length in [16, 128, 1 << 10, 1 << 16] {
        let mut buffer = vec![0; length];
        for parts in [&[whole.as_slice()] as &[&[u8]], &[first, rest], &[head.as_bytes(), &body]] {
            assert_eq!(respond(&mut machine, parts, &mut buffer).body, body, "{length}");
        }
    }
}
