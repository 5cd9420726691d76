//! The chunked transfer coding (RFC 9112, section 7.1), decoded as the bytes arrive. Extensions and trailers are
//! skipped.

use memchr::{memchr, memchr2};

use crate::escape::shown;
use crate::fault::{HttpFault, HttpFaultKind};

/// The longest line with a chunk's size and its extensions, in bytes.
const MOST_OF_LINE: u32 = 4 << 10;
const MOST_OF_TRAILERS: u32 = 16 << 10;

/// The state of decoding a chunked body.
#[derive(Debug, Default)]
pub struct Chunked {
    state: State,
    /// The chunk's size while it is read, then the remaining bytes of its data.
    size: u64,
    /// Bytes of the size line, or of all trailers, so far.
    line: u32,
    /// Chunks that have started; it wraps.
    pub begun: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the first digit of a size.
    #[default]
    First,
    Size,
    /// Between the size and the end of its line.
    Extension,
    /// After the carriage return of a size line.
    SizeFeed,
    Data,
    DataEnd,
    DataFeed,
    /// At the start of a trailer line.
    Trailer,
    WithinTrailer,
    /// After a carriage return at the start of a line.
    LastFeed,
    Done,
}

/// The outcome of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes that belong to the body; fewer than given only at its end.
    pub consumed: usize,
    /// Whether the body has ended.
    pub done: bool,
}

#[derive(Debug)]
pub enum Error<E> {
    /// The bytes violate the coding.
    Chunk(HttpFault),
    /// The receiver of the body rejected it.
    Body(E),
}

impl From<Error<HttpFault>> for HttpFault {
    fn from(error: Error<HttpFault>) -> HttpFault {
        match error {
            Error::Chunk(fault) | Error::Body(fault) => fault,
        }
    }
}

impl Chunked {
    /// Decodes the next bytes and passes the body's part of them to `body`, in slices as long as possible.
    ///
    /// # Errors
    /// `BadChunk`, or the error of `body`. After an error, decoding cannot continue.
    pub fn feed<E>(
        &mut self,
        bytes: &[u8],
        mut body: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Step, Error<E>> {
        let mut at = 0;
        while at < bytes.len() && self.state != State::Done {
            let rest = &bytes[at..];
            if self.state == State::Data {
                let length = usize::try_from(self.size).map_or(rest.len(), |size| size.min(rest.len()));
                body(&rest[..length]).map_err(Error::Body)?;
                at += length;
                self.size -= length as u64;
                if self.size == 0 {
                    self.state = State::DataEnd;
                }
            } else {
                at += self.frame(rest).map_err(|what| Error::Chunk(bad(what, rest)))?;
            }
        }
        Ok(Step { consumed: at, done: self.state == State::Done })
    }

    /// Takes one byte of framing, or many bytes that are skipped; returns the number.
    fn frame(&mut self, rest: &[u8]) -> Result<usize, &'static str> {
        let (state, taken) = match (self.state, rest[0]) {
            (State::First | State::Size, digit) if digit.is_ascii_hexdigit() => {
                self.digit(digit)?;
                (State::Size, 1)
            }
            (State::First, _) => return Err("a chunk without a size"),
            (State::Size | State::Extension | State::SizeFeed, b'\n') => {
                self.begun = self.begun.wrapping_add(1);
                (self.sized(), 1)
            }
            (State::SizeFeed, _) => return Err("a carriage return within the size line of a chunk"),
            (State::Size | State::Extension, b'\r') => (State::SizeFeed, 1),
            (State::Size, b' ' | b'\t' | b';') => (State::Extension, 1),
            (State::Size, _) => return Err("a chunk size with characters that are not hexadecimal digits"),
            (State::Extension, _) => (State::Extension, memchr2(b'\r', b'\n', rest).unwrap_or(rest.len())),
            (State::DataEnd, b'\r') => (State::DataFeed, 1),
            (State::DataEnd | State::DataFeed, b'\n') => (State::First, 1),
            (State::DataEnd | State::DataFeed, _) => return Err("a chunk longer than its size"),
            (State::Trailer, b'\r') => (State::LastFeed, 1),
            (State::Trailer | State::LastFeed, b'\n') => (State::Done, 1),
            (State::LastFeed, _) => return Err("a carriage return within a trailer"),
            (State::WithinTrailer, b'\n') => (State::Trailer, 1),
            (State::Trailer | State::WithinTrailer, _) => {
                (State::WithinTrailer, memchr(b'\n', rest).unwrap_or(rest.len()))
            }
            (State::Data | State::Done, _) => (self.state, 0),
        };
        self.bound(state, taken)?;
        self.state = state;
        Ok(taken)
    }

    /// Counts bytes that are not data. The size line of a chunk and all trailers each have a limit.
    fn bound(&mut self, next: State, taken: usize) -> Result<(), &'static str> {
        let trailers = matches!(self.state, State::Trailer | State::WithinTrailer | State::LastFeed);
        let most = if trailers { MOST_OF_TRAILERS } else { MOST_OF_LINE };
        self.line = self.line.saturating_add(u32::try_from(taken).unwrap_or(u32::MAX));
        if self.line > most {
            return Err(if trailers { "endless trailers" } else { "a chunk with an endless size line" });
        }
        if matches!(next, State::Data | State::First) || (next == State::Trailer && !trailers) {
            self.line = 0;
        }
        Ok(())
    }

    fn digit(&mut self, digit: u8) -> Result<(), &'static str> {
        let value = char::from(digit).to_digit(16).unwrap_or_default();
        if self.size >> 60 != 0 {
            return Err("a chunk size of more than 64 bits");
        }
        self.size = self.size << 4 | u64::from(value);
        Ok(())
    }

    /// The state after a size line.
    fn sized(&self) -> State {
        if self.size == 0 { State::Trailer } else { State::Data }
    }
}

#[cold]
fn bad(what: &str, rest: &[u8]) -> HttpFault {
    HttpFault::new(HttpFaultKind::BadChunk, format!("{what} at `{}`", shown(rest)))
}

#[cfg(test)]
mod tests;
