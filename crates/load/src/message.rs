//! The messages between the program and the load agent, one JSON value per line.
//!
//! The program sends a [`LoadPlan`](crate::plan::LoadPlan) for each block, or [`STOP`]. The agent answers each plan
//! with any number of [`AgentMessage::Slice`] and then one [`AgentMessage::Result`] or [`AgentMessage::Fault`]. It exits when its stdin ends.
//!
//! A plan with a [`Share`](crate::plan::Share) starts with those of other agents: after its preflight the agent waits for
//! [`Begin`], and says before its result when it began. Both are by its own clock, for which [`CLOCK`] asks between blocks.

use serde::{Deserialize, Serialize};

use crate::engine::Progress;
use crate::result::LoadResult;

/// Ends the block in flight: no further request is sent, those in flight are drained, and the agent sends the result so
/// far.
pub const STOP: &str = "\"stop\"";

/// Asks for the agent's clock.
pub const CLOCK: &str = "\"clock\"";

/// Starts the block that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// When, in nanoseconds of the agent's clock.
    pub begin: u64,
}

/// A line from the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentMessage {
    /// Progress; about twice per second, also during the preflight, as long as every thread of the load goes on.
    Slice(Progress),
    /// The agent's clock: nanoseconds since it started.
    Clock(u64),
    /// When the block began, by that clock.
    Began(u64),
    /// The result of the block.
    Result(Box<LoadResult>),
    /// Why the plan cannot run, on one line.
    Fault(String),
}
