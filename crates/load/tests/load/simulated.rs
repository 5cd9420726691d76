//! Results of loads that were not sent.

use weigh_load::result::{ClassResult, Client, Counts, LoadResult, Slice};
use weigh_stats::hist::{Hist, Packed};

/// A result of one class, all of whose requests were completed after these times in seconds.
pub fn result(seconds: f64, times: &[f64]) -> LoadResult {
    let mut class = ClassResult { name: "default".into(), ..ClassResult::default() };
    for time in times {
        class.times.response.record((time * 1e9) as u64);
    }
    let count = times.len() as u64;
    class.counts = Counts { scheduled: count, sent: count, completed: count, ..Counts::default() };
    LoadResult {
        seconds,
        classes: vec![class],
        client: Client { thread_shares: vec![0.3], ..Client::default() },
        ..LoadResult::default()
    }
}

/// A result of requests that were due and ended at these instants in seconds, with this many slices in the schedule.
pub fn timeline(seconds: f64, slices: usize, requests: &[(f64, f64)]) -> LoadResult {
    let times: Vec<f64> = requests.iter().map(|(due, end)| end - due).collect();
    let last = requests.iter().map(|(_, end)| *end).fold(seconds, f64::max);
    let length = seconds / slices as f64;
    let at = |instant: f64| (instant / length) as usize;
    let mut open: Vec<(Slice, Hist)> = (0..=at(last))
        .map(|i| (Slice { start: i as f64 * length, seconds: length, ..Slice::default() }, Hist::default()))
        .collect();
    for (due, end) in requests {
        open[at(*due)].0.scheduled += 1;
        open[at(*end)].0.completed += 1;
        open[at(*end)].1.record(((end - due) * 1e9) as u64);
    }
    let keep = |(slice, times): (Slice, Hist)| Slice { response: Packed::coarse(&times), ..slice };
    LoadResult { slices: open.into_iter().map(keep).collect(), ..result(last, &times) }
}
