//! Checks whether the figures are true. Loads run against a server with known delays that records when each response
//! left. The engine's response times are compared with these, at every percentile up to p99.9.
//!
//! The server runs beside the engine: it needs two idle processors, keeps them awake, and has priority on them. If
//! the hypervisor takes the client's processor away, nothing can read a response; if it takes the server's, the time at
//! which a response left is unknown. Loads in which that happened are left out, whatever the engine reports.

#[path = "../tests/truth/absence.rs"]
mod absence;
#[path = "../tests/truth/awake.rs"]
mod awake;
#[path = "../tests/truth/places.rs"]
mod places;
#[path = "../tests/truth/server.rs"]
mod server;
#[path = "../tests/truth/trial.rs"]
mod trial;
#[path = "../tests/truth/witness.rs"]
mod witness;

use std::process::ExitCode;
use std::time::Duration;

use absence::Absences;
use awake::Awake;
use places::places;
use server::Script;
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};
use trial::{Load, Trial, quantile};
use weigh_stats::hist::Hist;

/// The allowed relative error of a percentile.
const RELATIVE: f64 = 0.01;
/// Or this error, in seconds: the way back to the client and its own clock are part of its figure, but not of the
/// server's.
const ABSOLUTE: f64 = 100e-6;

/// Requests per second.
const RATE: f64 = 200.0;
/// The most loads for each one that counts.
const ATTEMPTS: usize = 6;
/// A load is left out unless it is known this exactly when a response left.
const KNOWN: Duration = Duration::from_micros(100);
/// Loads at a server before the next server.
const TURN: f64 = 6.0;
/// Loads whose requests are evaluated together.
const ROUND: f64 = 24.0;
const QUANTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

struct Case {
    name: &'static str,
    script: Script,
    /// Requests of one load.
    seconds: f64,
    /// The largest share of its responses for which a time is unknown.
    unknown: f64,
}

/// No evaluated percentile is at a border between two delays.
const CASES: [Case; 3] = [
    Case {
        name: "constant 5 ms",
        script: Script { delay: |_| Duration::from_millis(5), stall: None },
        seconds: 0.25,
        unknown: 0.0,
    },
    Case {
        name: "bimodal 2/20 ms",
        script: Script { delay: |n| Duration::from_millis(if n % 7 == 3 { 20 } else { 2 }), stall: None },
        seconds: 0.25,
        unknown: 0.0,
    },
    // These loads are too long to run without an absence, and insensitive to one: a further millisecond hardly changes
    // their percentiles.
    Case {
        name: "stall of 2 s",
        script: Script { delay: |_| Duration::from_millis(5), stall: Some((500, Duration::from_secs(2))) },
        seconds: 6.0,
        unknown: 0.01,
    },
];

/// Seconds at each quantile, by the engine and true.
type Pairs = [(f64, f64); QUANTILES.len()];

