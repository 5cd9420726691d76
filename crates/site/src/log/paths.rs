//! Requests by path, in bounded memory.
//!
//! While a site has no more than [`MOST`] paths, every figure is exact. A log with more loses the less requested half of what is held each time that is full: its
//! figures go to the others. This is the rule of lossy counting (Manku and Motwani, 2002): a path that comes back starts anew, and no path lacks
//! more requests than the sum of the bounds at which halves were dropped, which is told.

use std::collections::HashMap;

use super::counted::{Counted, Hits, PathTraffic, Variant};
use super::entry::{Entry, Method};
use super::path::is_script;

/// The most paths that are held.
pub const MOST: usize = 100_000;
/// The most bytes of their names.
const MOST_BYTES: usize = 8 << 20;

/// The most forms of query strings and lengths of responses of one script, and bytes of one query string and of its keys.
const MOST_VARIANTS: usize = 32;
const LONGEST_QUERY: usize = 512;
const LONGEST_KEYS: usize = 128;

#[derive(Debug, Default)]
struct PathHits {
    hits: Hits,
    variants: Vec<Variant>,
}

#[derive(Debug)]
pub struct Paths {
    held: HashMap<Box<str>, PathHits>,
    names: usize,
    others: Hits,
    missed: u64,
    most: usize,
}

impl Paths {
    /// With room for as many paths as are ever held.
    pub fn new() -> Paths {
        Paths::of(MOST)
    }

    fn of(most: usize) -> Paths {
        Paths { held: HashMap::new(), names: 0, others: Hits::default(), missed: 0, most }
    }

    pub fn add(&mut self, path: &str, query: Option<&[u8]>, entry: &Entry<'_>, method: Method) {
        let held = match self.held.get_mut(path) {
            Some(held) => held,
            None => {
                if self.held.len() >= self.most || self.names + path.len() > MOST_BYTES {
                    self.drop_half();
                }
                self.names += path.len();
                self.held.entry(path.into()).or_default()
            }
        };
        held.hits.add(entry, method);
        let Some((query, keys)) = query.filter(|_| is_script(path)).and_then(keys) else { return };
        let band = band(entry, method);
        let is_full = held.variants.len() >= MOST_VARIANTS || self.names >= MOST_BYTES;
        let of_keys = |is: &dyn Fn(&Variant) -> bool| {
            held.variants.iter().position(|variant| variant.keys == keys && is(variant))
        };
        let at = of_keys(&|variant| variant.band == band || band == 0)
            .or_else(|| is_full.then(|| of_keys(&|_| true)).flatten());
        match at {
            Some(at) => held.variants[at].hits.add(entry, method),
            None if !is_full => {
                self.names += keys.len() + query.len();
                let mut hits = Hits::default();
                hits.add(entry, method);
                held.variants.push(Variant { keys, query: query.to_owned(), band, hits });
            }
            None => {}
        }
    }

    /// Moves paths with no more requests than the median has to the others.
    fn drop_half(&mut self) {
        let mut requests: Vec<u64> = self.held.values().map(|held| held.hits.requests).collect();
        let middle = requests.len() / 2;
        let bound = *requests.select_nth_unstable(middle).1;
        let (others, names) = (&mut self.others, &mut self.names);
        self.held.retain(|path, held| {
            let stays = held.hits.requests > bound;
            if !stays {
                others.join(&held.hits);
                let of = |variant: &Variant| variant.keys.len() + variant.query.len();
                *names -= path.len() + held.variants.iter().map(of).sum::<usize>();
            }
            stays
        });
        self.missed += bound;
    }

    /// Writes what is held, the most requested path first.
    pub fn finish(self, counted: &mut Counted) {
        let path = |(path, mut held): (Box<str>, PathHits)| {
            held.variants.sort_unstable_by(|a, b| {
                let keys = || (&a.keys, a.band).cmp(&(&b.keys, b.band));
                b.hits.requests.cmp(&a.hits.requests).then_with(keys)
            });
            PathTraffic { path: path.into(), hits: held.hits, variants: held.variants }
        };
        counted.paths = self.held.into_iter().map(path).collect();
        counted
            .paths
            .sort_unstable_by(|a, b| b.hits.requests.cmp(&a.hits.requests).then_with(|| a.path.cmp(&b.path)));
        counted.others = self.others;
        counted.missed_at_most = self.missed;
    }
}

/// The half octave of a whole response's bytes, from 1; 0 for all others.
fn band(entry: &Entry<'_>, method: Method) -> u32 {
    let is_whole = entry.status == 200 && method == Method::Get && entry.bytes > 0;
    if is_whole { 1 + (2.0 * (entry.bytes as f64).log2()) as u32 } else { 0 }
}

