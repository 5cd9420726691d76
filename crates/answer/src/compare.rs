//! Two runs, or two sides of one run, configuration by configuration: what changed, by how much, and whether that is
//! more than chance and the machine explain.
//!
//! Rows are matched by their factors. [`crate::verdict`] decides what differs: between two runs, whose rounds are not pairs,
//! beside what all configurations have in common; within one run, in the rounds that both sides have.

pub mod document;
mod environment;
pub mod gate;
pub mod junit;
pub mod machines;
mod matched;
pub mod page_loads;

use schemars::JsonSchema;
use serde::Serialize;
use weigh_model::gate::Gate;
use weigh_model::units;
use weigh_stats::{Between, ROUNDS};

use crate::estimate::Estimate;
use crate::load_view::LoadView;
use crate::metric::{Aggregation, Better, Metric, Unit};
use crate::report::Report;
use crate::row::Row;
use crate::verdict::{Ratio, RatioWithUncorrected, between_runs, within_rounds};

pub use environment::Change;
pub use matched::Names;

/// The version of the JSON.
pub const SCHEMA: u32 = 1;

/// The comparison of two sides.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Comparison {
    /// The version of this form.
    pub schema: u32,
    /// How the sides were measured.
    pub method: Method,
    /// The subject: `codec`, `delivery`, `client`.
    pub subject: String,
    /// The side that is compared with: the baseline.
    pub a: Side,
    /// The side that is judged.
    pub b: Side,
    /// What is not the same on both sides, the most important first.
    pub changes: Vec<Change>,
    /// What the sides have in common, by metric.
    pub quantities: Vec<Quantity>,
    /// The number of comparisons for which significance is corrected.
    pub comparisons: usize,
    /// Configurations by metric, the most important first.
    pub rows: Vec<Compared>,
    /// Configurations that only A has, by id.
    pub only_a: Vec<String>,
    /// Configurations that only B has, by id.
    pub only_b: Vec<String>,
    /// The gates that were asked for.
    pub gates: Vec<gate::Judged>,
    /// Loads in a browser, for a page.
    #[serde(skip)]
    pub loads: Vec<LoadView>,
}

/// How two sides were measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// In two runs, one after the other.
    Runs,
    /// In the same rounds of one run.
    Paired,
}

/// One side.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Side {
    /// Its name: a run, a baseline, a PHP.
    pub name: String,
    /// The study.
    pub study: String,
    /// When its run was started, RFC 3339, UTC.
    pub started: String,
    /// Rounds.
    pub rounds: u32,
    /// Seconds of wall time.
    pub seconds: f64,
    /// The machine, on one line.
    pub machine: String,
}

/// What the sides have in common in one metric.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Quantity {
    /// The metric's id.
    pub metric: String,
    /// B ÷ A of all configurations together: the machine changed, or the program everywhere. 1 for sides of one run.
    pub shift: f64,
    /// The standard deviation of a ratio from run to run, as a share, in addition to that within runs; 0 for sides of one
    /// run.
    pub spread: f64,
    /// Configurations on both sides.
    pub configurations: usize,
    /// Whether there are enough configurations to tell a change of the machine from one of the program.
    pub told: bool,
}

/// One configuration in one metric.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Compared {
    /// The id of B's cell.
    pub configuration: String,
    /// The metric's id.
    pub metric: String,
    /// The unit of both values.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// A's value.
    pub a: f64,
    /// B's value.
    pub b: f64,
    /// B ÷ A beside the shift of all configurations, with its interval; null for values that are known exactly, or were
    /// not observed in rounds.
    pub ratio: Option<Ratio>,
    /// The 95% interval of the ratio without correction for other configurations: gates pass by it.
    pub alone: Option<[f64; 2]>,
    /// What it came to.
    pub verdict: Verdict,
}

/// What a comparison came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B is worse.
    Worse,
    /// B is better.
    Better,
    /// B is worse at the level for tables: at most one in twenty of these is wrong on average.
    MaybeWorse,
    /// B is better at that level.
    MaybeBetter,
    /// No significant difference.
    Same,
    /// Too few rounds for a test.
    Untested,
}

impl Verdict {
    /// Whether B differs: a finding.
    pub fn is_claimed(self) -> bool {
        matches!(self, Verdict::Worse | Verdict::Better)
    }

    /// Of a ratio that is larger than 1 if B has more.
    pub(crate) fn of(ratio: &Ratio, better: Better) -> Verdict {
        let is_worse = (ratio.value > 1.0) == (better == Better::Less);
        match (ratio.claimed, ratio.is_settled(), is_worse) {
            (true, _, true) => Verdict::Worse,
            (true, _, false) => Verdict::Better,
            (false, true, true) => Verdict::MaybeWorse,
            (false, true, false) => Verdict::MaybeBetter,
            (false, false, _) if (ratio.rounds as usize) < ROUNDS => Verdict::Untested,
            (false, false, _) => Verdict::Same,
        }
    }
}

