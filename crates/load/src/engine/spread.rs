//! Spreads a plan over threads: each has a part of every stream, with its own connections and schedule.

use super::prepared::{Arsenal, Refusal};
use super::stream_part::{Draw, StreamPart};
use crate::arrival::{self, Model};
use crate::plan::{Check, Length, Limits, LoadPlan, Protocol, Share, Stream};

/// The arrival models of a plan's streams.
///
/// # Errors
/// What is wrong with one of them, or an empty plan.
pub fn models(plan: &LoadPlan) -> Result<Vec<Box<dyn Model>>, Refusal> {
    if plan.requests.is_empty() || plan.streams.is_empty() {
        return Err(Refusal("the plan has no requests".into()));
    }
    if plan.length.requests.is_none() && plan.length.seconds.is_none() {
        return Err(Refusal("the plan has no end: give it requests or seconds".into()));
    }
    if plan.requests.iter().any(|r| r.stream as usize >= plan.streams.len()) {
        return Err(Refusal("a request belongs to a stream that does not exist".into()));
    }
    let model =
        |s: &Stream| arrival::parse_for(&s.arrival, plan.length.seconds).map_err(|e| Refusal(e.to_string()));
    plan.streams.iter().map(model).collect()
}

/// One thread's parts of the streams. Connections are distributed in turn, so that the numbers per thread differ by at
/// most one; with a [`Share`], over agents first. The due requests of all threads of all agents are those of the whole plan.
pub fn parts<'a>(
    plan: &'a LoadPlan,
    arsenal: &Arsenal,
    models: &[Box<dyn Model>],
    index: u32,
) -> Vec<StreamPart<'a>> {
    let part = |at: usize| {
        let (stream, model) = (&plan.streams[at], &models[at]);
        let requests: Vec<(u32, f64)> = (0u32..)
            .zip(&plan.requests)
            .filter(|(_, r)| r.stream as usize == at && r.weight > 0.0)
            .map(|(i, r)| (i, r.weight))
            .collect();
        let share = plan.share().among(stream.connections);
        let connections = share.map_or(0, |share| share.of(stream.connections.into()) as u32);
        let own = Share { index, count: plan.threads.clamp(1, connections.max(1)) };
        let takes_part = connections > 0 && index < own.count && !requests.is_empty();
        let most = if takes_part { own.of(connections.into()) as u32 } else { 0 };
        // The numbers of the agents' threads: those of an agent are its own number, and every further one after as many numbers as there are agents.
        let Share { index: first, count: agents } = share.unwrap_or(plan.share());
        let index = first + agents * index.min(own.count - 1);
        let at_once = if plan.protocol == Protocol::Http2 { stream.streams_per_connection.max(1) } else { 1 };
        let context = arrival::ThreadShare {
            index,
            count: agents * own.count,
            slots: most * at_once,
            seed: plan.seed ^ (at as u64) << 32,
            seconds: plan.length.seconds,
        };
        let draw = if stream.in_turn {
            Draw::in_turn(&requests.iter().map(|(request, _)| *request).collect::<Vec<_>>(), 1)
        } else {
            Draw::new(&requests, plan.seed.wrapping_mul(u64::from(index) + 1).wrapping_add(at as u64))
        };
        let schedule = model.schedule(&context);
        let is_open = model.is_open() && takes_part;
        StreamPart::new(stream, schedule, is_open, most as usize, arsenal.endpoints.len(), draw)
    };
    (0..plan.streams.len()).map(part).collect()
}

/// The plan of the preflight: one request after the other, over one connection if the load keeps its own, without slow
/// readers. Nothing has to be saved when it is interrupted.
pub fn scouting(plan: &LoadPlan) -> LoadPlan {
    let stream = Stream {
        name: "preflight".into(),
        keepalive: plan.streams.iter().all(|s| s.keepalive),
        ..Stream::default()
    };
    LoadPlan {
        streams: vec![stream],
        limits: Limits { drain_seconds: 0.0, ..plan.limits },
        length: Length::default(),
        check: Check::Verify { decode_every: 1, vary_by: Vec::new() },
        threads: 1,
        cpus: Vec::new(),
        share: None,
        ..plan.clone()
    }
}

