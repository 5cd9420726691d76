//! Measurements and sentences of a calibration, with invented results, and once with real ones.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use weigh_load::calibrate::{Setup, calibrate, loads, target};
use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::plan::{Check, LoadPlan};
use weigh_load::result::{ClassResult, Client, Counts, FaultCount, LoadResult};

fn setup() -> Setup {
    let target = "127.0.0.1:9".parse().unwrap();
    Setup { target, target_cpu: Some(3), cpus: vec![1, 3], rounds: 3, seconds: 0.5, seed: 1 }
}

/// A result with this many requests in two seconds, and this many CPU microseconds per request.
fn result(completed: u64, body: u64, us: f64) -> LoadResult {
    let cpu = completed as f64 * us / 1e6;
    let counts = Counts { completed, body_bytes: completed * body, ..Counts::default() };
    LoadResult {
        seconds: 2.0,
        classes: vec![ClassResult { name: "calibration".into(), counts, ..ClassResult::default() }],
        client: Client { user_seconds: cpu * 0.25, system_seconds: cpu * 0.75, ..Client::default() },
        ..LoadResult::default()
    }
}

/// An invented machine: 10 µs, four times as much without keep-alive.
fn machine(plan: &LoadPlan) -> LoadResult {
    let length = match plan.requests[0].url.as_str() {
        "http://127.0.0.1:9/1k" => 1024,
        "http://127.0.0.1:9/16k" => 16384,
        "http://127.0.0.1:9/500k" => 512_000,
        other => panic!("{other}"),
    };
    result(100_000, length, if plan.streams[0].keepalive { 9.8 } else { 39.2 })
}

#[test]
fn every_load_is_run_once_a_round_in_changing_orders() {
    let mut rounds: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let seen = calibrate(&setup(), |plan, block, blocks| -> Result<_, String> {
        assert_eq!(blocks, 72);
        assert_eq!(plan.cpus.len(), plan.threads as usize);
        assert_eq!(plan.length.seconds, Some(0.5));
        rounds.entry(block / 24).or_default().push(format!("{plan:?}"));
        Ok(machine(plan))
    });
    assert_eq!(seen.unwrap().ceilings.len(), 24);
    let sorted = |round: &[String]| {
        let mut all = round.to_vec();
        all.sort();
        all.dedup();
        all
    };
    assert_eq!(rounds.len(), 3);
    assert_eq!(sorted(&rounds[&0]).len(), 24);
    assert_eq!(sorted(&rounds[&0]), sorted(&rounds[&2]));
    assert_ne!(rounds[&0], rounds[&1]);
}

#[test]
fn loads_differ_in_check_keepalive_and_threads_and_say_whether_they_share_cores() {
    let all = loads(&setup());
    let plans: Vec<LoadPlan> = all.iter().map(|l| l.plan(&setup())).collect();
    assert_eq!(plans.iter().filter(|p| p.check == Check::Discard).count(), 12);
    assert_eq!(plans.iter().filter(|p| p.streams[0].keepalive).count(), 12);
    assert_eq!(plans.iter().filter(|p| p.cpus == [1]).count(), 12);
    assert_eq!(plans.iter().filter(|p| p.cpus == [1, 3]).count(), 12);
    // The target is on processor 3, which only two threads reach.
    assert!(all.iter().all(|l| l.shares_cores == (l.threads == 2)));
    let alone = Setup { cpus: vec![0], target_cpu: Some(0), ..setup() };
    assert_eq!(loads(&alone).len(), 12);
    assert!(loads(&alone).iter().all(|l| l.shares_cores));
    assert!(loads(&Setup { target_cpu: None, ..setup() }).iter().all(|l| l.shares_cores));
}

