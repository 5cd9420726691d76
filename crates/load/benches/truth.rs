//! Are the figures true? Loads at a server with known delays that writes down when each response left. What the engine
//! says of the response time is held against that, at every percentile to p99.9.
//!
//! The server runs beside the engine: it wants two processors that do nothing else, keeps them awake, and goes ahead of what else runs on
//! them. When the client's processor was away nothing could read a response: until it is back is part of its true time.

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
use weigh_load::hist::Hist;

/// What a percentile may be off.
const RELATIVE: f64 = 0.01;
/// Or this, in seconds: the way back to the client and its own clock are in its figure, and not in the server's.
const ABSOLUTE: f64 = 100e-6;

/// Requests a second.
const RATE: f64 = 200.0;
/// Parts at most for each that counts.
const ATTEMPTS: usize = 4;
/// A part of whose responses more than this share left when the client's processor was away is made again.
const AWAY: f64 = 0.01;
/// Of one part of a load.
const SECONDS: f64 = 6.0;
/// Parts whose requests are looked at together.
const PARTS: usize = 4;
const QUANTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// None of the borders between two delays is at a percentile that is looked at.
const SCRIPTS: [(&str, Script); 3] = [
    ("constant 5 ms", Script { delay: |_| Duration::from_millis(5), stall: None }),
    (
        "bimodal 2/20 ms",
        Script { delay: |n| Duration::from_millis(if n % 7 == 3 { 20 } else { 2 }), stall: None },
    ),
    (
        "stall of 2 s",
        Script { delay: |_| Duration::from_millis(5), stall: Some((500, Duration::from_secs(2))) },
    ),
];

/// Seconds that the engine says, and that are true, at each quantile.
type Pairs = [(f64, f64); QUANTILES.len()];

fn main() -> ExitCode {
    let asked = std::env::var("WEIGH_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    let rounds: usize = asked.unwrap_or(5);
    let all = (SCRIPTS.len() * PARTS) as f64 * SECONDS;
    eprintln!("{rounds} rounds of {all} s and more; WEIGH_BENCH_ROUNDS gives another number");
    let awake =
        Awake::begin().map_err(|why| eprintln!("processors may sleep, which is in the figures: {why}")).ok();
    if !ahead() {
        eprintln!("this user may not go ahead of what else runs here: it is in the tail");
    }
    let mut found: [Found; SCRIPTS.len()] = Default::default();
    for part in 1..=rounds * PARTS * ATTEMPTS {
        for ((name, script), found) in SCRIPTS.iter().zip(&mut found) {
            if found.rounds.len() == rounds {
                continue;
            }
            eprint!("part {part}, {name}: ");
            if let Err(error) = found.part(*script, awake.as_ref()) {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let mut short = 0;
    for ((name, _), found) in SCRIPTS.iter().zip(&found) {
        for (index, (label, _)) in QUANTILES.iter().enumerate() {
            let pairs: Vec<_> = found.rounds.iter().map(|pairs| pairs[index]).collect();
            short += u32::from(!line(name, label, &pairs));
        }
    }
    if short == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What the engine says of the loads at a server, and what was true.
#[derive(Default)]
struct Found {
    rounds: Vec<Pairs>,
    /// Of the round that is not whole yet.
    parts: usize,
    said: Hist,
    truth: Vec<Duration>,
}

impl Found {
    /// A part of a round.
    fn part(&mut self, script: Script, awake: Option<&Awake>) -> Result<(), String> {
        let trial =
            Trial::run(script, &Load { arrival: "constant:200", connections: 1000, seconds: SECONDS });
        let absences =
            awake.zip(places()).map(|(awake, (_, client))| awake.absences(client)).unwrap_or_default();
        self.add(&trial, &absences)?;
        if self.parts == PARTS {
            let whole = Found { rounds: std::mem::take(&mut self.rounds), ..Found::default() };
            let pairs = std::mem::replace(self, whole).pairs();
            self.rounds.push(pairs);
        }
        Ok(())
    }

    fn add(&mut self, trial: &Trial, absences: &Absences) -> Result<(), String> {
        let truth = trial.true_responses(RATE, absences);
        let (completed, all) = (trial.class().counts.completed, (RATE * SECONDS) as usize);
        if completed as usize != all || truth.len() != all {
            return Err(format!("of {all} requests {completed} were completed and {} answered", truth.len()));
        }
        let left = trial.notes.iter().filter_map(|note| note.written);
        let waited = left.filter(|left| absences.back(*left) > *left).count();
        let late = quantile(&trial.arrivals(RATE), 0.999).as_secs_f64() * 1e3;
        let is_away = waited as f64 > AWAY * all as f64;
        eprintln!(
            "{waited} responses left when the processor was away, one request in a thousand came {late:.3} ms late{}",
            if is_away { "; made again" } else { "" }
        );
        if is_away {
            return Ok(());
        }
        self.parts += 1;
        self.said.add(&trial.class().times.response);
        self.truth.extend(truth);
        Ok(())
    }

    fn pairs(mut self) -> Pairs {
        self.truth.sort_unstable();
        QUANTILES.map(|(_, q)| {
            let said = self.said.quantile(q).expect("no part is empty");
            (said, quantile(&self.truth, q).as_secs_f64())
        })
    }
}

/// Puts this thread, and each that it starts from now on, ahead of every usual one; whether the system allows it.
fn ahead() -> bool {
    let first = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let low = ThreadPriorityValue::try_from(10).map(ThreadPriority::Crossplatform);
    low.is_ok_and(|low| set_thread_priority_and_policy(thread_native_id(), low, first).is_ok())
}

/// Prints the median difference over rounds with its range, and whether it is within the target.
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
