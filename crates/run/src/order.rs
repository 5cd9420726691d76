//! The order of a round: drawn afresh from the seed, quick cells before slow ones.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use weigh_model::plan::Plan;

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

/// The place of each cell's content among those of its subject, in the order of the plan.
pub fn ranks(plan: &Plan) -> Vec<usize> {
    let mut contents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut ranks = Vec::with_capacity(plan.cells.len());
    for cell in &plan.cells {
        let own = contents.entry(cell.subject.name()).or_default();
        let known = own.iter().position(|one| *one == cell.payload);
        ranks.push(known.unwrap_or(own.len()));
        if known.is_none() {
            own.push(&cell.payload);
        }
    }
    ranks
}

/// The order in which a round visits `live`, indexes into the plan's cells; `expected` has the expected seconds
/// and `new` the absence of any visit, of every cell of the plan. Two strata, so that the first rows come early
/// and a slow cell is behind all that it might crowd out; within each the order is random, so that drift does not
/// favour a place in the plan. Slow cells that were never visited come before the other slow ones, the least
/// slow first: a first figure is worth more than a second, and as many cells as possible should get one. With `ranks`, the place of
/// each cell's content, quick cells of the first contents come first; cells that are compared have the same content.
///
/// The draw is over the whole plan: which other cells are still live does not change who comes before whom.
pub fn order(
    live: &[usize],
    (expected, new): (&[f64], &[bool]),
    ranks: Option<&[usize]>,
    seed: u64,
    round: u32,
) -> Vec<usize> {
    let mut drawn: Vec<usize> = (0..expected.len()).collect();
    drawn.shuffle(&mut generator(seed, round, 0));
    let (mut quick, slow): (Vec<_>, Vec<_>) =
        drawn.into_iter().filter(|i| live.contains(i)).partition(|&i| expected[i] <= SLOW);
    if let Some(ranks) = ranks {
        quick.sort_by_key(|&i| ranks[i]);
    }
    let (mut first, again): (Vec<_>, Vec<_>) = slow.into_iter().partition(|&i| new[i]);
    first.sort_by(|&a, &b| expected[a].total_cmp(&expected[b]));
    quick.into_iter().chain(first).chain(again).collect()
}

#[cfg(test)]
mod tests;
