//! What equal configurations of a run show: how far the noise of this run sets them apart, and so which differences are
//! more than noise.
//!
//! The rounds of all configurations, each without its own level, are the run's noise of one quantity. Configurations made
//! of it, by exchanging what was measured within rounds, are equal, and disturbed as the real ones were. A difference is
//! significant if hardly any run made of such configurations shows one as large between any two that a reader compares: in
//! each table every row with the first and with the best one. Levels are taken out first, so true differences change
//! nothing.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::contrast::{Contrast, Sample, aligned};
use crate::density::Density;
use crate::exact::{Exact, PAIRED};
use crate::rule::{ROUNDS, Ratio};
use crate::summary::{QuantilePosition, median_of_sorted};

/// The probability of one wrong difference or more in all tables of a run, by the noise of that run. In simulation it is up
/// to 0.05: levels and spreads are estimated from the same rounds.
pub const TABLES: f64 = 0.01;

/// The same by exact tests, times that by the noise of the run. It is divided by the number of comparisons.
const EXACT: f64 = 2.5;

/// Numbers of rounds with a cutoff of their own; others have that of the next smaller one.
const CLASSES: [usize; 8] = [ROUNDS, 6, 8, 10, 12, 16, 24, 36];

/// Runs that are made of noise for each cutoff.
const RUNS: usize = 600;

/// The figure by which the best row of a table is found.
const FIGURE: f64 = 0.1;

/// The variance of the logarithm of a spread of normal values, times their number less one.
const OF_CHANCE: f64 = 2.5;

/// What is added to a cutoff, as a share of the usual spread, for one configuration, and less for more: rounds of few
/// configurations lie closer to their own density than others would.
const FEW_ROWS: f64 = 8.0;

/// With fewer values than this in all, the modes of the noise are not known: no difference within the range of those
/// within rounds is significant.
const FEW_VALUES: usize = 24;

/// The least width of the noise of a configuration, of the usual one.
const LEAST_WIDTH: f64 = 0.1;

/// Amounts of one configuration by round, ascending by round.
pub type Rounds<'a> = &'a [(u32, f64)];

/// The noise of one quantity of a run. What a comparison needs is worked out when it is first asked for.
#[derive(Clone, Debug)]
pub struct Noise {
    /// By table and row: round and logarithm of the amount.
    tables: Vec<Vec<Vec<(u32, f64)>>>,
    is_median: bool,
    level: f64,
    seed: u64,
    pool: OnceLock<Pool>,
    /// By class, the largest differences of runs made of noise, ascending.
    largest: [OnceLock<Vec<f64>>; CLASSES.len()],
}

/// What decides the comparisons of one quantity.
#[derive(Clone, Debug, Serialize)]
pub struct NoiseRule {
    /// The usual spread of a configuration, see [`Noise`].
    pub spread: f64,
    /// How much of the differences between spreads is more than chance, from 0 to 1.
    pub own: f64,
    /// For numbers of rounds, ascending, the least significant shift (a logarithm) of two that spread as usual.
    pub cutoffs: Vec<(usize, f64)>,
    /// The level of an exact test of two.
    pub exact: f64,
    /// The density that levels follow from.
    pub density: Density,
}

/// What was measured, without the levels of configurations.
#[derive(Clone, Debug, Default)]
struct Pool {
    /// By round, those with the most values first.
    rounds: Vec<Vec<f64>>,
    /// The number of configurations.
    rows: usize,
    /// The least significant shift of few values, see [`least`].
    least: f64,
    /// The usual spread of a configuration.
    spread: f64,
    /// How much of the differences between spreads is more than chance, from 0 to 1.
    own: f64,
    density: Density,
}

impl PartialEq for Noise {
    fn eq(&self, other: &Noise) -> bool {
        let given = |of: &Noise| (of.is_median, of.level, of.seed);
        given(self) == given(other) && self.tables == other.tables
    }
}

