//! How a page is loaded, and what that came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::link::LinkSpec;

/// The protocol of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Protocol {
    #[serde(rename = "HTTP/1.1")]
    Http1,
    #[serde(rename = "HTTP/2")]
    Http2,
    #[serde(rename = "HTTP/3")]
    Http3,
}

impl Protocol {
    /// `HTTP/1.1`.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Http1 => "HTTP/1.1",
            Protocol::Http2 => "HTTP/2",
            Protocol::Http3 => "HTTP/3",
        }
    }
}

/// A first visit, or one with what the first left in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Visit {
    First,
    Repeat,
}

/// A moment of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Moment {
    /// First contentful paint.
    FirstPaint,
    /// Largest contentful paint.
    #[default]
    LargestPaint,
    /// The load event.
    Load,
}

impl Moment {
    /// `LCP`.
    pub fn name(self) -> &'static str {
        match self {
            Moment::FirstPaint => "FCP",
            Moment::LargestPaint => "LCP",
            Moment::Load => "load",
        }
    }
}

/// How a page is loaded.
#[derive(Clone, Debug)]
pub struct LoadSetup<'l> {
    /// The link; its loss is not looked at.
    pub link: &'l LinkSpec,
    pub protocol: Protocol,
    /// Whether the connections are TLS 1.3; HTTP/3 always is.
    pub tls: bool,
    /// Whether the server's kernel spreads what it sends over round trips, as bbr does.
    pub paced: bool,
    pub visit: Visit,
}

/// What a load came to. Times are milliseconds since the navigation began.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PageLoad {
    /// First contentful paint.
    pub fcp_ms: f64,
    /// Largest contentful paint.
    pub lcp_ms: f64,
    /// The load event.
    pub load_ms: f64,
    /// Requests that were sent.
    pub requests: usize,
    /// Bytes of responses with their heads.
    pub bytes: f64,
    /// By resource; none: it was not asked for.
    #[serde(skip)]
    pub resources: Vec<Option<ResourceTimes>>,
}

impl PageLoad {
    /// Milliseconds from the begin of the navigation to a moment.
    pub fn ms(&self, moment: Moment) -> f64 {
        match moment {
            Moment::FirstPaint => self.fcp_ms,
            Moment::LargestPaint => self.lcp_ms,
            Moment::Load => self.load_ms,
        }
    }
}

/// When a resource was loaded. Times are milliseconds since the navigation began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResourceTimes {
    /// The browser wanted it.
    pub found_ms: f64,
    /// The request went over a connection; none: it came from the cache.
    pub requested_ms: Option<f64>,
    /// The first byte arrived.
    pub first_byte_ms: f64,
    /// The last byte arrived.
    pub done_ms: f64,
}