/// The only part of such a plan: each of these requests this many times.
pub fn scouting_part<'a>(
    plan: &'a LoadPlan,
    arsenal: &Arsenal,
    requests: &[u32],
    times: u32,
) -> StreamPart<'a> {
    let context = arrival::ThreadShare { index: 0, count: 1, slots: 1, seed: 0, seconds: None };
    let stream = &plan.streams[0];
    let schedule = arrival::parse(&stream.arrival).expect("it is one of the models").schedule(&context);
    let draw = Draw::in_turn(requests, times);
    StreamPart::new(stream, schedule, false, 1, arsenal.endpoints.len(), draw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::Due;
    use crate::plan::Request;

    fn plan(arrival: &str, connections: u32, threads: u32) -> LoadPlan {
        let stream = Stream { arrival: arrival.into(), connections, ..Stream::default() };
        LoadPlan {
            requests: vec![Request { url: "http://127.0.0.1:9/".into(), ..Request::default() }],
            streams: vec![stream],
            length: Length { requests: None, seconds: Some(0.1) },
            threads,
            ..LoadPlan::default()
        }
    }

    /// The instants at which requests are due, and the connections, of all threads of all agents.
    fn all(plan: &LoadPlan, agents: Option<u32>) -> (Vec<crate::Nanos>, Vec<usize>) {
        let (mut due, mut connections) = (Vec::new(), Vec::new());
        for index in 0..agents.unwrap_or(1) {
            let share = agents.map(|count| Share { index, count });
            let plan = LoadPlan { share, ..plan.clone() };
            let (arsenal, models) = (Arsenal::of(&plan).unwrap(), models(&plan).unwrap());
            for thread in 0..plan.threads {
                for mut part in
                    parts(&plan, &arsenal, &models, thread).into_iter().filter(|part| part.most > 0)
                {
                    connections.push(part.most);
                    while let Due::Now(at) = part.schedule.next(crate::Nanos::MAX) {
                        due.push(at);
                    }
                }
            }
        }
        due.sort_unstable();
        (due, connections)
    }

    #[test]
    fn agents_together_send_what_one_would() {
        for arrival in ["constant:10000", "ramp:5000..20000,0.1s", "steps:3000x0.05s,9000x0.05s"] {
            let whole = all(&plan(arrival, 7, 1), None).0;
            for (agents, threads, connections) in [(1, 1, 7), (3, 2, 7), (3, 4, 5), (4, 1, 2), (5, 3, 5)] {
                let (due, has) = all(&plan(arrival, connections, threads), Some(agents));
                assert_eq!(due, whole, "{arrival} {agents} {threads} {connections}");
                assert_eq!(has.iter().sum::<usize>(), connections as usize);
            }
        }
    }

    #[test]
    fn agents_draw_independent_of_each_other() {
        let (due, _) = all(&plan("poisson:100000", 6, 2), Some(3));
        let different: std::collections::BTreeSet<_> = due.iter().collect();
        assert!(different.len() as f64 > 0.99 * due.len() as f64, "{} of {}", different.len(), due.len());
        // Ten thousand on average: six times their standard deviation.
        assert!((due.len() as f64 - 10_000.0).abs() < 600.0, "{}", due.len());
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        for (total, count) in [(0, 3), (1, 3), (10, 3), (11, 4), (7, 7)] {
            let shares: Vec<u64> = (0..count).map(|index| Share { index, count }.of(total)).collect();
            assert_eq!(shares.iter().sum::<u64>(), total);
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1, "{shares:?}");
        }
        let taking = |most| (0..4).filter_map(|index| Share { index, count: 4 }.among(most)).count();
        assert_eq!([taking(1), taking(3), taking(9)], [1, 3, 4]);
    }
}
