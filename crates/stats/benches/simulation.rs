//! The rule and the intervals under nine kinds of noise, as the tables of docs/METHODOLOGY.md. `make bench-simulation`.

#[path = "../tests/simulation/family.rs"]
mod family;
#[path = "../tests/simulation/noise.rs"]
mod noise;
#[path = "../tests/simulation/regret.rs"]
mod regret;
#[path = "../tests/simulation/runs.rs"]
mod runs;

use family::{By, Run, shares};
use noise::{ALL, Noise, SIX, coverage, long_run};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use regret::violations;
use runs::{Drift, claims};
use weigh_stats::TWO_SIDED_FROM;

const ROUNDS: [usize; 3] = [5, 8, 12];

/// Tables and rows of the simulated runs.
const RUNS: [(usize, usize); 2] = [(1, 4), (4, 12)];

fn main() {
    let random = || ChaCha8Rng::seed_from_u64(20);
    let trials: usize = std::env::var("TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    for (tables, rows) in RUNS {
        for by in [By::Pairs, By::Noise] {
            println!("\n{tables} tables of {rows} rows, by {by:?}, {trials} trials; at {ROUNDS:?} rounds\n");
            println!(
                "| Noise | Wrong: sentence | table | front | recommendation | Marked, claimed: +10% | +20% | 2× |\n|---|---|---|---|---|---|---|---|"
            );
            for noise in ALL {
                let of = |factor: f64| {
                    let trials = if factor == 1.0 { trials } else { trials.div_ceil(4) };
                    let shares = |rounds| {
                        shares(noise, factor, Run { tables, rows, rounds }, by, trials, &mut random())
                    };
                    ROUNDS.map(shares)
                };
                let show =
                    |all: &[[f64; 6]; 3], at: usize| all.map(|one| format!("{:.2}", one[at])).join(" / ");
                let found = |factor: f64| {
                    let all = of(factor);
                    format!("{}, {}", show(&all, 4), show(&all, 5))
                };
                let wrong = of(1.0);
                let wrong = [0, 1, 2, 3].map(|at| show(&wrong, at)).join(" | ");
                println!("| {noise:?} | {wrong} | {} | {} | {} |", found(1.1), found(1.2), found(2.0));
            }
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
