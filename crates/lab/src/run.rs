//! The run: executes a plan in rounds and appends what was observed to the run directory.
//!
//! It decides what to visit when, and when a cell is done; what it decides follows from the plan, the records
//! and the clock alone, so that an interrupted run goes on as if it had not been. It never judges a number:
//! that is analysis, which knows nothing of this.

pub mod clock;
mod deliver;
pub mod dir;
pub mod facts;
pub mod forecast;
mod lock;
pub mod observer;
pub mod order;
pub mod request;
mod rounds;
mod standing;
pub mod state;
pub mod stop;
mod transact;
pub mod verdict;
mod visit;

pub use rounds::{Outcome, run};
