//! Caveats that follow from the records, beside those that were recorded.

use std::mem::discriminant;

use crate::analysis::gather::{Gathered, Measured, usable};
use crate::analysis::model::CellResult;
use weigh_model::caveat::Caveat;
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;
use weigh_model::record::StopReason;

/// Fewer samples than this are labelled.
const ENOUGH_SAMPLES: u32 = 7;

/// Wall ÷ CPU time above which the processor was shared to a degree that shows.
const NOISY: f64 = 1.1;

/// Rounds that differ by more than this factor are worth a word.
const DRIFT: f64 = 1.05;

/// Adds to each cell's caveats what follows from its visits, and returns the caveats of the run.
pub(super) fn add(plan: &Plan, gathered: &Gathered, cells: &mut [CellResult]) -> Vec<Caveat> {
    let noise: Vec<Option<f64>> = gathered.cells.iter().map(wall_over_cpu).collect();
    let all: Vec<f64> = noise.iter().copied().flatten().collect();
    let run_noise = weigh_stats::median(&all).filter(|noise| *noise > NOISY);

    for ((result, measured), noise) in cells.iter_mut().zip(&gathered.cells).zip(noise) {
        let own_noise = noise.filter(|noise| *noise > NOISY && run_noise.is_none());
        let derived = [
            own_noise.map(|wall_over_cpu| Caveat::NoisyMachine { wall_over_cpu }),
            few_samples(result),
            unconverged(plan, result),
            unstable(measured),
        ];
        for caveat in derived.into_iter().flatten() {
            add_once(&mut result.caveats, caveat);
        }
    }

    of_run(plan, gathered, run_noise)
}

/// The caveats of the run; `noise` is wall ÷ CPU time where that shows.
pub(super) fn of_run(plan: &Plan, gathered: &Gathered, noise: Option<f64>) -> Vec<Caveat> {
    let mut run: Vec<Caveat> = Vec::new();
    gathered.caveats.iter().for_each(|caveat| {
        if !run.contains(caveat) {
            run.push(caveat.clone());
        }
    });
    if let Some(wall_over_cpu) = noise {
        add_once(&mut run, Caveat::NoisyMachine { wall_over_cpu });
    }
    if gathered.drift > DRIFT {
        add_once(&mut run, Caveat::Drift { factor: gathered.drift });
    }
    if gathered.resumed > 0 {
        add_once(&mut run, Caveat::Resumed { times: gathered.resumed });
    }
    for caveat in plan.payloads.iter().filter_map(of_payload) {
        if !run.contains(&caveat) {
            run.push(caveat);
        }
    }
    run
}

/// Adds a caveat unless one of its kind is there: what was recorded knows more than what is derived.
pub(super) fn add_once(caveats: &mut Vec<Caveat>, caveat: Caveat) {
    if !caveats.iter().any(|known| discriminant(known) == discriminant(&caveat)) {
        caveats.push(caveat);
    }
}

/// Median of wall ÷ CPU over a cell's samples.
fn wall_over_cpu(measured: &Measured) -> Option<f64> {
    let ratios: Vec<f64> = measured
        .visits
        .iter()
        .flat_map(|v| v.phases.values())
        .flat_map(|s| s.wall_ns.iter().zip(&s.cpu_ns))
        .map(|(wall, cpu)| wall / cpu)
        .collect();
    weigh_stats::median(&usable(&ratios).collect::<Vec<_>>())
}

fn few_samples(result: &CellResult) -> Option<Caveat> {
    let samples = result.phases.values().map(|e| e.samples).min()?;
    (samples < ENOUGH_SAMPLES).then_some(Caveat::FewSamples { samples })
}

/// A cell that was stopped because another one beats it needs no narrow interval.
fn unconverged(plan: &Plan, result: &CellResult) -> Option<Caveat> {
    if matches!(result.stop, Some(StopReason::Dominated { .. })) {
        return None;
    }
    let half_width = |phase: &Phase| {
        let e = result.phases.get(phase)?;
        Some(weigh_stats::Interval { low: e.low, high: e.high }.half_width_relative(e.cpu))
    };
    let widest = result.cell.subject.headline().iter().filter_map(half_width).fold(0.0, f64::max);
    (widest.is_finite() && widest > plan.policy.half_width)
        .then_some(Caveat::Unconverged { half_width: widest, asked: plan.policy.half_width })
}

fn unstable(measured: &Measured) -> Option<Caveat> {
    let first = measured.visits.first()?;
    let differs = measured.visits.iter().any(|v| !v.is_same_output(first));
    differs.then(|| Caveat::Unstable { cell: measured.cell.id.clone() })
}

fn of_payload(payload: &Payload) -> Option<Caveat> {
    let name = payload.name.clone();
    match &payload.origin {
        Origin::Synthetic { .. } => Some(Caveat::Synthetic { payload: name }),
        Origin::User { sampled: Some(blocks), .. } => {
            Some(Caveat::Sampled { payload: name, blocks: blocks.clone() })
        }
        Origin::Corpus { unpinned: Some(why), .. } => {
            Some(Caveat::Unpinned { payload: name, why: why.clone() })
        }
        Origin::User { .. } | Origin::Url { .. } | Origin::Corpus { .. } | Origin::Made => None,
    }
}
