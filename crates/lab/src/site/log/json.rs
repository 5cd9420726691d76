//! Lines of JSON: those of nginx with the keys that people use, and those of Caddy.

use std::borrow::Cow;

use serde::Deserialize;

use super::entry::{self, Entry, Method, Unreadable};
use super::moment;

/// The members that are read; all others are dropped. A member that stands there twice makes a line unreadable.
#[derive(Deserialize)]
struct Line {
    logger: Option<String>,
    request: Option<Asked>,
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
enum Asked {
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
    let line: Line =
        serde_json::from_slice(line).map_err(|_| Unreadable("JSON of another kind, or damaged"))?;
    // Caddy logs a request that failed a second time, with its error.
    if line.logger.as_deref().is_some_and(|logger| logger.starts_with("http.log.error")) {
        return Err(Unreadable("an error log line"));
    }
    let times = [
        line.time_iso8601,
        line.time_local,
        line.msec,
        line.ts,
        line.time,
        line.timestamp,
        line.at_timestamp,
    ];
    let time = times.into_iter().flatten().next().ok_or(Unreadable("no time"))?;
    let sent = line.body_bytes_sent.or(line.bytes_sent).or(line.size);
    let mut agent = line.http_user_agent.or(line.user_agent);
    let mut accept = line.http_accept_encoding.or(line.accept_encoding);
    let (mut method, mut target) = (line.request_method.or(line.method), line.request_uri);
    match line.request {
        Some(Asked::Line(text)) if method.is_none() || target.is_none() && line.uri.is_none() => {
            (method, target) = match entry::asked(text.as_bytes()) {
                Some((_, of)) => {
                    (text.split(' ').next().map(str::to_owned), String::from_utf8(of.to_vec()).ok())
                }
                None => (Some(text), None),
            };
        }
        Some(Asked::Parts(parts)) => {
            (method, target) = (parts.method, parts.uri);
            if let Some(headers) = parts.headers {
                // All are logged: what is not there was not sent.
                agent = Some(headers.agent.join(" "));
                accept = Some(headers.accept.join(","));
            }
        }
        _ => {}
    }
    // nginx's `$uri` has no query string, which is logged on its own.
    let target = target.or_else(|| {
        let query = line.args.or(line.query_string).filter(|query| !query.is_empty() && query != "-");
        let mark = if query.is_some() { "?" } else { "" };
        Some(format!("{}{mark}{}", line.uri?, query.unwrap_or_default()))
    });
    let method = method.ok_or(Unreadable("no request"))?;
    let asked = Method::of(method.as_bytes()).zip(target);
    Ok(Entry {
        time: moment_of(&time)?,
        asked: asked.map(|(method, target)| (method, Cow::Owned(target.into_bytes()))),
        status: status(line.status.as_ref())?,
        bytes: sent.as_ref().map_or(Ok(0), bytes)?,
        agent: agent.map(|agent| Cow::Owned(agent.into_bytes())),
        accept: accept.map(|accept| Cow::Owned(accept.into_bytes())),
        micros: line.request_time.or(line.duration).as_ref().and_then(micros),
    })
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
