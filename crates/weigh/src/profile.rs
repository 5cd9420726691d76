//! Profiles: what a PHP script spends where. Owns how files of profilers are read, whatever their size, which profiler a PHP
//! has and how it is turned on, and the comparison of two profiles. Refuses to draw: that is `report`'s.
//!
//! A profiled script is slower than a plain one, so figures from here never mix with those of studies.

mod cachegrind;
mod collapsed;
pub mod compare;
pub mod document;
mod input;
mod lines;
pub mod model;
mod names;
mod perf;
mod sampled;
pub mod script;
mod speedscope;
pub mod stacks;
pub mod tools;

pub use input::read;