/// A query string that can be shown, and its keys in order, each once; those of arrays without their indices.
fn keys(query: &[u8]) -> Option<(&str, String)> {
    let is_plain = query.len() <= LONGEST_QUERY && query.iter().all(|b| matches!(b, 0x21..=0x7e));
    let query = std::str::from_utf8(query).ok().filter(|_| is_plain)?;
    // Without a mark it is a value.
    let key = |part: &str| Some(part.split_once('=')?.0.split(['[', '%']).next()?.to_owned());
    let mut keys: Vec<String> =
        query.split(['&', ';']).filter_map(key).filter(|key| !key.is_empty()).collect();
    keys.sort_unstable();
    keys.dedup();
    Some((query, keys.join("&"))).filter(|(_, keys)| !keys.is_empty() && keys.len() <= LONGEST_KEYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> Entry<'static> {
        Entry { status: 200, bytes: 3, ..Entry::default() }
    }

    fn counted(most: usize, paths: &[u16]) -> Counted {
        let mut all = Paths::of(most);
        for path in paths {
            all.add(&format!("/{path}"), None, &entry(), Method::Get);
            assert!(all.held.len() <= most);
        }
        let mut counted = Counted::default();
        all.finish(&mut counted);
        counted
    }

    #[test]
    fn long_names_are_bounded_together() {
        let mut paths = Paths::new();
        let long = "x".repeat(1_000);
        for n in 0..9_000 {
            paths.add(&format!("/{n}{long}"), None, &entry(), Method::Get);
        }
        let names: usize = paths.held.keys().map(|path| path.len()).sum();
        assert!(names <= MOST_BYTES && names == paths.names, "{names} {}", paths.names);
    }

    #[test]
    fn scripts_are_apart_by_the_keys_of_their_query_strings() {
        let mut paths = Paths::new();
        for (path, query) in [
            ("/index.php", Some("title=A&action=raw")),
            ("/index.php", Some("action=raw&title=B")),
            ("/index.php", Some("title=A")),
            ("/index.php", Some("a[0]=1&a[1]=2")),
            ("/index.php", Some("\u{1}=1")),
            ("/index.php", None),
            ("/a.css", Some("v=1")),
        ] {
            paths.add(path, query.map(str::as_bytes), &entry(), Method::Get);
        }
        let mut counted = Counted::default();
        paths.finish(&mut counted);
        assert_eq!((counted.paths[0].hits.requests, counted.paths[1].variants.len()), (6, 0));
        let found: Vec<_> = counted.paths[0]
            .variants
            .iter()
            .map(|one| (one.keys.as_str(), one.query.as_str(), one.hits.requests))
            .collect();
        assert_eq!(
            found,
            [("action&title", "title=A&action=raw", 2), ("a", "a[0]=1&a[1]=2", 1), ("title", "title=A", 1)]
        );
    }

    #[test]
    fn scripts_are_apart_by_the_length_of_their_responses() {
        let mut paths = Paths::new();
        let ask = |paths: &mut Paths, query: &str, bytes: u64, status: u16| {
            let entry = Entry { status, bytes, ..Entry::default() };
            paths.add("/index.php", Some(query.as_bytes()), &entry, Method::Get);
        };
        ask(&mut paths, "p=1", 4_200, 200);
        ask(&mut paths, "p=2", 4_300, 200);
        ask(&mut paths, "p=3", 60_000, 200);
        ask(&mut paths, "p=4", 0, 304);
        for n in 0..40 {
            ask(&mut paths, "q=1", 1 << n, 200);
        }
        let mut counted = Counted::default();
        paths.finish(&mut counted);
        let variants = &counted.paths[0].variants;
        let of = |keys: &str| variants.iter().filter(|one| one.keys == keys).collect::<Vec<_>>();
        let found: Vec<_> = of("p").iter().map(|one| (one.query.as_str(), one.hits.requests)).collect();
        assert_eq!(found, [("p=1", 3), ("p=3", 1)]);
        assert_eq!(variants.len(), MOST_VARIANTS);
        let sum: u64 = of("q").iter().map(|one| one.hits.requests).sum();
        assert_eq!(sum, 40, "those for which there is no room go to others with the same keys");
    }

    #[test]
    fn query_strings_are_bounded_together() {
        let mut paths = Paths::new();
        for n in 0..40_000 {
            let query = format!("{}{n}={}", "k".repeat(100), "v".repeat(400));
            paths.add(&format!("/{}", n / 20), Some(query.as_bytes()), &entry(), Method::Get);
        }
        let held =
            |held: &PathHits| held.variants.iter().map(|one| one.keys.len() + one.query.len()).sum::<usize>();
        let sum: usize = paths.held.iter().map(|(path, one)| path.len() + held(one)).sum();
        assert!(sum == paths.names && sum <= MOST_BYTES + 1_000, "{sum} {}", paths.names);
        assert!(paths.held.values().all(|one| one.variants.len() <= MOST_VARIANTS));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_path_lacks_more_than_is_told(paths in proptest::collection::vec(0u16..40, 0..400), most in 2usize..50) {
            let counted = counted(most, &paths);
            let held: u64 = counted.paths.iter().map(|p| p.hits.requests).sum();
            prop_assert_eq!(held + counted.others.requests, paths.len() as u64);
            for n in 0..40u16 {
                let true_count = paths.iter().filter(|p| **p == n).count() as u64;
                let found = counted.paths.iter().find(|p| *p.path == format!("/{n}")).map_or(0, |p| p.hits.requests);
                prop_assert!(found <= true_count && true_count <= found + counted.missed_at_most);
            }
            prop_assert!(most < 40 || counted.missed_at_most == 0);
        }
    }
}
