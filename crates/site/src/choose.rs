//! Which files stand for the strata. Of each kind, strata have a place until they have most of its requests and bytes; further places follow both.
//! Within a stratum the files with the most bytes per month come first, then files of several sizes for the rest,
//! weighed by their requests where these are counted.

use std::collections::BTreeSet;

use super::strata::{Candidate, Layer};
use weigh_model::site::Kind;

/// The most files of one stratum.
const MOST_OF_ONE: usize = 6;
/// Strata of a kind, and files of a stratum, have places of their own until they have this share of the requests and of the bytes.
const COVERED: f64 = 0.95;
/// The most strata that have a place for that.
const MOST_STRATA: usize = 120;
/// A smaller share of a stratum's requests needs no file.
const LEAST: f64 = 0.001;

/// A file with the share of its stratum's requests that it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    pub file: Candidate,
    pub share: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Weight {
    pub kind: Kind,
    /// Requests per month.
    pub requests: f64,
    /// Their bytes, without encoding.
    pub traffic: f64,
    /// How many files there are to choose from.
    pub files: usize,
}

/// How many files each stratum has, about `most` in all. The strata that cover [`COVERED`] of a kind's requests and of its bytes have one
/// each. The other places follow the mean of a stratum's share of all requests and its share of all bytes; strata without weight have none.
pub fn places(strata: &[Weight], most: usize) -> Vec<usize> {
    let all: Vec<usize> = (0..strata.len()).collect();
    let weights = weights(strata, &all);
    let mut places = vec![0; strata.len()];
    let kinds: BTreeSet<Kind> = strata.iter().map(|one| one.kind).collect();
    for kind in kinds {
        let own: Vec<usize> = all.iter().copied().filter(|at| strata[*at].kind == kind).collect();
        cover(strata, &own).for_each(|at| places[at] = 1);
    }
    let first: usize = places.iter().sum();
    for _ in first..most {
        // The one with the most weight for each file: with none yet, before those that have some.
        let need = |at: &usize| weights[*at] / (places[*at] as f64 + 0.02);
        let is_open = |at: &usize| weights[*at] > 0.0 && places[*at] < strata[*at].files.min(MOST_OF_ONE);
        let open = (0..strata.len()).filter(is_open);
        let Some(next) = open.max_by(|a, b| need(a).total_cmp(&need(b)).then(b.cmp(a))) else { break };
        places[next] += 1;
    }
    places
}

/// The share of requests and the share of bytes of each of these strata among them, added up; zero for all others.
fn weights(strata: &[Weight], among: &[usize]) -> Vec<f64> {
    let sum =
        |of: fn(&Weight) -> f64| among.iter().map(|at| of(&strata[*at])).sum::<f64>().max(f64::MIN_POSITIVE);
    let (requests, traffic) = (sum(|one| one.requests), sum(|one| one.traffic));
    let mut weights = vec![0.0; strata.len()];
    for at in among {
        weights[*at] = strata[*at].requests / requests + strata[*at].traffic / traffic;
    }
    weights
}

/// Of these strata, the heaviest that cover them together.
fn cover(strata: &[Weight], among: &[usize]) -> impl Iterator<Item = usize> {
    let weights = weights(strata, among);
    let mut open: Vec<usize> =
        among.iter().copied().filter(|at| weights[*at] > 0.0 && strata[*at].files > 0).collect();
    open.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let left = |open: &[usize], of: fn(&Weight) -> f64| open.iter().map(|at| of(&strata[*at])).sum::<f64>();
    let all: [f64; 2] = [left(&open, |one| one.requests), left(&open, |one| one.traffic)];
    let is_enough = |count: &usize| {
        let rest = [left(&open[*count..], |one| one.requests), left(&open[*count..], |one| one.traffic)];
        (0..2).all(|at| rest[at] <= all[at] * (1.0 - COVERED))
    };
    let count = (0..open.len()).find(is_enough).unwrap_or(open.len());
    open.truncate(count.min(MOST_STRATA));
    open.into_iter()
}

