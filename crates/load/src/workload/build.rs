//! Turns a parsed file into the parts of a plan: fills in defaults, makes URLs absolute, and checks everything.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use url::Url;

use super::draft::{Draft, Drafts, Quantity, StreamDraft};
use super::{Defaults, MOST_BODIES, Workload, Wrong, read_bounded};
use crate::escape::{is_token, shown};
use crate::plan::{Request, Stream};
use crate::target::{Location, parse_url};
use crate::{arrival, units};

/// Builds the workload; body files are relative to `folder`.
pub(super) fn workload(drafts: Drafts, folder: &Path, defaults: &Defaults) -> Result<Workload, Wrong> {
    if drafts.requests.is_empty() {
        return Err(Wrong::new(0, "the file has no request"));
    }
    let streams = Streams::of(&drafts, defaults)?;
    let base = defaults.base.as_deref().map(parse_url).transpose();
    let base = base.map_err(|e| Wrong::new(0, format!("base URL: {e}")))?;
    let mut bodies = Bodies { folder, files: HashMap::new(), bytes: 0 };
    let mut requests = Vec::with_capacity(drafts.requests.len());
    let mut names = Names::default();
    for draft in drafts.requests {
        let line = draft.line;
        let wrong = |what: String| Wrong::new(line, what);
        let (url, path) = absolute(&draft.url, base.as_ref()).map_err(wrong)?;
        let body = bodies.of(&draft, defaults).map_err(wrong)?;
        let (stream, range) = streams.find(draft.stream.as_deref()).map_err(wrong)?;
        let mut headers = draft.headers.0;
        ranged(&mut headers, draft.range.as_deref().or(range)).map_err(wrong)?;
        with_defaults(&mut headers, &defaults.headers);
        let class = draft.class.or(draft.stream).unwrap_or_else(|| defaults.class.clone());
        let weight = draft.weight.unwrap_or(1.0);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(wrong(format!("weight {weight} is not above 0")));
        }
        let method = draft.method.unwrap_or_else(|| defaults.method.clone());
        let name = names.of(draft.name, &method, &path).map_err(wrong)?;
        let dictionary = Vec::new();
        let request = Request { name, url, method, headers, body, dictionary, weight, class, stream };
        check(&request).map_err(wrong)?;
        requests.push(request);
    }
    Ok(Workload { requests, streams: streams.all })
}

/// An absolute URL without fragment, and its path and query.
fn absolute(text: &str, base: Option<&Url>) -> Result<(String, String), String> {
    let url = match base {
        Some(base) => base.join(text).map_err(|e| format!("{}: not a URL: {e}", shown(text.as_bytes())))?,
        None => parse_url(text).map_err(|e| e.to_string())?,
    };
    let location = Location::of(&url, text).map_err(|e| e.to_string())?;
    let mut url = url;
    url.set_fragment(None);
    Ok((url.into(), location.path))
}

/// Bodies; each file is read once.
struct Bodies<'a> {
    folder: &'a Path,
    files: HashMap<String, Vec<u8>>,
    bytes: u64,
}

impl Bodies<'_> {
    fn of(&mut self, draft: &Draft, defaults: &Defaults) -> Result<Vec<u8>, String> {
        let body = match (&draft.body, &draft.body_file) {
            (Some(_), Some(_)) => return Err("a request can have a body or a body-file, not both".into()),
            (None, None) => defaults.body.clone(),
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(path)) => match self.files.get(path) {
                Some(bytes) => bytes.clone(),
                None => {
                    let bytes = read_bounded(&self.folder.join(path))
                        .map_err(|e| format!("body-file {path:?}: {e}"))?;
                    self.files.insert(path.clone(), bytes.clone());
                    bytes
                }
            },
        };
        self.bytes += body.len() as u64;
        if self.bytes > MOST_BODIES {
            return Err(format!("with this body, all bodies together have more than {MOST_BODIES} bytes"));
        }
        Ok(body)
    }
}

/// Makes names unique: a name in the file that is used twice is an error; names made from URLs are numbered.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn of(&mut self, written: Option<String>, method: &str, path: &str) -> Result<String, String> {
        if let Some(name) = written {
            if name.is_empty() || name.chars().any(char::is_control) {
                return Err(format!("{name:?} is not a name: it is empty or has a control character"));
            }
            return match self.0.insert(name.clone(), 1) {
                None => Ok(name),
                Some(_) => Err(format!("an earlier request has the name {name:?}")),
            };
        }
        let plain = if method == "GET" { path.to_string() } else { format!("{method} {path}") };
        let mut number = self.0.get(&plain).copied().unwrap_or(0);
        loop {
            number += 1;
            let name = if number == 1 { plain.clone() } else { format!("{plain} ({number})") };
            let is_new = number == 1 || !self.0.contains_key(&name);
            if is_new {
                self.0.insert(plain, number);
                self.0.entry(name.clone()).or_insert(1);
                return Ok(name);
            }
        }
    }
}

/// Writes a range as a Range header (RFC 9110, 14.2); a single range, because the response to several has another form.
fn ranged(headers: &mut Vec<(String, String)>, range: Option<&str>) -> Result<(), String> {
    let Some(range) = range else { return Ok(()) };
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    let is_one = match range.split_once('-') {
        Some(("", last)) => number(last).is_some_and(|n| n > 0),
        Some((first, "")) => number(first).is_some(),
        Some((first, last)) => matches!((number(first), number(last)), (Some(f), Some(l)) if f <= l),
        None => false,
    };
    if !is_one {
        return Err(format!(
            "{range:?} is not a range of bytes; write 0-1023, 1024-, or -500 for the last 500"
        ));
    }
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("range")) {
        return Err("the request has a range and a Range header; remove one of them".into());
    }
    headers.push(("Range".into(), format!("bytes={range}")));
    Ok(())
}

