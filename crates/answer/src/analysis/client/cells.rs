//! From the visits of one cell to its results.

use weigh_load::hist::{Hist, Packed};
use weigh_stats::median;

use crate::analysis::client::costs::{Costs, visits};
use crate::analysis::client::model::{CallTimes, ClientCpu, ClientResult, Coding, Summary, WorkerMemory};
use crate::analysis::cost::Cost;
use crate::analysis::gather::Measured;
use crate::analysis::model::Quantity;
use weigh_model::protocol::client::{Reads, Writes};
use weigh_model::record::ClientVisit;

/// The results of one cell, without what needs the cells beside it.
pub(super) fn result(measured: &Measured, costs: &Costs) -> ClientResult {
    let visits: Vec<&ClientVisit> = visits(measured).map(|(_, visit)| visit).collect();
    let all = |of: fn(&ClientVisit) -> u64| visits.iter().map(|v| of(v)).fold(0u64, u64::saturating_add);
    let middle = |of: &dyn Fn(&ClientVisit) -> Option<f64>| {
        median(&visits.iter().filter_map(|v| of(v)).filter(|x| x.is_finite()).collect::<Vec<_>>())
    };
    let (put, get) = (merged(visits.iter().map(|v| &v.put)), merged(visits.iter().map(|v| &v.get)));
    let coding = |cost: &Option<Cost>, ns: f64, hist: &Hist| {
        let inside = hist.mean().unwrap_or(0.0) * hist.count() as f64 * 1e9;
        let share = if inside > 0.0 { (ns / inside).min(1.0) } else { 0.0 };
        cost.as_ref().map(|cost| Coding { ns: cost.quantity(), share })
    };
    ClientResult {
        cell: measured.cell.clone(),
        library: visits.iter().find_map(|v| v.library.clone()),
        server: visits.iter().find_map(|v| v.server.clone()),
        rounds: visits.len() as u32,
        summary: summary(&visits, costs),
        total_seconds: costs.seconds.as_ref().map(Cost::quantity),
        cpu: cpu(costs),
        put: times(&put),
        get: times(&get),
        put_response: times(&merged(visits.iter().filter_map(|v| v.put_response.as_ref()))),
        get_response: times(&merged(visits.iter().filter_map(|v| v.get_response.as_ref()))),
        dropped: all(|v| v.dropped),
        stored_bytes: visits.iter().rev().find_map(|v| v.stored_bytes),
        memory: memory(&visits),
        server_pss: visits.iter().filter_map(|v| v.server_pss).max(),
        skew: middle(&|v| Some(v.skew)).unwrap_or(0.0),
        own_share: middle(&|v| {
            let client = v.a_transaction((v.client_user_ns + v.client_system_ns) as f64)?;
            (client > 0.0).then(|| v.own_ns / client)
        }),
        encode: coding(&costs.encode, all(|v| v.encode_ns) as f64, &put),
        decode: coding(&costs.decode, all(|v| v.decode_ns) as f64, &get),
        stop: measured.stop.clone(),
        caveats: measured.caveats.clone(),
    }
}

fn summary(visits: &[&ClientVisit], costs: &Costs) -> Summary {
    let mut writes = Writes::default();
    let mut reads = Reads::default();
    for visit in visits {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut writes.count, visit.writes.count);
        add(&mut writes.failed, visit.writes.failed);
        add(&mut reads.count, visit.reads.count);
        add(&mut reads.failed, visit.reads.failed);
        add(&mut reads.hits, visit.reads.hits);
        add(&mut reads.misses, visit.reads.misses);
        add(&mut reads.wrong, visit.reads.wrong);
    }
    Summary {
        writes,
        reads,
        transactions: writes.count.saturating_add(reads.count),
        per_process: costs.per_process.as_ref().map(Cost::quantity),
        combined: costs.combined.as_ref().map(Cost::quantity),
    }
}

fn cpu(costs: &Costs) -> Option<ClientCpu> {
    let (total, client) = (costs.cpu.as_ref()?.quantity(), costs.client.as_ref()?.quantity());
    let server = costs.server.as_ref().map(Cost::quantity);
    Some(ClientCpu {
        total,
        client,
        client_user: part(client, costs.client_user),
        client_system: part(client, rest(costs.client_user)),
        server,
        server_user: server.map(|whole| part(whole, costs.server_user)),
        server_system: server.map(|whole| part(whole, rest(costs.server_user))),
    })
}

/// A share of an amount; the interval is that of both at their ends.
fn part(whole: Quantity, share: Quantity) -> Quantity {
    Quantity { value: whole.value * share.value, low: whole.low * share.low, high: whole.high * share.high }
}

fn rest(share: Quantity) -> Quantity {
    Quantity { value: 1.0 - share.value, low: 1.0 - share.high, high: 1.0 - share.low }
}

/// The most of all workers and rounds.
fn memory(visits: &[&ClientVisit]) -> Option<WorkerMemory> {
    let workers = || visits.iter().flat_map(|v| &v.workers);
    Some(WorkerMemory {
        peak: workers().map(|w| w.memory.peak).max()?,
        peak_real: workers().map(|w| w.memory.peak_real).max()?,
        growth: workers().map(|w| w.memory.end as i64 - w.memory.begin as i64).max()?,
        pss: workers().filter_map(|w| w.pss).max(),
    })
}

/// Histograms added up, so that a quantile is one of all calls. What cannot be unpacked is left out.
fn merged<'a>(packed: impl Iterator<Item = &'a Packed>) -> Hist {
    let mut all = Hist::default();
    packed.filter_map(|packed| packed.unpack().ok()).for_each(|hist| all.add(&hist));
    all
}

fn times(all: &Hist) -> Option<CallTimes> {
    Some(CallTimes {
        count: all.count(),
        mean: all.mean()?,
        p50: all.quantile(0.5)?,
        p90: all.quantile(0.9)?,
        p99: all.quantile(0.99)?,
        p999: all.quantile(0.999)?,
        max: all.max()?,
    })
}
