//! A row: one configuration with all its results.

mod seen;

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;
use weigh_model::record::{StopReason, VisitRecord};
use weigh_stats::hist::{Hist, Packed};

use crate::estimate::{Estimate, MEDIAN, QUANTILE};
use crate::gather::Measured;
use crate::metric::{Metric, Over, Part, Source};
use crate::subject::Shape;
use crate::verdict::Ratio;
pub use seen::{Bins, Seen};

/// Values by the id of their metric.
pub type Values = BTreeMap<String, Estimate>;

/// The results of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Its factors.
    pub cell: Cell,
    /// Facts about it by name: `library`, `coding`, `independent decoder`.
    pub facts: BTreeMap<String, String>,
    /// Measured values, by metric; a metric that was not observed is left out.
    pub values: Values,
    /// Whether it is on its group's Pareto front.
    pub front: bool,
    /// If it is not on the front: the id of the cell there that has no more bytes and is not significantly slower.
    pub dominated_by: Option<String>,
    /// Its cost ÷ that of each of the group's marked cells, by mark.
    pub beside: BTreeMap<String, Ratio>,
    /// Why it was no longer visited; null while the run goes on.
    pub stop: Option<StopReason>,
    /// Caveats.
    pub caveats: Vec<Caveat>,
    /// When it was measured, and the distribution of its samples; none for a row that was read from a report.
    #[serde(skip)]
    pub seen: Option<Box<Seen>>,
}

impl Row {
    /// The results of one cell, without those that depend on other cells.
    pub fn of(shape: &Shape, plan: &Plan, measured: &Measured) -> Row {
        let mut values = Values::new();
        let mut histograms = HashMap::new();
        for metric in shape.metrics() {
            let estimate = estimate(metric, measured, &values, &mut histograms);
            if let Some(estimate) = estimate {
                values.insert(metric.id.to_owned(), estimate);
            }
        }
        let facts = (shape.facts)(plan, measured);
        let seen = Some(Box::new(Seen::of(shape, measured, &mut histograms)));
        Row {
            cell: measured.cell.clone(),
            facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            values,
            front: false,
            dominated_by: None,
            beside: BTreeMap::new(),
            stop: measured.stop.clone(),
            caveats: measured.caveats.clone(),
            seen,
        }
    }

    pub fn id(&self) -> &str {
        &self.cell.id
    }

    /// The result of a metric.
    pub fn get(&self, metric: &str) -> Option<&Estimate> {
        self.values.get(metric)
    }

    /// The value of a metric.
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.get(metric).map(|estimate| estimate.value)
    }

    /// The value of a count; 0 if there is none.
    pub fn count(&self, metric: &str) -> u64 {
        self.value(metric).map_or(0, |value| value as u64)
    }

    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }
}

/// Histograms by their source.
type Histograms = HashMap<usize, Hist>;

/// The times of all visits; those of one source are added up once for all their statistics.
fn times<'h>(
    of: fn(&VisitRecord) -> Option<&Packed>,
    measured: &Measured,
    histograms: &'h mut Histograms,
) -> &'h Hist {
    let packed = || measured.visits.iter().filter_map(|visit| of(visit));
    histograms.entry(of as *const () as usize).or_insert_with(|| merged(packed()))
}

/// The result of a metric over the visits of a cell.
fn estimate(
    metric: &Metric,
    measured: &Measured,
    values: &Values,
    histograms: &mut Histograms,
) -> Option<Estimate> {
    match metric.of {
        Source::Beside => None,
        Source::Values(of) => of(measured.cell, values),
        Source::Visits(of) => of(measured),
        Source::Samples(of) => Estimate::over_rounds(measured.round_medians(of), QUANTILE),
        Source::Total(of) => {
            let totals: Vec<(f64, f64)> = measured.visits.iter().filter_map(|visit| of(visit)).collect();
            let (total, count) = totals.iter().fold((0.0, 0.0), |(t, n), (x, m)| (t + x, n + m));
            (count > 0.0).then(|| Estimate::exact(total / count, totals.len()))
        }
        Source::Times(of) => {
            let Over::Distribution(part) = metric.over else { return None };
            part_of(times(of, measured, histograms), part)
                .map(|value| Estimate::exact(value, measured.visits.len()))
        }
        Source::Visit(of) => over_visits(metric.over, measured, of),
        Source::CellVisit(of) => over_visits(metric.over, measured, |visit| of(measured.cell, visit)),
    }
}

fn over_visits(
    over: Over,
    measured: &Measured,
    of: impl Fn(&VisitRecord) -> Option<f64>,
) -> Option<Estimate> {
    let amount = |visit: &&VisitRecord| Some((visit.round, of(visit)?));
    let rounds: Vec<(u32, f64)> = measured.visits.iter().filter_map(amount).collect();
    let amounts = || rounds.iter().map(|round| round.1).filter(|amount| amount.is_finite());
    let exact = |value: Option<f64>| value.map(|value| Estimate::exact(value, rounds.len()));
    match over {
        Over::LowQuantile | Over::Median => {
            let usable = |(_, amount): &(u32, f64)| (0.0..1e18).contains(amount);
            let rounds = rounds.into_iter().filter(usable).collect();
            let p = if over == Over::Median { MEDIAN } else { QUANTILE };
            Estimate::over_rounds(rounds, p)
        }
        Over::Max => exact(amounts().reduce(f64::max)),
        Over::Min => exact(amounts().reduce(f64::min)),
        Over::Sum => exact(amounts().reduce(|a, b| a + b)),
        Over::Exact => exact(amounts().next_back()),
        Over::Mean => exact(amounts().reduce(|a, b| a + b).map(|sum| sum / rounds.len() as f64)),
        Over::Distribution(_) => None,
    }
}

/// Adds up histograms, so that a quantile covers all times. A histogram that cannot be unpacked is left out.
pub fn merged<'a>(packed: impl Iterator<Item = &'a Packed>) -> Hist {
    let mut all = Hist::default();
    packed.filter_map(|packed| packed.unpack().ok()).for_each(|hist| all.add(&hist));
    all
}

/// A statistic of a histogram, in seconds; none for an empty one.
pub fn part_of(hist: &Hist, part: Part) -> Option<f64> {
    match part {
        Part::Count => (hist.count() > 0).then_some(hist.count() as f64),
        Part::Min => hist.min(),
        Part::Mean => hist.mean(),
        Part::Sd => hist.sd(),
        Part::Max => hist.max(),
        Part::Quantile(q) => hist.quantile(q),
    }
}
