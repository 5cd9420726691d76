//! Chooses the best of several candidates over several works, and lists those without a significant difference to it.

use weigh_model::client::Client;
use weigh_stats::ROUNDS;

use crate::estimate::Estimate;
use crate::finding::label;
use crate::first::{distinct, grouped};
use crate::row::Row;
use crate::subject::client::{CPU, GET_MEAN, PUT_MEAN, SECONDS};
use crate::verdict::{Ratio, ratio};

/// With too few rounds for a test, figures this close count as equal.
const NEAR: f64 = 1.1;

/// The cost to minimise.
#[derive(Clone, Copy)]
pub(super) enum Measure {
    /// CPU time of workers and store per transaction.
    Cpu,
    /// Seconds for all transactions.
    Seconds,
    /// The mean time inside a call, over reads and writes in their mix.
    Call,
}

/// The choice, with its rows by work.
pub(super) struct Picked<'a, K> {
    pub best: K,
    pub rows: Vec<&'a Row>,
    /// The rows of those without a significant difference on any work.
    pub tied: Vec<Vec<&'a Row>>,
    /// The rows of the others, in the order of the study.
    pub others: Vec<Vec<&'a Row>>,
    /// How many competed.
    pub of: usize,
    measure: Measure,
}

impl Measure {
    pub fn of(self, row: &Row) -> Option<Estimate> {
        match self {
            Measure::Cpu => row.get(CPU).cloned(),
            Measure::Seconds => row.get(SECONDS).cloned(),
            Measure::Call => {
                let writes = row.cell.client.as_ref()?.mix.writes();
                let part = |metric: &str, share: f64| Some(row.get(metric)?.scaled(share));
                match (part(PUT_MEAN, writes), part(GET_MEAN, 1.0 - writes)) {
                    (Some(put), Some(get)) => Some(put.plus(&get)),
                    (one, other) => one.or(other),
                }
            }
        }
    }

    fn ratio(self, a: &Row, b: &Row) -> Option<Ratio> {
        ratio(&self.of(a)?, &self.of(b)?)
    }

    /// By the figures alone.
    fn figures(self, a: &Row, b: &Row) -> Option<f64> {
        Some(self.of(a)?.value / self.of(b)?.value)
    }

    /// Whether `a` costs less than `b`: by the verdict, or with too few rounds by figures that are far apart.
    pub fn is_better(self, a: &Row, b: &Row) -> bool {
        match self.ratio(a, b).filter(|ratio| ratio.rounds as usize >= ROUNDS) {
            Some(ratio) => ratio.value < 1.0 && ratio.is_settled(),
            None => self.figures(a, b).is_some_and(|ratio| ratio * NEAR < 1.0),
        }
    }

    /// `34% less CPU time per transaction (30–38%)`, of `a` beside `b`.
    pub fn change(self, a: &Row, b: &Row) -> Option<String> {
        let what = match self {
            Measure::Cpu => "CPU time per transaction",
            Measure::Seconds => "time per transaction",
            Measure::Call => "time per call",
        };
        Some(label::change(&self.ratio(a, b)?, what))
    }
}

/// The comparable parts of two rows.
fn is_alike(a: &Row, b: &Row) -> bool {
    let work =
        |row: &Row| row.cell.client.as_ref().map(|c: &Client| (c.work(), c.link.clone(), c.transactions));
    a.cell.payload == b.cell.payload && work(a) == work(b)
}

/// The pairs of two that do the same work.
fn pairs<'a, 's>(
    ours: &'s [&'a Row],
    theirs: &'s [&'a Row],
) -> impl Iterator<Item = (&'a Row, &'a Row)> + 's {
    let both = ours.iter().flat_map(|a| theirs.iter().map(move |b| (*a, *b)));
    both.filter(|(a, b)| is_alike(a, b))
}

impl<'a, K> Picked<'a, K> {
    /// Ids of its cells, except for works that another candidate does for less.
    pub fn cells(&self) -> Vec<String> {
        let is_beaten = |own: &&Row| self.better(own).is_some();
        self.rows.iter().filter(|own| !is_beaten(own)).map(|row| row.cell.id.clone()).collect()
    }

    /// A candidate that does a row's work for less.
    fn better(&self, own: &Row) -> Option<&'a Row> {
        let mut all = self.others.iter().flatten();
        all.find(|other| is_alike(own, other) && self.measure.is_better(other, own)).copied()
    }

    /// It and another candidate on the first work where the other is better.
    pub fn gain(&self, other: &[&'a Row]) -> Option<(&'a Row, &'a Row)> {
        pairs(&self.rows, other).find(|(ours, theirs)| self.measure.is_better(ours, theirs))
    }

    /// A candidate that does a work for less, and this one.
    pub fn exception(&self) -> Option<(&'a Row, &'a Row)> {
        self.rows.iter().find_map(|own| Some((self.better(own)?, *own)))
    }
}

/// Among the candidates measured on the most contested works: the one whose largest distance from the best is smallest.
/// Among those without a significant difference to it on any work, the one with the lowest rank.
pub(super) fn pick<'a, K: Copy + PartialEq, R: Ord>(
    works: &[Vec<&'a Row>],
    measure: Measure,
    key: impl Fn(&'a Row) -> Option<K>,
    rank: impl Fn(&K) -> R,
) -> Option<Picked<'a, K>> {
    let rows = works.iter().flatten().copied().filter(|row| measure.of(row).is_some());
    let all: Vec<(K, Vec<&Row>)> = grouped(rows.filter_map(|row| Some((key(row)?, row))));
    let rivals = |own: &[&'a Row]| {
        let competes =
            |row: &&&Row| all.iter().filter(|(_, other)| other.iter().any(|o| is_alike(row, o))).count() > 1;
        own.iter().filter(competes).count()
    };
    let most = all.iter().map(|(_, rows)| rivals(rows)).max()?;
    let widest: Vec<&(K, Vec<&Row>)> = all.iter().filter(|(_, rows)| rivals(rows) == most).collect();
    let worst = |rows: &[&'a Row]| {
        let beside = widest.iter().flat_map(|(_, other)| pairs(rows, other));
        beside.filter_map(|(own, other)| measure.figures(own, other)).fold(1.0, f64::max)
    };
    let best = widest.iter().min_by(|a, b| worst(&a.1).total_cmp(&worst(&b.1)))?;
    let differ = |ours: &[&'a Row], theirs: &[&'a Row]| {
        pairs(ours, theirs).any(|(a, b)| measure.is_better(a, b) || measure.is_better(b, a))
    };
    let ties = widest.iter().filter(|(_, rows)| !differ(&best.1, rows));
    let (chosen, rows) = ties.min_by_key(|(key, _)| rank(key))?;
    let rest = all.iter().filter(|(key, other)| key != chosen && pairs(rows, other).next().is_some());
    let (tied, others) =
        rest.map(|(_, rows)| rows.clone()).partition(|other: &Vec<&Row>| !differ(rows, other));
    let of = distinct(all.iter().map(|(key, _)| *key)).len();
    Some(Picked { best: *chosen, rows: rows.clone(), tied, others, of, measure })
}
