//! From the visits of one cell to its results.

use weigh_load::hist::{Hist, Packed};

use crate::analysis::cost::Cost;
use crate::analysis::delivery::costs::Costs;
use crate::analysis::delivery::model::{Cpu, DeliveryResult, SwitchRate, Times};
use crate::analysis::gather::Measured;
use weigh_model::plan::Plan;
use weigh_model::record::DeliveryVisit;
use weigh_model::record::delivery::Workers;
use weigh_model::way::By;

/// Percent of the responses, as `ab` prints them.
const PERCENTILES: [u32; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// The results of one cell, without what needs the cells beside it.
pub(super) fn result(plan: &Plan, measured: &Measured, costs: &Costs) -> DeliveryResult {
    let visits: Vec<&DeliveryVisit> =
        measured.visits.iter().filter_map(|v| v.delivery.as_deref()).filter(|d| d.requests > 0).collect();
    let requests = sum(&visits, |v| v.requests);
    let a_response = |total: u64| if requests > 0 { total as f64 / requests as f64 } else { 0.0 };
    let most = |of: fn(&DeliveryVisit) -> Option<u64>| visits.iter().filter_map(|v| of(v)).max();
    // Mean over the rounds that have the counter.
    let mean = |of: fn(&DeliveryVisit) -> Option<u64>| mean(&visits, of);
    let one_by_one = measured.cell.delivery.as_ref().is_some_and(|d| d.connections == 1);
    DeliveryResult {
        cell: measured.cell.clone(),
        library: library(plan, measured),
        coding: visits.iter().find_map(|v| v.preflight.content_encoding.clone()),
        rounds: visits.len() as u32,
        requests,
        faulted: visits.iter().flat_map(|v| &v.faults).map(|fault| fault.count).sum(),
        decoded_bytes: measured.last().map_or(0, |v| v.decoded_bytes),
        body_bytes: measured.last().map_or(0, |v| v.encoded_bytes),
        wire_bytes: a_response(sum(&visits, |v| v.wire_bytes)),
        cpu: costs.cpu.as_ref().map(|total| Cpu {
            total: total.quantity(),
            server: costs.server.as_ref().map(Cost::quantity),
            php: costs.php.as_ref().map(Cost::quantity),
            client: costs.client.as_ref().map_or(0.0, |c| c.time()),
        }),
        rate: costs.rate.as_ref().map(Cost::quantity),
        transfer: costs.transfer.as_ref().map(Cost::quantity),
        one_by_one: costs.seconds.as_ref().filter(|_| one_by_one).map(Cost::quantity),
        response: times(visits.iter().map(|v| &v.response)),
        service: times(visits.iter().map(|v| &v.service)),
        ttfb: times(visits.iter().map(|v| &v.ttfb)),
        server_pss: most(|v| v.server_pss),
        php_pss: most(|v| v.php_pss),
        php_peak: most(|v| v.php_peak),
        workers: workers(&visits),
        worker_seconds: worker_seconds(&visits),
        switches: mean(|v| v.switches.map(|s| s.voluntary))
            .zip(mean(|v| v.switches.map(|s| s.involuntary)))
            .map(|(voluntary, involuntary)| SwitchRate { voluntary, involuntary }),
        read_bytes: mean(|v| v.read_bytes),
        written_bytes: mean(|v| v.written_bytes),
        client_share: visits.iter().map(|v| v.client_share).filter(|s| s.is_finite()).fold(0.0, f64::max),
        front: false,
        dominated_by: None,
        to_reference: None,
        to_gzip: None,
        stop: measured.stop.clone(),
        caveats: measured.caveats.clone(),
    }
}

fn sum(visits: &[&DeliveryVisit], of: fn(&DeliveryVisit) -> u64) -> u64 {
    visits.iter().fold(0, |all, visit| all.saturating_add(of(visit)))
}

/// A counter a response, over the rounds that have it.
fn mean(visits: &[&DeliveryVisit], of: fn(&DeliveryVisit) -> Option<u64>) -> Option<f64> {
    let counted: Vec<(u64, u64)> = visits.iter().filter_map(|v| Some((of(v)?, v.requests))).collect();
    let (total, requests) =
        counted.iter().fold((0.0, 0.0), |(total, n), (x, m)| (total + *x as f64, n + *m as f64));
    (requests > 0.0).then(|| total / requests)
}

/// The library of the way, as whoever carries it out has it.
fn library(plan: &Plan, measured: &Measured) -> Option<String> {
    let delivery = measured.cell.delivery.as_ref()?;
    let way = &measured.cell.setting.codec;
    match delivery.by {
        By::Php => plan.runtimes.iter().find(|r| r.name == measured.cell.runtime)?.libraries.get(way),
        By::Server => plan.servers.iter().find(|s| s.name == delivery.server)?.libraries.get(way),
    }
    .cloned()
}

/// The times of all rounds together: histograms are added up, so that a quantile is one of all responses. What cannot be
/// unpacked is left out; none without a time.
pub(super) fn times<'a>(packed: impl Iterator<Item = &'a Packed>) -> Option<Times> {
    let mut all = Hist::default();
    packed.filter_map(|packed| packed.unpack().ok()).for_each(|hist| all.add(&hist));
    let at = |percent: u32| all.quantile(f64::from(percent) / 100.0);
    Some(Times {
        count: all.count(),
        min: all.min()?,
        mean: all.mean()?,
        sd: all.sd()?,
        p50: at(50)?,
        p99: at(99)?,
        max: all.max()?,
        percentiles: PERCENTILES.iter().filter_map(|percent| Some((*percent, at(*percent)?))).collect(),
    })
}

/// Busy workers × wall time ÷ responses, over the rounds with readings.
fn worker_seconds(visits: &[&DeliveryVisit]) -> Option<f64> {
    let read = |v: &&&DeliveryVisit| v.workers.is_some_and(|w| w.readings > 0);
    let (busy, requests) = visits.iter().filter(read).fold((0.0, 0.0), |(busy, requests), v| {
        let workers = v.workers.map_or(0.0, |w| w.busy_mean);
        (busy + workers * v.seconds, requests + v.requests as f64)
    });
    (requests > 0.0).then(|| busy / requests)
}

/// The pool over all rounds: most and fewest of all, the mean weighted by readings.
fn workers(visits: &[&DeliveryVisit]) -> Option<Workers> {
    let rounds: Vec<Workers> = visits.iter().filter_map(|v| v.workers).filter(|w| w.readings > 0).collect();
    let readings: u32 = rounds.iter().fold(0, |all, w| all.saturating_add(w.readings));
    let busy: f64 = rounds.iter().map(|w| w.busy_mean * f64::from(w.readings)).sum();
    Some(Workers {
        total: rounds.iter().map(|w| w.total).max()?,
        busy_max: rounds.iter().map(|w| w.busy_max).max()?,
        busy_mean: busy / f64::from(readings),
        idle_min: rounds.iter().map(|w| w.idle_min).min()?,
        queue_max: rounds.iter().map(|w| w.queue_max).max()?,
        readings,
    })
}
