//! Reads headers of frames as they pass (RFC 9113, 4.1): bytes per stream, and facts that the library does not report.
//! It judges only the first frame, which shows whether a server speaks HTTP/2.

/// Bytes of a frame's header.
const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

/// A frame that has started to arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its stream; 0: the connection itself.
    pub stream: u32,
    /// Bytes with its header.
    pub bytes: usize,
    kind: u8,
}

impl Frame {
    /// Bytes without its header.
    pub fn payload(&self) -> usize {
        self.bytes - HEADER
    }

    /// Whether it contains a part of a head.
    pub fn is_head(&self) -> bool {
        matches!(self.kind, HEADERS | CONTINUATION)
    }

    /// Whether it contains a part of a body.
    pub fn is_data(&self) -> bool {
        self.kind == DATA
    }
}

/// The position in the bytes of a connection.
#[derive(Debug, Default)]
pub struct Frames {
    header: [u8; HEADER],
    have: usize,
    /// Bytes of the frame that are still missing.
    left: usize,
    /// The first bytes of a GOAWAY's payload.
    payload: [u8; 4],
    payload_has: usize,
    is_go_away: bool,
    /// Frames that have started; it wraps.
    pub begun: usize,
    /// The server's first frame was SETTINGS.
    pub settled: bool,
    /// The last stream that the server will process, once it has announced it.
    pub last_stream: Option<u32>,
}

/// The bytes are not HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotHttp2;

impl Frames {
    /// Reads the next bytes of the connection, and reports each frame that starts in them.
    pub fn feed(&mut self, mut bytes: &[u8], mut begin: impl FnMut(Frame)) -> Result<(), NotHttp2> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let part = self.left.min(bytes.len());
                if self.is_go_away {
                    self.go_away(&bytes[..part]);
                }
                self.left -= part;
                bytes = &bytes[part..];
                continue;
            }
            let part = (HEADER - self.have).min(bytes.len());
            self.header[self.have..self.have + part].copy_from_slice(&bytes[..part]);
            self.have += part;
            bytes = &bytes[part..];
            if !self.settled && self.have > 3 && self.header[3] != SETTINGS {
                return Err(NotHttp2);
            }
            if self.have == HEADER {
                begin(self.frame());
            }
        }
        Ok(())
    }

    fn frame(&mut self) -> Frame {
        let [a, b, c, kind, _, stream @ ..] = self.header;
        self.have = 0;
        self.begun = self.begun.wrapping_add(1);
        self.left = u32::from_be_bytes([0, a, b, c]) as usize;
        self.is_go_away = kind == GOAWAY;
        self.payload_has = 0;
        self.settled = true;
        Frame { stream: u32::from_be_bytes(stream) & 0x7fff_ffff, bytes: HEADER + self.left, kind }
    }

    fn go_away(&mut self, bytes: &[u8]) {
        let part = (self.payload.len() - self.payload_has).min(bytes.len());
        self.payload[self.payload_has..self.payload_has + part].copy_from_slice(&bytes[..part]);
        self.payload_has += part;
        if self.payload_has == self.payload.len() {
            self.last_stream = Some(u32::from_be_bytes(self.payload) & 0x7fff_ffff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = (payload.len() as u32).to_be_bytes();
        [&length[1..], &[kind, 0], &stream.to_be_bytes(), payload].concat()
    }

    #[test]
    fn frames_are_the_same_under_every_split() {
        let go_away = [&5u32.to_be_bytes()[..], &[0; 4], b"bye"].concat();
        let bytes = [
            frame(SETTINGS, 0, &[0; 6]),
            frame(HEADERS, 1, b"head"),
            frame(CONTINUATION, 1, b"more"),
            frame(DATA, 1, &[7; 300]),
            frame(DATA, 3, b""),
            frame(GOAWAY, 0, &go_away),
        ]
        .concat();
        for size in 1..=bytes.len() {
            let (mut frames, mut seen) = (Frames::default(), Vec::new());
            for part in bytes.chunks(size) {
                frames.feed(part, |f| seen.push((f.stream, f.bytes, f.is_head(), f.is_data()))).unwrap();
            }
            let expected = [
                (0, 15, false, false),
                (1, 13, true, false),
                (1, 13, true, false),
                (1, 309, false, true),
                (3, 9, false, true),
                (0, 20, false, false),
            ];
            assert_eq!(seen, expected, "in parts of {size}");
            assert_eq!(frames.last_stream, Some(5));
            assert!(frames.settled);
        }
    }

    #[test]
    fn http1_is_told_apart_by_its_fourth_byte() {
        let mut frames = Frames::default();
        assert_eq!(frames.feed(b"HTT", |_| panic!()), Ok(()));
        assert_eq!(frames.feed(b"P/1.1 400 Bad Request\r\n", |_| panic!()), Err(NotHttp2));
    }
}
