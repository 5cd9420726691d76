//! What a load was: requests with who asked for them, their times and sizes, and what was painted. All of it is said by a page or about one: it is
//! escaped and bounded where it comes in.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use weigh_model::text::clean;

/// The longest URL and the longest other text that are kept, in letters.
const LONGEST_URL: usize = 2_000;
const LONGEST: usize = 200;
/// The largest figure that is taken for one.
const LARGEST: f64 = 1e12;

/// A load of a page. Times are milliseconds since the navigation began.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RecordedLoad {
    /// The page's URL.
    pub url: String,
    /// In the order in which the browser wanted them; the document first.
    pub requests: Vec<RecordedRequest>,
    /// First contentful paint; none: nothing was painted.
    pub fcp_ms: Option<f64>,
    pub largest: Option<LargestSeen>,
    /// The load event; none: there was none in time.
    pub load_ms: Option<f64>,
    /// Fonts that hide all text of the page until they are there.
    pub hiding_fonts: Vec<String>,
    /// The document as it came, decoded.
    pub markup: String,
    /// SHA-256 of a picture of the page, hexadecimal; none: nobody asked for one.
    #[serde(default)]
    pub picture: Option<String>,
    /// What could be seen from when on, in that order; none where no picture was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// Why the load was ended before its time; none: it was not.
    pub cut: Option<String>,
}

/// What could be seen from a moment on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Milliseconds since the navigation began.
    pub at_ms: f64,
    /// A JPEG in base64.
    pub jpeg: String,
}

/// When a load painted and ended, in milliseconds since the navigation began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Painted {
    pub fcp_ms: f64,
    pub lcp_ms: f64,
    pub load_ms: f64,
}

impl RecordedLoad {
    /// When it painted and ended.
    ///
    /// # Errors
    /// One line: it was cut, painted nothing, or had no load event. What is not known is no time.
    pub fn painted(&self) -> Result<Painted> {
        if let Some(why) = &self.cut {
            bail!("{}: {why}", self.url);
        }
        let painted = self.fcp_ms.zip(self.largest.as_ref());
        let (fcp_ms, largest) = painted.with_context(|| format!("{}: nothing was painted", self.url))?;
        let load_ms = self.load_ms.with_context(|| format!("{}: no load event", self.url))?;
        Ok(Painted { fcp_ms, lcp_ms: largest.at_ms, load_ms })
    }
}

/// The largest contentful paint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LargestSeen {
    pub at_ms: f64,
    /// The image; none: it is text.
    pub url: Option<String>,
    /// What the text begins with.
    pub text: String,
    /// Fonts that hide it until they are there.
    pub fonts: Vec<String>,
}

/// A request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RecordedRequest {
    /// Its number in the protocol.
    pub id: String,
    pub url: String,
    pub initiator: Initiator,
    /// What the protocol calls it: `Stylesheet`, `Image`.
    pub kind: String,
    /// Its priority when it was wanted, `VeryHigh`, and the last one.
    pub priority: String,
    pub last_priority: String,
    /// What the protocol says of rendering, `Blocking`; none: nothing.
    pub blocking: Option<String>,
    pub wanted_ms: f64,
    /// None: it did not go over a connection, or has not ended.
    pub timing: Option<Timing>,
    pub done_ms: Option<f64>,
    pub failed: bool,
    pub from_cache: bool,
    pub status: u16,
    /// `h2`, `http/1.1`.
    pub protocol: String,
    /// The connection's number.
    pub connection: u64,
    /// Bytes of the request's head, of the response's head, of the body as it was sent, and of the body decoded.
    pub request_bytes: f64,
    pub head_bytes: f64,
    pub body_bytes: f64,
    pub decoded_bytes: f64,
    pub coding: String,
    pub cache_control: Option<String>,
    /// Whether it has an ETag or Last-Modified.
    pub has_validator: bool,
}

/// Who asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Initiator {
    /// `parser`, `script`, `other`.
    pub kind: String,
    /// The document, style sheet or script; none: it is not said.
    pub url: Option<String>,
}

/// When a request went over a connection. Milliseconds since the navigation began.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Timing {
    /// It was on its way.
    pub sent_ms: f64,
    /// The response's head began to arrive.
    pub first_byte_ms: f64,
}