impl Pool {
    fn of(tables: &[Vec<Vec<(u32, f64)>>]) -> Pool {
        let rows: Vec<&Vec<(u32, f64)>> = tables.iter().flatten().filter(|row| row.len() >= ROUNDS).collect();
        let samples: Vec<Sample> =
            rows.iter().map(|row| Sample::of(row.iter().map(|(_, log)| *log).collect())).collect();
        let (spread, own) = spreads(&samples);
        let mut pool = Pool { rows: rows.len(), least: least(&rows), spread, own, ..Pool::default() };
        // In few rounds some spread little by chance: scaled up, the modes of their noise would lie too far apart.
        let widths: Vec<f64> = samples.iter().map(|sample| pool.width(sample.spread).max(1.0)).collect();
        let (density, levels) = aligned(&samples, &widths);
        pool.density = density;
        let mut by_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for ((row, width), level) in rows.iter().zip(&widths).zip(levels) {
            let count = row.len() as f64;
            // A level is fitted to its own rounds, which then vary less about it.
            let scale = (count / (count - 1.0)).sqrt() / width;
            for (round, log) in *row {
                by_round.entry(*round).or_default().push((log - level) * scale);
            }
        }
        pool.rounds = by_round.into_values().filter(|round| round.len() > 1).collect();
        pool.rounds.sort_by_key(|round| usize::MAX - round.len());
        pool
    }

    /// How many times as widely as usual a configuration spreads, as far as that is more than chance.
    fn width(&self, spread: f64) -> f64 {
        if self.spread > 0.0 {
            (spread / self.spread).clamp(LEAST_WIDTH, 1.0 / LEAST_WIDTH).powf(self.own)
        } else {
            1.0
        }
    }

    /// The two figures of a difference of amounts of which this part varies.
    fn contrast(&self, a: &Sample, b: &Sample, part: f64, is_median: bool) -> Contrast {
        Contrast { figure: a.figure(b, is_median), level: self.level(a, part) - self.level(b, part) }
    }

    /// The level of amounts of which this part varies.
    fn level(&self, of: &Sample, part: f64) -> f64 {
        self.density.level(&of.sorted, part * self.width(of.spread / part))
    }

    /// The same for a difference of two.
    fn width_of(&self, a: f64, b: f64) -> f64 {
        let (a, b) = (self.width(a), self.width(b));
        ((a * a + b * b) / 2.0).sqrt()
    }
}

impl Noise {
    /// From the tables of a run, each with its rows. `is_median`: the figures are medians, as of rates and wall times.
    /// `level` is the probability of one wrong difference or more. Amounts without a logarithm are left out.
    pub fn of(tables: &[Vec<Rounds>], is_median: bool, level: f64, seed: u64) -> Noise {
        let logs = |row: &Rounds| -> Vec<(u32, f64)> {
            let logs = row.iter().map(|(round, amount)| (*round, amount.ln()));
            logs.filter(|(_, log)| log.is_finite()).collect()
        };
        let tables = tables.iter().map(|table| table.iter().map(logs).collect()).collect();
        Noise { tables, is_median, level, seed, pool: OnceLock::new(), largest: Default::default() }
    }

    fn pool(&self) -> &Pool {
        self.pool.get_or_init(|| Pool::of(&self.tables))
    }

    /// The number of comparisons that it is corrected for: in each table every row with the first and with the best one.
    pub fn comparisons(&self) -> usize {
        let of = |table: &Vec<Vec<(u32, f64)>>| {
            let rows = table.iter().filter(|row| row.len() >= ROUNDS).count();
            (2 * rows).saturating_sub(3)
        };
        self.tables.iter().map(of).sum()
    }

    /// The largest differences of the runs made of noise with this many rounds, ascending; none with too few rounds.
    fn largest(&self, rounds: usize) -> &[f64] {
        let class = CLASSES.iter().rposition(|class| *class <= rounds && *class <= self.pool().rounds.len());
        class.map_or(&[], |class| self.largest[class].get_or_init(|| self.made(CLASSES[class])))
    }

    /// The level of an exact test of two.
    fn exact(&self) -> f64 {
        EXACT * self.level / self.comparisons().max(1) as f64
    }

    /// What decides comparisons, for programs of another language.
    pub fn rule(&self) -> NoiseRule {
        let Pool { spread, own, density, rounds, .. } = self.pool();
        let classes = CLASSES.iter().filter(|class| **class <= rounds.len());
        let cutoffs = classes.map(|class| (*class, self.cutoff(*class)));
        let cutoffs = cutoffs.filter(|(_, cutoff)| cutoff.is_finite()).collect();
        NoiseRule { spread: *spread, own: *own, cutoffs, exact: self.exact(), density: density.clone() }
    }

