//! Proofs of drawn sites whose truth is known, under six kinds of noise. `make bench-simulation`; `SITES` is the number of
//! sites of each kind, `SEED` another one for their random numbers.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_model::policy::Policy;

use super::super::proof::{Line, Verdict};
use super::proof::{proof_run, proved};
use super::*;
use crate::report::Report;

#[path = "../../../../stats/tests/simulation/noise.rs"]
#[allow(dead_code)]
mod noise;

use noise::{ALL, Noise, SIX, observe};

/// Rounds of the policy, and of its proof with the cold one.
const ROUNDS: [(u32, u32); 2] = [(6, 6), (9, 8)];
/// How many times as long the first round of a proof takes.
const COLD: f64 = 3.0;

/// Shares of sites.
#[derive(Clone, Copy, Debug, Default)]
struct Shares {
    /// Said to hold, and it does not.
    held: f64,
    /// Said to be worse or better, and it is not.
    fell: f64,
    undecided: f64,
}

/// Files of several types and sizes with their requests, whose clients all take br and gzip.
fn drawn_site(random: &mut ChaCha8Rng) -> (Vec<File>, Site) {
    let types = ["text/javascript", "text/css"].map(|format| [3, 4, 5].map(|power| (format, power)));
    let many = random.random_range(2..=6);
    let chosen: Vec<(&str, i32)> = types.concat().sample(random, many).copied().collect();
    let file = |(format, power): (&'static str, i32)| {
        let bytes = 10f64.powf(f64::from(power) + 0.9 * random.random::<f64>()) as u64;
        (format, bytes, 0.15 + 0.3 * random.random::<f64>())
    };
    let files: Vec<File> = chosen.into_iter().map(file).collect();
    let requests: Vec<f64> =
        files.iter().map(|_| 10f64.powf(4.0 + 2.0 * random.random::<f64>()).round()).collect();
    let mut site = site(&files, &requests, "server/gzip:1");
    let codings = vec!["br".to_owned(), "gzip".to_owned()];
    site.visitors.accept = vec![Accept { codings, share: 1.0, from: From::Given }];
    (files, site)
}

/// Amounts by cell and round, as a factor of what they cost.
fn factors(
    kind: Noise,
    cells: usize,
    rounds: u32,
    random: &mut ChaCha8Rng,
) -> impl Fn(usize, u32) -> f64 + use<> {
    let seen = observe(kind, &vec![1.0; cells], rounds as usize, random);
    move |cell, round| seen[cell][round as usize - 1]
}

/// The line of CPU time.
fn cpu(policy: &Policy, site: &Site, run: Report) -> Line {
    proved(policy, site, run).lines.into_iter().find(|line| line.metric == "cpu").expect("CPU time")
}

fn shares(kind: Noise, (advised, measured): (u32, u32), sites: usize, random: &mut ChaCha8Rng) -> Shares {
    let mut shares = Shares::default();
    let one = 1.0 / sites as f64;
    for at in 0..sites {
        let (files, site) = drawn_site(random);
        let of_policy = factors(kind, files.len() * WAYS.len(), advised, random);
        let decided = |noise: &dyn Fn(usize, u32) -> f64| {
            decided(&site, &[report(&files, &WAYS, advised, noise)], Objective::Time)
        };
        // Half of the policies take what they predict.
        let times = if at % 2 == 0 { 1.0 } else { 0.5 * 16f64.powf(random.random()) };
        let run = |noise: &dyn Fn(usize, u32) -> f64| proof_run(&files, (times, 1.0), "br", measured, noise);
        let of_proof = factors(kind, files.len() * 2, measured, random);
        let cold = |cell, round| of_proof(cell, round) * if round == 1 { COLD } else { 1.0 };
        let said = cpu(&decided(&of_policy), &site, run(&cold)).verdict;
        let truth = cpu(&decided(&|_, _| 1.0), &site, run(&|_, _| 1.0));
        let off = truth.measured.share().zip(truth.predicted.share()).map_or(0.0, |(is, was)| is - was);
        let is_right = match said {
            Verdict::Undecided => true,
            Verdict::Better => off < 0.0,
            said => said == truth.verdict,
        };
        match said {
            Verdict::Undecided => shares.undecided += one,
            Verdict::Held if !is_right => shares.held += one,
            _ if !is_right => shares.fell += one,
            _ => {}
        }
    }
    shares
}

fn given(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
#[ignore = "some minutes: make bench-simulation"]
fn proofs_of_drawn_sites() {
    let (sites, seed) = (given("SITES", 200) as usize, given("SEED", 20));
    println!("Proofs of {sites} sites of each kind, seed {seed}; rounds of policy and proof: {ROUNDS:?}\n");
    println!("| Noise | Wrongly held | wrongly not | undecided |\n|---|---|---|---|");
    let mut worst = Vec::new();
    for kind in &ALL[..SIX] {
        let all = ROUNDS.map(|rounds| shares(*kind, rounds, sites, &mut ChaCha8Rng::seed_from_u64(seed)));
        let show = |of: fn(&Shares) -> f64| all.map(|one| format!("{:.3}", of(&one))).join(" / ");
        println!("| {kind:?} | {} | {} | {} |", show(|s| s.held), show(|s| s.fell), show(|s| s.undecided));
        let is_bad = |s: &Shares| s.held > 0.05 || s.fell > 0.05 || s.undecided > 0.2;
        worst.extend(all.into_iter().filter(is_bad).map(|s| (kind, s)));
    }
    assert!(worst.is_empty(), "{worst:?}");
}
