//! One line of a log, whatever its format, while it is read.

use std::borrow::Cow;

use super::columns::{Columns, Values};
use super::content;
use super::fields::unescaped;
use super::moment::{Moment, Moments};
use super::names::Role;

/// Why a line cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

/// How something was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Head,
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
#[derive(Clone, Debug, Default)]
pub struct Entry<'l> {
    pub time: Moment,
    /// Method and target; none where what came was no request.
    pub asked: Option<(Method, Cow<'l, [u8]>)>,
    pub status: u16,
    /// Bytes sent: of the body where the log says so.
    pub bytes: u64,
    /// The host that was asked, where it is logged.
    pub host: Option<&'l [u8]>,
    /// The address that the request came from, where it is logged.
    pub client: Option<&'l [u8]>,
    /// The user agent, where it is logged. A client that sent none has an empty one or `-`.
    pub agent: Option<Cow<'l, [u8]>>,
    /// The `Accept-Encoding`, likewise.
    pub accept: Option<Cow<'l, [u8]>>,
    /// What proxies in front say of themselves or of others, where it is logged.
    pub forwarded: Option<&'l [u8]>,
    /// Whether a browser asked in advance.
    pub is_prefetch: bool,
    /// Microseconds that the response took, where they are logged.
    pub micros: Option<u64>,
}

impl<'l> Entry<'l> {
    /// What the fields of a line say.
    ///
    /// # Errors
    /// What is missing or wrong.
    pub fn of(
        columns: &Columns,
        values: &Values<'l>,
        moments: &mut Moments,
    ) -> Result<Entry<'l>, Unreadable> {
        let text = |role| values.get(role).map(unescaped);
        let time = moments.parse(values.get(Role::Time).ok_or(Unreadable("no time"))?)?;
        let sent_all = values.get(Role::Headers).map(|_| Cow::Borrowed(&b""[..]));
        let is_said = |value: &&[u8]| !matches!(*value, b"" | b"-");
        Ok(Entry {
            time,
            asked: requested(values)?,
            status: status(values.get(Role::Status).unwrap_or_default())?,
            bytes: values.get(Role::Bytes).map_or(Ok(0), bytes)?,
            host: values.get(Role::Host),
            client: values.get(Role::Client),
            agent: text(Role::Agent).or_else(|| sent_all.clone()),
            accept: text(Role::Accept).or(sent_all),
            forwarded: values.get(Role::Via).or(values.get(Role::Forwarded)).filter(is_said),
            is_prefetch: values.get(Role::Purpose).is_some_and(content::is_prefetch),
            micros: columns.micros(values),
        })
    }
}

/// Method and target as they were sent, where they are logged so: nginx may have rewritten `$uri` since.
#[expect(clippy::type_complexity, reason = "the type of one field")]
fn requested<'l>(values: &Values<'l>) -> Result<Option<(Method, Cow<'l, [u8]>)>, Unreadable> {
    let line = values.get(Role::Request);
    if let Some((method, target)) = line.and_then(parse_request_line) {
        return Ok(Some((method, unescaped(target))));
    }
    let (Some(method), Some(target)) = (values.get(Role::Method), values.get(Role::Target)) else {
        return if line.is_some() { Ok(None) } else { Err(Unreadable("no request")) };
    };
    let Some(method) = Method::of(method).filter(|_| !target.is_empty()) else { return Ok(None) };
    // `$uri` has no query string.
    let query =
        values.get(Role::Query).filter(|query| !matches!(*query, b"" | b"-") && !target.contains(&b'?'));
    let query = query.map(|query| query.strip_prefix(b"?").unwrap_or(query));
    Ok(Some((method, query.map_or_else(|| unescaped(target), |query| [target, b"?", query].concat().into()))))
}

/// Method and target of a request line such as `GET /a HTTP/1.1`; none where it is not a request.
pub fn parse_request_line(line: &[u8]) -> Option<(Method, &[u8])> {
    let at = memchr::memchr(b' ', line)?;
    let (method, rest) = (Method::of(&line[..at])?, &line[at + 1..]);
    let target = match memchr::memrchr(b' ', rest) {
        Some(at) if rest[at + 1..].starts_with(b"HTTP/") => &rest[..at],
        _ => rest,
    };
    (!target.is_empty()).then_some((method, target))
}

/// A whole number of bytes; `-` is none.
fn bytes(text: &[u8]) -> Result<u64, Unreadable> {
    match text {
        b"-" | b"" | b"null" => Ok(0),
        _ => whole(text).filter(|n| *n <= MOST_BYTES).ok_or(Unreadable("the number of bytes")),
    }
}

/// The most bytes that a response can have: 1 PB.
const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// The longest that a response can take: a year in microseconds.
const MOST_MICROS: f64 = 365.25 * 86_400e6;

/// Three digits of a status.
fn status(text: &[u8]) -> Result<u16, Unreadable> {
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

fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0u64, |sum, b| b.is_ascii_digit().then(|| sum * 10 + u64::from(b - b'0')))
}