    fn cutoff(&self, rounds: usize) -> f64 {
        let largest = self.largest(rounds);
        let at = ((1.0 - self.level) * largest.len() as f64).ceil() as usize;
        let cutoff = largest.get(at.saturating_sub(1)).copied().unwrap_or(f64::INFINITY);
        let Pool { spread, rows, least, .. } = self.pool();
        (cutoff + FEW_ROWS * spread / (*rows).max(1) as f64).max(*least)
    }

    fn made(&self, rounds: usize) -> Vec<f64> {
        let rows = |table: &Vec<Vec<(u32, f64)>>| table.iter().filter(|row| row.len() >= rounds).count();
        let sizes: Vec<usize> = self.tables.iter().map(rows).filter(|size| *size > 1).collect();
        let most = sizes.iter().copied().max().unwrap_or(0);
        let all = &self.pool().rounds;
        let full = all.iter().filter(|round| round.len() >= most).count().max(rounds);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut pool = all[..full].to_vec();
        let mut run = |_| {
            let tables: Vec<Vec<Sample>> =
                sizes.iter().map(|size| table(&mut pool, *size, rounds, &mut random)).collect();
            self.largest_of(&tables)
        };
        let mut largest: Vec<f64> = (0..RUNS).map(&mut run).collect();
        largest.sort_unstable_by(f64::total_cmp);
        largest
    }

    /// The largest shift of any row beside the first or the best one of its table.
    fn largest_of(&self, tables: &[Vec<Sample>]) -> f64 {
        let figure = |sample: &Sample| match self.is_median {
            true => median_of_sorted(&sample.sorted),
            false => QuantilePosition::of(sample.sorted.len(), FIGURE).in_sorted(&sample.sorted),
        };
        let pool = self.pool();
        let mut pairs: Vec<(f64, usize, usize, usize)> = Vec::new();
        for (at, table) in tables.iter().enumerate() {
            let best = (0..table.len()).min_by(|a, b| figure(&table[*a]).total_cmp(&figure(&table[*b])));
            for base in [Some(0), best.filter(|best| *best > 0)].into_iter().flatten() {
                for row in (0..table.len()).filter(|row| *row != base) {
                    let (a, b) = (&table[row], &table[base]);
                    let width = pool.width_of(a.spread, b.spread);
                    pairs.push((a.figure(b, self.is_median).abs() / width, at, row, base));
                }
            }
        }
        // No shift is larger than the difference of the figures.
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut levels: Vec<Vec<Option<f64>>> = tables.iter().map(|table| vec![None; table.len()]).collect();
        let mut level = |at: usize, row: usize| {
            let sample = &tables[at][row];
            *levels[at][row].get_or_insert_with(|| pool.level(sample, 1.0))
        };
        let mut largest = 0.0;
        for (most, at, row, base) in pairs {
            if most <= largest {
                break;
            }
            let (a, b) = (&tables[at][row], &tables[at][base]);
            let level = level(at, row) - level(at, base);
            let shift = Contrast { figure: a.figure(b, self.is_median), level }.shift().abs();
            largest = f64::max(largest, shift / pool.width_of(a.spread, b.spread));
        }
        largest
    }

    /// Compares pairs (first, second) of amounts, measured in the same rounds; `value` is the ratio of the figures.
    /// `part` is the share of the amounts that varies: 1, or less if something known exactly was added to both. `None`
    /// with fewer than two pairs that have logarithms, or if `value` has none.
    pub fn compare(&self, pairs: &[(f64, f64)], value: f64, part: f64) -> Option<Ratio> {
        let logs =
            |(a, b): &(f64, f64)| Some((a.ln(), b.ln())).filter(|(a, b)| a.is_finite() && b.is_finite());
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().filter_map(logs).unzip();
        if a.len() < 2 || !value.ln().is_finite() {
            return None;
        }
        let (a, b) = (Sample::of(a), Sample::of(b));
        let contrast = self.pool().contrast(&a, &b, part, self.is_median);
        let width = part * self.pool().width_of(a.spread / part, b.spread / part);
        let ratios = a.by_round.iter().zip(&b.by_round).map(|(a, b)| a - b);
        let (least, most) = ratios.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), x| (l.min(x), m.max(x)));
        let rounds = a.sorted.len();
        let (known, reach) = (self.largest(rounds), width * self.cutoff(rounds));
        let mut ends =
            (contrast.figure.min(contrast.level) - reach, contrast.figure.max(contrast.level) + reach);
        // Ranks of all rounds tell nothing of two that spread unequally, and differ by less than that.
        let is_apart = contrast.figure.abs() > a.spread.max(b.spread);
        let exact = Exact::of(&a.by_round, &b.by_round, self.exact())
            .filter(|_| !known.is_empty() && (is_apart || rounds >= PAIRED));
        ends = exact.map_or(ends, |exact| exact.within(ends));
        let is_settled = ends.0 > 0.0 || ends.1 < 0.0;
        if known.is_empty() || least == most {
            // Too few to tell, or a row beside itself: all that was seen.
            return Some(ratio((least, most), is_settled && least != 0.0, value, (1.0, rounds)));
        }
        let above = known.len() - known.partition_point(|one| one * width < contrast.shift().abs());
        let p = (above + 1) as f64 / (known.len() + 1) as f64;
        let p = exact.map_or(p, |exact| p.min(exact.p * self.comparisons().max(1) as f64));
        Some(ratio(ends, is_settled, value, (p, rounds)))
    }
}

