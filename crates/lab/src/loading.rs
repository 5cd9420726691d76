//! Load in a process of its own: the lab's hold on the agent that carries plans out, and the directory that keeps what it
//! saw.
//!
//! It knows plans and results of [`weigh_load`]; it refuses to derive anything from them or to print.

pub mod place;
pub mod target;

mod driver;

pub use driver::{Failure, LoadAgent, Outcome};