/// At most this many files of a stratum.
pub fn choose(layer: &Layer, places: usize) -> Vec<Chosen> {
    if places == 0 {
        return Vec::new();
    }
    let all = layer.hits.requests;
    let heads = heads(layer, places, all);
    let mut chosen: Vec<Chosen> = layer.top[..heads]
        .iter()
        .map(|file| Chosen { file: file.clone(), share: file.requests / all })
        .collect();
    let left: f64 = 1.0 - chosen.iter().map(|one| one.share).sum::<f64>();
    // Where requests are counted, a file that nobody asks for stands for none of them.
    let is_counted = !layer.top.is_empty();
    let weight = |file: &Candidate| if is_counted { file.requests } else { 1.0 };
    let mut rest: Vec<&Candidate> = layer.top[heads..].iter().chain(layer.drawn.units()).collect();
    rest.retain(|file| weight(file) > 0.0);
    rest.sort_by(|a, b| a.bytes.cmp(&b.bytes).then_with(|| a.path.cmp(&b.path)));
    let count = if left < LEAST { 0 } else { places.saturating_sub(heads).min(rest.len()) };
    let sum: f64 = rest.iter().map(|file| weight(file)).sum();
    let (mut passed, mut taken) = (0.0, 0);
    for file in rest {
        passed += weight(file);
        let before = taken;
        while taken < count && (taken as f64 + 0.5) * sum < passed * count as f64 {
            taken += 1;
        }
        if taken > before {
            let share = left * (taken - before) as f64 / count as f64;
            chosen.push(Chosen { file: file.clone(), share });
        }
    }
    even_out(chosen.iter_mut().map(|one| &mut one.share));
    chosen
}

/// How many of the files with the most bytes have a place of their own. The last place is for the rest, where that has requests.
fn heads(layer: &Layer, places: usize, all: f64) -> usize {
    if all <= 0.0 {
        return 0;
    }
    let traffic = layer.traffic().max(f64::MIN_POSITIVE);
    let (mut requests, mut bytes) = (0.0, 0.0);
    let mut heads = 0;
    for file in layer.top.iter().take(places) {
        let is_last = heads + 1 == places;
        let with = (requests + file.requests / all).min(bytes + file.traffic() / traffic);
        if requests.min(bytes) >= COVERED || is_last && heads > 0 && with < COVERED {
            break;
        }
        requests += file.requests / all;
        bytes += file.traffic() / traffic;
        heads += 1;
    }
    heads
}

