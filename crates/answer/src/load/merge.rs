//! Several results of one plan as one: blocks one after the other, or agents at the same time.

use weigh_load::fault::HttpFaultKind;
use weigh_load::result::{AgentResult, Client, FaultCount, LoadResult, Slice};

use super::figures::add;

/// More slices than a result has: what a node says is bounded.
const MOST_SLICES: usize = 1 << 16;

/// The blocks combined, one after the other; the preflight is the first block's. None without blocks.
pub fn merge(blocks: Vec<LoadResult>) -> Option<LoadResult> {
    let mut blocks = blocks.into_iter();
    let mut all = blocks.next()?;
    let mut count = 1.0;
    for block in blocks {
        count += 1.0;
        all.slices.extend(
            block.slices.iter().map(|slice| Slice { start: slice.start + all.seconds, ..slice.clone() }),
        );
        all.seconds += block.seconds;
        let client = &mut all.client;
        let shares = client.thread_shares.iter_mut().zip(&block.client.thread_shares);
        let waits = client.thread_waits.iter_mut().zip(&block.client.thread_waits);
        shares.chain(waits).for_each(|(sum, share)| *sum += share);
        all.agents = together(std::mem::take(&mut all.agents), &block.agents);
        add_counts(&mut all, block);
    }
    let client = &mut all.client;
    client.thread_shares.iter_mut().chain(&mut client.thread_waits).for_each(|share| *share /= count);
    Some(all)
}

/// What agents sent from the same instant on, combined; the preflight is that of the first one. None without agents.
pub fn side_by_side(agents: Vec<AgentResult>) -> Option<LoadResult> {
    let mut parts = agents.iter().filter(|agent| agent.lost.is_none()).map(|agent| &agent.result);
    let mut all = parts.next()?.clone();
    for part in parts {
        all.seconds = all.seconds.max(part.seconds);
        all.slices = overlaid(std::mem::take(&mut all.slices), &part.slices);
        all.client.thread_shares.extend(&part.client.thread_shares);
        all.client.thread_waits.extend(&part.client.thread_waits);
        let memory = all.client.peak_rss_bytes + part.client.peak_rss_bytes;
        add_counts(&mut all, part.clone());
        all.client.peak_rss_bytes = memory;
    }
    Some(LoadResult { agents, due: None, began: None, ..all })
}

/// What adds up whether it was at the same time or not.
fn add_counts(all: &mut LoadResult, one: LoadResult) {
    for (sum, one) in all.classes.iter_mut().zip(&one.classes) {
        *sum = add(std::mem::take(sum), one);
    }
    one.faults.into_iter().for_each(|fault| gather(&mut all.faults, fault));
    all.unproven += one.unproven;
    add_client(&mut all.client, &one.client);
}

fn add_client(all: &mut Client, one: &Client) {
    all.user_seconds += one.user_seconds;
    all.system_seconds += one.system_seconds;
    all.peak_rss_bytes = all.peak_rss_bytes.max(one.peak_rss_bytes);
    all.nice = all.nice.max(one.nice);
    all.lateness.add(&one.lateness);
}

/// The agents of several blocks, each with all its own blocks; of the beginnings, the latest.
fn together(all: Vec<AgentResult>, more: &[AgentResult]) -> Vec<AgentResult> {
    let of = |mut agent: AgentResult| {
        if let Some(other) = more.iter().find(|other| other.node == agent.node) {
            agent.began = agent.began.max(other.began);
            agent.uncertainty = agent.uncertainty.max(other.uncertainty);
            agent.lost = agent.lost.or_else(|| other.lost.clone());
            agent.result = merge(vec![agent.result, other.result.clone()]).unwrap_or_default();
        }
        agent
    };
    all.into_iter().map(of).collect()
}

/// Slices of two agents that count from the same instant. A long run has twice as long ones: the longer ones are those of the sum.
fn overlaid(own: Vec<Slice>, theirs: &[Slice]) -> Vec<Slice> {
    let seconds = own.iter().chain(theirs).map(|slice| slice.seconds).fold(0.0, f64::max);
    let mut all: Vec<Slice> = Vec::new();
    for slice in own.iter().chain(theirs) {
        // Starts are multiples of a slice's own length, of which the longest is a multiple.
        let at = ((slice.start / seconds + 1e-6) as usize).min(MOST_SLICES);
        while all.len() <= at {
            all.push(Slice { start: all.len() as f64 * seconds, seconds, ..Slice::default() });
        }
        let sum = &mut all[at];
        sum.scheduled += slice.scheduled;
        sum.completed += slice.completed;
        sum.faulted += slice.faulted;
        sum.body_bytes += slice.body_bytes;
        sum.response.add(&slice.response);
    }
    all
}

