//! From a study and what can be measured here to a plan: its cells, what was excluded and why, and the expected time.

pub mod build;
pub mod clients;
mod deliveries;
pub mod forecast;
mod names;
pub mod policy;
#[cfg(test)]
mod tests;
mod used;
pub mod ways;
