//! Bytes that begin where a processor copies and compares them fastest.

use std::ops::{Deref, DerefMut};

/// What addresses are multiples of: a cache line of every processor that matters, and two of most.
pub const LINE: usize = 128;

/// Bytes whose first is at the begin of a line. Of bytes that are zero no page is touched before it is written to.
#[derive(Debug)]
pub struct Aligned {
    /// With room before the first.
    room: Vec<u8>,
    from: usize,
}

impl Aligned {
    /// So many zeros.
    pub fn zeros(length: usize) -> Aligned {
        let mut room = vec![0; length + LINE];
        let from = room.as_ptr().align_offset(LINE).min(LINE);
        room.truncate(from + length);
        Aligned { room, from }
    }

    /// How far into it bytes are to be read, so that the one after `lead` more of them lies at the place in a line where the
    /// byte `at` of another lies.
    #[inline]
    pub fn shift(lead: usize, at: usize) -> usize {
        at.wrapping_sub(lead) % LINE
    }
}

impl From<&[u8]> for Aligned {
    fn from(bytes: &[u8]) -> Aligned {
        let mut copy = Aligned::zeros(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }
}

impl Deref for Aligned {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.room[self.from..]
    }
}

impl DerefMut for Aligned {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.from..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(bytes: &[u8]) -> usize {
        bytes.as_ptr().addr() % LINE
    }

    #[test]
    fn bytes_begin_at_a_line_and_are_what_they_were() {
        for length in [0, 1, 127, 128, 129, 70_000] {
            let bytes: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let copy = Aligned::from(bytes.as_slice());
            assert_eq!((place(&copy), &*copy), (0, bytes.as_slice()));
            let zeros = Aligned::zeros(length);
            assert_eq!((place(&zeros), zeros.len(), zeros.iter().any(|b| *b != 0)), (0, length, false));
        }
    }

    #[test]
    fn what_follows_a_lead_lies_as_its_counterpart() {
        let (one, other) = (Aligned::zeros(1 << 10), Aligned::zeros(1 << 12));
        for (lead, at) in [(0, 0), (243, 0), (0, 65_240 % 4096), (128, 5), (1, 127)] {
            let shift = Aligned::shift(lead, at);
            assert!(shift < LINE);
            assert_eq!(place(&one[shift + lead..]), place(&other[at..]), "{lead}, {at}");
        }
    }
}