/// Adds up failures by kind and keeps the first example.
fn gather(all: &mut Vec<FaultCount>, more: FaultCount) {
    let is_it = |kind: HttpFaultKind| move |known: &&mut FaultCount| known.kind == kind;
    match all.iter_mut().find(is_it(more.kind)) {
        Some(known) => known.count += more.count,
        None => all.push(more),
    }
    all.sort_by_key(|fault| fault.kind);
}

#[cfg(test)]
mod tests {
    use weigh_load::fault::HttpFault;
    use weigh_load::result::{ClassResult, Slice};

    use super::*;

    fn block(completed: u64, share: f64, fault: HttpFaultKind) -> LoadResult {
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
                example: HttpFault::new(fault, "x"),
            }],
            unproven: 1,
            client: Client { thread_shares: vec![share], user_seconds: 0.5, ..Client::default() },
            ..LoadResult::default()
        }
    }

    #[test]
    fn blocks_add_up_and_shares_are_averaged() {
        let blocks = vec![
            block(2, 0.2, HttpFaultKind::Status),
            block(4, 0.6, HttpFaultKind::Reset),
            block(0, 0.1, HttpFaultKind::Reset),
        ];
        let all = merge(blocks).unwrap();
        assert_eq!((all.seconds, all.unproven, all.client.user_seconds), (3.0, 3, 1.5));
        assert_eq!((all.classes[0].counts.completed, all.classes[0].times.response.count()), (6, 6));
        assert!((all.client.thread_shares[0] - 0.3).abs() < 1e-12);
        assert_eq!(all.slices.iter().map(|s| s.start).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        let faults: Vec<_> = all.faults.iter().map(|f| (f.kind, f.count)).collect();
        assert_eq!(faults, [(HttpFaultKind::Reset, 2), (HttpFaultKind::Status, 1)]);
        assert!(merge(Vec::new()).is_none());
    }

    fn agent(node: &str, began: f64, result: LoadResult) -> AgentResult {
        AgentResult { node: node.into(), began, uncertainty: 0.001, result, ..AgentResult::default() }
    }

    #[test]
    fn agents_add_up_bucket_for_bucket_and_on_one_clock() {
        let mut long = block(4, 0.6, HttpFaultKind::Reset);
        long.seconds = 3.0;
        let slice = |start, completed| Slice { start, seconds: 2.0, completed, ..Slice::default() };
        long.slices = vec![slice(0.0, 1), slice(2.0, 3)];
        let mut short = block(2, 0.2, HttpFaultKind::Status);
        short.slices = (0..3)
            .map(|at| Slice { start: f64::from(at), seconds: 1.0, completed: 10, ..Slice::default() })
            .collect();
        let lost = AgentResult { lost: Some("it ended".into()), ..agent("c", 0.0, LoadResult::default()) };
        let agents = vec![agent("a", 0.002, short), lost, agent("b", 0.005, long)];
        let all = side_by_side(agents.clone()).unwrap();
        assert_eq!((all.seconds, all.unproven, all.client.user_seconds), (3.0, 2, 1.0));
        assert_eq!(all.client.thread_shares, [0.2, 0.6]);
        let response = |result: &LoadResult| result.classes.first().map(|class| class.times.response.clone());
        let mut added = weigh_stats::hist::Hist::default();
        agents.iter().filter_map(|agent| response(&agent.result)).for_each(|hist| added.add(&hist));
        assert_eq!((response(&all).unwrap(), added.count()), (added, 6));
        assert_eq!(
            all.slices.iter().map(|s| (s.start, s.completed)).collect::<Vec<_>>(),
            [(0.0, 21), (2.0, 13)]
        );
        let (skew, uncertainty) = all.skew().unwrap();
        assert!((skew - 0.003).abs() < 1e-12 && (uncertainty - 0.002).abs() < 1e-12, "{skew} {uncertainty}");
        assert_eq!(all.lost().collect::<Vec<_>>(), [("c", "it ended")]);
        assert_eq!(all.agents, agents);
    }

    #[test]
    fn blocks_of_agents_keep_each_agent_s_sum() {
        let of = |completed, began| {
            let one = |node| agent(node, began, block(completed, 0.5, HttpFaultKind::Status));
            side_by_side(vec![one("a"), one("b")]).unwrap()
        };
        let all = merge(vec![of(2, 0.001), of(3, 0.004)]).unwrap();
        assert_eq!((all.seconds, all.classes[0].counts.completed), (2.0, 10));
        let each: Vec<_> = all
            .agents
            .iter()
            .map(|a| (a.node.as_str(), a.began, a.result.classes[0].counts.completed))
            .collect();
        assert_eq!(each, [("a", 0.004, 5), ("b", 0.004, 5)]);
        assert_eq!(all.client.thread_shares, [0.5, 0.5]);
    }
}
