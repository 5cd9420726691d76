//! The command line: one verb a file. A verb reads its flags, calls the lab, and prints; nothing else.

mod agent;
pub mod check;
mod codec;
pub mod corpus;
pub mod link;
mod live;
mod load;
mod plan;
mod profile;
mod profiled;
mod report;
mod run;
pub mod runtime;
mod terminal;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};

use agent::Agent;

use crate::rig::guard::warden;
use crate::rig::{lifeline, namespace};
use crate::{private, shelter};

/// Some cells have no number; the rest was measured.
const EXIT_FAULTS: u8 = 2;

/// What should this site send, how should it encode it, and who should send it? Measured on your own content,
/// servers and PHP builds.
#[derive(Debug, Parser)]
#[command(name = "weigh", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    /// A folder with `studies/` or `php/` that is laid over the built-in definitions
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    defs: Option<PathBuf>,

    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "Start here:
  weigh check                            what can be measured on this machine
  weigh codec page.html                  every codec on your own page
  weigh codec --php php src/cache/       the same inside PHP, on a folder
  weigh run --quick                      the built-in studies in their quick form
  weigh load http://127.0.0.1:8080/      load on a server, every response verified
  weigh link measure cable 100mbit/20ms  links between client and server, asked beside measured
  weigh profile -- import.php            what a script spends where, as a call table
  weigh report weigh-runs/…              look at a run again, in any format";

#[derive(Debug, Subcommand)]
enum Verb {
    /// What can be measured here, what is missing, and the one command that mends it
    Check(check::Args),
    /// Codec × level on your files and folders, natively and inside PHP
    Codec(codec::Args),
    /// The cells of a study, what is excluded and why, and the expected time; measures nothing
    Plan(plan::Args),
    /// Run studies: the built-in ones, or your own files
    Run(run::Args),
    /// Show a run: tables, files, pictures
    Report(report::Args),
    /// Load on a server: what it sends, how fast, and what that costs; every response verified
    Load(Box<load::Args>),
    /// What a PHP script spends where: run under a profiler, or read from a profiler's files
    Profile(Box<profile::Args>),
    /// Real content pinned by digest: list it, fetch it
    Corpus(corpus::Args),
    /// Links between clients and a store or server: list the profiles, measure one, run a command over it
    Link(link::Args),
    /// PHP runtimes beside the system's: fetch, list, remove
    Runtime(runtime::Args),
}

/// Runs the program and tells its exit code: 0 fine, 1 usage or internal, 2 some cells faulted.
pub fn main() -> ExitCode {
    tell_limits();
    let args = std::env::args_os;
    let agents = || {
        lifeline::dispatch(args())
            .or_else(|| warden::dispatch(args()))
            .or_else(|| namespace::dispatch(args()))
    };
    if let Some(code) = agents() {
        return code;
    }
    match Agent::asked(std::env::args_os()) {
        Some(Ok(agent)) => ended(agent.run()),
        Some(Err(error)) => usage::answer(&error),
        None => user(),
    }
}

/// A limit of the system's is told in one line: the standard library panics where it gets no thread.
fn tell_limits() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |about| {
        let said = about.payload().downcast_ref::<String>().map_or("", String::as_str);
        if said.starts_with("failed to spawn thread") {
            let limits = "raise its limits (ulimit -u for processes, ulimit -v for memory)";
            terminal::error(&anyhow::anyhow!("the system gives no further thread; {limits}"));
            std::process::exit(1);
        }
        usual(about);
    }));
}

/// The verbs that people type.
fn user() -> ExitCode {
    private::begin();
    // What a killed lab could not clear away.
    shelter::sweep();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error),
    };
    let defs = cli.defs.as_deref();
    match &cli.verb {
        // What is not this process's own cannot be metered from within.
        Verb::Run(args) if args.names_running_stores() => {}
        Verb::Plan(_) | Verb::Run(_) | Verb::Link(_) => namespace::allow_networks(),
        _ => {}
    }
    ended(match cli.verb {
        Verb::Check(args) => check::run(&args, defs),
        Verb::Codec(args) => codec::run(&args, defs),
        Verb::Plan(args) => plan::run(&args, defs),
        Verb::Run(args) => run::run(&args, defs),
        Verb::Report(args) => report::run(&args),
        Verb::Corpus(args) => corpus::run(&args, defs),
        Verb::Link(args) => link::run(&args, defs),
        Verb::Runtime(args) => runtime::run(&args, defs),
        Verb::Load(args) => load::run(&args),
        Verb::Profile(args) => profile::run(&args, defs),
    })
}

/// The exit code of what a verb came to; an error is said.
fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            terminal::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// The exit code of a run with this many faults.
fn exit_code(faults: usize) -> ExitCode {
    if faults > 0 { ExitCode::from(EXIT_FAULTS) } else { ExitCode::SUCCESS }
}

/// For an option that takes the name of one of `all`.
fn one_of<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let named = move |given: String| {
        let found = all.iter().copied().find(|one| name(*one) == given);
        found.expect("the parser before took it for one of the names")
    };
    PossibleValuesParser::new(all.iter().map(|one| name(*one))).map(named)
}
