//! One way to handle the content of a kind, with its amounts per month.

use weigh_model::policy::{Need, Rule};

use super::content::Item;
use super::weights::Weights;
use crate::estimate::Estimate;
use crate::row::Row;
use crate::verdict::is_total_told_less;

/// Nanoseconds of a second.
pub(crate) const NS: f64 = 1e9;

/// Amounts per month that are known without an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Exact {
    /// Seconds that visitors wait, without the CPU time of server and PHP.
    pub wait: f64,
    /// Bytes sent.
    pub sent: f64,
    /// Bytes stored.
    pub stored: f64,
    /// Seconds that PHP workers are busy with pages and downloads; zero if unknown.
    pub workers: f64,
}

impl Exact {
    /// The sum of both.
    pub fn plus(self, other: Exact) -> Exact {
        Exact {
            wait: self.wait + other.wait,
            sent: self.sent + other.sent,
            stored: self.stored + other.stored,
            workers: self.workers + other.workers,
        }
    }

    /// This many times as much.
    pub fn times(self, factor: f64) -> Exact {
        Exact {
            wait: self.wait * factor,
            sent: self.sent * factor,
            stored: self.stored * factor,
            workers: self.workers * factor,
        }
    }

    /// Its value in the objective.
    pub fn cost(&self, weights: &Weights) -> f64 {
        weights.wait * self.wait + weights.sent * self.sent + weights.stored * self.stored
    }
}

/// What one sample file adds to a setup, for clients that get the same of it. Its stratum, the file and the row that it was measured by
/// are told by their addresses.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The stratum.
    pub stratum: usize,
    /// The sample file.
    pub sample: usize,
    /// The row.
    pub row: usize,
    /// CPU nanoseconds per month; none: not measured.
    pub cpu: Option<Estimate>,
    /// The other amounts.
    pub exact: Exact,
}

impl Part {
    /// What a file adds by a row.
    pub fn new(item: &Item, row: &Row, cpu: Option<Estimate>, exact: Exact) -> Part {
        let stratum = std::ptr::from_ref(item.stratum).addr();
        let (sample, row) = (std::ptr::from_ref(item.sample).addr(), std::ptr::from_ref(row).addr());
        Part { stratum, sample, row, cpu, exact }
    }
}

/// Amounts per month while they are added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    cpu: Option<Estimate>,
    exact: Exact,
    parts: Vec<Part>,
}

impl Sum {
    /// Adds what responses or operations take.
    pub fn add(&mut self, part: Part) {
        self.exact = self.exact.plus(part.exact);
        self.cpu = match (self.cpu.take(), &part.cpu) {
            (Some(sum), Some(cpu)) => Some(sum.plus(cpu)),
            (one, other) => one.or(other.clone()),
        };
        self.parts.push(part);
    }

    /// CPU time, the other amounts, and what they are the sums of.
    pub fn totals(self) -> (Estimate, Exact, Vec<Part>) {
        (self.cpu.unwrap_or_default(), self.exact, self.parts)
    }
}

/// One way to handle the content of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// What it does, in words, to stand after "Use" or "With".
    pub name: String,
    /// What it sends or stores, the first that applies.
    pub rules: Vec<Rule>,
    /// A method that is no content coding.
    pub method: Option<String>,
    /// What the site does not have for it.
    pub needs: Vec<Need>,
    /// Whether it is what the site does today.
    pub is_today: bool,
    /// CPU time per month of server and PHP, in nanoseconds. Visitors wait for it, too.
    pub cpu: Estimate,
    /// The other amounts.
    pub exact: Exact,
    /// What both are the sums of, as far as it was measured.
    pub parts: Vec<Part>,
}

impl Setup {
    /// The same with more that is known without an interval.
    pub fn with(mut self, more: Exact) -> Setup {
        self.exact = self.exact.plus(more);
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

    /// Whether it is better than another: by the verdict, or by the figures where there are too few rounds.
    pub fn is_better(&self, other: &Setup, weights: &Weights) -> bool {
        let ((a, more_a), (b, more_b)) = (self.total(weights), other.total(weights));
        if a.value == 0.0 && b.value == 0.0 {
            return more_a < more_b;
        }
        is_total_told_less((&a, more_a), (&b, more_b))
    }

    /// The rounds of CPU time that each part has at least; 0 where none was measured in rounds.
    pub fn fewest_rounds(&self) -> usize {
        let cpu = self.parts.iter().filter_map(|part| part.cpu.as_ref());
        cpu.map(|cpu| cpu.drawn_rounds().len()).min().unwrap_or_default()
    }

    /// How much it asks of the site: things to install.
    pub fn burden(&self) -> usize {
        self.needs.len()
    }
}
