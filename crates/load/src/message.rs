//! What the lab and the load agent say to each other, one JSON value a line.
//!
//! The lab sends a [`LoadPlan`](crate::plan::LoadPlan) for each block, or [`STOP`]. The agent answers each plan with any number
//! of [`Said::Slice`] and then one [`Said::Result`] or [`Said::Fault`]. It ends when its stdin does.

use serde::{Deserialize, Serialize};

use crate::engine::Progress;
use crate::result::LoadResult;

/// Ends the block in flight: no further request is sent, those in flight are drained, and the result so far is given.
pub const STOP: &str = "\"stop\"";

/// A line of the agent's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// How far it is; about twice a second, in the preflight too, as long as every thread of the load goes on.
    Slice(Progress),
    /// What the block came to.
    Result(Box<LoadResult>),
    /// Why the plan cannot be carried out, in one line.
    Fault(String),
}
