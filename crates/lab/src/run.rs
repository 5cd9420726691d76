//! The run: executes a plan in rounds and appends what was observed to the run directory.
//!
//! It decides what to visit when, and when a cell is done; what it decides follows from the plan, the records
//! and the clock alone, so that an interrupted run goes on as if it had not been. It knows no subject by name: what a visit is, what it
//! costs and whether it counts is each [`Subject`](crate::subject::Subject)'s. It never judges a number: that is the report, which knows
//! nothing of this.

pub mod baseline;
pub mod clock;
pub mod dir;
pub mod forecast;
pub mod kept;
pub mod list;
pub(crate) mod lock;
pub mod observer;
pub mod order;
mod rounds;
pub(crate) mod seal;
mod standing;
pub mod state;
pub mod stop;

pub(crate) use rounds::same_versions;
pub use rounds::{Outcome, run};