#[test]
fn figures_are_medians_over_rounds() {
    let setup = Setup { cpus: vec![1], ..setup() };
    let mut visits: BTreeMap<String, u64> = BTreeMap::new();
    let seen = calibrate(&setup, |plan, _, _| -> Result<_, String> {
        let visit = visits.entry(format!("{plan:?}")).or_default();
        *visit += 1;
        // The second round is a slow one.
        Ok(if *visit == 2 { result(10, 1024, 900.0) } else { result(50_000 * *visit, 1024, 10.0) })
    });
    let first = &seen.unwrap().ceilings[0];
    assert_eq!(first.requests_per_second, 25_000.0);
    assert!((first.megabytes_per_second - 25.6).abs() < 1e-9);
    assert!((first.cpu_us - 10.0).abs() < 1e-9 && (first.per_core - 100_000.0).abs() < 1e-6);
    assert!((first.kernel_share - 0.75).abs() < 1e-9);
}

#[test]
fn the_reading_names_the_limit() {
    let seen = calibrate(&setup(), |plan, _, _| -> Result<_, String> { Ok(machine(plan)) }).unwrap();
    let reading = seen.reading();
    assert_eq!(
        reading[0],
        "On this machine the generator needs 9.8 µs of CPU per verified request of 1 KB; above 102,000 requests/s per core it \
         is the limit."
    );
    assert!(reading[2].contains("of 500 KB;"), "{reading:?}");
    assert_eq!(reading[3], "A new connection per request costs 4.0 times as much CPU time at 1 KB.");
    assert!(
        reading[4].contains("With all threads the generator and the target shared a core"),
        "{reading:?}"
    );
    let json = serde_json::to_value(&seen).unwrap();
    assert_eq!(json["ceilings"][0]["body_bytes"], 1024);
    let apart = Setup { cpus: vec![0, 1], ..setup() };
    let seen = calibrate(&apart, |plan, _, _| -> Result<_, String> { Ok(machine(plan)) }).unwrap();
    assert_eq!(seen.reading()[4], "The generator and the target ran on cores of their own.");
}

#[test]
fn a_fault_or_an_idle_block_ends_it() {
    let error = calibrate(&setup(), |plan, _, _| -> Result<_, String> {
        let example = HttpFault::new(HttpFaultKind::Reset, "the connection was reset");
        let fault = FaultCount { kind: HttpFaultKind::Reset, count: 1, request: "/1k".into(), example };
        Ok(LoadResult { faults: vec![fault], ..machine(plan) })
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("connections") && error.contains("reset: the connection was reset"), "{error}");
    let idle = calibrate(&setup(), |_, _, _| -> Result<_, String> { Ok(result(0, 0, 0.0)) });
    assert!(idle.unwrap_err().to_string().contains("no request was completed"));
    let refused = calibrate(&setup(), |_, _, _| Err("no such processor".to_owned()));
    assert_eq!(refused.unwrap_err().to_string(), "no such processor");
}

#[test]
fn the_engine_and_the_target_calibrate_for_real() {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let cpu = (0..1024).find(|cpu| allowed.is_set(*cpu)).unwrap() as u32;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = AtomicBool::new(false);
    let setup =
        Setup { target: address, target_cpu: None, cpus: vec![cpu], rounds: 1, seconds: 0.2, seed: 1 };
    let seen = std::thread::scope(|scope| {
        let served = scope.spawn(|| target::serve(listener, &stop));
        let run = |plan: &LoadPlan, _, _| weigh_load::run(plan, &mut |_| {}, &AtomicBool::new(false));
        let seen = calibrate(&setup, run);
        stop.store(true, Ordering::Relaxed);
        served.join().unwrap().unwrap();
        seen.unwrap()
    });
    assert_eq!(seen.ceilings.len(), 12);
    for ceiling in &seen.ceilings {
        assert!(ceiling.requests_per_second > 0.0 && ceiling.cpu_us > 0.0, "{ceiling:?}");
        let bytes = ceiling.megabytes_per_second * 1e6 / ceiling.requests_per_second;
        assert!((bytes / ceiling.load.body_bytes as f64 - 1.0).abs() < 1e-6, "{ceiling:?}");
    }
}
