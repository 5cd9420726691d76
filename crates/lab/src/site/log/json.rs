//! Lines of JSON: those of nginx with the keys that people use, and those of Caddy.

use std::borrow::Cow;

use serde::Deserialize;

use super::entry::{self, Entry, Method, Unreadable};
use super::moment;

/// The members that are read; all others are dropped. A member that stands there twice makes a line unreadable.
#[derive(Deserialize)]
struct Line {
    logger: Option<String>,
    request: Option<Requested>,
    request_method: Option<String>,
    method: Option<String>,
    request_uri: Option<String>,
    uri: Option<String>,
    args: Option<String>,
    query_string: Option<String>,
    status: Option<Scalar>,
    body_bytes_sent: Option<Scalar>,
    bytes_sent: Option<Scalar>,
    size: Option<Scalar>,
    http_user_agent: Option<String>,
    user_agent: Option<String>,
    http_accept_encoding: Option<String>,
    accept_encoding: Option<String>,
    time_iso8601: Option<Scalar>,
    time_local: Option<Scalar>,
    msec: Option<Scalar>,
    ts: Option<Scalar>,
    time: Option<Scalar>,
    timestamp: Option<Scalar>,
    #[serde(rename = "@timestamp")]
    at_timestamp: Option<Scalar>,
    request_time: Option<Scalar>,
    duration: Option<Scalar>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Whole(u64),
    Real(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Requested {
    /// nginx: `GET / HTTP/1.1`.
    Line(String),
    /// Caddy.
    Parts(Parts),
}

#[derive(Deserialize)]
struct Parts {
    method: Option<String>,
    uri: Option<String>,
    headers: Option<Headers>,
}

#[derive(Deserialize)]
struct Headers {
    #[serde(rename = "Accept-Encoding", default)]
    accept: Vec<String>,
    #[serde(rename = "User-Agent", default)]
    agent: Vec<String>,
}

/// Reads a line.
pub fn parse(line: &[u8]) -> Result<Entry<'_>, Unreadable> {
    let mut line: Line =
        serde_json::from_slice(line).map_err(|_| Unreadable("JSON of another kind, or damaged"))?;
    // Caddy logs a request that failed a second time, with its error.
    if line.logger.as_deref().is_some_and(|logger| logger.starts_with("http.log.error")) {
        return Err(Unreadable("an error log line"));
    }
    if let Some(Requested::Parts(Parts { headers: Some(headers), .. })) = &line.request {
        // All are logged: what is not there was not sent.
        line.http_user_agent = Some(headers.agent.join(" "));
        line.http_accept_encoding = Some(headers.accept.join(","));
    }
    let sent = line.body_bytes_sent.as_ref().or(line.bytes_sent.as_ref()).or(line.size.as_ref());
    let (time, status) = (time(&line)?, status(line.status.as_ref())?);
    let bytes = sent.map_or(Ok(0), bytes)?;
    let micros = line.request_time.as_ref().or(line.duration.as_ref()).and_then(micros);
    let owned = |text: Option<String>| text.map(|text| Cow::Owned(text.into_bytes()));
    let agent = owned(line.http_user_agent.take().or(line.user_agent.take()));
    let accept = owned(line.http_accept_encoding.take().or(line.accept_encoding.take()));
    let asked = asked(line)?.map(|(method, target)| (method, Cow::Owned(target.into_bytes())));
    Ok(Entry { time, asked, status, bytes, agent, accept, micros })
}

/// Method and target as they were sent, where they are logged so: nginx may have rewritten `$uri` since.
fn asked(line: Line) -> Result<Option<(Method, String)>, Unreadable> {
    let both = |method: Option<String>, target| Method::of(method?.as_bytes()).zip(target);
    let method = line.request_method.or(line.method);
    match (line.request, line.request_uri) {
        (Some(Requested::Parts(parts)), _) => Ok(both(parts.method, parts.uri)),
        (_, Some(target)) if method.is_some() => Ok(both(method, Some(target))),
        (Some(Requested::Line(request)), _) => {
            let target = |target: &[u8]| String::from_utf8_lossy(target).into_owned();
            Ok(entry::asked(request.as_bytes()).map(|(method, of)| (method, target(of))))
        }
        (None, _) => match (method, line.uri) {
            (Some(method), Some(path)) => {
                // `$uri` has no query string.
                let query = line.args.or(line.query_string).filter(|query| !matches!(&**query, "" | "-"));
                let target = query.map_or(path.clone(), |query| format!("{path}?{query}"));
                Ok(both(Some(method), Some(target)))
            }
            _ => Err(Unreadable("no request")),
        },
    }
}

fn time(line: &Line) -> Result<i64, Unreadable> {
    let times = [
        &line.time_iso8601,
        &line.time_local,
        &line.msec,
        &line.ts,
        &line.time,
        &line.timestamp,
        &line.at_timestamp,
    ];
    moment_of(times.into_iter().flatten().next().ok_or(Unreadable("no time"))?)
}

fn moment_of(time: &Scalar) -> Result<i64, Unreadable> {
    match time {
        Scalar::Whole(number) => moment::since_1970(*number as f64),
        Scalar::Real(number) => moment::since_1970(*number),
        Scalar::Text(text) => moment::parse(text.as_bytes()),
    }
}

fn status(status: Option<&Scalar>) -> Result<u16, Unreadable> {
    match status {
        Some(Scalar::Whole(number)) if *number < 1000 => Ok(*number as u16),
        Some(Scalar::Text(text)) => entry::status(text.as_bytes()),
        _ => Err(Unreadable("the status")),
    }
}

fn bytes(bytes: &Scalar) -> Result<u64, Unreadable> {
    match bytes {
        Scalar::Whole(number) if *number <= entry::MOST_BYTES => Ok(*number),
        Scalar::Text(text) => entry::bytes(text.as_bytes()),
        _ => Err(Unreadable("the number of bytes")),
    }
}

/// Other units than seconds are words; they are left out.
fn micros(seconds: &Scalar) -> Option<u64> {
    entry::micros(match seconds {
        Scalar::Whole(number) => *number as f64,
        Scalar::Real(number) => *number,
        Scalar::Text(text) => text.parse().ok()?,
    })
}
