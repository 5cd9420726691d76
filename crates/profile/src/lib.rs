//! Profiles: what a PHP script spends where. Owns how files of profilers are read, whatever their size, which profiler a PHP
//! has and how it is turned on. Refuses to draw: that is `weigh_answer::profile`'s.
//!
//! A profiled script is slower than a plain one, so figures from here never mix with those of studies.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod cachegrind;
pub mod collapsed;
mod input;
mod names;
#[cfg(test)]
mod report_tests;
mod sampled;
pub mod script;
pub mod stored;
pub mod tools;

pub use input::read;
