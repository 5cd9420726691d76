//! Mathematics for decisions on noisy measurements: no I/O, no unsafe code, no clock.
//!
//! Every function is deterministic: the same values (and seed, where one is taken) give the same result.
//! Values must be finite; a function that is handed another one answers `None` instead of a number.
#![forbid(unsafe_code)]

mod blocks;
mod bootstrap;
mod compare;
mod figure;
mod link;
mod pareto;
mod summary;
mod threshold;

pub use blocks::{UNITS, block_effects};
pub use bootstrap::{EXACT_UP_TO, QuantileDistribution};
pub use compare::{Interval, Ratio, median_interval, paired_ratio, quantile_interval, reach};
pub use figure::{Drawings, Figure};
pub use link::{Crossing, break_even_bandwidth, break_even_interval};
pub use pareto::{dominators, pareto_front};
pub use summary::{Summary, median, quantile, summary};
pub use threshold::{Threshold, ThresholdInterval};