/// From the ends of its logarithm.
fn ratio((least, most): (f64, f64), is_settled: bool, value: f64, (p, rounds): (f64, usize)) -> Ratio {
    let (mut low, mut high) = (least.exp(), most.exp());
    if !is_settled {
        (low, high) = (low.min(value).min(1.0), high.max(value).max(1.0));
    }
    let value = value.clamp(low, high);
    Ratio { value, low, high, alone: (low, high), p, rounds, is_listed: is_settled, is_claimed: is_settled }
}

/// The least significant shift of few values: the widest range of a configuration, or of what two of them differ by within
/// rounds, which has no slow rounds.
fn least(rows: &[&Vec<(u32, f64)>]) -> f64 {
    if rows.iter().map(|row| row.len()).sum::<usize>() >= FEW_VALUES {
        return 0.0;
    }
    let range = |row: &Vec<(u32, f64)>, of: &dyn Fn(u32) -> Option<f64>| {
        let logs = row.iter().filter_map(|(round, log)| Some(log - of(*round)?));
        let (least, most) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), x| (l.min(x), m.max(x)));
        most - least
    };
    let round_of = |other: &Vec<(u32, f64)>, round| other.iter().find(|one| one.0 == round).map(|one| one.1);
    let alone = rows.iter().map(|row| range(row, &|_| Some(0.0)));
    let beside = rows.iter().enumerate().flat_map(|(at, row)| {
        rows[..at].iter().map(move |other| range(row, &|round| round_of(other, round)))
    });
    f64::min(alone.fold(0.0, f64::max), beside.fold(0.0, f64::max))
}

/// The usual spread, and how much of the differences between spreads is more than chance: the share of the variance of
/// their logarithms beyond that of a normal distribution.
fn spreads(samples: &[Sample]) -> (f64, f64) {
    let spread: Vec<&Sample> = samples.iter().filter(|sample| sample.spread > 0.0).collect();
    if spread.is_empty() {
        return (0.0, 0.0);
    }
    let mean = |of: &dyn Fn(&Sample) -> f64| {
        spread.iter().map(|sample| of(sample)).sum::<f64>() / spread.len() as f64
    };
    let middle = mean(&|sample| sample.spread.ln());
    let variance = mean(&|sample| (sample.spread.ln() - middle).powi(2));
    let chance = mean(&|sample| OF_CHANCE / (sample.sorted.len() - 1) as f64);
    (middle.exp(), if variance > chance { 1.0 - chance / variance } else { 0.0 })
}

