//! `weigh load`: load on a server, every response verified, and what it came to.

mod ab;
mod args;
mod arrival;
mod calibrate;
mod capacity;
mod compare;
mod conductor;
mod live;
mod plan;

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::{CommandFactory, FromArgMatches, Parser};
use weigh_load::agent::Engine;
use weigh_load::plan::LoadPlan;

pub use args::Args;
use conductor::Conductor;

use crate::exit::{Exit, OrRefuse};
use crate::gates::Judging;
use crate::terminal;
use weigh_answer::compare::gate::worst;
use weigh_answer::format::Detail;
use weigh_answer::load::{Compared, Measured, Run, gate};

/// Slices of a short load that has gates.
const SLICES: f64 = 20.0;
/// Seconds of a load whose usual slices are enough for gates.
const GATED: f64 = 20.0;

/// Pairs of blocks of a short comparison.
const PAIRS: f64 = 10.0;
/// Seconds of its shortest block.
const SHORTEST: f64 = 0.1;

/// Files that a process has open beside its connections.
const OTHER_FILES: u64 = 64;

pub fn run(args: &Args) -> Result<ExitCode> {
    let args = match &args.other.ab_args {
        Some(words) => from_ab(args, words).or_usage_error()?,
        None => args.clone(),
    };
    let judging = judging(&args).or_usage_error()?;
    if args.other.calibrate {
        return calibrate::run(&args);
    }
    if let Some(limit) = args.other.find_capacity {
        return capacity::run(&args, limit);
    }
    if let Some(other) = args.other.vs.clone() {
        return compare::run(&args, &other);
    }
    let mut args = args;
    let gates = judging.asked();
    if !gates.is_empty() && args.machine.slice.is_none() {
        // Intervals of gates come from slices: a short load needs shorter ones.
        let seconds = args.load.duration.unwrap_or(GATED);
        args.machine.slice = (seconds < GATED).then_some(seconds / SLICES);
    }
    let plan = plan::build(&args, &args.urls).or_usage_error()?;
    let mut conductor = Conductor::start(&args, &plan)?;
    let began = SystemTime::now();
    let outcome = conductor.outcome(&plan, "")?;
    let run = Run::of(plan, outcome.result, outcome.interrupted);
    let (failures, judged) = (run.faults(), gate::judge(gates, &run));
    conductor.finish(Measured::Run(Box::new(run)), began)?;
    judging.tell("weigh load", &judged, Detail::Full, args.output.json)?;
    let own = exit(outcome.interrupted, failures);
    let of_gates = Exit::of_gates(worst(&judged));
    Ok(match (own, of_gates) {
        (Exit::Internal, _) => own,
        // Failures within a limit on them are no reason to stop.
        (Exit::Failures, Exit::Fine) if !gates.iter().any(|gate| gate.metric == "errors") => own,
        _ => of_gates,
    }
    .into())
}

/// The gates that were asked for; they need a single load.
fn judging(args: &Args) -> Result<Judging> {
    let judging = args.gates.read()?;
    let is_single = args.other.vs.is_none() && args.other.find_capacity.is_none() && !args.other.calibrate;
    ensure!(
        is_single || judging.asked().is_empty(),
        "gates judge a single load; leave out --vs, --find-capacity and --calibrate"
    );
    ensure!(!judging.has_junit() || !judging.asked().is_empty(), "--junit needs a gate: --gate 'p99<50ms'");
    gate::check(judging.asked())?;
    Ok(judging)
}

/// Two URLs in blocks that alternate, for this many seconds, measured as by `weigh load A --vs B`; or how the program ends, because it
/// was stopped.
pub fn versus(a: &str, b: &str, (seconds, seed): (f64, u64)) -> Result<Result<Box<Compared>, ExitCode>> {
    let matches = Translated::command().try_get_matches_from([a]).or_usage_error()?;
    let mut args = Translated::from_arg_matches(&matches).or_usage_error()?.args;
    args.load.duration = Some(seconds);
    // A short comparison has shorter blocks: a test needs some pairs of them.
    args.other.block_time = Some((seconds / 2.0 / PAIRS).clamp(SHORTEST, 1.0));
    args.machine.seed = seed;
    compare::measured(&args, b, false)
}

