//! Figures of a load with their intervals, which follow from its slices.
//!
//! The slices of a run are clusters: a slow second has many slow requests. The interval of a percentile is made of the
//! percentiles at both ends of the interval of its share (Woodruff, "Confidence intervals for medians and other position
//! measures", Journal of the American Statistical Association 47 (1952)).

use weigh_load::result::{ClassResult, LoadResult, Slice};
use weigh_stats::{Cluster, log_share, log_variance, share_interval};

use super::figures::add;
use crate::estimate::{CONFIDENCE, Estimate, MEDIAN};

pub fn total(result: &LoadResult) -> ClassResult {
    result.classes.iter().fold(ClassResult::default(), add)
}

/// A percentile of response times over all requests, by its share, in seconds; infinite if it is among the requests
/// without a response. None without requests.
pub fn percentile(class: &ClassResult, q: f64) -> Option<f64> {
    let unanswered = class.counts.unanswered();
    match class.times.response.count().saturating_add(unanswered) {
        0 => None,
        _ => Some(class.times.response.quantile_with(q, unanswered).unwrap_or(f64::INFINITY)),
    }
}

/// The share of requests that failed or were never sent; none without requests.
pub fn unanswered(class: &ClassResult) -> Option<f64> {
    let unanswered = class.counts.unanswered();
    let all = class.counts.completed.saturating_add(unanswered);
    (all > 0).then(|| unanswered as f64 / all as f64)
}

/// A percentile of response times with its interval; none with too few slices for one.
pub fn response(result: &LoadResult, q: f64) -> Option<Estimate> {
    let total = total(result);
    let value = percentile(&total, q)?;
    let slower = |slice: &Slice| {
        let hist = slice.response.unpack().ok()?;
        let of = |count: u64| count.saturating_add(slice.faulted);
        Some(Cluster { all: of(hist.count()), counted: of(hist.above(value)) })
    };
    let clusters = clusters(result, slower);
    let (share, least, most) = share_interval(&clusters, CONFIDENCE)?;
    // Bins of slices are coarse: only the distances from the share are taken from them.
    let at = |q: f64| percentile(&total, q.clamp(0.0, 1.0));
    let (low, high) = (at(q - (most - share))?.min(value), at(q + (share - least))?.max(value));
    let log = log_variance((low, high), CONFIDENCE, clusters.len()).map(|variance| (value.ln(), variance));
    Some(Estimate::over_parts(value, (low, high), clusters.len(), log))
}

/// The share of requests without a response, with its interval; none with too few slices for one.
pub fn errors(result: &LoadResult) -> Option<Estimate> {
    let failed = |slice: &Slice| {
        Some(Cluster { all: slice.completed.saturating_add(slice.faulted), counted: slice.faulted })
    };
    let clusters = clusters(result, failed);
    let (share, low, high) = share_interval(&clusters, CONFIDENCE)?;
    // Requests that were never sent are in no slice.
    let value = unanswered(&total(result))?;
    let log = log_share(&clusters).map(|(log, variance)| match value > share {
        true => (value.ln(), variance),
        false => (log, variance),
    });
    let ends = (value + low - share, (value + high - share).min(1.0));
    Some(Estimate::over_parts(value, ends, clusters.len(), log))
}

/// Completed responses per second: the median over slices.
pub fn rate(result: &LoadResult) -> Option<Estimate> {
    let whole = result.slices.iter().filter(|slice| slice.seconds > 0.0);
    median(whole.map(|slice| slice.completed as f64 / slice.seconds))
}

/// Bytes of a completed body: the median over slices.
pub fn body(result: &LoadResult) -> Option<Estimate> {
    let with = result.slices.iter().filter(|slice| slice.completed > 0);
    median(with.map(|slice| slice.body_bytes as f64 / slice.completed as f64))
}

fn median(of: impl Iterator<Item = f64>) -> Option<Estimate> {
    Estimate::over_rounds((1..).zip(of).collect(), MEDIAN)
}

fn clusters(result: &LoadResult, of: impl Fn(&Slice) -> Option<Cluster>) -> Vec<Cluster> {
    result.slices.iter().filter_map(of).collect()
}
