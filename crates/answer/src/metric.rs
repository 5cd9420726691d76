//! Metrics: one line per measured property of a configuration. Tables, CSV, JSON, charts and sentences know a metric
//! only by its id.

pub mod client;
pub mod codec;
pub mod delivery;
pub mod load;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::cell::Cell;
use weigh_model::protocol::Samples;
use weigh_model::record::VisitRecord;
use weigh_model::units;
use weigh_stats::hist::{Hist, Packed};

use crate::estimate::Estimate;
use crate::gather::Measured;
use crate::row::Values;
use crate::table::Kind;

#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Unique in its subject: `encode-cpu`.
    pub id: &'static str,
    /// The unit of its value.
    pub unit: Unit,
    pub better: Better,
    pub over: Aggregation,
    /// What the value is per.
    pub per: Per,
    pub of: Source,
    /// Its meaning, in a sentence.
    pub about: &'static str,
}

/// One metric, one line: `id => unit, better, over, per what: source, what it means;`.
macro_rules! metrics {
    ($($id:expr => $unit:ident, $better:ident, $over:ident $(($part:expr))?, per $per:ident: $of:expr, $about:expr;)*) => {
        &[$($crate::metric::Metric {
            id: $id,
            unit: $crate::metric::Unit::$unit,
            better: $crate::metric::Better::$better,
            over: $crate::metric::Aggregation::$over $(($part))?,
            per: $crate::metric::Per::$per,
            of: $of,
            about: $about,
        }),*]
    };
}
pub(crate) use metrics;

/// Units of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Seconds.
    S,
    /// Bytes.
    Bytes,
    /// Per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// A count.
    Count,
    /// From 0 to 1.
    Share,
    /// One amount divided by another.
    Ratio,
}

impl Unit {
    /// The unit of a table's column, the form of its numbers, and the factor for values.
    pub fn column(self) -> (&'static str, Kind, f64) {
        match self {
            Unit::Ns => ("ms", Kind::Three, 1e-6),
            Unit::S => ("ms", Kind::Three, 1e3),
            Unit::Bytes => ("B", Kind::Whole, 1.0),
            Unit::PerSecond => ("1/s", Kind::Three, 1.0),
            Unit::BytesPerSecond => ("MB/s", Kind::Three, 1e-6),
            Unit::Count => ("", Kind::Three, 1.0),
            Unit::Share => ("%", Kind::Fixed(1), 100.0),
            Unit::Ratio => ("×", Kind::Fixed(2), 1.0),
        }
    }

    /// A value with its unit, for sentences: `1.23 ms`, `20.1 KB`, `35%`.
    pub fn amount(self, value: f64) -> String {
        match self {
            Unit::Ns => units::ns(value),
            // A quantile among the requests without a response.
            Unit::S if value.is_infinite() => "no response".to_owned(),
            Unit::S => units::ns(value * 1e9),
            Unit::Bytes if value >= 0.0 => units::bytes(value.round() as u64),
            Unit::Bytes => format!("{} bytes", units::significant(value)),
            Unit::PerSecond => format!("{} per s", units::significant(value)),
            Unit::BytesPerSecond => units::mb_s(value / 1e6),
            Unit::Share => units::percent(value),
            Unit::Count => units::significant(value),
            Unit::Ratio => units::times(value),
        }
    }

    /// Its symbol in headers of CSV files.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::S => "s",
            Unit::Bytes => "bytes",
            Unit::PerSecond => "1/s",
            Unit::BytesPerSecond => "bytes/s",
            Unit::Count => "count",
            Unit::Share => "share",
            Unit::Ratio => "×",
        }
    }
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Smaller is better.
    Less,
    /// Larger is better.
    More,
    /// Neither; it only describes.
    Neither,
}

/// How visits are summarised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Over", rename_all = "kebab-case")]
pub enum Aggregation {
    /// The 0.1 quantile over rounds: neighbours on the machine only add CPU time, so this is the cost without
    /// disturbance. Of 0.1 to 0.5, the quantile 0.1 was the most repeatable, see docs/dev/SIMULATIONS.md.
    LowQuantile,
    /// The median over rounds.
    Median,
    /// The largest of all rounds.
    Max,
    /// The smallest of all rounds.
    Min,
    /// The sum over all rounds.
    Sum,
    /// Totals of all rounds divided by their counts, see [`Source::Total`].
    Mean,
    /// The last round's value: it is the same in each round.
    Exact,
    /// A statistic of the distribution over all rounds, such as a percentile.
    Distribution(Statistic),
}

/// A statistic of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Part", rename_all = "kebab-case")]
pub enum Statistic {
    /// The number of values.
    Count,
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// The standard deviation.
    Sd,
    /// The largest.
    Max,
    /// From 0 to 1.
    Quantile(f64),
}

/// What a value is per.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// One pass over all items of the content.
    Pass,
    /// One operation: an encode, a decode, a write, a read.
    Op,
    /// One response.
    Request,
    /// One transaction.
    Transaction,
    /// The whole run; or not per anything.
    Run,
}

#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// One amount per visit.
    Visit(fn(&VisitRecord) -> Option<f64>),
    /// One amount per visit, if the cell has it.
    CellVisit(fn(&Cell, &VisitRecord) -> Option<f64>),
    /// CPU times of a visit; their median is the round's amount.
    Samples(fn(&VisitRecord) -> Option<&Samples>),
    /// (total, count) per visit.
    Total(fn(&VisitRecord) -> Option<(f64, f64)>),
    /// Times of a visit in a histogram, seconds.
    Times(fn(&VisitRecord) -> Option<&Packed>),
    /// Computed from all visits at once.
    Visits(fn(&Measured) -> Option<Estimate>),
    Values(fn(&Cell, &Values) -> Option<Estimate>),
    /// Computed from other rows, by [`crate::report::shape::Shape::complete`].
    Beside,
}

/// The description of a metric for readers of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricDescription {
    /// Its id.
    pub id: String,
    /// The unit of its value.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// How visits are summarised.
    pub over: Aggregation,
    /// What the value is per.
    pub per: Per,
    /// Its meaning.
    pub about: String,
}

impl From<&Metric> for MetricDescription {
    fn from(metric: &Metric) -> MetricDescription {
        let Metric { id, unit, better, over, per, about, .. } = *metric;
        MetricDescription { id: id.to_owned(), unit, better, over, per, about: about.to_owned() }
    }
}

/// Adds up histograms, so that a quantile covers all times. A histogram that cannot be unpacked is left out.
pub fn merged<'a>(packed: impl Iterator<Item = &'a Packed>) -> Hist {
    let mut all = Hist::default();
    packed.filter_map(|packed| packed.unpack().ok()).for_each(|hist| all.add(&hist));
    all
}

/// A statistic of a histogram, in seconds; none for an empty one.
pub fn part_of(hist: &Hist, part: Statistic) -> Option<f64> {
    match part {
        Statistic::Count => (hist.count() > 0).then_some(hist.count() as f64),
        Statistic::Min => hist.min(),
        Statistic::Mean => hist.mean(),
        Statistic::Sd => hist.sd(),
        Statistic::Max => hist.max(),
        Statistic::Quantile(q) => hist.quantile(q),
    }
}
