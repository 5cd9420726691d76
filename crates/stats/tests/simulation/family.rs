//! Reports under a kind of noise: what is said to differ without a difference, and what is found of one.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use weigh_stats::{FAMILY_WISE, LogRatio, Noise as Equals, Ratio, Rounds, Rule, TABLES, quantile};

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

/// The rule that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A moderated t test of all pairs of rows, corrected for their number: by Holm for sentences, by Benjamini and
    /// Hochberg for tables.
    Pairs,
    /// The noise of the run.
    Noise,
}

/// What a report says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdicts {
    /// A sentence says that one of two equal rows is more: each row beside the first and beside the best one.
    pub sentence: bool,
    /// A table marks such a difference.
    pub table: bool,
    /// A front has a step between equal rows.
    pub front: bool,
    /// A recommendation excludes a row that is as good as the best.
    pub recommendation: bool,
    /// The share of the dearer rows that tables mark beside the first row.
    pub marked: f64,
    /// The share of them that a sentence may name.
    pub found: f64,
}

/// Compares the rows of a run in which the second row of each table costs `factor` times as much as the others, and the
/// tables cost from 1 to 1000.
pub fn verdicts(noise: Noise, factor: f64, run: Run, by: By, random: &mut ChaCha8Rng) -> Verdicts {
    let Run { tables, rows, rounds } = run;
    let cost = |at: usize| {
        let table = 10f64.powf(3.0 * (at / rows) as f64 / tables as f64);
        if at % rows == 1 { table * factor } else { table }
    };
    let costs: Vec<f64> = (0..tables * rows).map(cost).collect();
    let seen = observe(noise, &costs, rounds, random);
    let told = Told::of(&seen, run, by, random.random());
    let mut of = Verdicts::default();
    for table in 0..tables {
        let all: Vec<usize> = (table * rows..(table + 1) * rows).collect();
        let differs = |i: usize, j: usize| costs[i] != costs[j];
        let best = *all.iter().min_by(|a, b| told.figures[**a].total_cmp(&told.figures[**b])).unwrap();
        for &i in &all {
            for j in [all[0], best].into_iter().filter(|j| *j != i && !differs(i, *j)) {
                let ratio = told.ratio(i, j);
                of.sentence |= ratio.is_claimed;
                of.table |= ratio.is_listed;
                of.recommendation |= j == best && ratio.is_listed && ratio.value > 1.0;
            }
        }
        // Sizes descend along the rows.
        let mut last = all[0];
        for &i in &all[1..] {
            let ratio = told.ratio(i, last);
            if ratio.is_listed && ratio.value < 1.0 {
                of.front |= !differs(i, last);
                last = i;
            }
        }
        let dearer = told.ratio(all[1], all[0]);
        of.marked += f64::from(u8::from(dearer.is_listed && dearer.value > 1.0)) / tables as f64;
        of.found += f64::from(u8::from(dearer.is_claimed && dearer.value > 1.0)) / tables as f64;
    }
    of
}

/// Everything that a rule says of a run.
struct Told<'a> {
    seen: &'a [Vec<f64>],
    figures: Vec<f64>,
    rule: Rule,
    noise: Option<Equals>,
}

impl<'a> Told<'a> {
    fn of(seen: &'a [Vec<f64>], run: Run, by: By, seed: u64) -> Told<'a> {
        let figures = seen.iter().map(|one| quantile(one, 0.1).expect("finite")).collect();
        let mut told = Told { seen, figures, rule: Rule::ALONE, noise: None };
        if by == By::Noise {
            let rounds = |one: &Vec<f64>| (1..).zip(one.iter().copied()).collect();
            let all: Vec<Vec<(u32, f64)>> = seen.iter().map(rounds).collect();
            let tables: Vec<Vec<Rounds>> =
                all.chunks(run.rows).map(|table| table.iter().map(Vec::as_slice).collect()).collect();
            told.noise = Some(Equals::of(&tables, false, TABLES, seed));
        } else {
            let pairs = (0..seen.len()).flat_map(|i| (i / run.rows * run.rows..i).map(move |j| (i, j)));
            let logs: Vec<LogRatio> = pairs.map(|(i, j)| told.log(i, j)).collect();
            told.rule = Rule::family(&[logs], FAMILY_WISE)[0];
        }
        told
    }

    fn log(&self, i: usize, j: usize) -> LogRatio {
        LogRatio::of(self.seen[i].iter().copied().zip(self.seen[j].iter().copied())).expect("rounds")
    }

    fn ratio(&self, i: usize, j: usize) -> Ratio {
        let value = self.figures[i] / self.figures[j];
        let ratio = match &self.noise {
            Some(noise) => {
                let pairs: Vec<(f64, f64)> =
                    self.seen[i].iter().copied().zip(self.seen[j].iter().copied()).collect();
                noise.compare(&pairs, value, 1.0)
            }
            None => self.rule.compare_log(&self.log(i, j), value, 1.0),
        };
        ratio.expect("positive")
    }
}

/// Shares over trials, in the order of [`Verdicts`].
pub fn shares(
    noise: Noise,
    factor: f64,
    run: Run,
    by: By,
    trials: usize,
    random: &mut ChaCha8Rng,
) -> [f64; 6] {
    let mut sum = [0.0; 6];
    for _ in 0..trials {
        let of = verdicts(noise, factor, run, by, random);
        let wrong = [of.sentence, of.table, of.front, of.recommendation].map(|one| f64::from(u8::from(one)));
        let one = [wrong[0], wrong[1], wrong[2], wrong[3], of.marked, of.found];
        sum.iter_mut().zip(one).for_each(|(sum, x)| *sum += x);
    }
    sum.map(|sum| sum / trials as f64)
}