fn main() -> ExitCode {
    let asked = std::env::var("WEIGH_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    let rounds: usize = asked.unwrap_or(5);
    eprintln!(
        "{rounds} rounds of {} s and more; WEIGH_BENCH_ROUNDS gives another number",
        CASES.len() as f64 * ROUND
    );
    let awake =
        Awake::begin().map_err(|why| eprintln!("processors may sleep, which is in the figures: {why}")).ok();
    if !ahead() {
        eprintln!("this user may not go ahead of what else runs here: it is in the tail");
    }
    let mut found: [Found; CASES.len()] = Default::default();
    let turns = (ROUND / TURN) as usize * rounds * ATTEMPTS;
    for turn in 1..=turns {
        for (case, found) in CASES.iter().zip(&mut found).filter(|(_, found)| found.rounds.len() < rounds) {
            if let Err(error) = found.turn(case, awake.as_ref()) {
                eprintln!("turn {turn}, {}: error: {error}", case.name);
                return ExitCode::FAILURE;
            }
            eprintln!("turn {turn}, {}: {found}", case.name);
        }
    }
    let mut short = 0;
    for (case, found) in CASES.iter().zip(&found) {
        for (index, (label, _)) in QUANTILES.iter().enumerate() {
            let pairs: Vec<_> = found.rounds.iter().map(|pairs| pairs[index]).collect();
            short += u32::from(!line(case.name, label, &pairs));
        }
    }
    if short == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The engine's times of the loads at a server, and the true ones.
#[derive(Default)]
struct Found {
    rounds: Vec<Pairs>,
    /// Loads of the round in progress.
    loads: usize,
    said: Hist,
    truth: Vec<Duration>,
    /// Loads that count, that were left out because of the client's processor, and because of the server's.
    kept: usize,
    client_away: usize,
    server_away: usize,
    /// How late a request of the counted loads was read.
    latest: Duration,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Found { kept, client_away, server_away, latest, .. } = self;
        write!(f, "{kept} loads count (requests up to {:.3} ms late), ", latest.as_secs_f64() * 1e3)?;
        write!(f, "{client_away} were left out for the client's processor and {server_away} for the server's")
    }
}

impl Found {
    /// Loads until the next server.
    fn turn(&mut self, case: &Case, awake: Option<&Awake>) -> Result<(), String> {
        for _ in 0..(TURN / case.seconds) as usize {
            let load = Load { arrival: "constant:200", connections: 1000, seconds: case.seconds };
            let trial = Trial::run(case.script, &load);
            let absences =
                awake.zip(places()).map(|(awake, (_, client))| awake.absences(client)).unwrap_or_default();
            self.add(case, &trial, &absences)?;
            if self.loads == (ROUND / case.seconds) as usize {
                self.loads = 0;
                let pairs = pairs(&std::mem::take(&mut self.said), std::mem::take(&mut self.truth));
                self.rounds.push(pairs);
            }
        }
        Ok(())
    }

    fn add(&mut self, case: &Case, trial: &Trial, absences: &Absences) -> Result<(), String> {
        let truth = trial.true_responses(RATE);
        let (completed, all) = (trial.class().counts.completed, (RATE * case.seconds) as usize);
        if completed as usize != all || truth.len() != all {
            return Err(format!("of {all} requests {completed} were completed and {} answered", truth.len()));
        }
        let is_too_much = |count: usize| count as f64 > case.unknown * all as f64;
        let left = || trial.notes.iter().filter_map(|note| note.left.as_ref());
        if is_too_much(left().filter(|left| absences.touch(left)).count()) {
            self.client_away += 1;
        } else if is_too_much(left().filter(|left| left.end - left.start > KNOWN).count()) {
            self.server_away += 1;
        } else {
            self.kept += 1;
            self.loads += 1;
            self.said.add(&trial.class().times.response);
            self.truth.extend(truth);
            self.latest = self.latest.max(quantile(&trial.arrivals(RATE), 1.0));
        }
        Ok(())
    }
}

fn pairs(said: &Hist, mut truth: Vec<Duration>) -> Pairs {
    truth.sort_unstable();
    QUANTILES.map(|(_, q)| {
        let said = said.quantile(q).expect("no load is empty");
        (said, quantile(&truth, q).as_secs_f64())
    })
}

/// Gives this thread, and threads that it starts from now on, priority over all normal ones; returns whether the system
/// allows it.
fn ahead() -> bool {
    let first = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let low = ThreadPriorityValue::try_from(10).map(ThreadPriority::Crossplatform);
    low.is_ok_and(|low| set_thread_priority_and_policy(thread_native_id(), low, first).is_ok())
}

/// Prints the median difference over rounds with its range, and whether it meets the target.
fn line(name: &str, label: &str, pairs: &[(f64, f64)]) -> bool {
    if pairs.is_empty() {
        println!("{name}, {label}: not measured, the machine was away too often (within 1% or 100 µs) short");
        return false;
    }
    let mut differences: Vec<f64> = pairs.iter().map(|(said, truth)| said - truth).collect();
    differences.sort_unstable_by(f64::total_cmp);
    let truths: Vec<f64> = pairs.iter().map(|(_, truth)| *truth).collect();
    let median = weigh_stats::median(&differences).unwrap_or(f64::NAN);
    let truth = weigh_stats::median(&truths).unwrap_or(f64::NAN);
    let is_met = median.abs() <= (truth * RELATIVE).max(ABSOLUTE);
    let (low, high) = (differences[0], differences[differences.len() - 1]);
    println!(
        "{name}, {label}: {:+.0} µs [{:+.0}, {:+.0}] from {:.3} ms (within 1% or 100 µs) {}",
        median * 1e6,
        low * 1e6,
        high * 1e6,
        truth * 1e3,
        if is_met { "ok" } else { "short" }
    );
    is_met
}
