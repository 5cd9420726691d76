//! Reports of a stored run with drawn times, under six kinds of noise. `make bench-simulation`; `REPORTS` is their number.

#[path = "../tests/answer/drawn.rs"]
mod drawn;
#[path = "../../stats/tests/simulation/noise.rs"]
#[allow(dead_code)]
mod noise;
#[path = "../tests/answer/stored.rs"]
#[allow(dead_code)]
mod stored;

use drawn::{Template, shares};
use noise::{ALL, SIX};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn main() {
    let reports = std::env::var("REPORTS").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let template = Template::of(stored::records("cache-levels"));
    println!("Reports of cache-levels with drawn times, {reports} of each kind\n");
    println!(
        "| Noise | Rounds | Wrong: sentence | mark | front | choice | faster link | +10% found | +20% | 2× |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for noise in &ALL[..SIX] {
        for rounds in [5, 8, 12] {
            let of = |factor: f64, reports| {
                let mut random = ChaCha8Rng::seed_from_u64(38);
                shares(&template, *noise, factor, (rounds, reports), &mut random)
            };
            let wrong: Vec<String> =
                of(1.0, reports)[..5].iter().map(|share| format!("{share:.3}")).collect();
            let found = [1.1, 1.2, 2.0].map(|factor| format!("{:.2}", of(factor, reports.div_ceil(5))[5]));
            println!("| {noise:?} | {rounds} | {} | {} |", wrong.join(" | "), found.join(" | "));
        }
    }
}
