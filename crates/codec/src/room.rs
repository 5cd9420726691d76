//! The output memory of a library, and the steps in which a streaming setting passes input.
//!
//! Output goes directly into the spare capacity of the caller's vector, without zeroing or copying.

use crate::{Error, OptionSpec, OptionValues, Params};

/// Input bytes per call with `mode=stream`.
const STREAM_IN: usize = 64 * 1024;
/// Output bytes per call with `mode=stream`.
const STREAM_OUT: usize = 8 * 1024;
/// The most bytes per call for libraries that count in 32 bits.
const WHOLE: usize = 1 << 30;

/// The address of an empty input, see [`grounded`].
static NOTHING: [u8; 128] = [0; 128];

/// The same bytes at an address that C code can calculate with. An empty slice of Rust may have the address 1, where
/// `end - 12` wraps around: LZ4's optimal parser then reads arbitrary memory.
pub(crate) fn grounded(input: &[u8]) -> &[u8] {
    if input.is_empty() { &NOTHING[64..64] } else { input }
}

/// The option for one call or many.
pub(crate) const MODE: OptionSpec = OptionSpec {
    name: "mode",
    values: OptionValues::Words(&["oneshot", "stream"]),
    about: "oneshot (default): the whole input in one call, output room for all of it; \
            stream: 64 KiB of input and 8 KiB of output at a time, length not announced, as a server does",
};

/// How input and output are split into calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    OneShot,
    Stream,
}

impl Mode {
    pub fn of(params: &Params) -> Mode {
        if params.word("mode") == Some("stream") { Mode::Stream } else { Mode::OneShot }
    }

    /// The pieces of the input, each with whether it is the last; at least one.
    pub fn pieces(self, input: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
        let step = if self == Mode::Stream { STREAM_IN } else { WHOLE };
        let input = grounded(input);
        let count = input.len().div_ceil(step).max(1);
        (0..count).map(move |i| {
            let piece = &input[i * step..input.len().min((i + 1) * step)];
            (piece, i + 1 == count)
        })
    }

    /// How many bytes of output to offer at a time when `all` would do for everything.
    pub fn window(self, all: usize) -> usize {
        if self == Mode::Stream { STREAM_OUT } else { all.clamp(1, WHOLE) }
    }
}

/// A vector that a library fills, up to a limit. Unless a decode is closed, its output is discarded.
pub(crate) struct Room<'a> {
    out: &'a mut Vec<u8>,
    limit: usize,
    keep: bool,
}

impl<'a> Room<'a> {
    /// Room without a limit, for an encoder; `out` is cleared and keeps its capacity.
    pub fn unlimited(out: &'a mut Vec<u8>) -> Room<'a> {
        out.clear();
        Room { out, limit: usize::MAX, keep: true }
    }

    /// Room for a decoder whose output has `expected` bytes: one byte more, which only a longer stream fills. `out` is
    /// cleared and keeps its capacity.
    ///
    /// # Errors
    /// [`Error::Decode`] if there is not enough memory.
    pub fn expecting(codec: &'static str, expected: usize, out: &'a mut Vec<u8>) -> Result<Room<'a>, Error> {
        out.clear();
        let limit = expected.saturating_add(1);
        let refused =
            |_| Error::Decode { codec, message: format!("no memory for the {expected} bytes expected") };
        out.try_reserve(limit).map_err(refused)?;
        Ok(Room { out, limit, keep: false })
    }

    /// A place to write at most `want` bytes to: its address and its size; the size is 0 at the limit.
    pub fn offer(&mut self, want: usize) -> (*mut u8, usize) {
        let size = want.min(self.limit - self.out.len());
        self.out.reserve(size);
        (self.out.spare_capacity_mut().as_mut_ptr().cast(), size)
    }

    /// Counts `written` bytes of the last offer as filled.
    ///
    /// # Safety
    /// The first `written` bytes at the address last offered have been written, and `written` is not
    /// more than the size last offered.
    pub unsafe fn commit(&mut self, written: usize) {
        let filled = self.out.len() + written;
        assert!(filled <= self.out.capacity() && filled <= self.limit, "a library wrote past its room");
        // SAFETY: within the capacity, and the caller vouches for the bytes.
        unsafe { self.out.set_len(filled) }
    }

