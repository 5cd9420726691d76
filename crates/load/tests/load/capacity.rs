//! The search for the knee, on servers that are simulated.

use std::convert::Infallible;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_load::capacity::{Capacity, Ended, Limit, Search, Verdict, find_capacity, start_below};
use weigh_load::result::LoadResult;

use crate::simulated::result;

const P99_IN_50_MS: Limit = Limit { quantile: 0.99, seconds: 0.05 };

fn search() -> Search {
    Search::new(P99_IN_50_MS)
}

fn find(search: &Search, mut server: impl FnMut(f64, f64) -> LoadResult) -> Capacity {
    find_capacity(search, |rate, seconds| Ok::<_, Infallible>(server(rate, seconds))).unwrap()
}

/// Every request takes a millisecond up to a rate, and ten times the limit above it.
fn wall(limit: f64) -> impl FnMut(f64, f64) -> LoadResult {
    move |rate, seconds| steady(rate, seconds, if rate <= limit { 0.001 } else { 0.5 })
}

fn steady(rate: f64, seconds: f64, response: f64) -> LoadResult {
    result(seconds, &vec![response; (rate * seconds).min(1e4) as usize])
}

/// One server with exponential service times and a Poisson stream (Lindley's recursion).
fn queue(capacity: f64) -> impl FnMut(f64, f64) -> LoadResult {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    move |rate, seconds| {
        let mut exponential = |mean: f64| -(1.0 - random.random::<f64>()).ln() * mean;
        let (mut now, mut free, mut times) = (0.0, 0.0f64, Vec::new());
        while now < seconds {
            free = free.max(now) + exponential(1.0 / capacity);
            times.push(free - now);
            now += exponential(1.0 / rate);
        }
        result(seconds.max(free), &times)
    }
}

fn within(found: &Capacity, low: f64, high: f64) {
    let (held, over) = (found.held.unwrap(), found.over.unwrap());
    assert!(low <= held && held <= high, "{held} is not in {low}..{high}: {:?}", found.steps);
    assert!(held < over && over <= held * 1.05, "{held}..{over}");
}

#[test]
fn a_wall_is_found_from_below_and_from_above() {
    for start in [1.0, 100.0, 700.0, 50_000.0] {
        let found = find(&Search { start, ..search() }, wall(700.0));
        assert_eq!(found.ended, Ended::Found);
        within(&found, 700.0 / 1.05, 700.0);
        // The border stands on two tries each.
        for rate in [found.held, found.over] {
            assert_eq!(found.steps.iter().filter(|s| Some(s.rate) == rate).count(), 2);
        }
    }
}

#[test]
fn the_knee_of_a_queue_is_where_theory_has_it() {
    // The response time of an M/M/1 queue is exponential: its p99 is ln(100)/(μ − λ) (Kleinrock 1975, ch. 3).
    let knee = 1000.0 - 100f64.ln() / 0.05;
    let found = find(&Search { step_seconds: 60.0, ..search() }, queue(1000.0));
    assert_eq!(found.ended, Ended::Found);
    within(&found, knee * 0.92, knee * 1.05);
    assert!(found.steps.iter().all(
        |s| (s.verdict == Verdict::Held) == (s.response.unwrap() <= 0.05) || s.verdict == Verdict::Behind
    ));
    assert!(found.steps.len() < 25, "{}", found.steps.len());
}

#[test]
fn a_server_that_is_never_over() {
    let found = find(&Search { highest: 5000.0, ..search() }, wall(f64::INFINITY));
    assert_eq!((found.ended, found.held, found.over), (Ended::NeverOver, Some(5000.0), None));
}

#[test]
fn a_server_that_is_over_at_once() {
    let found = find(&Search { lowest: 10.0, ..search() }, wall(0.0));
    assert_eq!((found.ended, found.held, found.over), (Ended::NothingHeld, None, Some(10.0)));
    let silent = find(&search(), |_, seconds| result(seconds, &[]));
    assert_eq!((silent.ended, silent.held), (Ended::NothingHeld, None));
    assert!(silent.steps.iter().all(|s| s.verdict == Verdict::Behind && s.response.is_none()));
}

