//! Is a client worker a fair measure of a client? Its transactions beside those of redis-benchmark on the same private Redis, with the
//! CPU time of both sides; what its own loop costs; and its figures against scripted stores that write down how long each answer took.

mod bare;
#[path = "../common/mod.rs"]
mod common;
mod inside;
#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../../tests/cli/peer.rs"]
mod peer;
mod study;
mod tool;
mod truth;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use common::{Targets, progress, rounds};
use study::{Block, Figures};
use weigh_content::defs::Definitions;
use weigh_os::guard::LaunchContext;
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::StoreDefinition;
use weigh_rig::store::StoreInstance;

/// What a worker's own loop may be of a transaction.
const OWN: f64 = 0.05;
/// Clients at a time, and transactions of each.
const CLIENTS: u32 = 4;
const TRANSACTIONS: u64 = 20_000;
/// Bytes of the values: about what an integer takes, and a small cached value.
const SIZES: [(&str, &str, u64); 2] = [("integer", "integer", 8), ("1 KB", "value:rows-1k", 1000)];

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let asks = |part: &str| wanted.is_empty() || wanted.iter().any(|w| w == part);
    if let Some(unknown) = wanted.iter().find(|w| !["peers", "truth"].contains(&w.as_str())) {
        bail!("no part `{unknown}`; there are peers and truth");
    }
    let mut targets = Targets::default();
    if asks("peers") {
        peers(&mut targets)?;
    }
    if asks("truth") {
        truth::measure(&mut targets)?;
    }
    Ok(targets)
}

/// Ours and redis-benchmark on one Redis, now one first and now the other.
fn peers(targets: &mut Targets) -> Result<()> {
    let rounds = rounds(7);
    let room = tempfile::tempdir()?;
    let definitions = StoreDefinition::load(&Definitions::load(None)?)?;
    let redis = definitions.iter().find(|d| d.name == "redis").context("no store redis")?.find();
    let place = LaunchContext {
        launcher: common::WEIGH.into(),
        ..LaunchContext::new(room.path(), room.path().join("log"))
    };
    let instance = StoreInstance::start(&redis, None, &[], &place)?;
    let socket = instance.address().unix.clone().context("it has no socket")?;
    let mut found: Vec<(String, Vec<Figures>, Vec<Figures>)> = Vec::new();
    for round in 0..rounds {
        progress(&format!("round {} of {rounds}", round + 1));
        for (name, value, bytes) in SIZES {
            for (mix, test) in [("reads", "get"), ("writes", "set")] {
                let block = Block { value, mix, workers: CLIENTS, transactions: TRANSACTIONS };
                let ours = || metered(&instance, || study::run(room.path(), &block, &socket));
                let theirs = || metered(&instance, || tool::run(&socket, test, bytes, CLIENTS, TRANSACTIONS));
                let (own, other) = if round % 2 == 0 {
                    let own = ours()?;
                    (own, theirs()?)
                } else {
                    let other = theirs()?;
                    (ours()?, other)
                };
                let label = format!("{} {name}", test.to_uppercase());
                match found.iter_mut().find(|(known, ..)| *known == label) {
                    Some((_, all, others)) => {
                        all.push(own);
                        others.push(other);
                    }
                    None => found.push((label, vec![own], vec![other])),
                }
            }
        }
    }
    for (label, ours, theirs) in &found {
        tool::show(label, ours, theirs);
        let share: Vec<(f64, f64)> = ours.iter().map(|f| (f.own, f.client())).collect();
        targets.at_most(
            &format!("{label}, the worker's own loop"),
            &share,
            OWN,
            "÷ its CPU time per transaction",
        );
    }
    for name in ["memtier_benchmark"] {
        if !tool::is_on_path(name) {
            progress(&format!("{name} is not on PATH and is left out"));
        }
    }
    Ok(())
}

/// What a block came to, with the CPU time of the store beside it.
fn metered(instance: &StoreInstance, block: impl FnOnce() -> Result<Figures>) -> Result<Figures> {
    let before = instance.group().usage();
    let mut figures = block()?;
    let used = instance.group().usage().since(&before);
    figures.server_user = used.user_ns as f64 / figures.transactions;
    figures.server_system = used.system_ns as f64 / figures.transactions;
    Ok(figures)
}
