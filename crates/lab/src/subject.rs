//! Things under test that need more than a worker.

pub mod client;
pub mod delivery;
mod links;