impl Compared {
    /// A configuration in one metric as it was told; without a ratio it is untested.
    pub(crate) fn of(
        configuration: &str,
        (metric, unit, better): (&str, Unit, Better),
        (a, b): (f64, f64),
        told: Option<RatioWithUncorrected>,
    ) -> Compared {
        Compared {
            configuration: configuration.to_owned(),
            metric: metric.to_owned(),
            unit,
            better,
            a,
            b,
            ratio: told.map(|told| told.ratio),
            alone: told.map(|told| [told.alone.low, told.alone.high]),
            verdict: told.map_or(Verdict::Untested, |told| Verdict::of(&told.ratio, better)),
        }
    }

    /// B ÷ A by the figures alone.
    pub fn quotient(&self) -> f64 {
        if self.a == self.b { 1.0 } else { self.b / self.a }
    }
}

impl Comparison {
    /// Compares two runs. Metrics are the subject's headlines and sizes, and those that `gates` name.
    pub fn of(a: &Report, b: &Report, names: Names, gates: &[Gate]) -> Comparison {
        let pairs = matched::by_factors(a, b);
        let changes = environment::changes(a, b, &pairs);
        let unpaired = Comparison { method: Method::Runs, ..Comparison::of_reports((a, b), names, changes) };
        unpaired.judged(pairs, b, gates, |ratios| between_runs(ratios, b.run.seed))
    }

    /// Compares two sides of one run, each as a report of its own: they have the same rounds. What is not the same on both is what is
    /// compared, and forbids nothing.
    pub fn paired(a: &Report, b: &Report, names: Names, gates: &[Gate]) -> Comparison {
        let pairs = matched::by_factors(a, b);
        let changes = environment::changes(a, b, &pairs).into_iter();
        let changes = changes.map(|change| Change { forbids: false, ..change }).collect();
        let one = |ratios: Vec<Option<RatioWithUncorrected>>| {
            (Between::paired(ratios.iter().flatten().count()), ratios)
        };
        let told = |ratios: &Ratios| within_rounds(ratios).into_iter().map(one).collect();
        Comparison::of_reports((a, b), names, changes).judged(pairs, b, gates, told)
    }

    /// Two reports before they are judged.
    fn of_reports((a, b): (&Report, &Report), names: Names, changes: Vec<Change>) -> Comparison {
        let sides = (side(a, names.a), side(b, names.b));
        Comparison::of_rows(b.shape.name, sides, Vec::new(), changes)
    }

    /// Two sides, A and B, of results that were measured in turn and are tested already, with what differed beside them.
    pub(crate) fn of_rows(
        subject: &str,
        (a, b): (Side, Side),
        mut rows: Vec<Compared>,
        changes: Vec<Change>,
    ) -> Comparison {
        rows.sort_by_key(|row| row.verdict);
        Comparison {
            schema: SCHEMA,
            method: Method::Paired,
            subject: subject.to_owned(),
            a,
            b,
            changes,
            quantities: Vec::new(),
            comparisons: tested(&rows),
            rows,
            only_a: Vec::new(),
            only_b: Vec::new(),
            gates: Vec::new(),
            loads: Vec::new(),
        }
    }

    /// Judges configurations by `told`, and gates by the results; `report` is that of side B.
    fn judged(
        mut self,
        pairs: matched::Pairs,
        report: &Report,
        gates: &[Gate],
        told: impl Fn(&Ratios) -> Vec<(Between, Vec<Option<RatioWithUncorrected>>)>,
    ) -> Comparison {
        let metrics = compared_metrics(report, gates);
        let observed = metrics.iter().map(|metric| (*metric, estimates(&pairs.both, metric)));
        let observed: Vec<(&'static Metric, Vec<Observed>)> =
            observed.filter(|(_, of)| !of.is_empty()).collect();
        let (drawn, exact): (Vec<_>, Vec<_>) =
            observed.into_iter().partition(|(metric, _)| !is_exact(metric));
        let ratios: Vec<Vec<(&Estimate, &Estimate)>> =
            drawn.iter().map(|(_, of)| of.iter().map(|(_, a, b)| (*a, *b)).collect()).collect();
        for ((metric, of), (between, ratios)) in drawn.iter().zip(told(&ratios)) {
            self.quantities.push(quantity(metric, &between));
            let told = of.iter().zip(ratios);
            self.rows.extend(told.map(|((row, a, b), ratio)| compared(row, metric, (a, b), ratio)));
        }
        for (metric, of) in &exact {
            self.rows.extend(of.iter().map(|(row, a, b)| compared(row, metric, (a, b), None)));
        }
        self.rows.sort_by(|x, y| {
            (x.verdict, -size(x)).partial_cmp(&(y.verdict, -size(y))).unwrap_or(std::cmp::Ordering::Equal)
        });
        self.comparisons = tested(&self.rows);
        (self.only_a, self.only_b) = (pairs.only_a, pairs.only_b);
        self.gates = gate::judge(gates, &self, report);
        self
    }

    /// The findings: configurations that differ.
    pub fn findings(&self) -> impl Iterator<Item = &Compared> {
        self.rows.iter().filter(|row| row.verdict.is_claimed())
    }

    /// Whether any configuration is worse.
    pub fn is_worse(&self) -> bool {
        self.rows.iter().any(|row| row.verdict == Verdict::Worse)
    }

    pub fn forbidden(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.forbids)
    }

