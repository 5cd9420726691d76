//! The command line: one verb a file. A verb reads its flags, calls the lab, and prints; nothing else.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod advise;
mod agent;
pub mod baseline;
pub mod check;
mod codec;
mod compare;
mod completion;
pub mod corpus;
mod exit;
mod gates;
mod limits;
pub mod link;
pub mod listing;
mod live;
mod load;
mod machines;
mod man;
mod measuring;
mod on;
mod own;
mod pack;
mod placed;
pub mod plan;
mod profile;
mod profiled;
mod profiles;
mod prove;
mod quantity;
pub mod report;
mod results;
mod run;
pub mod runs;
pub mod runtime;
mod site;
mod terminal;
mod usage;
mod view;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use agent::Agent;

use weigh_os::access;
use weigh_os::guard::warden;
use weigh_os::{launcher, namespace};
use weigh_os::{shelter, umask};
use weigh_serverconf::whole;

/// What should this site send, how should it encode it, and who should send it? Measured on your own content,
/// servers and PHP builds.
#[derive(Debug, Parser)]
#[command(name = "weigh", version, arg_required_else_help = true, after_help = exit::help(EXAMPLES))]
struct Cli {
    /// A folder with `studies/` or `php/` that is laid over the built-in definitions
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    defs: Vec<PathBuf>,
    /// Let configurations of servers load modules from outside the system's folders: their code runs here
    #[arg(long, global = true, help_heading = "Global options")]
    trust_config: bool,

    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "Start here:
  weigh check                            what can be measured on this machine
  weigh site --docroot public            what your site sends, in a file that you can edit
  weigh pack public                      precompressed files beside those of your site
  weigh codec page.html                  every codec on your own page
  weigh codec --php php src/cache/       the same inside PHP, on a folder
  weigh run --quick                      the built-in studies in their quick form
  weigh load http://127.0.0.1:8080/      load on a server, every response verified
  weigh link measure cable 100mbit/20ms  links between client and server: requested and measured
  weigh profile -- import.php            where a script spends its time, as a call table
  weigh report latest                    the last run again, in any format
  weigh compare --baseline main          what changed since a baseline";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Show what can be measured here, what is missing, and how to install it
    Check(check::Args),
    /// Decide what your site should send and store, and write the policy
    Advise(advise::Args),
    /// Measure a policy beside what the site does today, and say whether its predictions held
    Prove(prove::Args),
    /// Precompress the files of a folder, verified and incremental: gzip, br and zstd, or what a policy asks for
    Pack(Box<pack::Args>),
    /// Look at your site: what it sends, to whom and how today, in one file
    Site(Box<site::Args>),
    /// Compare codecs and levels on your files, natively and inside PHP
    Codec(codec::Args),
    /// Show what a study would measure, what is left out and why, and how long it takes; measures nothing
    Plan(plan::Args),
    /// Run studies: the built-in ones, or your own files
    Run(Box<run::Args>),
    /// List runs, and show one: its answer, tables, files, pictures
    Report(report::Args),
    /// List runs, show a metric over time with its changes, remove old runs, export all values
    Runs(runs::Args),
    /// Write a page for a browser that lists runs, with their answers, their reports and the progress of one that is measuring
    View(view::Args),
    /// Compare two runs, or a run with a baseline: what got worse, what got better, and whether gates hold
    Compare(Box<compare::Args>),
    /// Keep, list and remove baselines: runs that later ones are compared with
    Baseline(baseline::Args),
    /// Put load on a server: what it sends, how fast, and what that costs; every response is verified
    Load(Box<load::Args>),
    /// Show where a PHP script spends its time, from a run of it or from a profiler's files
    Profile(Box<profile::Args>),
    /// List and fetch the corpus: real content, pinned by digest
    Corpus(corpus::Args),
    /// List link profiles, measure a link, run a command over one
    Link(link::Args),
    /// Fetch, list and remove PHP runtimes beside the system's
    Runtime(runtime::Args),
    /// Write the manual's pages and the completions of shells, for packages
    #[command(hide = true)]
    Man(man::Args),
}

/// Runs the program and tells its exit code, see `cli::exit`.
pub fn main() -> ExitCode {
    if let Err(error) = limits::keep() {
        return exit::ended(Err(error));
    }
    begin()
}

fn begin() -> ExitCode {
    let args = std::env::args_os;
    let agents = || {
        launcher::dispatch(args())
            .or_else(|| warden::dispatch(args()))
            .or_else(|| namespace::dispatch(args()))
            .or_else(|| access::dispatch(args()))
    };
    if let Some(code) = agents() {
        return code;
    }
    match Agent::asked(std::env::args_os()) {
        Some(Ok(agent)) => exit::ended(agent.run()),
        Some(Err(error)) => usage::answer(&error, &read_arguments()),
        None => user(),
    }
}

