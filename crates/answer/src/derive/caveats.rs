//! Caveats that follow from the records, in addition to recorded ones.

use std::mem::discriminant;

use weigh_model::caveat::{Caveat, RoundCluster};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;
use weigh_model::record::StopReason;
use weigh_stats::{Mode, bimodal, median};

use crate::gather::{Gathered, Measured, usable};
use crate::metric::Unit;
use crate::report::Report;
use crate::report::finding::Evidence;
use crate::report::shape::Shape;
use crate::row::Row;

/// Above this wall ÷ CPU time, the processor was shared noticeably.
const NOISY: f64 = 1.1;

/// Rounds that differ by more than this factor get a caveat.
const DRIFT: f64 = 1.05;

/// Adds caveats that follow from the visits to each row, and those of the run to the report.
pub(crate) fn add(shape: &Shape, plan: &Plan, gathered: &Gathered, report: &mut Report) {
    let measured: Vec<&Measured> = gathered.cells.iter().filter(|m| (shape.is_row)(m.cell)).collect();
    let noise: Vec<Option<f64>> =
        measured.iter().map(|m| shape.watches_wall.then(|| wall_over_cpu(m)).flatten()).collect();
    let run_noise =
        median(&noise.iter().copied().flatten().collect::<Vec<_>>()).filter(|noise| *noise > NOISY);
    for (at, (measured, noise)) in measured.iter().zip(noise).enumerate() {
        let own_noise = noise.filter(|noise| *noise > NOISY && run_noise.is_none());
        let row = &report.rows[at];
        let mut derived: Vec<Caveat> =
            own_noise.map(|wall_over_cpu| Caveat::NoisyMachine { wall_over_cpu }).into_iter().collect();
        derived.extend((shape.caveats)(&Evidence { plan, report }, measured, row));
        derived.extend(unconverged(shape, plan, row));
        derived.extend(two_clusters(shape, row));
        derived.into_iter().for_each(|caveat| add_once(&mut report.rows[at].caveats, caveat));
    }
    report.caveats = of_run(plan, gathered, run_noise);
}

/// The caveats of the run; `noise` is wall ÷ CPU time if it is noticeable.
fn of_run(plan: &Plan, gathered: &Gathered, noise: Option<f64>) -> Vec<Caveat> {
    let mut run: Vec<Caveat> = Vec::new();
    let add_new = |run: &mut Vec<Caveat>, caveat: Caveat| {
        if !run.contains(&caveat) {
            run.push(caveat);
        }
    };
    gathered.caveats.iter().for_each(|caveat| add_new(&mut run, caveat.clone()));
    if let Some(wall_over_cpu) = noise {
        add_once(&mut run, Caveat::NoisyMachine { wall_over_cpu });
    }
    let factor = drift(&gathered.cells);
    if factor > DRIFT {
        add_once(&mut run, Caveat::Drift { factor });
    }
    if gathered.resumed > 0 {
        add_once(&mut run, Caveat::Resumed { times: gathered.resumed });
    }
    plan.payloads.iter().filter_map(of_payload).for_each(|caveat| add_new(&mut run, caveat));
    run
}

/// Adds a caveat unless there is one of its kind: a recorded caveat knows more than a derived one.
fn add_once(caveats: &mut Vec<Caveat>, caveat: Caveat) {
    if !caveats.iter().any(|known| discriminant(known) == discriminant(&caveat)) {
        caveats.push(caveat);
    }
}

/// Median of wall ÷ CPU over a cell's samples.
fn wall_over_cpu(measured: &Measured) -> Option<f64> {
    let samples = measured.visits.iter().flat_map(|v| v.phases.values());
    let ratios: Vec<f64> =
        samples.flat_map(|s| s.wall_ns.iter().zip(&s.cpu_ns)).map(|(wall, cpu)| wall / cpu).collect();
    median(&usable(&ratios).collect::<Vec<_>>())
}

/// A headline metric with a wider interval than requested, where the budget ended the cell: a larger budget would help.
fn unconverged(shape: &Shape, plan: &Plan, row: &Row) -> Option<Caveat> {
    if row.stop != Some(StopReason::Budget) {
        return None;
    }
    let margins = shape.headline.iter().filter_map(|metric| row.get(metric)?.margin());
    let widest = margins.fold(0.0, f64::max);
    (widest > plan.policy.half_width)
        .then_some(Caveat::Unconverged { half_width: widest, asked: plan.policy.half_width })
}

/// A headline time whose rounds are in two clusters.
fn two_clusters(shape: &Shape, row: &Row) -> Option<Caveat> {
    let mut times =
        shape.metrics().filter(|metric| metric.unit == Unit::Ns && shape.headline.contains(&metric.id));
    times.find_map(|metric| {
        let rounds: Vec<f64> = row.get(metric.id)?.drawn_rounds().iter().map(|round| round.1).collect();
        let cluster = |m: Mode| RoundCluster { rounds: m.count as u32, low_ns: m.low, high_ns: m.high };
        let [lower, upper] = bimodal(&rounds)?.map(cluster);
        Some(Caveat::TwoClusters { metric: metric.id.into(), lower, upper })
    })
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

/// The slowest round's factor ÷ the fastest round's, over all cells; 1 if rounds have none.
fn drift(cells: &[Measured]) -> f64 {
    let medians = |m: &Measured, phase: Phase| {
        let samples = m.visits.iter().filter_map(|v| Some((v.round, v.phases.get(&phase)?)));
        let times = samples.map(|(round, s)| (round, median(&usable(&s.cpu_ns).collect::<Vec<_>>())));
        times.filter_map(|(round, time)| Some((round, time?))).collect::<Vec<_>>()
    };
    let headline = |m: &Measured| {
        crate::subject::find_shape(m.cell).phases.iter().map(|p| medians(m, *p)).collect::<Vec<_>>()
    };
    let effects = weigh_stats::block_effects(&cells.iter().flat_map(headline).collect::<Vec<_>>());
    let slowest = effects.values().copied().fold(f64::NAN, f64::max);
    let fastest = effects.values().copied().fold(f64::NAN, f64::min);
    if slowest.is_finite() && fastest > 0.0 { slowest / fastest } else { 1.0 }
}
