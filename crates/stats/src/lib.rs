//! Mathematics for decisions on noisy measurements: no I/O, no unsafe code, no clock.
//!
//! Every function is deterministic: the same values (and seed, if any) give the same result. Values must be finite;
//! otherwise functions return `None` instead of a number.
#![forbid(unsafe_code)]

mod apart;
mod bent;
mod bimodal;
mod blocks;
mod changes;
mod clusters;
mod contrast;
mod curve;
mod density;
mod drawings;
mod exact;
pub mod hist;
mod interval;
mod link;
mod moderated;
mod multiple;
mod noise;
mod pareto;
mod regret;
mod rule;
mod strata;
mod summary;
mod sums;
mod threshold;

pub use apart::{ALLOWANCE, Apart, Between, ENOUGH, LEAST_SPREAD, apart, compare_apart, compare_machines};
pub use bent::{Bent, lower_envelope};
pub use bimodal::{Mode, bimodal};
pub use blocks::{UNITS, block_effects};
pub use changes::{ChangePoint, LEAST_SIDE, change_points, values_needed};
pub use clusters::{CLUSTERS, Cluster, log_share, log_variance, share_interval};
pub use curve::deviation_from_curves;
pub use density::Density;
pub use drawings::{DRAWINGS, drawn_figures};
pub use interval::{Interval, TWO_SIDED_FROM, low_quantile_interval, median_interval};
pub use link::break_even_bandwidth;
pub use moderated::LogRatio;
pub use noise::{Noise, NoiseRule, Rounds, TABLES};
pub use pareto::dominator;
pub use regret::{CONFIDENCE, Choice, Chosen, regret_bound, regret_by_figures};
pub use rule::{FAMILY_WISE, ROUNDS, Ratio, Rule};
pub use strata::{Stratum, allocation, half_width_of, relative_half_width};
pub use summary::{Summary, median, quantile, summary};
pub use sums::{StratumError, Term, ratio_of_sums};
pub use threshold::{Threshold, ThresholdInterval};
