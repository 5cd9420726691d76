//! Profiles: what a PHP script spends where. Owns how files of profilers are read, whatever their size, which profiler a PHP
//! has and how it is turned on, and the comparison of two profiles. Refuses to draw: that is `report`'s.
//!
//! A profiled script is slower than a plain one, so figures from here never mix with those of studies.

mod cachegrind;
mod collapsed;
mod input;
mod lines;
mod names;
mod perf;
#[cfg(test)]
mod report_tests;
mod sampled;
pub mod script;
mod speedscope;
pub mod tools;

pub use input::read;
