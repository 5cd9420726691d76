//! How many requests for scripts a cache in front of PHP would answer, by how long it holds pages: simulated while the lines are read. Of a page the cache
//! knows a keyed hash of its path and query, in memory only.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use weigh_model::page_cache::{CacheAnswer, CacheSetup, PageCache};
use weigh_model::site::CachedPages;

use super::counted::{CachedPath, CachedRequests};
use super::entry::{Entry, Method};

/// Seconds that pages are held.
const LIVES: [u64; 6] = [1, 10, 60, 300, 600, 3_600];
/// The most pages that are held; further ones reach the application.
const MOST: usize = 100_000;
/// Lines that are as many seconds before those read so far are of another file: there a cache begins empty.
const EARLIER: u64 = 3_600;

/// Caches while lines come.
pub(super) struct Caches {
    hasher: RandomState,
    caches: [PageCache; LIVES.len()],
    /// Hits of visitors and of bots.
    hits: [[u64; 2]; LIVES.len()],
    asked: [u64; 2],
    /// By page: requests, and hits.
    pages: HashMap<u64, (u64, [u64; LIVES.len()])>,
    peaks: [u64; LIVES.len()],
    now: u64,
    has_queries: bool,
    /// Whether there was no room for a page.
    is_cut: bool,
}

/// Empty ones.
fn empty() -> [PageCache; LIVES.len()] {
    LIVES.map(|ttl| PageCache::new(CacheSetup { inactive: Some(ttl + 1), ..CacheSetup::nginx(ttl) }))
}

impl Caches {
    pub fn new() -> Caches {
        let (hits, asked, pages, peaks) = Default::default();
        let hasher = RandomState::new();
        let (has_queries, is_cut) = (false, false);
        Caches { hasher, caches: empty(), hits, asked, pages, peaks, now: 0, has_queries, is_cut }
    }

    /// A request for a script, by a visitor or a bot. What is not `GET`, and what was answered with another status than 200 and 304, no cache
    /// answers.
    pub fn add(
        &mut self,
        entry: &Entry<'_>,
        method: Method,
        (path, query): (&str, Option<&[u8]>),
        is_bot: bool,
    ) {
        let who = usize::from(is_bot);
        self.asked[who] += 1;
        self.has_queries |= query.is_some_and(|query| !query.is_empty());
        if method != Method::Get || !matches!(entry.status, 200 | 304) {
            return;
        }
        let at = entry.time.utc.unsigned_abs();
        if at + EARLIER < self.now {
            (self.caches, self.now) = (empty(), at);
        }
        self.now = self.now.max(at);
        let key = self.hasher.hash_one((entry.host, path, query));
        let page = self.hasher.hash_one((path, query));
        let has_room = self.pages.len() < MOST || self.pages.contains_key(&page);
        self.is_cut |= !has_room;
        let mut of_page = has_room.then(|| self.pages.entry(page).or_default());
        if let Some((asked, _)) = &mut of_page {
            *asked += 1;
        }
        for (number, cache) in self.caches.iter_mut().enumerate() {
            if cache.pages() >= MOST && !cache.holds(key) {
                continue;
            }
            let is_hit = cache.ask(self.now, key, entry.bytes) == CacheAnswer::Hit;
            self.hits[number][who] += u64::from(is_hit);
            if let Some((_, hits)) = &mut of_page {
                hits[number] += u64::from(is_hit);
            }
            self.peaks[number] = self.peaks[number].max(cache.peak());
        }
    }

    /// The shares of requests that would be answered; none: no script was asked for. `has_bytes`: whether the log has bytes.
    pub fn finish(self, has_bytes: bool) -> CachedRequests {
        let all_asked = self.asked.iter().sum::<u64>();
        if all_asked == 0 {
            return CachedRequests::default();
        }
        let share = |hits: u64, asked: u64| (hits as f64 / asked.max(1) as f64 * 1e4).round() / 1e4;
        let of = |(number, seconds): (usize, u64)| CachedPages {
            seconds,
            hits: share(self.hits[number].iter().sum(), all_asked),
            visitors: (self.asked[0] > 0).then(|| share(self.hits[number][0], self.asked[0])),
            megabytes: has_bytes.then(|| (self.peaks[number] as f64 / 1e4).round() / 100.0),
            at_most: !self.has_queries,
        };
        let of_page = |(page, (asked, hits)): (&u64, &(u64, [u64; LIVES.len()]))| {
            let hits = hits.iter().map(|hits| share(*hits, *asked)).collect();
            (*page, CachedPath { share: share(*asked, all_asked), hits })
        };
        CachedRequests {
            all: LIVES.into_iter().enumerate().map(of).collect(),
            pages: self.pages.iter().map(of_page).collect(),
            is_cut: self.is_cut,
            hasher: self.hasher,
        }
    }
}
