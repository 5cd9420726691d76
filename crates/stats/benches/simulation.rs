//! The rule and the intervals under nine kinds of noise, as the tables of docs/dev/SIMULATIONS.md. `make bench-simulation`;
//! `TRIALS` is the number of runs, `SEED` another one for their random numbers.

#[path = "../tests/simulation/family.rs"]
mod family;
#[path = "../tests/simulation/noise.rs"]
mod noise;
#[path = "../tests/simulation/regret.rs"]
mod regret;
#[path = "../tests/simulation/runs.rs"]
mod runs;

use family::{Run, shares};
use noise::{ALL, Noise, SIX, coverage, long_run};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use regret::violations;
use runs::{Drift, claims};
use weigh_stats::TWO_SIDED_FROM;

const ROUNDS: [usize; 3] = [5, 8, 12];

/// Tables and rows of the simulated runs.
const RUNS: [(usize, usize); 5] = [(1, 3), (1, 6), (1, 48), (4, 12), (16, 3)];

/// A number from the environment.
fn given(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn main() {
    let (trials, seed) = (given("TRIALS", 200) as usize, given("SEED", 20));
    let random = || ChaCha8Rng::seed_from_u64(seed);
    for (tables, rows) in RUNS {
        println!(
            "\nTables: {tables}, rows of each: {rows}; {trials} trials, seed {seed}; at {ROUNDS:?} rounds\n"
        );
        println!("| Noise | Wrong | Found: +10% | +20% | 2× |\n|---|---|---|---|---|");
        for noise in ALL {
            let of = |factor: f64| {
                let trials = if factor == 1.0 { trials } else { trials.div_ceil(4) };
                ROUNDS
                    .map(|rounds| shares(noise, factor, Run { tables, rows, rounds }, trials, &mut random()))
            };
            let show = |all: [[f64; 2]; 3], at: usize| all.map(|one| format!("{:.3}", one[at])).join(" / ");
            let found = [1.1, 1.2, 2.0].map(|factor| show(of(factor), 1)).join(" | ");
            println!("| {noise:?} | {} | {found} |", show(of(1.0), 0));
        }
    }
    println!(
        "\nWrong claims between two runs of 60 that measured the same, {trials} trials; at {ROUNDS:?} rounds\n"
    );
    for noise in &ALL[..SIX] {
        let drift = Drift { common: 0.05, own: 0.01 };
        let wrong = ROUNDS.map(|rounds| claims(*noise, drift, (60, rounds), 1.0, trials, &mut random()).0);
        println!("| {noise:?} | {} |", wrong.map(|one| format!("{one:.2}")).join(" / "));
    }
    println!("\nCoverage of the 95% interval of the 0.1 quantile and of the median, 4000 trials\n");
    let rounds = [2, 3, 5, 8, 12, TWO_SIDED_FROM, 16, 20, 30, 40];
    println!("| Noise | {} |", rounds.map(|n| n.to_string()).join(" | "));
    println!("|---|{}", "---|".repeat(rounds.len()));
    for noise in ALL.into_iter().filter(|noise| *noise != Noise::Drift) {
        let truths = long_run(noise, &mut random());
        let show = |n| {
            let (low, median) = coverage(noise, truths, n, 4000, &mut random());
            format!("{low:.3}, {}", median.map_or("–".into(), |m| format!("{m:.3}")))
        };
        println!("| {noise:?} | {} |", rounds.map(show).join(" | "));
    }
    println!("\nTrue regret of a choice beyond what is stated, 400 trials; at {ROUNDS:?} rounds\n");
    println!(
        "| Noise | 30 settings: beyond the tolerance | beyond the bound | the bound | 8 settings: tolerance | bound | the bound |\n|---|---|---|---|---|---|---|"
    );
    for noise in ALL {
        let columns = |settings| {
            let all = ROUNDS.map(|n| violations(noise, settings, n, 400, &mut random()));
            let shares =
                |of: fn(&regret::Violations) -> f64| all.map(|one| format!("{:.3}", of(&one))).join(" / ");
            let bounds = all.map(|one| format!("{:.0}%", one.bound * 100.0)).join(" / ");
            [shares(|one| one.of_tolerance), shares(|one| one.of_bound), bounds].join(" | ")
        };
        println!("| {noise:?} | {} | {} |", columns((30, 2.5)), columns((8, 1.0)));
    }
}