    /// Ends a decode: output that is longer than expected is an error.
    ///
    /// # Errors
    /// [`Error::TooLarge`]; the vector is then empty.
    pub fn close(mut self, codec: &'static str) -> Result<(), Error> {
        self.keep = self.out.len() < self.limit;
        if self.keep { Ok(()) } else { Err(Error::TooLarge { codec, limit: self.limit - 1 }) }
    }

    /// Ends a decode: the stream ran to its end with this many bytes of input left over, or stopped before.
    ///
    /// # Errors
    /// The error of the input; `describe` gives the library's message.
    pub fn decoded<C>(
        self,
        codec: &'static str,
        ran: Result<usize, Stop<C>>,
        describe: fn(C) -> String,
    ) -> Result<(), Error> {
        match ran {
            Ok(0) | Err(Stop::Full) => self.close(codec),
            Ok(left) => Err(trailing(codec, left)),
            Err(Stop::Starved) => Err(truncated(codec)),
            Err(Stop::Library(code)) => Err(Error::Decode { codec, message: describe(code) }),
        }
    }
}

/// Why a stream stopped before its end.
pub(crate) enum Stop<C> {
    Full,
    /// The input is used up.
    Starved,
    /// The library reported an error.
    Library(C),
}

/// The result of an encode, as [`Room::decoded`] is for decodes.
///
/// # Errors
/// The stream did not read all input, or did not finish.
pub(crate) fn finished<C>(
    codec: &'static str,
    ran: Result<usize, Stop<C>>,
    describe: fn(C) -> String,
) -> Result<(), Error> {
    let message = match ran {
        Ok(0) => return Ok(()),
        Ok(left) => format!("{left} bytes of input were not read"),
        Err(Stop::Full | Stop::Starved) => "the stream was not finished".into(),
        Err(Stop::Library(code)) => describe(code),
    };
    Err(Error::Encode { codec, message })
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if !self.keep {
            self.out.clear();
        }
    }
}

/// The error of a decoder that stopped before the end of its input.
pub(crate) fn trailing(codec: &'static str, left: usize) -> Error {
    Error::Decode { codec, message: format!("{left} bytes follow the end of the stream") }
}

/// The error of a decoder that needed more input.
pub(crate) fn truncated(codec: &'static str) -> Error {
    Error::Decode { codec, message: "the input ends before the stream does".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_input_and_end_once() {
        for len in [0, 1, STREAM_IN - 1, STREAM_IN, STREAM_IN + 1, 3 * STREAM_IN] {
            let input: Vec<u8> = (0..len).map(|i| i as u8).collect();
            for mode in [Mode::OneShot, Mode::Stream] {
                let pieces: Vec<_> = mode.pieces(&input).collect();
                assert_eq!(pieces.iter().flat_map(|(p, _)| p.to_vec()).collect::<Vec<_>>(), input);
                assert_eq!(pieces.iter().filter(|(_, last)| *last).count(), 1);
                assert!(pieces.last().unwrap().1);
            }
        }
    }

    #[test]
    fn room_stops_one_past_the_expected_length() {
        let mut out = Vec::new();
        let mut room = Room::expecting("test", 2, &mut out).unwrap();
        let (at, size) = room.offer(100);
        assert_eq!(size, 3);
        // SAFETY: three bytes were offered and are written here.
        unsafe {
            at.write_bytes(7, 3);
            room.commit(3);
        }
        assert_eq!(room.offer(100).1, 0);
        assert!(matches!(room.close("test"), Err(Error::TooLarge { limit: 2, .. })));
        assert!(out.is_empty());
    }

    #[test]
    fn an_absurd_expectation_is_an_error_and_no_abort() {
        assert!(Room::expecting("test", usize::MAX, &mut Vec::new()).is_err());
    }
}
