//! Requests by path, in bounded memory.
//!
//! While a site has no more than [`MOST`] paths, every figure is exact. A log with more loses the less requested half of what is held each time that is full: its
//! figures go to the others. This is the rule of lossy counting (Manku and Motwani, 2002): a path that comes back starts anew, and no path lacks
//! more requests than the sum of the bounds at which halves were dropped, which is told.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::counted::{Counted, Hits, PathTraffic};
use super::entry::{Entry, Method};

/// The most paths that are held.
pub const MOST: usize = 100_000;
/// The most bytes of their names.
const MOST_BYTES: usize = 8 << 20;

/// Which query strings a path was asked with; they are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Queries {
    #[default]
    None,
    One(u64),
    Several,
}

#[derive(Debug, Default)]
struct Held {
    hits: Hits,
    queries: Queries,
}

/// What is held.
#[derive(Debug)]
pub struct Paths {
    held: HashMap<Box<str>, Held>,
    names: usize,
    hasher: RandomState,
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
        Paths {
            held: HashMap::new(),
            names: 0,
            hasher: RandomState::new(),
            others: Hits::default(),
            missed: 0,
            most,
        }
    }

    /// Counts a visitor's request.
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
        if let Some(query) = query {
            held.hits.with_query += 1;
            let hash = self.hasher.hash_one(query);
            held.queries = match held.queries {
                Queries::None => Queries::One(hash),
                Queries::One(known) if known == hash => Queries::One(hash),
                _ => Queries::Several,
            };
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
                *names -= path.len();
            }
            stays
        });
        self.missed += bound;
    }

    /// Writes what is held, the most requested path first.
    pub fn finish(self, counted: &mut Counted) {
        let path = |(path, held): (Box<str>, Held)| PathTraffic {
            path: path.into(),
            hits: held.hits,
            is_query_varied: held.queries == Queries::Several,
        };
        counted.paths = self.held.into_iter().map(path).collect();
        counted
            .paths
            .sort_unstable_by(|a, b| b.hits.requests.cmp(&a.hits.requests).then_with(|| a.path.cmp(&b.path)));
        counted.others = self.others;
        counted.missed_at_most = self.missed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry() -> Entry<'static> {
        Entry { time: 0, asked: None, status: 200, bytes: 3, agent: None, accept: None, micros: None }
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
    fn query_strings_vary_or_not() {
        let mut paths = Paths::new();
        for (path, query) in [
            ("/a", Some("v=1")),
            ("/a", Some("v=1")),
            ("/b", Some("p=1")),
            ("/b", Some("p=2")),
            ("/c", None),
            ("/b", None),
        ] {
            paths.add(path, query.map(str::as_bytes), &entry(), Method::Get);
        }
        let mut counted = Counted::default();
        paths.finish(&mut counted);
        let found: Vec<_> =
            counted.paths.iter().map(|p| (&*p.path, p.hits.with_query, p.is_query_varied)).collect();
        assert_eq!(found, [("/b", 2, true), ("/a", 2, false), ("/c", 0, false)]);
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
