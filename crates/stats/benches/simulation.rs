//! The rule and the intervals under eight kinds of noise, as the tables of docs/METHODOLOGY.md. `make bench-simulation`.

#[path = "../tests/simulation/family.rs"]
mod family;
#[path = "../tests/simulation/noise.rs"]
mod noise;
#[path = "../tests/simulation/regret.rs"]
mod regret;

use family::mean;
use noise::{ALL, Noise, coverage, long_run};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use regret::violations;
use weigh_stats::TWO_SIDED_FROM;

const ROUNDS: [usize; 3] = [5, 8, 12];

fn main() {
    let random = || ChaCha8Rng::seed_from_u64(20);
    let families = [("99 comparisons with one", 100, false, 300), ("all 190 pairs of 20", 20, true, 100)];
    for (what, cells, is_all, trials) in families {
        println!("\n{what}, {trials} trials; at {ROUNDS:?} rounds\n");
        println!(
            "| Noise | Wrong claim, all alike | Listed wrongly, one 10% dearer | +10% found | 2× found |\n|---|---|---|---|---|"
        );
        for noise in ALL {
            let of =
                |factor: f64| ROUNDS.map(|n| mean(noise, factor, (cells, n, is_all), trials, &mut random()));
            let show = |all: [[f64; 3]; 3], at: usize| all.map(|one| format!("{:.2}", one[at])).join(" / ");
            let (alike, tenth, twice) = (of(1.0), of(1.1), of(2.0));
            println!(
                "| {noise:?} | {} | {} | {} | {} |",
                show(alike, 0),
                show(tenth, 1),
                show(tenth, 2),
                show(twice, 2)
            );
        }
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