    /// The unit and shift of a metric; a shift of 1 for one that is known exactly.
    pub fn shift(&self, metric: &str) -> f64 {
        self.quantities
            .iter()
            .find(|quantity| quantity.metric == metric)
            .map_or(1.0, |quantity| quantity.shift)
    }
}

/// Pairs of estimates by metric.
type Ratios<'r> = [Vec<(&'r Estimate, &'r Estimate)>];

/// A configuration with both values: B's row, A's and B's.
type Observed<'r> = (&'r Row, &'r Estimate, &'r Estimate);

/// The configurations of which both sides have a metric.
fn estimates<'r>(pairs: &[(&'r Row, &'r Row)], metric: &Metric) -> Vec<Observed<'r>> {
    pairs.iter().filter_map(|(a, b)| Some((*b, usable(a, metric)?, usable(b, metric)?))).collect()
}

/// A ratio with its interval; near 1 with four decimals, because a change of 1% is what is looked for.
fn ratio_text(value: f64, low: f64, high: f64) -> String {
    if (value - 1.0).abs() < 0.1 {
        format!("{value:.4}× ({low:.4}–{high:.4})")
    } else {
        units::times_interval(value, low, high)
    }
}

/// The number of comparisons that were tested.
fn tested(rows: &[Compared]) -> usize {
    let is_tested = |row: &&Compared| row.ratio.is_some_and(|ratio| ratio.rounds as usize >= ROUNDS);
    rows.iter().filter(is_tested).count()
}

/// The distance from no change.
fn size(row: &Compared) -> f64 {
    row.ratio.map_or(row.quotient(), |ratio| ratio.value).ln().abs()
}

fn side(report: &Report, name: String) -> Side {
    let run = &report.run;
    Side {
        name,
        study: report.study.name.clone(),
        started: run.started.clone(),
        rounds: run.rounds,
        seconds: run.seconds,
        machine: run.machine.clone(),
    }
}

fn quantity(metric: &Metric, between: &Between) -> Quantity {
    Quantity {
        metric: metric.id.to_owned(),
        shift: between.shift,
        spread: between.spread,
        configurations: between.configurations,
        told: between.is_told,
    }
}

fn compared(
    row: &Row,
    metric: &Metric,
    (a, b): (&Estimate, &Estimate),
    told: Option<RatioWithUncorrected>,
) -> Compared {
    let Metric { id, unit, better, .. } = *metric;
    let compared = Compared::of(row.id(), (id, unit, better), (a.value, b.value), told);
    let verdict = match (told, is_exact(metric)) {
        (Some(_), _) => compared.verdict,
        // Neither has any.
        (None, false) if a.value == 0.0 && b.value == 0.0 => Verdict::Same,
        (None, false) => Verdict::Untested,
        (None, true) if a.value == b.value => Verdict::Same,
        (None, true) if (b.value > a.value) == (better == Better::Less) => Verdict::Worse,
        (None, true) => Verdict::Better,
    };
    Compared { verdict, ..compared }
}

/// Known exactly: any difference is a change.
fn is_exact(metric: &Metric) -> bool {
    metric.over == Aggregation::Exact
}

fn usable<'r>(row: &'r Row, metric: &Metric) -> Option<&'r Estimate> {
    row.get(metric.id).filter(|estimate| estimate.value.is_finite())
}

/// The subject's headlines, its size, and what gates name; each has a better direction.
fn compared_metrics(report: &Report, gates: &[Gate]) -> Vec<&'static Metric> {
    let shape = report.shape();
    let is_size = |metric: &Metric| match &shape.axes {
        Some(axes) => metric.id == axes.size,
        None => is_exact(metric) && metric.unit == Unit::Bytes,
    };
    let is_asked = |metric: &Metric| gates.iter().any(|gate| gate.metric == metric.id);
    let is_wanted =
        |metric: &&Metric| shape.headline.contains(&metric.id) || is_size(metric) || is_asked(metric);
    shape.metrics().filter(|metric| metric.better != Better::Neither).filter(is_wanted).collect()
}
