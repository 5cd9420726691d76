//! Which files stand for the strata. Places follow requests and traffic; within a stratum the most requested files come first, then
//! files of several sizes for the rest.

use super::strata::{Candidate, Layer};

/// The most files of one stratum.
const MOST_OF_ONE: usize = 6;
/// The files with the most requests have places of their own until they have this share of a stratum's requests.
const COVERED: f64 = 0.95;
/// A smaller share of a stratum's requests needs no file.
const LEAST: f64 = 0.001;

/// A file with the share of its stratum's requests that it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The file.
    pub file: Candidate,
    /// The share.
    pub share: f64,
}

/// How many files each stratum has, at most `most` in all. A stratum's weight is the mean of its share of requests and its share of
/// traffic; strata without weight have none.
pub fn places(strata: &[(f64, f64)], files: &[usize], most: usize) -> Vec<usize> {
    let sum = |of: fn(&(f64, f64)) -> f64| strata.iter().map(of).sum::<f64>().max(f64::MIN_POSITIVE);
    let (requests, traffic) = (sum(|one| one.0), sum(|one| one.1));
    let weights: Vec<f64> = strata.iter().map(|one| one.0 / requests + one.1 / traffic).collect();
    let mut places = vec![0; strata.len()];
    for _ in 0..most {
        // The one with the most weight for each file: with none yet, before those that have some.
        let need = |at: &usize| weights[*at] / (places[*at] as f64 + 0.02);
        let open =
            (0..strata.len()).filter(|at| weights[*at] > 0.0 && places[*at] < files[*at].min(MOST_OF_ONE));
        let Some(next) = open.max_by(|a, b| need(a).total_cmp(&need(b)).then(b.cmp(a))) else { break };
        places[next] += 1;
    }
    places
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
    let mut rest: Vec<&Candidate> = layer.top[heads..].iter().chain(layer.drawn.units()).collect();
    rest.sort_by(|a, b| a.bytes.cmp(&b.bytes).then_with(|| a.path.cmp(&b.path)));
    let count = if left < LEAST { 0 } else { places.saturating_sub(heads).min(rest.len()) };
    for place in 0..count {
        let file = rest[(2 * place + 1) * rest.len() / (2 * count)].clone();
        chosen.push(Chosen { file, share: left / count as f64 });
    }
    even_out(&mut chosen);
    chosen
}

/// How many of the most requested files have a place of their own. The last place is for the rest, where that has requests.
fn heads(layer: &Layer, places: usize, all: f64) -> usize {
    if all <= 0.0 {
        return 0;
    }
    let mut covered = 0.0;
    let mut heads = 0;
    for file in layer.top.iter().take(places) {
        let is_last = heads + 1 == places;
        if covered >= COVERED || is_last && heads > 0 && covered + file.requests / all < COVERED {
            break;
        }
        covered += file.requests / all;
        heads += 1;
    }
    heads
}

/// Makes the shares add up to 1 again.
pub fn even_out(chosen: &mut [Chosen]) {
    let sum: f64 = chosen.iter().map(|one| one.share).sum();
    let count = chosen.len() as f64;
    for one in chosen.iter_mut() {
        one.share = if sum > 0.0 { one.share / sum } else { 1.0 / count };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::content::strata::Drawn;
    use crate::site::hits::Hits;

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
        assert_eq!(shown(&of(2)), [("a", 60), ("d", 40)]);
        assert_eq!(shown(&of(4)), [("a", 60), ("b", 20), ("c", 10), ("d", 10)]);
        assert_eq!(shown(&of(5)), [("a", 60), ("b", 20), ("c", 10), ("d", 10)]);
        assert!(of(0).is_empty());
    }

    #[test]
    fn where_requests_are_not_known_files_of_several_sizes_have_equal_shares() {
        let drawn = [("x", 5), ("y", 50), ("z", 500), ("w", 5000)];
        assert_eq!(shown(&choose(&layer(&[], &drawn, 0.0), 2)), [("y", 50), ("w", 50)]);
        assert_eq!(shown(&choose(&layer(&[], &drawn, 0.0), 1)), [("z", 100)]);
    }

    #[test]
    fn every_stratum_with_traffic_has_a_place_before_any_has_many() {
        let strata = [(80.0, 10.0), (15.0, 10.0), (5.0, 1.0), (0.0, 0.0), (0.1, 900.0)];
        let files = [100, 100, 100, 100, 2];
        assert_eq!(places(&strata, &files, 4), [1, 1, 1, 0, 1]);
        assert_eq!(places(&strata, &files, 100), [6, 6, 6, 0, 2]);
    }

    proptest! {
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
