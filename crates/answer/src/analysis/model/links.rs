//! Results over links: total times and break-even bandwidths.

use serde::{Deserialize, Serialize};

/// Total times for one read:write mix.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LinkMix {
    /// What is counted.
    pub mix: Mix,
    /// One row a cell that is best somewhere or was asked for, each with one total a link speed.
    pub totals: Vec<LinkTotals>,
    /// The best cell at each link speed, in the order of the speeds.
    pub best: Vec<BestAt>,
    /// Where one setting overtakes the next, from the fastest link to the slowest.
    pub break_even: Vec<BreakEven>,
}

/// What a total time counts. The CPU times are sums of [`super::Estimate::cpu`]; the transfer is encoded bytes ÷ link speed, so that a
/// dictionary counts as known on both sides. An operation is one item of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// One write: encode + transfer.
    Write,
    /// One read: transfer + decode.
    Read,
    /// The mean over one write and this many reads.
    ReadsPerWrite(f64),
}

/// Reads for each write that stand for daily use: of those given, the number nearest to ten, because a cache is
/// read more often than it is written.
pub fn usual_reads(reads: impl Iterator<Item = f64>) -> Option<f64> {
    let distance = |reads: &f64| (reads.max(0.1) / 10.0).ln().abs();
    reads.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Total times of one cell.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LinkTotals {
    /// The cell's id.
    pub cell: String,
    /// (Mbit/s, nanoseconds an operation, low, high), in the order of the speeds.
    pub at: Vec<(f64, f64, f64, f64)>,
}

/// The best cell at one link speed.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BestAt {
    /// Link speed in Mbit/s.
    pub mbit: f64,
    /// The cell's id.
    pub cell: String,
    /// Nanoseconds an operation.
    pub total: f64,
    /// Cells that cannot be told apart from the best one: the interval of the difference holds zero, or,
    /// with few rounds, the intervals overlap.
    pub ties: Vec<String>,
}

/// The link speed at which two settings cost the same.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BreakEven {
    /// Better on faster links.
    pub fast: String,
    /// Better on slower links.
    pub slow: String,
    /// Mbit/s.
    pub mbit: f64,
    /// Lower end of its 95% interval.
    pub low: f64,
    /// Upper end; infinite when too many resamples do not cross for it to have one (null in JSON).
    #[serde(with = "unbounded")]
    #[schemars(with = "Option<f64>")]
    pub high: f64,
}

/// JSON has no infinity: an end that does not exist is written as null and read back as infinite.
mod unbounded {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(end: &f64, to: S) -> Result<S::Ok, S::Error> {
        end.is_finite().then_some(*end).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}
