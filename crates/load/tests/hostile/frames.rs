//! Frames of HTTP/2 as a server sends them (RFC 9113, section 4.1).

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 0x20;

/// `:status: 200` by its index in the static table of HPACK.
pub const OK: &[u8] = &[0x88];

/// One frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The head of a response with status 200.
pub fn head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, OK)
}

/// A part of a body.
pub fn data(stream: u32, part: &[u8]) -> Vec<u8> {
    frame(DATA, 0, stream, part)
}

/// The last part of a body.
pub fn last(stream: u32, part: &[u8]) -> Vec<u8> {
    frame(DATA, END_STREAM, stream, part)
}

/// A response with status 200 and this body.
pub fn answer(stream: u32, body: &[u8]) -> Vec<u8> {
    [head(stream), last(stream, body)].concat()
}

/// A frame with one setting.
pub fn setting(number: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&number.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

/// A field that no table of HPACK has (RFC 7541, section 6.2.2), for names and values under 127 bytes.
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}
