//! Total times with the value in a store behind a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Total times of every group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkTotals {
    /// The conditions of the computation, as text: round trip, sharing of the link, connection, and whether driver and
    /// store are included.
    #[serde(default)]
    pub assumed: String,
    /// The usual reads per write; null: none are computed.
    #[serde(default)]
    pub usual_reads: Option<f64>,
    /// One per group, in the groups' order.
    pub groups: Vec<GroupTotals>,
}

/// Total times of one group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GroupTotals {
    /// The payload's name.
    pub payload: String,
    /// The runtime's name.
    pub runtime: String,
    /// One per mix of reads and writes.
    pub mixes: Vec<MixTotals>,
}

/// Total times for one mix of reads and writes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MixTotals {
    /// What is counted.
    pub mix: Mix,
    /// One per cell that is best at some speed or was requested.
    pub totals: Vec<CellTotals>,
    /// What is chosen at each link speed, in the order of the speeds.
    pub best: Vec<BestAt>,
    /// The speeds at which one setting overtakes the next, from the fastest link to the slowest.
    pub break_even: Vec<BreakEven>,
}

/// What a total time counts. CPU times are sums of encode and decode. The transfer is that of the encoded bytes, so a
/// dictionary counts as known on both sides. An operation is one item of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// One write: encode + transfer.
    Write,
    /// One read: transfer + decode.
    Read,
    /// The mean over one write and this many reads.
    ReadsPerWrite(f64),
}

/// Total times of one cell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CellTotals {
    /// The cell's id.
    pub cell: String,
    /// (Mbit/s, nanoseconds per operation, low, high), in the order of the speeds; an unknown end is null.
    pub at: Vec<(f64, f64, Option<f64>, Option<f64>)>,
}

/// What is chosen at one link speed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BestAt {
    /// Link speed in Mbit/s.
    pub mbit: f64,
    /// The cell's id.
    pub cell: String,
    /// Nanoseconds per operation.
    pub total: f64,
    /// Cells without a significant difference to it.
    pub ties: Vec<String>,
}

/// The link speed at which two settings cost the same.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BreakEven {
    /// Better on faster links.
    pub fast: String,
    /// Better on slower links.
    pub slow: String,
    /// Mbit/s.
    pub mbit: f64,
    /// Lower end of its 95% interval.
    pub low: f64,
    /// Upper end; infinite (null in JSON) if too many resamples have no crossing.
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