/// A table of equal rows, made of some rounds of noise whose values change places.
fn table(pool: &mut [Vec<f64>], size: usize, rounds: usize, random: &mut ChaCha8Rng) -> Vec<Sample> {
    let mut rows = vec![Vec::with_capacity(rounds); size];
    for at in 0..rounds {
        let other = random.random_range(at..pool.len());
        pool.swap(at, other);
        let round = &mut pool[at];
        for (place, row) in rows.iter_mut().enumerate() {
            let place = place % round.len();
            let other = random.random_range(place..round.len());
            round.swap(place, other);
            row.push(round[place]);
        }
    }
    rows.into_iter().map(Sample::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that costs this much, with one of two states of the machine in each round.
    fn row(cost: f64, seed: u64, rounds: u32) -> Vec<(u32, f64)> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut state =
            || if random.random::<f64>() < 0.8 { 1.35 } else { 1.0 } + 0.01 * random.random::<f64>();
        (1..=rounds).map(|round| (round, cost * state())).collect()
    }

    fn noise(tables: &[Vec<Vec<(u32, f64)>>]) -> Noise {
        let slices: Vec<Vec<Rounds>> =
            tables.iter().map(|table| table.iter().map(Vec::as_slice).collect()).collect();
        Noise::of(&slices, false, TABLES, 1)
    }

    fn pairs(a: &[(u32, f64)], b: &[(u32, f64)]) -> Vec<(f64, f64)> {
        a.iter().zip(b).map(|(a, b)| (a.1, b.1)).collect()
    }

    fn table(cost: f64, rows: u64, rounds: u32) -> Vec<Vec<(u32, f64)>> {
        (0..rows).map(|at| row(cost, at + cost as u64, rounds)).collect()
    }

    #[test]
    fn what_differs_elsewhere_changes_no_verdict() {
        let equal = noise(&[table(1.0, 10, 12), table(1.0, 10, 12)]);
        let mut apart = table(1.0, 10, 12);
        for (at, row) in apart.iter_mut().enumerate() {
            row.iter_mut().for_each(|(_, amount)| *amount *= 4f64.powi(at as i32));
        }
        let unequal = noise(&[table(1.0, 10, 12), apart]);
        let (a, b) = (equal.rule().cutoffs, unequal.rule().cutoffs);
        assert!(!a.is_empty() && a.len() == b.len());
        a.iter().zip(b).for_each(|((_, a), (_, b))| assert!((a - b).abs() < 0.01, "{a} {b}"));
    }

    #[test]
    fn an_interval_leaves_out_one_exactly_where_two_differ() {
        let of = noise(&[table(1.0, 12, 12)]);
        let base = row(1.0, 3, 12);
        let (mut differ, mut equal) = (0, 0);
        for step in 0..40 {
            let other = row(1.0 + 0.02 * f64::from(step), 77, 12);
            let ratio = of.compare(&pairs(&other, &base), 1.0 + 0.02 * f64::from(step), 1.0).unwrap();
            assert_eq!(ratio.is_listed, ratio.low > 1.0 || ratio.high < 1.0, "{ratio:?}");
            assert!(ratio.low <= ratio.value && ratio.value <= ratio.high, "{ratio:?}");
            if ratio.is_claimed { differ += 1 } else { equal += 1 }
        }
        assert!(differ > 15 && equal > 0, "{differ} {equal}");
    }

    #[test]
    fn too_few_rounds_are_never_a_difference_and_no_noise_makes_any_one() {
        let few = noise(&[table(1.0, 12, 4)]);
        assert!(!few.compare(&pairs(&row(9.0, 1, 4), &row(1.0, 2, 4)), 9.0, 1.0).unwrap().is_listed);
        let still = |cost: f64| (1..=5).map(|round| (round, cost)).collect::<Vec<(u32, f64)>>();
        let of = noise(&[vec![still(3.0), still(2.0), still(2.0)]]);
        let told = |a: f64| of.compare(&pairs(&still(a), &still(2.0)), a / 2.0, 1.0).unwrap();
        assert!(told(3.0).is_claimed && !told(2.0).is_listed);
        assert!(
            of.compare(&[(1.0, 2.0)], 0.5, 1.0).is_none()
                && of.compare(&[(1.0, 2.0); 5], f64::NAN, 1.0).is_none()
        );
    }

    #[test]
    fn what_all_have_in_common_hides_nothing() {
        let of = noise(&[table(1.0, 12, 12)]);
        let (a, b) = (row(2.0, 5, 12), row(1.0, 6, 12));
        let more = |by: f64| {
            let pairs: Vec<(f64, f64)> = pairs(&a, &b).iter().map(|(a, b)| (a + by, b + by)).collect();
            of.compare(&pairs, (2.0 + by) / (1.0 + by), 3.0 / (3.0 + 2.0 * by)).unwrap()
        };
        assert!(more(0.0).is_claimed && more(20.0).is_claimed, "{:?} {:?}", more(0.0), more(20.0));
    }
}
