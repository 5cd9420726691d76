//! One line of a log, whatever its format, while it is read.

use std::borrow::Cow;

/// Why a line cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

/// How something was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `HEAD`.
    Head,
    /// Any other.
    Other,
}

impl Method {
    /// Its name in a log; none where no client writes one like it.
    pub fn of(name: &[u8]) -> Option<Method> {
        match name {
            b"GET" => Some(Method::Get),
            b"HEAD" => Some(Method::Head),
            _ => {
                let is_name = (1..=32).contains(&name.len())
                    && name.iter().all(|b| b.is_ascii_uppercase() || matches!(b, b'-' | b'_'));
                is_name.then_some(Method::Other)
            }
        }
    }
}

/// What a line says. Text is as it was sent: escapes of the log are resolved, those of addresses are not.
#[derive(Clone, Debug)]
pub struct Entry<'l> {
    /// Seconds since 1970.
    pub time: i64,
    /// Method and target; none where what came was no request.
    pub asked: Option<(Method, Cow<'l, [u8]>)>,
    /// Three digits.
    pub status: u16,
    /// Bytes sent: of the body where the log says so.
    pub bytes: u64,
    /// The user agent, where it is logged. A client that sent none has an empty one or `-`.
    pub agent: Option<Cow<'l, [u8]>>,
    /// The `Accept-Encoding`, likewise.
    pub accept: Option<Cow<'l, [u8]>>,
    /// Microseconds that the response took, where they are logged.
    pub micros: Option<u64>,
}

/// Method and target of a request line such as `GET /a HTTP/1.1`; none where it is no request.
pub fn asked(line: &[u8]) -> Option<(Method, &[u8])> {
    let at = memchr::memchr(b' ', line)?;
    let (method, rest) = (Method::of(&line[..at])?, &line[at + 1..]);
    let target = match memchr::memrchr(b' ', rest) {
        Some(at) if rest[at + 1..].starts_with(b"HTTP/") => &rest[..at],
        _ => rest,
    };
    (!target.is_empty()).then_some((method, target))
}

/// A whole number of bytes; `-` is none.
pub fn bytes(text: &[u8]) -> Result<u64, Unreadable> {
    match text {
        b"-" => Ok(0),
        _ => whole(text).filter(|n| *n <= MOST_BYTES).ok_or(Unreadable("the number of bytes")),
    }
}

/// The most bytes that a response can have: 1 PB.
pub const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// The longest that a response can take: a year in microseconds.
const MOST_MICROS: f64 = 365.25 * 86_400e6;

/// Three digits of a status.
pub fn status(text: &[u8]) -> Result<u16, Unreadable> {
    match (text.len(), whole(text)) {
        (3, Some(status)) => Ok(status as u16),
        _ => Err(Unreadable("the status")),
    }
}

/// Seconds as whole microseconds, where they make sense.
pub fn micros(seconds: f64) -> Option<u64> {
    let micros = (seconds * 1e6).round();
    (0.0..=MOST_MICROS).contains(&micros).then_some(micros as u64)
}

/// Digits only.
fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0u64, |sum, b| b.is_ascii_digit().then(|| sum * 10 + u64::from(b - b'0')))
}