#[test]
fn what_is_dropped_faulted_or_left_behind_is_not_held() {
    let verdict = |spoil: fn(&mut LoadResult)| {
        let one = Search { most_steps: 1, ..search() };
        let found = find(&one, |rate, seconds| {
            let mut result = steady(rate, seconds, 0.001);
            spoil(&mut result);
            result
        });
        assert_eq!(found.ended, Ended::OutOfSteps);
        found.steps[0]
    };
    assert_eq!(verdict(|_| {}).verdict, Verdict::Held);
    assert_eq!(verdict(|r| r.classes[0].counts.dropped = 1).verdict, Verdict::Dropped);
    assert_eq!(verdict(|r| r.classes[0].counts.completed -= 6).verdict, Verdict::Behind);
    assert_eq!(verdict(|r| r.classes[0].counts.completed -= 4).verdict, Verdict::Held);
    // The schedule is 5 seconds long: what ends within the limit after it is in time, 100 ms later it is not.
    assert_eq!(verdict(|r| r.seconds = 5.05).verdict, Verdict::Held);
    let late = verdict(|r| r.seconds = 5.15);
    assert_eq!(late.verdict, Verdict::Behind);
    assert!((late.achieved - 500.0 / 5.1).abs() < 1e-9);
}

#[test]
fn a_hiccup_at_the_border_does_not_move_the_answer() {
    // Above 650, every rate is slow when it is tried for the first time; two of three tries decide.
    let mut seen = Vec::new();
    let found = find(&search(), |rate, seconds| {
        let is_first = !seen.contains(&rate.to_bits());
        seen.push(rate.to_bits());
        let slow = rate > 700.0 || (is_first && rate > 650.0);
        steady(rate, seconds, if slow { 0.5 } else { 0.001 })
    });
    assert_eq!(found.ended, Ended::Found);
    within(&found, 700.0 / 1.05, 700.0);
}

#[test]
fn a_rate_held_by_luck_is_given_up() {
    let mut tries = 0;
    let found = find(&search(), |rate, seconds| {
        tries += usize::from(rate == 800.0);
        steady(rate, seconds, if rate <= 500.0 || (rate == 800.0 && tries == 1) { 0.001 } else { 0.5 })
    });
    within(&found, 500.0 / 1.05, 500.0);
}

#[test]
fn the_generator_s_own_limit_is_said() {
    let found = find(&search(), |rate, seconds| {
        let mut result = steady(rate, seconds, if rate <= 900.0 { 0.001 } else { 0.5 });
        if rate > 900.0 {
            (0..100).for_each(|_| result.client.lateness.record(400_000_000));
        }
        result
    });
    assert_eq!(found.ended, Ended::Generator);
    within(&found, 900.0 / 1.05, 900.0);
    assert!(found.steps.iter().any(|s| s.verdict == Verdict::Generator));
}

#[test]
fn steps_are_long_enough_for_their_quantile_and_bounded() {
    let found = find(&search(), wall(700.0));
    for step in &found.steps {
        // 500 requests for five above the 99th percentile, in 5 to 30 seconds.
        assert_eq!(step.seconds, (500.0 / step.rate).clamp(5.0, 30.0));
    }
    let slow = find(&Search { start: 1.0, most_steps: 3, ..search() }, wall(700.0));
    assert_eq!((slow.ended, slow.steps.len(), slow.steps[0].seconds), (Ended::OutOfSteps, 3, 30.0));
    assert_eq!((slow.held, slow.over), (Some(4.0), None));
}

#[test]
fn a_server_that_answers_by_chance_ends_the_search_all_the_same() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..50 {
        let found = find(&search(), |rate, seconds| {
            steady(rate.min(100.0), seconds, if random.random() { 0.001 } else { 0.5 })
        });
        assert!(found.steps.len() <= 60);
    }
}

#[test]
fn an_error_ends_the_search() {
    let failed = find_capacity(&search(), |_, _| Err::<LoadResult, _>("no server"));
    assert_eq!(failed, Err("no server"));
}

#[test]
fn a_start_is_a_quarter_of_what_a_closed_model_reached() {
    assert_eq!(start_below(&steady(400.0, 5.0, 0.001)), 100.0);
    assert_eq!(start_below(&result(5.0, &[])), 1.0);
}
