//! The run: executes a plan in rounds and appends what was observed to the run directory.
//!
//! It decides what to visit when, and when a cell is done; what it decides follows from the plan, the records
//! and the clock alone, so that an interrupted run goes on as if it had not been. It knows no subject by name: what a visit is, what it
//! costs and whether it counts is each [`Subject`](crate::subject::Subject)'s. It never judges a number: that is the report, which knows
//! nothing of this.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod agent;
pub mod baseline;
mod cell_comparisons;
pub mod clock;
pub mod dir;
pub mod draft;
pub mod executor;
pub mod forecast;
pub mod kept;
pub mod lab;
pub mod list;
pub mod loading;
pub mod lock;
pub mod log;
pub mod measure;
mod nominal;
pub mod observer;
pub mod order;
pub mod planner;
pub mod planning;
pub mod profiled;
mod rounds;
pub mod seal;
pub mod state;
pub mod stop;
pub mod study;
pub mod subject;
pub mod worker;

pub use rounds::same_versions;
pub use rounds::{RunOutcome, run};
