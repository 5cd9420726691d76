//! Reports under a kind of noise: what is said to differ without a difference, and what is found of one.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use weigh_stats::{Noise as Equals, Ratio, Rounds, TABLES, quantile};

use crate::noise::{Noise, observe};

/// A run of several tables with this many rows each, measured in this many rounds.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The number of tables.
    pub tables: usize,
    /// The number of rows of each.
    pub rows: usize,
    /// The number of rounds.
    pub rounds: usize,
}

/// What a report says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdicts {
    /// One of two equal rows is called more: in a sentence or a mark (each row beside the first and beside the best one),
    /// by a step of a front, or by a recommendation, which excludes a row that is as good as the best.
    pub wrong: bool,
    /// The share of the dearer rows that are called dearer than the first one.
    pub found: f64,
}

/// Compares the rows of a run in which the second row of each table costs `factor` times as much as the others, and the
/// tables cost from 1 to 1000.
pub fn verdicts(noise: Noise, factor: f64, run: Run, random: &mut ChaCha8Rng) -> Verdicts {
    let Run { tables, rows, rounds } = run;
    let cost = |at: usize| {
        let table = 10f64.powf(3.0 * (at / rows) as f64 / tables as f64);
        if at % rows == 1 { table * factor } else { table }
    };
    let costs: Vec<f64> = (0..tables * rows).map(cost).collect();
    let seen = observe(noise, &costs, rounds, random);
    let told = RuleResult::of(&seen, run, random.random());
    let mut of = Verdicts::default();
    for table in 0..tables {
        let all: Vec<usize> = (table * rows..(table + 1) * rows).collect();
        let differs = |i: usize, j: usize| costs[i] != costs[j];
        let best = *all.iter().min_by(|a, b| told.figures[**a].total_cmp(&told.figures[**b])).unwrap();
        for &i in &all {
            let bases = [all[0], best].into_iter().filter(|j| *j != i && !differs(i, *j));
            of.wrong |= bases.into_iter().any(|j| told.ratio(i, j).is_claimed);
        }
        // Sizes descend along the rows.
        let mut last = all[0];
        for &i in &all[1..] {
            let ratio = told.ratio(i, last);
            if ratio.is_claimed && ratio.value < 1.0 {
                of.wrong |= !differs(i, last);
                last = i;
            }
        }
        let dearer = told.ratio(all[1], all[0]);
        of.found += f64::from(u8::from(dearer.is_claimed && dearer.value > 1.0)) / tables as f64;
    }
    of
}

/// Everything that the rule says of a run.
struct RuleResult<'a> {
    seen: &'a [Vec<f64>],
    figures: Vec<f64>,
    noise: Equals,
}

impl<'a> RuleResult<'a> {
    fn of(seen: &'a [Vec<f64>], run: Run, seed: u64) -> RuleResult<'a> {
        let figures = seen.iter().map(|one| quantile(one, 0.1).expect("finite")).collect();
        let all: Vec<Vec<(u32, f64)>> =
            seen.iter().map(|one| (1..).zip(one.iter().copied()).collect()).collect();
        let tables: Vec<Vec<Rounds>> =
            all.chunks(run.rows).map(|table| table.iter().map(Vec::as_slice).collect()).collect();
        RuleResult { seen, figures, noise: Equals::of(&tables, false, TABLES, seed) }
    }

    fn ratio(&self, i: usize, j: usize) -> Ratio {
        let pairs: Vec<(f64, f64)> = self.seen[i].iter().copied().zip(self.seen[j].iter().copied()).collect();
        self.noise.compare(&pairs, self.figures[i] / self.figures[j], 1.0).expect("positive")
    }
}

/// Over trials: the share of reports with something wrong, and of dearer rows that are found.
pub fn shares(noise: Noise, factor: f64, run: Run, trials: usize, random: &mut ChaCha8Rng) -> [f64; 2] {
    let mut sum = [0.0; 2];
    for _ in 0..trials {
        let of = verdicts(noise, factor, run, random);
        sum = [sum[0] + f64::from(u8::from(of.wrong)), sum[1] + of.found];
    }
    sum.map(|sum| sum / trials as f64)
}
