//! What a log tells: plain figures. Nobody's address, name, referer, cookie, user agent or query string is among them.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use weigh_model::site::CachedPages;

use super::codings::Codings;
use super::entry::{Entry, Method};

/// Everything that was counted. All requests are those of `visitors`, `bots` and `malformed` together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Files that were read, to the end or not.
    pub files: u64,
    /// Lines that are not empty.
    pub lines: u64,
    /// Those of them that could not be read.
    pub unreadable: u64,
    /// Those of the unreadable that name a style sheet, script, font or image.
    pub unreadable_assets: u64,
    /// The first of the unreadable.
    pub example: Option<Example>,
    /// Lines of other hosts than the site's, which count nowhere else.
    pub elsewhere: u64,
    /// The site's hosts with their lines, the most first; empty if no host is logged.
    pub hosts: Vec<(String, u64)>,
    /// Other hosts with their lines, the most first.
    pub other_hosts: Vec<(String, u64)>,
    /// What stands in front of the server, in words without addresses.
    pub front: Option<String>,
    /// Files that could not be read, or not to their end: a clean line each.
    pub problems: Vec<String>,
    /// The time of the first request, in seconds since 1970.
    pub first: Option<i64>,
    /// The time of the last.
    pub last: Option<i64>,
    /// Seconds between them, less the gaps of more than a day.
    pub covered_seconds: u64,
    /// How these seconds lie in the week.
    pub week: Week,
    /// The hour (of UTC) with the most requests of all kinds.
    pub busiest_hour: Option<Hour>,
    /// The hour in which scripts were busiest; none: no request for one.
    pub script_hour: Option<ScriptHour>,
    /// The most requests of all kinds in one second; fewer than there were where lines are more than 18 hours out of order.
    pub busiest_second: u64,
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
    pub codings: Codings,
    /// Requests of visitors without a column for user agents: programs are among them.
    pub without_agent: u64,
    /// Whole responses of scripts to visitors whose time is logged.
    pub timed: u64,
    /// Mean seconds that these took: behind the server where that is logged, else in all; none if it cannot be true.
    pub script_seconds: Option<f64>,
    /// Whether bytes are logged.
    pub has_bytes: bool,
    /// What a cache of pages would answer.
    pub cached: CachedRequests,
}

/// What a cache would have answered of the requests for one page, by `GET`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CachedPath {
    /// The share of all requests for scripts.
    pub share: f64,
    /// Of these, the share that was answered, by how long pages are held.
    pub hits: Vec<f64>,
}

/// What would have been answered.
#[derive(Clone, Debug, Default)]
pub struct CachedRequests {
    pub all: Vec<CachedPages>,
    /// By a keyed hash of path and query, as far as there was room.
    pub pages: HashMap<u64, CachedPath>,
    /// Whether there were more pages.
    pub is_cut: bool,
    /// Makes that hash.
    pub hasher: RandomState,
}

/// Two that know their pages by other keys may be the same.
impl PartialEq for CachedRequests {
    fn eq(&self, other: &CachedRequests) -> bool {
        let of = |one: &CachedRequests| (one.pages.len(), one.is_cut);
        self.all == other.all && of(self) == of(other)
    }
}

impl CachedRequests {
    /// Of a page, by its decoded path and its query string; none: it may be one of those that there was no room for.
    pub fn page(&self, path: &str, query: Option<&[u8]>) -> Option<CachedPath> {
        let known = self.pages.get(&self.hasher.hash_one((path, query))).cloned();
        known.or_else(|| (!self.is_cut).then(CachedPath::default))
    }
}

impl Counted {
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
    pub why: &'static str,
}

/// How the time that a log covers lies in the week of the server's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Week {
    /// How many visitors come in a mean hour of a week, divided by how many come in a mean hour of the log.
    pub correction: f64,
    /// Hours of the week (of 168) that the log never covers: as many visitors as in the same hour of other days.
    pub unseen_hours: u64,
    /// Hours between the first and the last request that are not covered: a file is missing.
    pub missing_hours: u64,
    /// Whether nobody came on a Saturday or Sunday, of which the log has some.
    pub is_weekend_quiet: bool,
}

impl Default for Week {
    fn default() -> Week {
        Week { correction: 1.0, unseen_hours: 0, missing_hours: 0, is_weekend_quiet: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hour {
    /// Its beginning, in seconds since 1970.
    pub start: i64,
    pub requests: u64,
    pub bytes: u64,
}

/// What scripts answered in an hour: to all clients, with every method and status.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScriptHour {
    pub requests: u64,
    /// Mean seconds of those whose time is logged: behind the server where that is logged, else in all; none: not logged.
    pub seconds: Option<f64>,
}

/// Requests of one kind of client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub requests: u64,
    pub bytes: u64,
}

impl Traffic {
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(entry.bytes);
    }
}

/// Requests of visitors for one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTraffic {
    /// The path: decoded, without query string, clean text of at most 1 KB.
    pub path: String,
    pub hits: Hits,
    /// Of a script: requests with a query string, by its keys and the length of the responses.
    pub variants: Vec<Variant>,
}

/// Requests for a script with query strings of the same keys, and with responses of about the same length.
#[derive(Clone, PartialEq, Eq)]
pub struct Variant {
    /// The keys in order: `action&title`.
    pub keys: String,
    /// One of the query strings, held in memory only: its values may be a person's.
    pub query: String,
    /// How long its whole responses are: a number for each half octave of bytes; 0: none of them is whole.
    pub band: u32,
    pub hits: Hits,
}

impl std::fmt::Debug for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variant").field("keys", &self.keys).field("hits", &self.hits).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    pub requests: u64,
    pub bytes: u64,
    /// Responses with 304.
    pub not_modified: u64,
    /// Responses with 206.
    pub partial: u64,
    /// Bytes of responses that are neither whole nor ranges: of errors, redirects and, where heads are counted, of 304 and `HEAD`.
    pub other_bytes: u64,
    /// Whole responses with a body: 200, to any method but `HEAD`.
    pub whole: u64,
    /// Responses to `GET` that show something: 200, and 304 from the visitor's own cache. Not what a browser fetched in advance.
    pub views: u64,
}

impl Hits {
    pub(super) fn add(&mut self, entry: &Entry<'_>, method: Method) {
        let is_whole = entry.status == 200 && method != Method::Head;
        let is_range = entry.status == 206 && method != Method::Head;
        let is_view = matches!(entry.status, 200 | 304) && method == Method::Get && !entry.is_prefetch;
        self.join(&Hits {
            requests: 1,
            bytes: entry.bytes,
            not_modified: u64::from(entry.status == 304 && method != Method::Head),
            partial: u64::from(is_range),
            other_bytes: if is_whole || is_range { 0 } else { entry.bytes },
            whole: u64::from(is_whole),
            views: u64::from(is_view),
        });
    }

    pub(super) fn join(&mut self, other: &Hits) {
        let Hits { requests, bytes, not_modified, partial, other_bytes, whole, views } = other;
        self.requests += requests;
        self.bytes = self.bytes.saturating_add(*bytes);
        self.not_modified += not_modified;
        self.partial += partial;
        self.other_bytes = self.other_bytes.saturating_add(*other_bytes);
        self.whole += whole;
        self.views += views;
    }
}
