//! One way to handle the content of a kind, with its amounts per month.

use weigh_model::policy::{Need, Rule};
use weigh_model::site::{Sample, Stratum};

use super::content::Item;
use super::uncertainty::Quantity;
use crate::choose::{Candidate, Choice, Cost};
use crate::estimate::Estimate;
use crate::money::Weights;
use crate::row::Row;

/// Nanoseconds of a second.
pub(crate) const NS: f64 = 1e9;

/// The share of workers' time by which one setup must be lower for that to count among equal ones.
const WORKERS: f64 = 0.1;

/// Amounts per month that are known without an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Exact {
    /// Seconds that visitors wait, without the CPU time of server and PHP.
    pub wait: f64,
    /// Those of them that nothing changes: the application's, and the way there and back of a response without a body.
    pub fixed: f64,
    /// Seconds that the application takes, which count as its CPU time; zero if that is not known of all pages.
    pub made: f64,
    /// Bytes sent.
    pub sent: f64,
    /// Bytes stored.
    pub stored: f64,
    /// Seconds that PHP workers are busy with pages and downloads; zero if unknown.
    pub workers: f64,
}

impl Exact {
    pub fn plus(self, other: Exact) -> Exact {
        self.with(other, |a, b| a + b)
    }

    /// This many times as much.
    pub fn times(self, factor: f64) -> Exact {
        self.with(self, |a, _| a * factor)
    }

    fn with(self, other: Exact, of: impl Fn(f64, f64) -> f64) -> Exact {
        Exact {
            wait: of(self.wait, other.wait),
            fixed: of(self.fixed, other.fixed),
            made: of(self.made, other.made),
            sent: of(self.sent, other.sent),
            stored: of(self.stored, other.stored),
            workers: of(self.workers, other.workers),
        }
    }

    /// Its value in the objective.
    pub fn cost(&self, weights: &Weights) -> f64 {
        let changed = self.changed_cost(weights);
        changed + weights.wait * self.fixed + weights.core * self.made
    }

    /// The value of what a setup changes.
    pub fn changed_cost(&self, weights: &Weights) -> f64 {
        weights.wait * (self.wait - self.fixed) + weights.sent * self.sent + weights.stored * self.stored
    }
}

/// What one sample file adds to a setup, for clients that get the same of it. Its stratum, the file and the row that it was measured by
/// are told by their addresses.
#[derive(Clone, Debug)]
pub(crate) struct FileAmounts {
    pub stratum: usize,
    pub sample: usize,
    /// The row; of a file that was not measured, the file.
    pub row: usize,
    /// CPU nanoseconds per month; none: not measured.
    pub cpu: Option<Estimate>,
    pub exact: Exact,
}

fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

impl FileAmounts {
    pub fn new(item: &Item, row: &Row, cpu: Option<Estimate>, exact: Exact) -> FileAmounts {
        FileAmounts { row: address(row), cpu, ..FileAmounts::encoded(item.stratum, item.sample, exact) }
    }

    /// What a file adds of which nothing is known but its bytes.
    pub fn encoded(stratum: &Stratum, sample: &Sample, exact: Exact) -> FileAmounts {
        let (stratum, sample) = (address(stratum), address(sample));
        FileAmounts { stratum, sample, row: sample, cpu: None, exact }
    }

    pub fn is_of(&self, stratum: &Stratum) -> bool {
        self.stratum == address(stratum)
    }

    pub fn quantity(&self, of: Quantity) -> (f64, f64) {
        of(self.cpu.as_ref().map_or(0.0, |cpu| cpu.value), &self.exact)
    }
}

/// One way to handle the content of a kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setup {
    /// What it does, in words, to stand after "Use" or "With".
    pub name: String,
    /// What it sends or stores, the first that applies.
    pub rules: Vec<Rule>,
    /// A method that is not a content coding.
    pub method: Option<String>,
    /// What the site does not have for it.
    pub needs: Vec<Need>,
    /// Whether it is what the site does today.
    pub is_today: bool,
    /// CPU time per month of server and PHP, in nanoseconds. Visitors wait for it, too.
    pub cpu: Estimate,
    pub exact: Exact,
    /// What both are the sums of, as far as it was measured.
    pub parts: Vec<FileAmounts>,
}

impl Setup {
    /// What these parts add up to.
    pub fn of(parts: Vec<FileAmounts>) -> Setup {
        let cpu = parts.iter().filter_map(|part| part.cpu.clone()).reduce(|sum, cpu| sum.plus(&cpu));
        let exact = parts.iter().map(|part| part.exact).fold(Exact::default(), Exact::plus);
        Setup { cpu: cpu.unwrap_or_default(), exact, parts, ..Setup::default() }
    }

    pub fn plus(self, other: Setup) -> Setup {
        let (cpu, exact) = (self.cpu.plus(&other.cpu), self.exact.plus(other.exact));
        Setup { cpu, exact, parts: [self.parts, other.parts].concat(), ..self }
    }

    /// The same with what was not measured.
    pub fn with_rest(mut self, rest: &Rest) -> Setup {
        self.parts.extend(rest.parts.iter().cloned());
        self.exact = self.exact.plus(rest.exact);
        self
    }

    /// Its value in the objective.
    pub fn cost(&self, weights: &Weights) -> f64 {
        let (cpu, exact) = self.total(weights);
        cpu.value + exact
    }

    /// The same as the part with an interval, and the part without.
    pub fn total(&self, weights: &Weights) -> (Estimate, f64) {
        (self.cpu.scaled((weights.wait + weights.core) / NS), self.exact.cost(weights))
    }

    /// The rounds of CPU time that each part has at least; 0 where none was measured in rounds.
    pub fn fewest_rounds(&self) -> usize {
        let cpu = self.parts.iter().filter_map(|part| part.cpu.as_ref());
        cpu.map(|cpu| cpu.drawn_rounds().len()).min().unwrap_or_default()
    }
}

/// Chooses among setups of one content, by what they change: of equal ones today's, else the one that asks least of the site. A method of downloads
/// that slow clients keep workers busy with is none beside one that sets them free. Nothing if there is no setup.
pub(crate) fn choose(setups: &[Setup], weights: &Weights, tolerance: f64) -> Option<Choice> {
    let least = setups.iter().map(|setup| setup.exact.workers).fold(f64::INFINITY, f64::min);
    let candidate = |setup: &Setup| {
        let cost = Cost { varies: setup.total(weights).0, known: setup.exact.changed_cost(weights) };
        let keeps_workers = setup.exact.workers * (1.0 - WORKERS) > least;
        let rank = if setup.is_today { 0 } else { 1 + setup.needs.len() };
        let rank = if keeps_workers { rank + setups.len() } else { rank };
        let is_held = setup.method.is_some() && least == 0.0 && setup.exact.workers > 0.0;
        Candidate { costs: vec![Some(cost)], may_be_best: !is_held, rank }
    };
    let candidates: Vec<Candidate> = setups.iter().map(candidate).collect();
    crate::choose::choose(tolerance, &candidates).into_iter().next()
}

/// What content takes that was not measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rest {
    pub exact: Exact,
    /// What of it each sample file adds whose bytes with the chosen rules are known.
    pub parts: Vec<FileAmounts>,
}
