//! Slices as CSV: the run as a time series, units in the headings.

use anyhow::{Context, Result};
use weigh_load::plan::LoadPlan;
use weigh_load::result::{LoadResult, Slice};

use crate::load::figures::{Spread, Time, Unanswered, beyond};

const HEADINGS: [&str; 13] = [
    "start_s",
    "length_s",
    "scheduled",
    "completed",
    "faulted",
    "body_bytes",
    "completed_per_s",
    "response_mean_s",
    "response_p50_s",
    "response_p90_s",
    "response_p99_s",
    "response_p99.9_s",
    "response_max_s",
];

/// The slices of a block. If a percentile is among the slice's requests without a response, it is `>` and the duration
/// of block and drain in seconds.
///
/// # Errors
/// A slice's histogram cannot be read.
pub fn slices(plan: &LoadPlan, result: &LoadResult) -> Result<Vec<u8>> {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    out.write_record(HEADINGS)?;
    let beyond = beyond(plan, result);
    for slice in &result.slices {
        out.write_record(row(slice, beyond)?)?;
    }
    out.into_inner().context("the slices cannot be written as CSV")
}

fn row(slice: &Slice, beyond: f64) -> Result<Vec<String>> {
    let times = slice.response.unpack().map_err(anyhow::Error::msg).context("a slice's histogram")?;
    let spread = Spread::of(&times, Unanswered { count: slice.faulted, beyond });
    let mean = spread.as_ref().and_then(|s| s.mean);
    let percentile = |percent| match spread.as_ref().and_then(|s| s.percentile(percent)) {
        Some(Time::Took(seconds)) => format!("{seconds:.9}"),
        Some(Time::Beyond(seconds)) => format!(">{seconds:.3}"),
        None => String::new(),
    };
    let rate = if slice.seconds > 0.0 { slice.completed as f64 / slice.seconds } else { 0.0 };
    Ok(vec![
        format!("{:.6}", slice.start),
        format!("{:.6}", slice.seconds),
        slice.scheduled.to_string(),
        slice.completed.to_string(),
        slice.faulted.to_string(),
        slice.body_bytes.to_string(),
        format!("{rate:.3}"),
        mean.map_or(String::new(), |seconds| format!("{seconds:.9}")),
        percentile(50.0),
        percentile(90.0),
        percentile(99.0),
        percentile(99.9),
        percentile(100.0),
    ])
}
