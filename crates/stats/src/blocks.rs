//! Block effects: by what factor everything was slower or faster in one round than in the others.
//!
//! A randomised block design (Fisher 1926; Box, Hunter & Hunter, *Statistics for Experimenters*, ch. 4) measures every
//! unit once in each block, and removes the block's own level before units are compared. Here a block is a round and
//! the level is a factor, so logarithms are used. The fit is Tukey's median polish (*Exploratory Data Analysis*, ch.
//! 10–11), which a few outliers do not affect.

use std::collections::BTreeMap;

use crate::summary::median;

/// A block's level is estimated from at least this many units; with fewer, it would contain the noise of single units.
pub const UNITS: usize = 6;
/// Sweeps of the polish; it converges much earlier.
const SWEEPS: usize = 8;

/// The factor of each block: its values are this factor times those in the usual block.
///
/// `units` has, for each unit, its value in each block that measured it. Units in only one block, and values that are
/// not above zero, are left out. A block with fewer than [`UNITS`] remaining units has the factor 1. The factors are
/// centred: weighted by the values in each block, their median is 1.
pub fn block_effects(units: &[Vec<(u32, f64)>]) -> BTreeMap<u32, f64> {
    let logs: Vec<Vec<(u32, f64)>> = units
        .iter()
        .map(|u| u.iter().filter(|v| v.1 > 0.0 && v.1.is_finite()).map(|v| (v.0, v.1.ln())).collect())
        .filter(|u: &Vec<_>| u.len() > 1)
        .collect();
    let mut blocks: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    for (unit, values) in logs.iter().enumerate() {
        for (block, value) in values {
            blocks.entry(*block).or_default().push((unit, *value));
        }
    }
    blocks.retain(|_, values| values.len() >= UNITS);
    let mut effects: BTreeMap<u32, f64> = blocks.keys().map(|block| (*block, 0.0)).collect();
    for _ in 0..SWEEPS {
        let levels: Vec<f64> = logs.iter().map(|unit| level(unit, &effects)).collect();
        for (block, values) in &blocks {
            let residues: Vec<f64> = values.iter().map(|(unit, v)| v - levels[*unit]).collect();
            effects.insert(*block, median(&residues).unwrap_or(0.0));
        }
        let weighted: Vec<f64> =
            blocks.iter().flat_map(|(block, values)| vec![effects[block]; values.len()]).collect();
        let centre = median(&weighted).unwrap_or(0.0);
        effects.values_mut().for_each(|e| *e -= centre);
    }
    effects.into_iter().map(|(block, effect)| (block, effect.exp())).collect()
}

/// A unit's own level: the median of its logarithms minus the blocks' levels.
fn level(unit: &[(u32, f64)], effects: &BTreeMap<u32, f64>) -> f64 {
    let own: Vec<f64> = unit.iter().map(|(block, v)| v - effects.get(block).unwrap_or(&0.0)).collect();
    median(&own).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units with these levels in rounds with these factors; unit `i` is left out of the last `i % 3` rounds.
    fn study(levels: &[f64], factors: &[f64]) -> Vec<Vec<(u32, f64)>> {
        let rounds = |i: usize| factors.len() - i % 3;
        let unit = |(i, level): (usize, &f64)| {
            factors.iter().take(rounds(i)).enumerate().map(|(r, f)| (r as u32 + 1, level * f)).collect()
        };
        levels.iter().enumerate().map(unit).collect()
    }

    #[test]
    fn known_factors_come_back_though_units_miss_rounds() {
        let levels: Vec<f64> = (1..=24).map(|i| f64::from(i) * 7.0).collect();
        let factors = [1.0, 1.0, 1.0, 1.5, 1.0, 0.8, 2.0];
        let effects = block_effects(&study(&levels, &factors));
        for (round, factor) in factors.iter().enumerate() {
            let found = effects[&(round as u32 + 1)];
            assert!((found / factor - 1.0).abs() < 1e-9, "round {round}: {found} for {factor}");
        }
    }

    #[test]
    fn one_wild_unit_moves_nothing() {
        let levels: Vec<f64> = (1..=20).map(f64::from).collect();
        let mut units = study(&levels, &[1.0, 1.2, 1.0, 1.0]);
        units[0].iter_mut().for_each(|v| v.1 *= 1.0 + f64::from(v.0) * 10.0);
        let effects = block_effects(&units);
        assert!((effects[&2] - 1.2).abs() < 1e-9, "{effects:?}");
    }

    #[test]
    fn a_block_with_few_units_has_no_factor() {
        let units = study(&[1.0, 2.0, 3.0], &[1.0, 3.0, 1.0]);
        assert!(block_effects(&units).is_empty());
        assert!(block_effects(&[]).is_empty());
        assert!(block_effects(&vec![vec![(1, 0.0), (2, f64::NAN)]; 9]).is_empty());
    }
}
