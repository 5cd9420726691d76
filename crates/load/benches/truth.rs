//! Are the figures true? Loads at a server with known delays that writes down when each response left. What the engine
//! says of the response time is held against that, at every percentile to p99.9.
//!
//! The server runs beside the engine: it wants two processors that do nothing else, and keeps them awake. A visit in which the machine
//! itself was away, of which the server tells by its own lateness, is made again.

#[path = "../tests/truth/awake.rs"]
mod awake;
#[path = "../tests/truth/server.rs"]
mod server;
#[path = "../tests/truth/trial.rs"]
mod trial;

use std::process::ExitCode;
use std::time::Duration;

use awake::Awake;
use server::{Note, Script};
use trial::{Load, Trial, quantile};

/// What a percentile may be off.
const RELATIVE: f64 = 0.01;
/// Or this, in seconds: the way back to the client and its own clock are in its figure, and not in the server's.
const ABSOLUTE: f64 = 100e-6;

/// Requests a second.
const RATE: f64 = 200.0;
const SECONDS: f64 = 24.0;
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
        Script { delay: |_| Duration::from_millis(5), stall: Some((1500, Duration::from_secs(2))) },
    ),
];

/// Visits to a server at most, for each that counts.
const ATTEMPTS: usize = 3;

/// Seconds that the engine says, and that are true, at each quantile.
type Pairs = [(f64, f64); QUANTILES.len()];

fn main() -> ExitCode {
    let asked = std::env::var("WEIGH_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    let rounds: usize = asked.unwrap_or(5);
    eprintln!("{rounds} rounds of {} s; WEIGH_BENCH_ROUNDS gives another number", 3.0 * SECONDS);
    let _awake = Awake::begin();
    let mut found: [Vec<Pairs>; SCRIPTS.len()] = Default::default();
    for round in 1..=rounds {
        for ((name, script), found) in SCRIPTS.iter().zip(&mut found) {
            eprintln!("round {round}: {name}");
            match undisturbed(*script) {
                Ok(pairs) => found.extend(pairs),
                Err(error) => {
                    eprintln!("error: {name}: {error}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    let mut short = 0;
    for ((name, _), found) in SCRIPTS.iter().zip(&found) {
        for (index, (label, _)) in QUANTILES.iter().enumerate() {
            short +=
                u32::from(!line(name, label, &found.iter().map(|pairs| pairs[index]).collect::<Vec<_>>()));
        }
    }
    if short == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Loads until the machine was there throughout; none: it was not, as often as this was tried.
fn undisturbed(script: Script) -> Result<Option<Pairs>, String> {
    for _ in 0..ATTEMPTS {
        let load = Load { arrival: "constant:200", connections: 1000, seconds: SECONDS };
        let trial = Trial::run(script, &load);
        let late = lateness(&trial.notes);
        if late.as_secs_f64() <= ABSOLUTE {
            return pairs(&trial).map(Some);
        }
        eprintln!(
            "  left out: the machine was away, for one request in a thousand the server was {late:?} late"
        );
    }
    Ok(None)
}

/// By how much the server itself was late, at p99.9.
fn lateness(notes: &[Note]) -> Duration {
    let mut all: Vec<Duration> = notes.iter().filter_map(|note| note.late).collect();
    all.sort_unstable();
    quantile(&all, 0.999)
}

fn pairs(trial: &Trial) -> Result<Pairs, String> {
    let truth = trial.true_responses(RATE);
    let (completed, all) = (trial.class().counts.completed, (RATE * SECONDS) as usize);
    if completed as usize != all || truth.len() != all {
        return Err(format!("of {all} requests {completed} were completed and {} answered", truth.len()));
    }
    let response = &trial.class().times.response;
    let value = |q: f64| response.quantile(q).ok_or("nothing was counted");
    let mut pairs = Pairs::default();
    for (pair, (_, q)) in pairs.iter_mut().zip(QUANTILES) {
        *pair = (value(q)?, quantile(&truth, q).as_secs_f64());
    }
    Ok(pairs)
}

/// Prints the median difference over rounds with its range, and whether it is within the target.
fn line(name: &str, label: &str, pairs: &[(f64, f64)]) -> bool {
    if pairs.is_empty() {
        println!(
            "{name}, {label}: not measured, the machine was away in each round (within 1% or 100 µs) short"
        );
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
