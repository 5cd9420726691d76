//! A cache of pages in front of an application: which requests it answers by itself, and what it holds.
//!
//! Time is in whole seconds, as servers count the age of what they stored. A page that is asked for again while it is made is waited for (nginx's
//! `fastcgi_cache_lock`, Apache's `CacheLock`): within a second only the first request of a page reaches the application.

use std::collections::{BTreeMap, HashMap};

/// Seconds between the times at which nginx's cache manager looks whether too much is held. Until then there may be more.
const SWEEP: u64 = 10;

/// How a cache is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSetup {
    /// Seconds that a page is fresh.
    pub ttl: u64,
    /// Whether it is fresh in the last second too: in nginx, not in Apache.
    pub is_inclusive: bool,
    /// Bytes that are held; none: not bounded. What was used the longest time ago goes first, once nginx looks again.
    pub bytes: Option<u64>,
    /// Seconds without a use after which a page goes; none: it stays.
    pub inactive: Option<u64>,
}

impl CacheSetup {
    /// nginx's: it removes what was not used for ten minutes.
    pub fn nginx(ttl: u64) -> CacheSetup {
        CacheSetup { ttl, is_inclusive: true, bytes: None, inactive: Some(600) }
    }

    /// Apache's: nothing goes by itself.
    pub fn apache(ttl: u64) -> CacheSetup {
        CacheSetup { ttl, is_inclusive: false, bytes: None, inactive: None }
    }
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAnswer {
    /// The cache answered.
    Hit,
    /// It held the page, but too long.
    Expired,
    /// It did not hold it.
    Miss,
}

/// A page that is held.
#[derive(Clone, Copy, Debug)]
struct Held {
    made: u64,
    bytes: u64,
    /// Its place in the order of uses.
    used: (u64, u64),
}

/// A cache while requests come to it.
#[derive(Clone, Debug)]
pub struct PageCache {
    setup: CacheSetup,
    held: HashMap<u64, Held>,
    /// Keys by their last use.
    order: BTreeMap<(u64, u64), u64>,
    uses: u64,
    bytes: u64,
    peak: u64,
    evicted: u64,
    swept: u64,
}

impl PageCache {
    /// An empty one.
    pub fn new(setup: CacheSetup) -> PageCache {
        let (held, order) = (HashMap::new(), BTreeMap::new());
        PageCache { setup, held, order, uses: 0, bytes: 0, peak: 0, evicted: 0, swept: 0 }
    }

    /// A request for the page of this key in this second, not before the last one; `bytes` are those that the page takes if it is made now.
    pub fn ask(&mut self, at: u64, key: u64, bytes: u64) -> CacheAnswer {
        self.forget(at);
        self.sweep(at);
        let held = self.held.get(&key).copied();
        let answer = match held {
            Some(held) if at < held.made + self.setup.ttl + u64::from(self.setup.is_inclusive) => {
                CacheAnswer::Hit
            }
            Some(_) => CacheAnswer::Expired,
            None => CacheAnswer::Miss,
        };
        let made = match (answer, held) {
            (CacheAnswer::Hit, Some(held)) => (held.made, held.bytes),
            _ => (at, bytes),
        };
        self.keep(at, key, made);
        answer
    }

    /// Holds a page, used now.
    fn keep(&mut self, at: u64, key: u64, (made, bytes): (u64, u64)) {
        self.drop(key);
        self.uses += 1;
        let used = (at, self.uses);
        self.held.insert(key, Held { made, bytes, used });
        self.order.insert(used, key);
        self.bytes += bytes;
        self.peak = self.peak.max(self.bytes);
    }

    /// Removes what was not used for too long.
    fn forget(&mut self, at: u64) {
        let Some(inactive) = self.setup.inactive else { return };
        while self.order.first_key_value().is_some_and(|((used, _), _)| used + inactive <= at) {
            self.evict();
        }
    }

    /// Removes what is too much, in a second not before the last request's.
    pub fn sweep(&mut self, at: u64) {
        let Some(most) = self.setup.bytes.filter(|_| at >= self.swept + SWEEP) else { return };
        self.swept = at;
        while self.bytes >= most && self.evict() {
            self.evicted += 1;
        }
    }

    /// Removes what was used the longest time ago; false: nothing is held.
    fn evict(&mut self) -> bool {
        let Some((_, key)) = self.order.first_key_value() else { return false };
        self.drop(*key);
        true
    }

    fn drop(&mut self, key: u64) {
        if let Some(held) = self.held.remove(&key) {
            self.order.remove(&held.used);
            self.bytes -= held.bytes;
        }
    }

    /// Whether it holds a page, however old.
    pub fn holds(&self, key: u64) -> bool {
        self.held.contains_key(&key)
    }

    /// Pages that are held now.
    pub fn pages(&self) -> usize {
        self.held.len()
    }

    /// Bytes that are held now.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The most bytes that were held at once.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Pages that went because others needed their room.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::CacheAnswer::{Expired, Hit, Miss};
    use super::*;

    #[test]
    fn a_page_is_fresh_for_its_seconds_and_in_nginx_one_more() {
        let asked = |setup| {
            let mut cache = PageCache::new(setup);
            [0, 0, 9, 10, 11, 12].map(|at| cache.ask(at, 1, 100))
        };
        assert_eq!(asked(CacheSetup::nginx(10)), [Miss, Hit, Hit, Hit, Expired, Hit]);
        assert_eq!(asked(CacheSetup::apache(10)), [Miss, Hit, Hit, Expired, Hit, Hit]);
    }

    #[test]
    fn what_was_used_last_stays_and_what_nobody_uses_goes() {
        let mut cache = PageCache::new(CacheSetup { bytes: Some(250), ..CacheSetup::nginx(100) });
        assert_eq!([1, 2, 1, 3].map(|key| cache.ask(15, key, 100)), [Miss, Miss, Hit, Miss]);
        assert_eq!(
            (cache.pages(), cache.peak(), cache.evicted()),
            (3, 300, 0),
            "the manager has not looked yet"
        );
        assert_eq!(cache.ask(25, 2, 100), Miss, "2 was used the longest time ago");
        assert_eq!((cache.pages(), cache.bytes(), cache.evicted()), (3, 300, 1));
        assert_eq!(cache.ask(700, 3, 100), Miss, "nobody used it for ten minutes");
        assert_eq!((cache.pages(), cache.evicted()), (1, 1));
    }

    proptest! {
        /// The sums are those of what is held, and a longer life never means fewer hits.
        #[test]
        fn sums_agree(asked in prop::collection::vec((0..3_u64, 0..20_u64, 1..50_u64), 1..300), ttl in 1..20_u64) {
            let hits = |ttl: u64| {
                let mut cache = PageCache::new(CacheSetup { bytes: Some(400), ..CacheSetup::nginx(ttl) });
                let (mut at, mut hits) = (0, 0);
                for (later, key, bytes) in &asked {
                    at += later;
                    hits += usize::from(cache.ask(at, *key, *bytes) == Hit);
                    let sum: u64 = cache.held.values().map(|held| held.bytes).sum();
                    assert_eq!((sum, cache.order.len()), (cache.bytes(), cache.pages()));
                }
                hits
            };
            let unbounded = |ttl: u64| {
                let mut cache = PageCache::new(CacheSetup::nginx(ttl));
                let mut at = 0;
                asked.iter().filter(|(later, key, bytes)| {
                    at += later;
                    cache.ask(at, *key, *bytes) == Hit
                }).count()
            };
            prop_assert!(hits(ttl) <= unbounded(ttl));
            prop_assert!(unbounded(ttl) <= unbounded(2 * ttl));
        }
    }
}