/// Text of a page, escaped and shortened.
pub(super) fn short(text: &str) -> String {
    clean(&text.chars().take(LONGEST).collect::<String>())
}

/// A URL, escaped; none: it is too long.
pub(super) fn url(text: &str) -> Option<String> {
    (text.len() <= LONGEST_URL).then(|| clean(text))
}

/// A number that is one.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.abs() <= LARGEST)
}

pub(super) fn amount(value: &Value) -> f64 {
    number(value).unwrap_or(0.0).max(0.0)
}

pub(super) fn texts(value: &Value, most: usize) -> Vec<String> {
    let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    all.take(most).filter_map(url).collect()
}

/// A field of a head; the protocol has an object of them.
fn field<'v>(fields: &'v Value, name: &str) -> Option<&'v str> {
    let all = fields.as_object()?;
    all.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?.1.as_str()
}

/// Bytes of a head's fields as HTTP/1.1 has them.
pub(super) fn bytes_of(fields: &Value) -> f64 {
    let all = fields.as_object().into_iter().flatten();
    all.map(|(name, value)| name.len() + value.as_str().map_or(0, str::len) + 4).sum::<usize>() as f64
}

impl RecordedRequest {
    /// What `Network.requestWillBeSent` says; none: it is no request over HTTP. `wanted` is its moment in the browser's own seconds.
    pub(super) fn of_event(params: &Value) -> Option<RecordedRequest> {
        let request = &params["request"];
        let own =
            request["url"].as_str().filter(|url| url.starts_with("http:") || url.starts_with("https:"))?;
        let initiator = &params["initiator"];
        // A script is named by the innermost call that has a name.
        let frames = initiator["stack"]["callFrames"].as_array().into_iter().flatten();
        let by_stack = frames.filter_map(|frame| frame["url"].as_str()).find(|url| !url.is_empty());
        let by = initiator["url"].as_str().or(by_stack);
        let path = own.splitn(4, '/').nth(3).map_or(0, str::len);
        let priority = short(request["initialPriority"].as_str().unwrap_or_default());
        Some(RecordedRequest {
            id: short(params["requestId"].as_str()?),
            url: url(own)?,
            initiator: Initiator {
                kind: short(initiator["type"].as_str().unwrap_or_default()),
                url: by.and_then(url),
            },
            kind: short(params["type"].as_str().unwrap_or_default()),
            last_priority: priority.clone(),
            priority,
            blocking: params["renderBlockingBehavior"].as_str().map(short),
            wanted_ms: amount(&params["timestamp"]) * 1e3,
            // Until what was really sent is said.
            request_bytes: bytes_of(&request["headers"]) + path as f64 + 200.0,
            ..RecordedRequest::default()
        })
    }

    /// Takes in what `Network.responseReceived` says of its response.
    pub(super) fn take_response(&mut self, response: &Value) {
        self.status = amount(&response["status"]).min(999.0) as u16;
        self.protocol = short(response["protocol"].as_str().unwrap_or_default());
        self.connection = amount(&response["connectionId"]) as u64;
        self.from_cache = response["fromDiskCache"].as_bool().unwrap_or(false);
        let fields = &response["headers"];
        self.head_bytes = bytes_of(fields) + 17.0;
        self.coding = short(field(fields, "content-encoding").unwrap_or("identity"));
        self.cache_control = field(fields, "cache-control").map(short);
        self.has_validator = field(fields, "etag").or_else(|| field(fields, "last-modified")).is_some();
        let timing = &response["timing"];
        let from = number(&timing["requestTime"]).map(|seconds| seconds * 1e3);
        let first = number(&timing["receiveHeadersStart"]).filter(|ms| *ms > 0.0);
        let first = first.or_else(|| number(&timing["receiveHeadersEnd"]));
        self.timing = from
            .zip(number(&timing["sendStart"]))
            .zip(first)
            .map(|((from, sent), first)| Timing { sent_ms: from + sent, first_byte_ms: from + first });
    }

    /// Moves its times, which are the browser's own, to those since the begin of the navigation.
    pub(super) fn move_times(&mut self, by: f64) {
        self.wanted_ms -= by;
        self.done_ms = self.done_ms.map(|ms| ms - by);
        self.timing = self
            .timing
            .map(|timing| Timing { sent_ms: timing.sent_ms - by, first_byte_ms: timing.first_byte_ms - by });
    }
}
