//! Slow clients for the page's program: the workers of a pool and the light requests beside them, over time.
//! `web/src/data.ts` has the same types.

use serde::Serialize;

use super::data::repeat;
use crate::chart::beside;
use crate::first::distinct;
use crate::output::Options;
use crate::report::Report;
use crate::report::exhibit::fairness::{FairnessResult, SlowClientEffect};
use crate::text::clean;

/// Configurations in a page at most.
const MOST: usize = 128;
/// Moments of one at most.
const MOMENTS: usize = 256;

/// One method of sending beside this number of slow clients.
#[derive(Clone, Debug, Serialize)]
pub struct SlowData {
    id: String,
    /// Server and method; the same for every number of slow clients.
    setup: String,
    /// The place of the setup, for its line, and its colour.
    place: usize,
    color: String,
    content: String,
    clients: u32,
    workers: u32,
    outcome: SlowClientEffect,
    due: u64,
    answered: u64,
    prompt: u64,
    failed: u64,
    /// Seconds; what was not answered took longer.
    beyond: Option<f64>,
    p50: Option<f64>,
    p99: Option<f64>,
    /// Percent and seconds.
    percentiles: Vec<(u32, f64)>,
    /// Seconds, busy workers, waiting connections.
    busy: Vec<(f64, u32, u32)>,
    /// Seconds at its start, answered light requests, the median of their times and the longest, in seconds.
    light: Vec<(f64, u64, Option<f64>, Option<f64>)>,
    command: Option<String>,
}

/// Every configuration with slow clients, by setup.
pub fn slow(report: &Report, options: &Options) -> Vec<SlowData> {
    let Some(all) = &report.exhibits.fairness else { return Vec::new() };
    let named: Vec<(String, &FairnessResult)> =
        all.0.iter().map(|result| (result.setup(report), result)).collect();
    let mut setups = distinct(named.iter().map(|(name, _)| name.as_str()));
    setups.sort_unstable();
    let one = |(setup, result): &(String, &FairnessResult)| {
        let slow = result.slow()?;
        let place = setups.iter().position(|name| name == setup)?;
        let light = result.light.as_ref();
        Some(SlowData {
            id: result.cell.id.clone(),
            setup: setup.clone(),
            place,
            color: beside(place).css(),
            content: clean(&result.cell.payload),
            clients: slow.clients,
            workers: slow.workers,
            outcome: result.outcome,
            due: result.due,
            answered: result.answered,
            prompt: result.prompt,
            failed: result.failed,
            beyond: result.beyond,
            p50: light.and_then(|light| light.p50),
            p99: light.and_then(|light| light.p99),
            percentiles: light.map(|light| light.percentiles.clone()).unwrap_or_default(),
            busy: thinned(&result.busy_over_time).map(|of| (of.at, of.busy, of.queue)).collect(),
            light: thinned(&result.light_over_time)
                .map(|of| (of.at, of.answered, of.p50, of.longest))
                .collect(),
            command: repeat(options, &result.cell.id),
        })
    };
    named.iter().filter_map(one).take(MOST).collect()
}

/// Every nth moment, so that there are not too many.
fn thinned<T>(moments: &[T]) -> impl Iterator<Item = &T> {
    moments.iter().step_by(moments.len().div_ceil(MOMENTS).max(1))
}