/// How a load ends that the user interrupted, or in which responses failed.
fn exit(interrupted: bool, failures: u64) -> Exit {
    if interrupted {
        Exit::Internal
    } else {
        Exit::of_failures(usize::try_from(failures).unwrap_or(usize::MAX))
    }
}

/// The engine's own verb; an error is one line.
pub fn agent(network: Option<&Path>) -> Result<ExitCode> {
    network.map_or(Ok(()), weigh_os::network::join)?;
    let engine: &Engine = &|plan, tell, signals| {
        // A local agent has what its parent made room for; elsewhere nobody did.
        let start = plan.share.map(|_| room_for(plan.connections()).map(|_| &signals.start)).transpose()?;
        weigh_load::run_from(plan, start, tell, &signals.stop).map_err(|refusal| refusal.to_string())
    };
    let input = std::io::BufReader::new(std::io::stdin());
    weigh_load::agent::serve(input, &mut std::io::stdout().lock(), engine)?;
    Ok(Exit::Fine.into())
}

pub fn target(cpu: Option<u32>) -> Result<ExitCode> {
    weigh_run::loading::target::serve(
        cpu,
        std::io::BufReader::new(std::io::stdin()),
        std::io::stdout().lock(),
    )?;
    Ok(Exit::Fine.into())
}

/// Makes room for the plan's connections, and says so.
fn make_room(plan: &LoadPlan) -> Result<()> {
    let connections = plan.connections();
    if let Some(before) = room_for(connections).map_err(anyhow::Error::msg)? {
        let wanted = connections + OTHER_FILES;
        terminal::note(&format!(
            "{connections} connections need {wanted} open files: the limit was {before} and is raised for this run"
        ));
    }
    Ok(())
}

/// A file is open for each connection: raises the soft limit. Returns the previous one if it was too low.
fn room_for(connections: u64) -> Result<Option<u64>, String> {
    let wanted = connections + OTHER_FILES;
    weigh_load::sys::make_room_for_files(wanted).map_err(|hard| {
        let fitting = match hard.saturating_sub(OTHER_FILES) {
            0 => String::new(),
            most => format!("give -c {most} at most, or "),
        };
        format!(
            "{connections} connections need {wanted} open files, and this system allows {hard}; {fitting}raise the hard limit (ulimit -Hn)"
        )
    })
}

/// Our flags alone, as `ab`'s are translated to them.
#[derive(Debug, Parser)]
#[command(name = "weigh load", no_binary_name = true)]
struct Translated {
    #[command(flatten)]
    args: Args,
}

/// `ab`'s flags as ours; what was given beside them (`--http 1.0`, `--json`) holds over them.
fn from_ab(given: &Args, words: &[String]) -> Result<Args> {
    let words = match words {
        [dashes, rest @ ..] if dashes == "--" => rest.to_vec(),
        [text] => {
            shell_words::split(text).with_context(|| format!("--ab-args {text}: the quotes do not match"))?
        }
        [text, other, ..] if text.contains(char::is_whitespace) => {
            bail!("{other} comes after --ab-args, where everything belongs to ab; put it before")
        }
        words => words.to_vec(),
    };
    let translated = ab::translate(&words)?;
    let quoted = shell_words::join(&translated.args);
    terminal::note(&format!("same as: weigh load {quoted}"));
    let old = given.request.http == "1.0";
    for note in translated.notes.iter().filter(|n| !(old && n.contains("real ab uses"))) {
        terminal::note(note);
    }
    let matches = Translated::command().try_get_matches_from(&translated.args);
    let mut args = matches
        .and_then(|m| Translated::from_arg_matches(&m))
        .map_err(|e| anyhow!("flags of ab: {}", crate::usage::line(&e, &translated.args)))?
        .args;
    args.request.http = given.request.http.clone();
    args.tls = given.tls.clone();
    args.machine = given.machine.clone();
    args.many = given.many.clone();
    args.output = args::Output {
        verbose: given.output.verbose || args.output.verbose,
        quiet: given.output.quiet || args.output.quiet,
        ..given.output.clone()
    };
    Ok(args)
}
