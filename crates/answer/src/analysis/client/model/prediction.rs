//! What is computed from parts beside what was measured end to end.

use serde::{Deserialize, Serialize};

use crate::analysis::model::{Quantity, Relative};
use weigh_model::link::{LinkSpec, Measured};

/// A link between workers and store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LinkResult {
    /// What it was asked to be.
    pub asked: LinkSpec,
    /// What it was measured as before anything else went over it; null where it was never made.
    pub measured: Option<Measured>,
}

/// A write or a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// A write.
    Put,
    /// A read.
    Get,
}

impl Operation {
    /// Its name in tables: `PUT`, `GET`.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Put => "PUT",
            Operation::Get => "GET",
        }
    }

    /// `a write`, `a read`.
    pub fn words(self) -> &'static str {
        match self {
            Operation::Put => "a write",
            Operation::Get => "a read",
        }
    }
}

/// A call as the model has it, beside the measured one. The model: encoding (or decoding) as measured, stored bytes ÷ what the
/// link carries of TCP payload, and one round trip. The last two are left out without a link. Seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Prediction {
    /// The cell's id.
    pub cell: String,
    /// The link's name; null without.
    pub link: Option<String>,
    /// Write or read.
    pub operation: Operation,
    /// Encoding or decoding.
    pub coding: f64,
    /// Stored bytes ÷ bandwidth.
    pub transfer: f64,
    /// One round trip.
    pub round_trip: f64,
    /// The three together.
    pub predicted: f64,
    /// The measured mean of a round, median over rounds.
    pub measured: Quantity,
    /// The measured median of all calls.
    pub p50: f64,
    /// Measured ÷ predicted; null where nothing is predicted.
    pub ratio: Option<f64>,
}

/// Which setting is best for a call, by the model and by measurement; where they differ and the measurement is beyond doubt, what
/// was measured is the advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Advice {
    /// The link's name; null without.
    pub link: Option<String>,
    /// Write or read.
    pub operation: Operation,
    /// How many settings were compared.
    pub settings: u32,
    /// The id of the cell that the model picks.
    pub model: String,
    /// The id of the cell that was quickest.
    pub measured: String,
    /// Measured time of the model's pick ÷ that of the quickest, formed inside rounds; null where they are the same, or without two
    /// rounds in common.
    pub lost: Option<Relative>,
    /// The measurement corrects the model beyond doubt.
    pub corrected: bool,
}

/// Two settings on a link: the bandwidth at which the model has them cost the same, and which one was quicker there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// Mbit/s at which both would cost the same, from measured coding times and stored bytes; null where one is ahead at any.
    pub computed_mbit: Option<f64>,
    /// Predicted time of the first ÷ the second.
    pub computed: f64,
    /// Measured time of the first ÷ the second, formed inside rounds.
    pub measured: Option<Relative>,
    /// Both say the same order; null where the measurement does not settle it.
    pub agrees: Option<bool>,
}
