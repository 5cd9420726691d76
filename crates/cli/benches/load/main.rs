//! `make bench-load`: is our load generator as cheap as its peers, although it verifies every response?
//!
//! A private nginx serves from one core, the clients run on another, one at a time. What counts is the client's CPU time
//! per completed request, which says how much load one core can make and how little the instrument takes from what it
//! measures; the rate would show the server. All tools do the same thing for the same time: 100 connections, one
//! thread. In a round each case is visited once, by all tools in an order drawn afresh; the ratio to wrk is formed inside it.

mod bare;
#[path = "../common/mod.rs"]
mod common;
mod cost;
#[path = "../../../load/tests/load/flip.rs"]
mod flip;
mod flipped;
mod memory;
mod server;
mod table;
mod tool;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use common::{SEED, Targets, low_ratio, progress, rounds};
use server::Server;
use table::{Figures, Visit};
use tool::{Carriage, Case, Tool};

/// The server's processor and the client's.
const CPUS: (usize, usize) = (0, 1);
/// A visit's length: start-up and preflight vanish in it.
const SECONDS: u32 = 3;

const PEERS: &[Tool] = &[Tool::Weigh, Tool::Wrk, Tool::Ab, Tool::H2load];
/// Who is asked over plain kept connections.
const PLAIN: &[Tool] = &[Tool::Weigh, Tool::Wrk, Tool::Ab, Tool::H2load, Tool::Bare];
const CASES: &[Case] = &[
    Case { name: "1 KB", file: "1k", over: Carriage::Kept, tools: PLAIN },
    Case { name: "16 KB", file: "16k", over: Carriage::Kept, tools: PLAIN },
    Case {
        name: "500 KB",
        file: "500k",
        over: Carriage::Kept,
        tools: &[Tool::Weigh, Tool::Discard, Tool::Wrk, Tool::Ab, Tool::H2load, Tool::Bare],
    },
    Case {
        name: "1 KB without keepalive",
        file: "1k",
        over: Carriage::Closed,
        tools: &[Tool::Weigh, Tool::Wrk, Tool::Ab],
    },
    Case { name: "16 KB over TLS", file: "16k", over: Carriage::Tls, tools: PEERS },
    Case {
        name: "16 KB over HTTP/2",
        file: "16k",
        over: Carriage::Http2,
        tools: &[Tool::Weigh, Tool::H2load],
    },
];
/// Case, ours, and the ratio to wrk that may not be exceeded.
const TARGETS: [(usize, Tool, f64); 5] = [
    (0, Tool::Weigh, 1.0),
    (1, Tool::Weigh, 0.75),
    (2, Tool::Weigh, 0.60),
    (2, Tool::Discard, 0.25),
    (3, Tool::Weigh, 1.0),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((name, rest)) if name == bare::NAME => {
            common::end(bare::main(rest).map(|()| Targets::default()))
        }
        _ => common::end(compare()),
    }
}

/// All parts, or those that are named: `cargo bench -p weigh --bench load -- memory`.
fn compare() -> Result<Targets> {
    let here = std::thread::available_parallelism()?.get();
    ensure!(here >= 2, "the server and the client need a processor each");
    // cargo adds a flag of its own.
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |part: &str| named.is_empty() || named.iter().any(|n| n == part);
    let rounds = rounds(8);
    let server = Server::start(CPUS.0)?;
    let mut targets = Targets::default();
    if wanted("cpu") {
        cpu(&mut targets, &server, rounds);
    }
    if wanted("flipped") {
        flipped::find(&mut targets, rounds)?;
    }
    if wanted("memory") {
        memory::measure(&mut targets, &server, CPUS.1)?;
    }
    Ok(targets)
}

/// The lines on the client's CPU time.
fn cpu(targets: &mut Targets, server: &Server, rounds: usize) {
    let figures = measure(server, rounds);
    figures.print(CASES);
    for (case, ours, bound) in TARGETS {
        let name = format!("{}, {}", CASES[case].name, ours.name());
        let pairs = figures.pairs(case, ours, Tool::Wrk);
        targets.at_most(&name, &pairs, bound, "client CPU, ours ÷ wrk");
    }
    beside(&figures);
}

/// All rounds. A visit that fails is told and left out: too few are short.
fn measure(server: &Server, rounds: usize) -> Figures {
    let mut figures = Figures::default();
    let mut draw = ChaCha8Rng::seed_from_u64(SEED);
    for round in 0..rounds {
        progress(&format!("round {} of {rounds}", round + 1));
        let mut order: Vec<usize> = (0..CASES.len()).collect();
        order.shuffle(&mut draw);
        for at in order {
            let mut tools: Vec<Tool> = CASES[at].tools.iter().copied().filter(|t| t.is_here()).collect();
            tools.shuffle(&mut draw);
            for tool in tools {
                let seen = visit(server, &CASES[at], tool);
                if let Err(why) = &seen {
                    progress(&format!("{}, {}: {why:#}", CASES[at].name, tool.name()));
                }
                figures.push(at, tool, seen.ok());
            }
        }
    }
    figures
}

fn visit(server: &Server, case: &Case, tool: Tool) -> Result<Visit> {
    let ended = cost::run(&tool.command(case, server, SECONDS), CPUS.1)?;
    let completed = tool.completed(&ended.stdout)?;
    Ok(Visit {
        cpu: ended.cpu / completed * 1e5,
        kernel: ended.system / ended.cpu,
        rate: completed / f64::from(SECONDS),
    })
}

/// Ratios without a target, on stderr: ours to each peer's, and what the kernel takes to wrk's.
fn beside(figures: &Figures) {
    for (at, case) in CASES.iter().enumerate() {
        let peers = case.tools.iter().filter(|t| !matches!(t, Tool::Weigh | Tool::Discard));
        for (tool, peer) in peers.map(|p| (Tool::Weigh, *p)).chain([(Tool::Bare, Tool::Wrk)]) {
            if let Some(r) = low_ratio(&figures.pairs(at, tool, peer)) {
                let name = format!("{}, {} ÷ {}", case.name, tool.name(), peer.name());
                progress(&format!("{name}: {:.3} [{:.3}, {:.3}]", r.value, r.low, r.high));
            }
        }
    }
}