/// The verbs that people type.
fn user() -> ExitCode {
    completion::answer(command);
    umask::begin();
    let matches = command().long_version(long_version()).try_get_matches_from(std::env::args_os());
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error, &read_arguments()),
    };
    // What a killed lab could not clear away.
    shelter::sweep();
    limits::tell_memory();
    if cli.trust_config {
        whole::trust();
    }
    let is_pair = matches!(&cli.verb, Verb::Compare(args) if args.is_paired());
    if cli.defs.len() > 1 && !is_pair {
        let two = "--defs: give one folder; two are the sides of weigh compare --paired";
        return exit::ended(Err(exit::refused(anyhow::anyhow!(two))));
    }
    let defs = cli.defs.first().map(PathBuf::as_path);
    match &cli.verb {
        // What is not this process's own cannot be metered from within.
        Verb::Run(args) if args.names_running_stores() => {}
        Verb::Advise(_)
        | Verb::Prove(_)
        | Verb::Plan(_)
        | Verb::Run(_)
        | Verb::Link(_)
        | Verb::Compare(_) => namespace::allow_networks(),
        _ => {}
    }
    exit::ended(match cli.verb {
        Verb::Advise(args) => advise::run(&args, defs),
        Verb::Check(args) => check::run(&args, defs),
        Verb::Pack(args) => pack::run(&args, defs),
        Verb::Site(args) => site::run(&args, defs),
        Verb::Codec(args) => codec::run(&args, defs),
        Verb::Plan(args) => plan::run(&args, defs),
        Verb::Prove(args) => prove::run(&args, defs),
        Verb::Run(args) => run::run(&args, defs),
        Verb::Report(args) => report::run(&args),
        Verb::Runs(args) => runs::run(&args),
        Verb::View(args) => view::run(&args),
        Verb::Compare(args) => compare::run(&args, &cli.defs),
        Verb::Baseline(args) => baseline::run(&args),
        Verb::Corpus(args) => corpus::run(&args, defs),
        Verb::Link(args) => link::run(&args, defs),
        Verb::Runtime(args) => runtime::run(&args, defs),
        Verb::Load(args) => load::run(&args),
        Verb::Profile(args) => profile::run(&args, defs),
        Verb::Man(args) => man::run(&args, command()),
    })
}

/// The version, and below it the codec libraries: figures are theirs.
fn long_version() -> &'static str {
    let libraries: BTreeSet<String> = weigh_codec::codecs::all()
        .iter()
        .filter(|codec| codec.info().name != "identity")
        .map(|codec| codec.library())
        .collect();
    let libraries: Vec<String> = libraries.into_iter().collect();
    // Made once, and read as long as the program runs.
    format!("{}\ncodecs: {}", env!("CARGO_PKG_VERSION"), libraries.join(", ")).leak()
}

/// The command line as text, for suggestions.
fn read_arguments() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The parser of all verbs.
fn command() -> Command {
    with_numbers(Cli::command())
}

/// The names of values that are quantities.
const QUANTITIES: [&str; 5] = ["TIME", "SIZE", "RATE", "N", "R"];

/// A negative number or quantity is a value of the option before it, so that the option says what it takes.
fn with_numbers(command: Command) -> Command {
    let numbers = |arg: clap::Arg| {
        let names = arg.get_value_names().unwrap_or_default();
        let is_quantity = names.iter().any(|name| QUANTITIES.contains(&name.as_str()));
        match arg.get_action().takes_values() {
            true if is_quantity => arg.allow_hyphen_values(true),
            true => arg.allow_negative_numbers(true),
            false => arg,
        }
    };
    command.mut_args(numbers).mut_subcommands(with_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command lines in a help text.
    fn examples(help: &str) -> Vec<String> {
        let lines = help.lines().map(str::trim).filter(|line| line.starts_with("weigh "));
        lines.map(|line| line.split("  ").next().unwrap_or_default().to_owned()).collect()
    }

    fn every_verb(command: &Command, name: &str, see: &mut impl FnMut(&str, &Command)) {
        for verb in command.get_subcommands() {
            let name = format!("{name} {}", verb.get_name());
            see(&name, verb);
            every_verb(verb, &name, see);
        }
    }

    #[test]
    fn every_verb_has_examples_that_are_read() {
        let mut seen = 0;
        every_verb(&command(), "weigh", &mut |name, verb| {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let found = examples(&help);
            assert!((1..=4).contains(&found.len()), "{name}: {found:?}");
            for line in found {
                assert!(line.starts_with(name), "{name}: {line}");
                let words = shell_words::split(&line).unwrap();
                command().try_get_matches_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
                seen += 1;
            }
        });
        assert!(seen > 20, "{seen}");
        for line in examples(EXAMPLES) {
            command().try_get_matches_from(shell_words::split(&line).unwrap()).unwrap();
        }
    }
}
