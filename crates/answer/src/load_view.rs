//! Loads of a page in a browser, as they are shown: what was requested when, and what could be seen.

/// Loads of a page over a link, of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadView {
    /// What was loaded, over which link: `/ over 4g`.
    pub title: String,
    /// What the sides are called.
    pub names: [String; 2],
    pub sides: [PicturedLoad; 2],
}

/// One load. Times are milliseconds since the navigation began.
#[derive(Clone, Debug, PartialEq)]
pub struct PicturedLoad {
    pub fcp_ms: f64,
    pub lcp_ms: f64,
    pub load_ms: f64,
    /// In the order in which the browser wanted them.
    pub requests: Vec<PicturedRequest>,
    /// From when on, and a JPEG in base64.
    pub frames: Vec<(f64, String)>,
}

/// A request that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct PicturedRequest {
    pub path: String,
    /// The content coding, `identity` where there is none.
    pub coding: String,
    /// Bytes of the response with its head.
    pub bytes: f64,
    pub wanted_ms: f64,
    pub first_byte_ms: f64,
    pub done_ms: f64,
}

impl PicturedLoad {
    /// When the last that is shown happens.
    pub fn end_ms(&self) -> f64 {
        let of_requests = self.requests.iter().map(|request| request.done_ms);
        of_requests.chain([self.lcp_ms, self.load_ms]).fold(0.0, f64::max)
    }

    /// What could be seen at a moment; none: nothing yet.
    pub fn seen_at(&self, ms: f64) -> Option<&str> {
        self.frames.iter().rev().find(|(from, _)| *from <= ms).map(|(_, jpeg)| jpeg.as_str())
    }
}
