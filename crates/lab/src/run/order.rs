//! The order of a round: drawn afresh from the seed, quick cells before slow ones.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A cell that is expected to cost more than this many seconds comes after all that do not.
pub const SLOW: f64 = 1.0;

/// A generator that belongs to this seed and to this place in the run.
pub fn generator(seed: u64, round: u32, what: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..12].copy_from_slice(&round.to_le_bytes());
    key[12..20].copy_from_slice(&what.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// The order in which a round visits `live`, indexes into the plan's cells; `expected` has the expected seconds
/// and `new` the absence of any visit, of every cell of the plan. Two strata, so that the first rows come early
/// and a slow cell is behind all that it might crowd out; within each the order is random, so that drift does not
/// favour a place in the plan. Slow cells that were never visited come before the other slow ones, the least
/// slow first: a first figure is worth more than a second, and as many cells as possible should get one.
///
/// The draw is over the whole plan: which other cells are still live does not change who comes before whom.
pub fn order(live: &[usize], expected: &[f64], new: &[bool], seed: u64, round: u32) -> Vec<usize> {
    let mut drawn: Vec<usize> = (0..expected.len()).collect();
    drawn.shuffle(&mut generator(seed, round, 0));
    let (quick, slow): (Vec<_>, Vec<_>) =
        drawn.into_iter().filter(|i| live.contains(i)).partition(|&i| expected[i] <= SLOW);
    let (mut first, again): (Vec<_>, Vec<_>) = slow.into_iter().partition(|&i| new[i]);
    first.sort_by(|&a, &b| expected[a].total_cmp(&expected[b]));
    quick.into_iter().chain(first).chain(again).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_round_holds_every_live_cell_once_and_the_quick_ones_first(
            expected in proptest::collection::vec(0.0..2.0f64, 1..40),
            dead in proptest::collection::vec(any::<proptest::sample::Index>(), 0..10),
            seed: u64, round in 1u32..50,
        ) {
            let dead: Vec<usize> = dead.iter().map(|d| d.index(expected.len())).collect();
            let live: Vec<usize> = (0..expected.len()).filter(|i| !dead.contains(i)).collect();
            let new: Vec<bool> = (0..expected.len()).map(|i| i % 2 == 0).collect();
            let order = order(&live, &expected, &new, seed, round);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, live);
            prop_assert!(order.is_sorted_by_key(|&i| expected[i] > SLOW));
            let slow = order.iter().filter(|&&i| expected[i] > SLOW);
            let first: Vec<f64> = slow.clone().take_while(|&&i| new[i]).map(|&i| expected[i]).collect();
            prop_assert!(first.is_sorted(), "first visits go from the least slow on");
            prop_assert_eq!(slow.filter(|&&i| new[i]).count(), first.len(), "and before all others");
        }

        #[test]
        fn who_comes_first_does_not_depend_on_who_else_is_live(
            cells in 3usize..30, seed: u64, gone in any::<proptest::sample::Index>(),
        ) {
            let expected = vec![0.1; cells];
            let all: Vec<usize> = (0..cells).collect();
            let gone = gone.index(cells);
            let some: Vec<usize> = all.iter().copied().filter(|&i| i != gone).collect();
            let new = vec![true; cells];
            let mut whole = order(&all, &expected, &new, seed, 1);
            whole.retain(|&i| i != gone);
            prop_assert_eq!(whole, order(&some, &expected, &new, seed, 1));
        }
    }

    #[test]
    fn the_seed_and_the_round_decide() {
        let (all, expected, new) = ((0..20).collect::<Vec<usize>>(), vec![0.1; 20], vec![true; 20]);
        let drawn = |seed, round| order(&all, &expected, &new, seed, round);
        assert_eq!(drawn(7, 1), drawn(7, 1));
        assert_ne!(drawn(7, 1), drawn(7, 2));
        assert_ne!(drawn(7, 1), drawn(8, 1));
        assert_ne!(drawn(7, 1), all, "a drawn order is not the plan's");
    }
}
