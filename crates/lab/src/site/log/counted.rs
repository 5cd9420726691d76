//! What a log tells: plain figures. Nobody's address, name, referer, cookie, user agent or query string is among them.

use super::codings::Codings;
use super::entry::{Entry, Method};
use super::path::is_script;

/// Everything that was counted. All requests are those of `visitors`, `bots` and `malformed` together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Files that were read, to the end or not.
    pub files: u64,
    /// Lines that are not empty.
    pub lines: u64,
    /// Those of them that could not be read.
    pub unreadable: u64,
    /// The first of these.
    pub example: Option<Example>,
    /// Files that could not be read, or not to their end: a clean line each.
    pub problems: Vec<String>,
    /// The time of the first request, in seconds since 1970.
    pub first: Option<i64>,
    /// The time of the last.
    pub last: Option<i64>,
    /// Seconds between them, less the gaps of more than a day.
    pub covered_seconds: u64,
    /// The hour (of UTC) with the most requests of all kinds.
    pub busiest_hour: Option<Hour>,
    /// The most requests of all kinds in one second; fewer than there were where lines are more than 18 hours out of order.
    pub busiest_second: u64,
    /// Requests of visitors.
    pub visitors: Traffic,
    /// Requests of crawlers, monitors and other programs.
    pub bots: Traffic,
    /// What came and was no HTTP request for a path: connections closed early, TLS on a plain port, `*`.
    pub malformed: Traffic,
    /// Requests of visitors by path, the most requested first.
    pub paths: Vec<PathTraffic>,
    /// Requests of visitors for paths that are not listed, for want of room.
    pub others: Hits,
    /// A listed path may lack this many requests, which are among the others; 0 unless there are more paths than room.
    pub missed_at_most: u64,
    /// What visitors' clients accept.
    pub codings: Codings,
    /// Response times of visitors' requests, where they are logged.
    pub times: ResponseTimes,
}

impl Counted {
    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.visitors.requests + self.bots.requests + self.malformed.requests
    }
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The file, as clean text.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: &'static str,
}

/// One hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hour {
    /// Its beginning, in seconds since 1970.
    pub start: i64,
    /// Requests in it.
    pub requests: u64,
    /// Bytes sent in it.
    pub bytes: u64,
}

/// Requests of one kind of client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests.
    pub requests: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Requests with `HEAD`.
    pub heads: u64,
    /// Requests with other methods than `GET` and `HEAD`.
    pub other_methods: u64,
    /// By status.
    pub statuses: Statuses,
}

impl Traffic {
    pub(super) fn add(&mut self, entry: &Entry<'_>, method: Method) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(entry.bytes);
        self.heads += u64::from(method == Method::Head);
        self.other_methods += u64::from(method == Method::Other);
        self.statuses.add(entry.status);
    }
}

/// Responses by status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statuses {
    /// 200.
    pub ok: u64,
    /// 206: a range.
    pub partial: u64,
    /// 304.
    pub not_modified: u64,
    /// Other 3xx.
    pub redirected: u64,
    /// 4xx.
    pub client_errors: u64,
    /// 5xx.
    pub server_errors: u64,
    /// All others.
    pub others: u64,
}

impl Statuses {
    fn add(&mut self, status: u16) {
        *match status {
            200 => &mut self.ok,
            206 => &mut self.partial,
            304 => &mut self.not_modified,
            300..=399 => &mut self.redirected,
            400..=499 => &mut self.client_errors,
            500..=599 => &mut self.server_errors,
            _ => &mut self.others,
        } += 1;
    }

    /// All of them.
    pub fn sum(&self) -> u64 {
        self.ok
            + self.partial
            + self.not_modified
            + self.redirected
            + self.client_errors
            + self.server_errors
            + self.others
    }
}

/// Requests of visitors for one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTraffic {
    /// The path: decoded, without query string, clean text of at most 1 KB.
    pub path: String,
    /// What was asked and sent.
    pub hits: Hits,
    /// It was asked with more than one query string, as pages are.
    pub is_query_varied: bool,
}

/// Requests of visitors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// Requests.
    pub requests: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Responses with 304.
    pub not_modified: u64,
    /// Responses with 206.
    pub partial: u64,
    /// Requests with `HEAD`.
    pub heads: u64,
    /// Responses with 4xx and 5xx.
    pub errors: u64,
    /// Requests with a query string.
    pub with_query: u64,
}

impl Hits {
    /// Counts all but the query string.
    pub(super) fn add(&mut self, entry: &Entry<'_>, method: Method) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(entry.bytes);
        self.not_modified += u64::from(entry.status == 304);
        self.partial += u64::from(entry.status == 206);
        self.heads += u64::from(method == Method::Head);
        self.errors += u64::from((400..600).contains(&entry.status));
    }

    pub(super) fn join(&mut self, other: &Hits) {
        let Hits { requests, bytes, not_modified, partial, heads, errors, with_query } = other;
        self.requests += requests;
        self.bytes = self.bytes.saturating_add(*bytes);
        self.not_modified += not_modified;
        self.partial += partial;
        self.heads += heads;
        self.errors += errors;
        self.with_query += with_query;
    }
}

/// Response times by what answers, as far as a path's name tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseTimes {
    /// Paths without an extension and those of scripts.
    pub scripts: ResponseTime,
    /// All others.
    pub files: ResponseTime,
}

impl ResponseTimes {
    pub(super) fn add(&mut self, path: &str, entry: &Entry<'_>) {
        if let Some(micros) = entry.micros {
            let time = if is_script(path) { &mut self.scripts } else { &mut self.files };
            time.requests += 1;
            time.micros = time.micros.saturating_add(micros);
        }
    }
}

/// A sum of response times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseTime {
    /// Requests whose time is logged.
    pub requests: u64,
    /// Microseconds of all of them.
    pub micros: u64,
}

impl ResponseTime {
    /// Mean seconds.
    pub fn mean_seconds(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.micros as f64 / 1e6 / self.requests as f64)
    }
}
