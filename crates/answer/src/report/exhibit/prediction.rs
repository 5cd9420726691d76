//! Calls of clients computed from their parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::metric::client::{DECODE, ENCODE, GET_MEAN, PUT_MEAN};
use crate::row::Row;
use crate::verdict::Ratio;

/// What can be computed of calls, and the links.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComputedCalls {
    /// The time of driver and store for stored bytes, from calls without a link; empty if the sizes do not allow it.
    #[serde(default)]
    pub stored: Vec<StoredBytes>,
    /// Writes and reads by the model, compared with the measurement; empty if no worker encodes and there is no link.
    pub predictions: Vec<Prediction>,
    /// The best setting by the model and by measurement.
    pub advice: Vec<Advice>,
    /// The bandwidth at which two settings would cost the same, and which one is faster on the measured link.
    pub break_even: Vec<BreakEvenAt>,
}

/// A write or a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A write.
    Put,
    /// A read.
    Get,
}

impl Operation {
    /// What is of a write, or what is of a read.
    pub(crate) fn of<T>(self, write: T, read: T) -> T {
        match self {
            Operation::Put => write,
            Operation::Get => read,
        }
    }

    /// Its name in tables: `PUT`, `GET`.
    pub fn name(self) -> &'static str {
        self.of("PUT", "GET")
    }

    /// `write`, `read`.
    pub fn words(self) -> &'static str {
        self.of("write", "read")
    }

    /// The mean time inside such a call.
    pub fn mean(self, row: &Row) -> Option<&Estimate> {
        row.get(self.of(PUT_MEAN, GET_MEAN))
    }

    /// Nanoseconds for encoding or decoding in such a call; 0 if the worker does not encode.
    pub(crate) fn coding(self, row: &Row) -> f64 {
        row.value(self.of(ENCODE, DECODE)).unwrap_or(0.0)
    }

    /// The median of all such calls, seconds.
    pub(crate) fn p50(self, row: &Row) -> Option<f64> {
        row.value(self.of("put-p50", "get-p50"))
    }
}

/// A call by the model, compared with the measured one. The model adds encoding (or decoding) as measured, the packets
/// of the stored bytes ÷ the worker's share of the link, one round trip, and the time of driver and store for such
/// bytes. Transfer and round trip are left out without a link. Seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// The cell's id.
    pub cell: String,
    /// The link's name; null without a link.
    pub link: Option<String>,
    /// Write or read.
    pub operation: Operation,
    /// Workers that share the link evenly.
    #[serde(default)]
    pub workers: u32,
    /// Encoding or decoding.
    pub coding: f64,
    /// The packets of the stored bytes ÷ the share of the bandwidth.
    pub transfer: f64,
    /// One round trip.
    pub round_trip: f64,
    /// Driver and store; 0 if unknown.
    #[serde(default)]
    pub stored: f64,
    /// The sum of all parts.
    pub predicted: f64,
    /// The measured mean of a round, median over rounds.
    pub measured: Estimate,
    /// The measured median of all calls.
    pub p50: f64,
    /// Measured ÷ predicted; null if nothing is predicted.
    pub ratio: Option<f64>,
}

/// The best setting for a call by the model and by measurement; if they differ significantly, the recommendation
/// follows the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// The link's name; null without a link.
    pub link: Option<String>,
    /// Write or read.
    pub operation: Operation,
    /// The number of compared settings.
    pub settings: u32,
    /// The id of the best cell by the model.
    pub model: String,
    /// The id of the fastest cell by measurement.
    pub measured: String,
    /// Measured time of the model's choice ÷ that of the fastest, within rounds; null if they are the same, or without
    /// two common rounds.
    pub lost: Option<Ratio>,
    /// Whether the measurement contradicts the model significantly.
    pub corrected: bool,
}

/// Two settings on a link: the bandwidth at which they cost the same by the model, and which one was faster on this
/// link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakEvenAt {
    /// The link's name.
    pub link: String,
    /// Write or read.
    pub operation: Operation,
    /// The link's bandwidth in this direction, Mbit/s.
    pub mbit: f64,
    /// The id of the first cell.
    pub first: String,
    /// The id of the second.
    pub second: String,
    /// Mbit/s at which both would cost the same, from measured coding times and stored bytes; null if one is always
    /// ahead.
    pub computed_mbit: Option<f64>,
    /// Predicted time of the first ÷ the second.
    pub computed: f64,
    /// Measured time of the first ÷ the second, within rounds.
    pub measured: Option<Ratio>,
    /// Whether both show the same order; null if the measurement is not significant.
    pub agrees: Option<bool>,
}

/// The time of a call for one driver, store and runtime, without encoding and decoding: `fixed_ns`, and `ns_per_byte`
/// for each stored byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredBytes {
    /// The store's name.
    pub store: String,
    /// The driver's name.
    pub driver: String,
    /// The runtime's name.
    pub runtime: String,
    /// Worker processes.
    pub workers: u32,
    /// Write or read.
    pub operation: Operation,
    /// Nanoseconds per call.
    pub fixed_ns: f64,
    /// Nanoseconds per stored byte.
    pub ns_per_byte: f64,
    /// The ids of the cells behind it.
    pub cells: Vec<String>,
    /// Stored bytes of the smallest and of the largest.
    pub bytes: (f64, f64),
}
