//! What a page is: its document, what that loads, who asks for what, and what waits for what.

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Protocol;

/// The version of this form.
const SCHEMA: u32 = 1;
pub const MOST_RESOURCES: usize = 2_000;
/// The longest URL in bytes.
const LONGEST_URL: usize = 2_048;
/// The largest body in bytes.
const LARGEST: f64 = 1e9;
/// The longest of the browser's or the server's own times, in milliseconds.
pub const LONGEST_OWN_MS: f64 = 60_000.0;

/// A page with all that it loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageGraph {
    /// The version of this form: 1.
    pub schema: u32,
    /// The protocol that the document was loaded with; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// The document first; whoever asks for a resource stands before it.
    pub resources: Vec<Resource>,
    /// Places in the document, as shares of its body, at which the parser waits for the style sheets before them: scripts within the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inline_scripts: Vec<f64>,
    /// The share of the document's body before the first element of its visible part. Until the parser is there, unimportant requests are held back.
    pub body_at: f64,
    /// What is needed for the first contentful paint (FCP).
    pub first: Paint,
    /// What is needed for the largest contentful paint (LCP).
    pub largest: LargestElement,
    /// The browser's own time from the begin of the navigation to the first request on its way, in milliseconds.
    pub start_ms: f64,
    /// The browser's own time from the document's first byte until it looks at it, in milliseconds.
    pub commit_ms: f64,
    /// The browser's own time from when all for the load is there until the load event, in milliseconds.
    pub load_ms: f64,
}

/// What has to be there before something is painted, beside what blocks rendering.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paint {
    /// The share of the document's body that the parser must have passed.
    pub at: f64,
    /// Fonts (resources by number) that hide the text until one of them is there, for three seconds at most; empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fonts: Vec<usize>,
    /// The browser's own time until it is painted, in milliseconds.
    pub paint_ms: f64,
}

/// The largest element.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LargestElement {
    /// The image, a resource by number; absent: it is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<usize>,
    /// What else it needs.
    pub paint: Paint,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its URL, escaped.
    pub url: String,
    /// The origin that it is requested from, by number: those of one number share connections. The document's is 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub origin: usize,
    /// What it is.
    pub kind: ResourceKind,
    /// Who asks for it, and when.
    pub found: Found,
    /// The browser's own time from there until it is requested, in milliseconds.
    #[serde(default)]
    pub delay_ms: f64,
    /// Its priority when it is requested.
    pub priority: Priority,
    /// Its priority once the page was laid out; absent: the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised: Option<Priority>,
    /// Whether nothing is painted before it is there, once the parser has passed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks_render: bool,
    /// Whether the load event waits for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocks_load: bool,
    /// Of scripts: when they are run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// Bytes of the response's head as HTTP/1.1 has it.
    pub head_bytes: f64,
    /// Bytes of the body in its content coding.
    pub body_bytes: f64,
    /// Bytes of the body without one; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_bytes: Option<f64>,
    /// Bytes of the request as HTTP/1.1 has it.
    pub request_bytes: f64,
    /// The server's own time from the request's arrival to the first byte on its way, in milliseconds.
    pub server_ms: f64,
    /// The browser's own time from the last byte to the effect (sheet applied, script run, image decoded), in milliseconds.
    #[serde(default)]
    pub work_ms: f64,
    /// What a repeated visit does.
    pub repeat: Repeat,
}

/// What a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResourceKind {
    Document,
    Style,
    Script,
    Font,
    Image,
    Other,
}

/// When a script is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Run {
    /// The parser waits for it, and it waits for the style sheets before it.
    Blocking,
    /// After the document, in order.
    Deferred,
    /// When it is there.
    Async,
}

/// Who asks for a resource, and when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Found {
    /// It is the document.
    Navigation,
    /// The document's markup: when this share of its body has arrived, as the preload scanner reads ahead of the parser.
    Markup(f64),
    /// Another resource (by number), once that has had its effect: a style sheet its import, a script what it loads.
    After(usize),
    /// The first layout, after another resource (by number) has had its effect: a font and a background of a style sheet, a lazy image.
    Layout(usize),
}

