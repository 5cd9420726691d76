//! What the workers of a block say, put together.

use weigh_stats::hist::{Hist, Packed};

use weigh_model::protocol::client::{Bins, Done, Failed, Prepared, Reads, Writes};
use weigh_model::record::client::{ClientVisit, WorkerVisit};
use weigh_model::record::delivery::Switches;
use weigh_os::group::Usage;

/// Kinds of failure that are kept.
const KINDS: usize = 5;

/// One visit from the words of its workers and the store's meter.
///
/// # Errors
/// A histogram whose counts do not add up.
pub fn visit(done: &[Done], prepared: &[Prepared], store: Option<Usage>) -> Result<ClientVisit, String> {
    let sum = |of: fn(&Done) -> u64| done.iter().map(of).fold(0u64, u64::saturating_add);
    let begins = done.iter().map(|d| d.began);
    let (first, last) = begins.fold((f64::INFINITY, f64::NEG_INFINITY), |(f, l), b| (b.min(f), b.max(l)));
    let first_of = |of: fn(&Prepared) -> Option<String>| prepared.iter().find_map(of);
    let has_schedule = done.iter().any(|d| d.put_response.is_some() || d.get_response.is_some());
    let response = |of: fn(&Done) -> &Option<Bins>| -> Result<Option<Packed>, String> {
        if !has_schedule {
            return Ok(None);
        }
        packed(done.iter().filter_map(|d| of(d).as_ref())).map(Some)
    };
    Ok(ClientVisit {
        workers: done.iter().map(worker).collect(),
        skew: if done.is_empty() { 0.0 } else { last - first },
        writes: Writes { count: sum(|d| d.writes.count), failed: sum(|d| d.writes.failed) },
        reads: Reads {
            count: sum(|d| d.reads.count),
            failed: sum(|d| d.reads.failed),
            hits: sum(|d| d.reads.hits),
            misses: sum(|d| d.reads.misses),
            wrong: sum(|d| d.reads.wrong),
        },
        dropped: sum(|d| d.dropped),
        put: packed(done.iter().map(|d| &d.put))?,
        get: packed(done.iter().map(|d| &d.get))?,
        put_response: response(|d| &d.put_response)?,
        get_response: response(|d| &d.get_response)?,
        encode_ns: sum(|d| d.encode_ns),
        decode_ns: sum(|d| d.decode_ns),
        // Waiting for the schedule is not part of a client.
        client_user_ns: sum(|d| d.cpu_user_ns.saturating_sub(d.spin_ns)),
        client_system_ns: sum(|d| d.cpu_system_ns),
        server_user_ns: store.map(|usage| usage.user_ns),
        server_system_ns: store.map(|usage| usage.system_ns),
        server_pss: None,
        switches: Switches { voluntary: sum(|d| d.voluntary), involuntary: sum(|d| d.involuntary) },
        own_ns: done.iter().map(|d| d.own_ns).sum::<f64>() / done.len().max(1) as f64,
        stored_bytes: prepared.iter().find_map(|p| p.stored_bytes),
        library: first_of(|p| p.library.clone()),
        server: first_of(|p| p.server.clone()),
        link: None,
        faults: failed(done),
    })
}

fn worker(done: &Done) -> WorkerVisit {
    WorkerVisit {
        transactions: done.writes.count.saturating_add(done.reads.count),
        seconds: done.seconds,
        memory: done.memory.without_own(),
        pss: None,
    }
}

/// The histograms of all workers as one.
fn packed<'a>(all: impl Iterator<Item = &'a Bins>) -> Result<Packed, String> {
    let mut hist = Hist::default();
    for bins in all {
        let counted = bins.bins.iter().map(|(_, count)| *count).fold(0u64, u64::saturating_add);
        if counted != bins.count {
            return Err(format!("a worker counted {} times and has {counted} in its histogram", bins.count));
        }
        // The middle of an outermost bin may lie beyond what was seen.
        bins.bins
            .iter()
            .for_each(|(ns, count)| hist.record_n((*ns).clamp(bins.min, bins.max.max(bins.min)), *count));
    }
    Ok(Packed::of(&hist))
}

/// The failures of all workers, the most frequent first.
fn failed(done: &[Done]) -> Vec<Failed> {
    let mut all: Vec<Failed> = Vec::new();
    for fault in done.iter().flat_map(|d| &d.faults) {
        match all.iter_mut().find(|known| known.message == fault.message) {
            Some(known) => known.count = known.count.saturating_add(fault.count),
            None => all.push(fault.clone()),
        }
    }
    all.sort_by_key(|fault| std::cmp::Reverse(fault.count));
    all.truncate(KINDS);
    all
}

#[cfg(test)]
mod tests;
