//! What the workers of a block say, put together.

use weigh_load::hist::{Hist, Packed};

use crate::rig::group::Usage;
use weigh_model::protocol::client::{Bins, Done, Failed, Prepared, Reads, Writes};
use weigh_model::record::client::{ClientVisit, WorkerVisit};
use weigh_model::record::delivery::Switches;

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
        // Waiting for the schedule is no part of a client.
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
mod tests {
    use super::*;

    fn bins(values: &[(u64, u64)]) -> Bins {
        let count = values.iter().map(|v| v.1).sum();
        let (min, max) = (values[0].0, values[values.len() - 1].0);
        Bins { count, min, max, sum: 0, bins: values.to_vec() }
    }

    #[test]
    fn the_histograms_of_workers_become_one() {
        let (a, b) = (bins(&[(10_000, 3), (20_000, 1)]), bins(&[(5_000_000, 4)]));
        let hist = packed([&a, &b].into_iter()).unwrap().unpack().unwrap();
        assert_eq!(hist.count(), 8);
        assert!((hist.quantile(0.25).unwrap() - 10e-6).abs() < 1e-6);
        assert!((hist.max().unwrap() - 5e-3).abs() < 5e-5);
        let wrong = Bins { count: 9, ..a };
        assert!(packed([&wrong].into_iter()).unwrap_err().contains("9 times"));
    }

    #[test]
    fn failures_are_put_together_by_their_words() {
        let fault = |message: &str, count| Failed { message: message.into(), count };
        let mut one: Done = serde_json::from_str(DONE).unwrap();
        one.faults = vec![fault("gone", 2), fault("full", 3)];
        let mut two = one.clone();
        two.faults = vec![fault("gone", 5)];
        assert_eq!(failed(&[one, two]), [fault("gone", 7), fault("full", 3)]);
    }

    const DONE: &str = r#"{"id":1,"began":1.0,"ended":2.0,"seconds":1.0,"cpu_user_ns":1,"cpu_system_ns":2,
        "writes":{"count":1,"failed":0},"reads":{"count":1,"failed":0,"hits":1,"misses":0,"wrong":0},
        "put":{"count":0,"min":0,"max":0,"sum":0,"bins":[]},"get":{"count":0,"min":0,"max":0,"sum":0,"bins":[]},
        "memory":{"begin":1,"end":1,"peak":1,"peak_real":1},"own_ns":300.0}"#;
}
