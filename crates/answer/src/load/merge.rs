//! Several blocks of one plan as one result.

use weigh_load::fault::FaultKind;
use weigh_load::result::{Client, FaultCount, LoadResult};

use super::figures::add;

/// The blocks combined, one after the other; the preflight is the first block's. None without blocks.
pub fn merge(blocks: Vec<LoadResult>) -> Option<LoadResult> {
    let mut blocks = blocks.into_iter();
    let mut all = blocks.next()?;
    let mut count = 1.0;
    for block in blocks {
        count += 1.0;
        for (sum, one) in all.classes.iter_mut().zip(&block.classes) {
            *sum = add(std::mem::take(sum), one);
        }
        all.slices.extend(block.slices.into_iter().map(|mut slice| {
            slice.start += all.seconds;
            slice
        }));
        block.faults.into_iter().for_each(|fault| gather(&mut all.faults, fault));
        all.seconds += block.seconds;
        all.unproven += block.unproven;
        add_client(&mut all.client, &block.client);
    }
    let client = &mut all.client;
    client.thread_shares.iter_mut().chain(&mut client.thread_waits).for_each(|share| *share /= count);
    Some(all)
}

/// Shares are added, and divided by the number of blocks later.
fn add_client(all: &mut Client, one: &Client) {
    all.user_seconds += one.user_seconds;
    all.system_seconds += one.system_seconds;
    all.peak_rss_bytes = all.peak_rss_bytes.max(one.peak_rss_bytes);
    all.thread_shares.iter_mut().zip(&one.thread_shares).for_each(|(sum, share)| *sum += share);
    all.thread_waits.iter_mut().zip(&one.thread_waits).for_each(|(sum, share)| *sum += share);
    all.lateness.add(&one.lateness);
}

/// Adds up failures by kind and keeps the first example.
fn gather(all: &mut Vec<FaultCount>, more: FaultCount) {
    let is_it = |kind: FaultKind| move |known: &&mut FaultCount| known.kind == kind;
    match all.iter_mut().find(is_it(more.kind)) {
        Some(known) => known.count += more.count,
        None => all.push(more),
    }
    all.sort_by_key(|fault| fault.kind);
}

#[cfg(test)]
mod tests {
    use weigh_load::fault::Fault;
    use weigh_load::result::{ClassResult, Slice};

    use super::*;

    fn block(completed: u64, share: f64, fault: FaultKind) -> LoadResult {
        let mut class = ClassResult { name: "all".into(), ..ClassResult::default() };
        class.counts.completed = completed;
        (0..completed).for_each(|_| class.times.response.record(1_000_000));
        LoadResult {
            seconds: 1.0,
            classes: vec![class],
            slices: vec![Slice { completed, seconds: 1.0, ..Slice::default() }],
            faults: vec![FaultCount {
                kind: fault,
                count: 1,
                request: "/".into(),
                example: Fault::new(fault, "x"),
            }],
            unproven: 1,
            client: Client { thread_shares: vec![share], user_seconds: 0.5, ..Client::default() },
            preflights: Vec::new(),
            began: None,
        }
    }

    #[test]
    fn blocks_add_up_and_shares_are_averaged() {
        let blocks = vec![
            block(2, 0.2, FaultKind::Status),
            block(4, 0.6, FaultKind::Reset),
            block(0, 0.1, FaultKind::Reset),
        ];
        let all = merge(blocks).unwrap();
        assert_eq!((all.seconds, all.unproven, all.client.user_seconds), (3.0, 3, 1.5));
        assert_eq!((all.classes[0].counts.completed, all.classes[0].times.response.count()), (6, 6));
        assert!((all.client.thread_shares[0] - 0.3).abs() < 1e-12);
        assert_eq!(all.slices.iter().map(|s| s.start).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        let faults: Vec<_> = all.faults.iter().map(|f| (f.kind, f.count)).collect();
        assert_eq!(faults, [(FaultKind::Reset, 2), (FaultKind::Status, 1)]);
        assert!(merge(Vec::new()).is_none());
    }
}
