//! From the visits of one cell to its estimates.

use std::collections::{BTreeMap, HashMap};

use weigh_stats::{Interval, median, summary};

use crate::analysis::cost::Cost;
use crate::analysis::gather::{Measured, usable};
use crate::analysis::model::{CellResult, Estimate};
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;

/// The codec that leaves the serialized bytes as they are.
pub(super) const IDENTITY: &str = "identity";

/// The results of one cell, without what needs the cells beside it.
pub(super) fn result(plan: &Plan, measured: &Measured) -> CellResult {
    let last = measured.last();
    let runtime = plan.runtimes.iter().find(|r| r.name == measured.cell.runtime);
    CellResult {
        cell: measured.cell.clone(),
        library: runtime.and_then(|r| r.libraries.get(&measured.cell.setting.codec)).cloned(),
        decoded_bytes: last.map_or(0, |v| v.decoded_bytes),
        encoded_bytes: last.map_or(0, |v| v.encoded_bytes),
        dictionary_bytes: last.map_or(0, |v| v.dictionary_bytes),
        phases: measured
            .rounds
            .keys()
            .filter_map(|phase| Some((*phase, estimate(measured, *phase, plan.seed)?)))
            .collect(),
        peak_bytes: peaks(measured),
        serializer_alone: None,
        front: false,
        dominated_by: None,
        relative: None,
        stop: measured.stop.clone(),
        independent: measured.visits.iter().rev().find_map(|v| v.independent.clone()),
        caveats: measured.caveats.clone(),
    }
}

/// The statistic of one phase; `None` without samples.
pub(super) fn estimate(measured: &Measured, phase: Phase, seed: u64) -> Option<Estimate> {
    let cost = Cost::phase(measured, phase, seed)?;
    let samples: Vec<f64> = measured.samples(phase).collect();
    let summary = summary(&samples)?;
    let wall: Vec<f64> = measured
        .visits
        .iter()
        .filter_map(|v| median(&usable(&v.phases.get(&phase)?.wall_ns).collect::<Vec<_>>()))
        .collect();
    let rounds: Vec<f64> = measured.rounds(phase).iter().map(|r| r.1).collect();
    let Interval { low, high } = cost.interval();
    Some(Estimate {
        samples: summary.n as u32,
        rounds: measured.rounds(phase).len() as u32,
        min: summary.min,
        cpu: cost.time(),
        cpu_median: median(&rounds).unwrap_or(0.0),
        mad: summary.mad,
        low,
        high,
        wall_median: median(&wall).unwrap_or(0.0),
        preempted: measured
            .visits
            .iter()
            .filter_map(|v| v.phases.get(&phase))
            .fold(0, |all, s| all.saturating_add(s.preempted)),
    })
}

/// The highest peak seen of each phase.
fn peaks(measured: &Measured) -> BTreeMap<Phase, u64> {
    let mut peaks = BTreeMap::new();
    for (phase, bytes) in measured.visits.iter().flat_map(|v| &v.peak_bytes) {
        let peak = peaks.entry(*phase).or_insert(0);
        *peak = (*bytes).max(*peak);
    }
    peaks
}

/// Puts beside each cell with a serializer what the serializer alone costs: encode and decode of the identity
/// cell with the same payload, runtime and serializer.
pub(super) fn add_serializers(cells: &mut [CellResult]) {
    let factors =
        |c: &CellResult| (c.cell.payload.clone(), c.cell.runtime.clone(), c.cell.serializer.clone());
    let alone: HashMap<_, (Estimate, Estimate)> = cells
        .iter()
        .filter(|c| c.cell.setting.codec == IDENTITY && c.cell.serializer.is_some())
        .filter_map(|c| Some((factors(c), (*c.phases.get(&Phase::Encode)?, *c.phases.get(&Phase::Decode)?))))
        .collect();
    for cell in cells.iter_mut().filter(|c| c.cell.serializer.is_some()) {
        cell.serializer_alone = alone.get(&factors(cell)).copied();
    }
}