/// Makes shares add up to 1 again.
pub fn even_out<'s>(shares: impl Iterator<Item = &'s mut f64>) {
    let shares: Vec<&mut f64> = shares.collect();
    let (sum, count) = (shares.iter().map(|share| **share).sum::<f64>(), shares.len() as f64);
    for share in shares {
        *share = if sum > 0.0 { *share / sum } else { 1.0 / count };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hits::Hits;
    use weigh_content::strata::Drawn;

    fn file(path: &str, bytes: u64, requests: f64) -> Candidate {
        Candidate { path: path.into(), bytes, requests }
    }

    fn layer(top: &[(&str, u64, f64)], drawn: &[(&str, u64)], requests: f64) -> Layer {
        let mut all = Drawn::default();
        drawn.iter().for_each(|(path, bytes)| all.consider(path, file(path, *bytes, 0.0)));
        Layer {
            files: 1,
            unseen: 0,
            is_assumed: false,
            bytes: 1,
            hits: Hits { requests, ..Hits::default() },
            traffic: top.iter().map(|(_, bytes, requests)| *bytes as f64 * requests).sum(),
            top: top.iter().map(|(path, bytes, requests)| file(path, *bytes, *requests)).collect(),
            drawn: all,
        }
    }

    fn shown(chosen: &[Chosen]) -> Vec<(&str, i64)> {
        chosen.iter().map(|one| (one.file.path.as_str(), (one.share * 100.0).round() as i64)).collect()
    }

    #[test]
    fn the_most_requested_come_first_and_one_of_the_rest_stands_for_the_rest() {
        let top = [("a", 10, 60.0), ("b", 20, 20.0), ("c", 30, 10.0), ("d", 40, 10.0)];
        let drawn = [("x", 5), ("y", 50), ("z", 500)];
        let of = |places| choose(&layer(&top, &drawn, 100.0), places);
        assert_eq!(shown(&of(1)), [("a", 100)]);
        assert_eq!(shown(&of(2)), [("a", 60), ("c", 40)]);
        assert_eq!(shown(&of(4)), [("a", 60), ("b", 20), ("c", 10), ("d", 10)]);
        assert_eq!(shown(&of(5)), [("a", 60), ("b", 20), ("c", 10), ("d", 10)]);
        assert!(of(0).is_empty());
        assert_eq!(
            shown(&choose(&layer(&top[..1], &drawn, 100.0), 3)),
            [("a", 100)],
            "nobody asks for the others"
        );
    }

    #[test]
    fn where_requests_are_not_known_files_of_several_sizes_have_equal_shares() {
        let drawn = [("x", 5), ("y", 50), ("z", 500), ("w", 5000)];
        assert_eq!(shown(&choose(&layer(&[], &drawn, 0.0), 2)), [("y", 50), ("w", 50)]);
        assert_eq!(shown(&choose(&layer(&[], &drawn, 0.0), 1)), [("z", 100)]);
    }

    fn weight(kind: Kind, requests: f64, traffic: f64, files: usize) -> Weight {
        Weight { kind, requests, traffic, files }
    }

    #[test]
    fn the_strata_that_cover_a_kind_have_a_place_before_any_has_many() {
        let of = |strata: &[(f64, f64, usize)], most| {
            let asset = |&(requests, traffic, files)| weight(Kind::Asset, requests, traffic, files);
            places(&strata.iter().map(asset).collect::<Vec<_>>(), most)
        };
        let strata =
            [(80.0, 10.0, 100), (15.0, 10.0, 100), (5.0, 1.0, 100), (0.0, 0.0, 100), (0.1, 900.0, 2)];
        assert_eq!(of(&strata, 3), [1, 1, 0, 0, 1], "94.9% of the requests are not enough");
        assert_eq!(of(&strata, 2), [1, 1, 0, 0, 1], "nor are places");
        assert_eq!(of(&strata, 4), [1, 1, 1, 0, 1]);
        assert_eq!(of(&strata, 100), [6, 6, 6, 0, 2]);
    }

    #[test]
    fn a_kind_with_little_traffic_has_its_places_too() {
        let strata = [weight(Kind::Asset, 1e6, 1e12, 50), weight(Kind::Page, 10.0, 1e4, 3)];
        assert_eq!(places(&strata, 2), [1, 1]);
        assert_eq!(places(&[strata[0], weight(Kind::Page, 10.0, 1e4, 0)], 2), [2, 0], "there is no file");
    }

    proptest! {
        #[test]
        fn the_strata_with_places_cover_each_kind(
            drawn in prop::collection::vec((0usize..3, 0.0..1e6f64, 0.0..1e9f64, 0usize..9), 0..60),
            most in 0usize..50,
        ) {
            let strata: Vec<Weight> =
                drawn.iter().map(|(kind, requests, traffic, files)| weight(Kind::ALL[*kind], *requests, *traffic, *files)).collect();
            let places = places(&strata, most);
            prop_assert!(places.iter().zip(&strata).all(|(places, one)| *places <= one.files.min(MOST_OF_ONE)));
            for kind in Kind::ALL {
                let own = || strata.iter().zip(&places).filter(|(one, _)| one.kind == kind && one.files > 0);
                for of in [|one: &Weight| one.requests, |one: &Weight| one.traffic] {
                    let all: f64 = own().map(|(one, _)| of(one)).sum();
                    let covered: f64 = own().filter(|(_, places)| **places > 0).map(|(one, _)| of(one)).sum();
                    prop_assert!(covered >= all * COVERED - 1e-6 * all, "{covered} of {all}");
                }
            }
        }

        #[test]
        fn shares_add_up_to_one(
            top in prop::collection::vec((1u64..1000, 1.0..1e6f64), 0..12),
            drawn in prop::collection::vec(1u64..1000, 0..12),
            more in 0.0..1e6f64,
            places in 1usize..7,
        ) {
            let mut requests: Vec<_> = top.iter().map(|(bytes, n)| (*bytes, *n)).collect();
            requests.sort_by(|a, b| b.1.total_cmp(&a.1));
            let all = requests.iter().map(|one| one.1).sum::<f64>() + if drawn.is_empty() { 0.0 } else { more };
            let mut layer = layer(&[], &[], all);
            layer.traffic = requests.iter().map(|(bytes, n)| *bytes as f64 * n).sum();
            layer.top = requests.iter().map(|(bytes, n)| file("t", *bytes, *n)).collect();
            drawn.iter().enumerate().for_each(|(at, bytes)| layer.drawn.consider(at, file("d", *bytes, 0.0)));
            let chosen = choose(&layer, places);
            prop_assert_eq!(chosen.is_empty(), layer.top.is_empty() && layer.drawn.is_empty());
            prop_assert!(chosen.len() <= places);
            if !chosen.is_empty() {
                prop_assert!((chosen.iter().map(|one| one.share).sum::<f64>() - 1.0).abs() < 1e-9);
                prop_assert!(chosen.iter().all(|one| (0.0..=1.0).contains(&one.share)));
            }
        }
    }
}