/// What a repeated visit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Repeat {
    /// It is fresh in the cache: no request.
    Fresh,
    /// It has a validator: a conditional request, answered by a head.
    Validate,
    /// It is loaded again.
    Again,
}

/// Priorities of requests, the most important last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    VeryLow,
    Low,
    Medium,
    High,
    VeryHigh,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl PageGraph {
    /// The version of the form that this program reads and writes.
    pub const SCHEMA: u32 = SCHEMA;

    /// The protocol of visitors' loads: as it was recorded, where they use TLS as the recorded load did; else what browsers do with a server that knows
    /// HTTP/2, which takes TLS.
    pub fn spoken(&self, tls: bool) -> Protocol {
        let is_alike =
            self.resources.first().is_some_and(|document| document.url.starts_with("https:") == tls);
        let assumed = if tls { Protocol::Http2 } else { Protocol::Http1 };
        self.protocol.filter(|_| is_alike).unwrap_or(assumed)
    }

    /// The same page on a device that is this many times as slow: all of the browser's own times are as many times as long.
    pub fn on_device(mut self, slower: f64) -> PageGraph {
        let own = [&mut self.start_ms, &mut self.commit_ms, &mut self.load_ms];
        let paints = [&mut self.first.paint_ms, &mut self.largest.paint.paint_ms];
        let of_resources = self.resources.iter_mut().flat_map(|one| [&mut one.delay_ms, &mut one.work_ms]);
        own.into_iter().chain(paints).chain(of_resources).for_each(|ms| *ms *= slower);
        self
    }

    /// Makes sure that a graph can be simulated.
    ///
    /// # Errors
    /// One line: which resource is wrong, and what of it.
    pub fn check(&self) -> Result<()> {
        ensure!(self.schema == SCHEMA, "schema {} is not known; this program reads {SCHEMA}", self.schema);
        let count = self.resources.len();
        ensure!((1..=MOST_RESOURCES).contains(&count), "{count} resources; 1 to {MOST_RESOURCES} are read");
        for (number, resource) in self.resources.iter().enumerate() {
            resource.check(number).map_err(|error| error.context(format!("resource {number}")))?;
        }
        let places = [self.body_at, self.first.at, self.largest.paint.at];
        let shares = places.iter().chain(&self.inline_scripts);
        ensure!(shares.clone().all(|at| (0.0..=1.0).contains(at)), "a place outside of the document");
        ensure!(self.inline_scripts.len() <= MOST_RESOURCES, "too many scripts");
        let times =
            [self.start_ms, self.commit_ms, self.load_ms, self.first.paint_ms, self.largest.paint.paint_ms];
        ensure!(times.iter().all(|ms| is_own_time(*ms)), "a time that is none");
        let named = self.first.fonts.iter().chain(&self.largest.paint.fonts).chain(&self.largest.image);
        ensure!(named.clone().all(|number| *number < count), "a resource is named that is not there");
        Ok(())
    }
}

impl Resource {
    fn check(&self, number: usize) -> Result<()> {
        ensure!(self.url.len() <= LONGEST_URL, "its URL is too long");
        match self.found {
            Found::Navigation => ensure!(number == 0, "it is asked for by nobody"),
            Found::Markup(at) => {
                ensure!(number > 0 && (0.0..=1.0).contains(&at), "its place is outside of the document");
            }
            Found::After(by) | Found::Layout(by) => {
                ensure!(by < number, "who asks for it does not stand before it");
            }
        }
        ensure!(self.origin < MOST_RESOURCES, "its origin is none");
        let plain = self.plain_bytes.unwrap_or_default();
        let bytes = [self.head_bytes, self.body_bytes, plain, self.request_bytes];
        ensure!(bytes.iter().all(|bytes| (0.0..=LARGEST).contains(bytes)), "its size is none");
        let times = [self.delay_ms, self.server_ms, self.work_ms];
        ensure!(times.iter().all(|ms| is_own_time(*ms)), "a time of it is none");
        Ok(())
    }
}

fn is_own_time(ms: f64) -> bool {
    (0.0..=LONGEST_OWN_MS).contains(&ms)
}
