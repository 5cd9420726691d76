//! All trials, many at a time, and the table of results.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::kind::Kind;
use crate::kinds;
use crate::trial::{Trial, TrialResult};

/// Trials at a time per processor: most of them wait.
const AT_ONCE: usize = 4;

fn trials(kinds: &[Kind]) -> Vec<Trial<'_>> {
    kinds.iter().flat_map(|kind| kind.whens.iter().map(move |&when| Trial { kind, when })).collect()
}

/// Names the trials.
pub fn list() -> ExitCode {
    let kinds = kinds::all();
    trials(&kinds).iter().for_each(|trial| println!("{}: test", trial.name()));
    ExitCode::SUCCESS
}

/// Runs the trials whose line contains one of the words, or all of them.
pub fn run(words: &[String]) -> ExitCode {
    let kinds = kinds::all();
    let trials: Vec<Trial<'_>> = trials(&kinds)
        .into_iter()
        .filter(|trial| words.is_empty() || words.iter().any(|word| trial.name().contains(word.as_str())))
        .collect();
    let begun = Instant::now();
    println!("{:<46} {:<10} {:<6} {:<24} {:>7} {:>6}", "kind", "protocol", "when", "ends in", "s", "MB");
    let outcomes = all(&trials);
    let mut failed = 0;
    for (trial, outcome) in trials.iter().zip(&outcomes) {
        let TrialResult { end, seconds, peak_bytes, wrong } = outcome;
        let megabytes = *peak_bytes as f64 / f64::from(1 << 20);
        println!("{} {end:<24} {seconds:>7.2} {megabytes:>6.1}", trial.name());
        if let Some(wrong) = wrong {
            failed += 1;
            println!("    WRONG: {wrong}");
        }
    }
    let slowest = outcomes.iter().map(|outcome| outcome.seconds).fold(0.0, f64::max);
    let largest = outcomes.iter().map(|outcome| outcome.peak_bytes).max().unwrap_or(0) >> 20;
    println!(
        "{} kinds in {} runs: the longest took {slowest:.1} s, the largest {largest} MB",
        kinds.len(),
        trials.len()
    );
    let passed = outcomes.len() - failed;
    println!("{passed} passed, {failed} failed; finished in {:.1} s", begun.elapsed().as_secs_f64());
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The outcomes in the order of the trials.
fn all(trials: &[Trial<'_>]) -> Vec<TrialResult> {
    let at_once = AT_ONCE * thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(trial) = trials.get(at)
                {
                    let outcome = trial.run();
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((at, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}