/// Adds default headers whose names are missing.
fn with_defaults(headers: &mut Vec<(String, String)>, defaults: &[(String, String)]) {
    let own: Vec<String> = headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    let missing = defaults.iter().filter(|(name, _)| !own.contains(&name.to_ascii_lowercase()));
    headers.extend(missing.cloned());
}

/// Rejects what must not be sent: line ends would start another header, and a wrong length another request.
fn check(request: &Request) -> Result<(), String> {
    if !is_token(&request.method) || request.method == "CONNECT" {
        return Err(format!("{:?} is not a supported method such as GET or POST", request.method));
    }
    for (name, value) in &request.headers {
        if !is_token(name) {
            return Err(format!("{name:?} is not the name of a header; use letters, digits and hyphens"));
        }
        if value.bytes().any(|b| (b < b' ' && b != b'\t') || b == 0x7f) {
            return Err(format!("the value of the header {name} has a control character"));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err("Transfer-Encoding is refused: bodies are sent with Content-Length".into());
        }
        if name.eq_ignore_ascii_case("content-length") && value.trim().parse() != Ok(request.body.len()) {
            return Err(format!(
                "Content-Length {value:?}, but the body has {} bytes; remove the header",
                request.body.len()
            ));
        }
    }
    if request.class.is_empty() || request.class.chars().any(char::is_control) {
        return Err(format!("{:?} is not a class: it is empty or has a control character", request.class));
    }
    Ok(())
}

struct Streams {
    all: Vec<Stream>,
    /// Index, and the range of the stream's requests.
    by_name: HashMap<String, (u32, Option<String>)>,
}

impl Streams {
    fn of(drafts: &Drafts, defaults: &Defaults) -> Result<Streams, Wrong> {
        let used: HashSet<&str> = drafts.requests.iter().filter_map(|r| r.stream.as_deref()).collect();
        let mut streams = Streams { all: Vec::new(), by_name: HashMap::new() };
        if drafts.requests.iter().any(|r| r.stream.is_none()) {
            streams.all.push(defaults.stream.clone());
        }
        for (name, draft) in &drafts.streams {
            let wrong = |what: String| Wrong::new(draft.line, format!("stream {name:?}: {what}"));
            if *name == defaults.stream.name {
                return Err(wrong("this is the name of the shared stream; choose another name".into()));
            }
            if !used.contains(name.as_str()) {
                return Err(wrong(format!("the stream has no requests; add stream = {name:?} to a request")));
            }
            let index = streams.all.len() as u32;
            streams.all.push(draft.stream(name, defaults).map_err(wrong)?);
            streams.by_name.insert(name.clone(), (index, draft.range.clone()));
        }
        Ok(streams)
    }

    /// Index and range of the stream of that name; none: the shared stream.
    fn find(&self, name: Option<&str>) -> Result<(u32, Option<&str>), String> {
        let Some(name) = name else { return Ok((0, None)) };
        let found = self.by_name.get(name).map(|(index, range)| (*index, range.as_deref()));
        found.ok_or_else(|| format!("there is no stream {name:?}; declare it as [stream.{name}]"))
    }
}

impl StreamDraft {
    fn stream(&self, name: &str, defaults: &Defaults) -> Result<Stream, String> {
        let arrival = match (&self.arrival, &self.rate) {
            (Some(_), Some(_)) => return Err("a stream can have an arrival or a rate, not both".into()),
            (Some(text), None) => text.clone(),
            (None, Some(Quantity(rate))) => format!("constant:{rate}"),
            // Not the shared stream's: its rate would be offered twice.
            (None, None) => "closed".into(),
        };
        arrival::parse_for(&arrival, defaults.seconds).map_err(|e| e.to_string())?;
        let above_zero = |key: &str, number: u64| match number {
            0 => Err(format!("{key} must be above 0")),
            number => Ok(number),
        };
        above_zero("connections", self.connections.into())?;
        above_zero("streams-per-connection", self.streams_per_connection.unwrap_or(1).into())?;
        let above_zero_bytes = |key: &str, size: &Option<Quantity>| {
            let bytes =
                size.as_ref().map(|size| units::bytes(&size.0).and_then(|bytes| above_zero(key, bytes)));
            bytes.transpose().map_err(|e| format!("{key}: {e}"))
        };
        let read_rate = self.read_rate.as_ref().map(|rate| units::byte_rate(&rate.0)).transpose();
        let receive_buffer = above_zero_bytes("receive-buffer", &self.receive_buffer)?;
        let receive_buffer = receive_buffer.map(u32::try_from).transpose();
        let shared = &defaults.stream;
        Ok(Stream {
            name: name.to_owned(),
            arrival,
            connections: self.connections,
            streams_per_connection: self.streams_per_connection.unwrap_or(shared.streams_per_connection),
            keepalive: self.keepalive.unwrap_or(shared.keepalive),
            read_rate: read_rate.map_err(|e| format!("read-rate: {e}"))?,
            abandon_after: above_zero_bytes("abandon-after", &self.abandon_after)?,
            receive_buffer: receive_buffer.map_err(|_| "receive-buffer: more than 4 GB".to_string())?,
            in_turn: shared.in_turn,
        })
    }
}
