//! A connection in memory that gives what a target is asked with.

use std::collections::VecDeque;
use std::io;

use weigh_load::transport::Transport;

/// Bytes that are written at once at most: requests go out in several pieces.
const WRITTEN: usize = 10;

/// A connection on which the pieces come one after the other before it is closed. After each, nothing is there yet.
pub struct Wire<'a> {
    pieces: VecDeque<&'a [u8]>,
    /// The next read finds nothing yet.
    blocks: bool,
}

impl<'a> Wire<'a> {
    /// One that nothing was read from.
    pub fn of(pieces: &[&'a [u8]]) -> Wire<'a> {
        Wire { pieces: pieces.iter().copied().collect(), blocks: false }
    }

    fn take(&mut self, most: usize) -> io::Result<&[u8]> {
        if std::mem::take(&mut self.blocks) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let Some(piece) = self.pieces.pop_front() else { return Ok(&[]) };
        let (taken, rest) = piece.split_at(piece.len().min(most));
        if rest.is_empty() {
            self.blocks = true;
        } else {
            self.pieces.push_front(rest);
        }
        if taken.is_empty() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(taken) }
    }
}

impl Transport for Wire<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let taken = self.take(buf.len())?;
        buf[..taken.len()].copy_from_slice(taken);
        Ok(taken.len())
    }

    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(buf.len().min(WRITTEN))
    }

    fn discard(&mut self, max: usize, _: &mut [u8]) -> io::Result<usize> {
        Ok(self.take(max)?.len())
    }

    fn short_read_drains(&self) -> bool {
        false
    }
}
