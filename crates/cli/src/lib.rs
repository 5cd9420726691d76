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
mod help;
mod journey;
mod lab;
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
pub mod site;
mod terminal;
mod usage;
mod view;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use agent::Agent;

use weigh_os::guard::warden;
use weigh_os::{access, launcher, namespace, shelter, umask};
use weigh_serverconf::whole;

/// What should this site send, how should it encode it, and who should send it? Measured on your own content,
/// servers and PHP builds.
#[derive(Debug, Parser)]
#[command(name = "weigh", version, after_help = EXAMPLES)]
struct Cli {
    /// Add or replace studies and PHP definitions from this folder (advanced)
    #[arg(long, global = true, value_name = "DIR", hide = true)]
    defs: Vec<PathBuf>,
    /// Let configurations of servers load modules from outside the system's folders: their code runs here
    #[arg(long, global = true, hide = true)]
    trust_config: bool,

    #[command(flatten)]
    journey: journey::Args,
    #[command(subcommand)]
    verb: Option<Verb>,
}

const EXAMPLES: &str = "Start here:
  weigh                          in a project's folder: site, advise, prove
  weigh site --docroot public    what your site sends, in a file to edit
  weigh advise                   what it should send, and configuration for it
  weigh prove                    whether that holds, before and after
  weigh pack public              precompressed files next to your site's

More:
  weigh codec page.html          codecs and levels on your own page
  weigh run --quick              the built-in studies in their quick form
  weigh load http://127.0.0.1/   load on a server, every response verified
  weigh profile -- import.php    where a script spends its time
  weigh runs show latest         the last run again, in any format
  weigh compare --baseline main  what changed since a baseline
  weigh check                    what can be measured on this machine

Exit codes and options of every command: weigh help exit";

#[derive(Debug, Subcommand)]
enum Verb {
    /// Look at your site: what it sends, to whom and how today, in one file
    Site(Box<site::Args>),
    /// Decide what your site should send and store, and write the policy
    Advise(advise::Args),
    /// Measure a policy before and after: do its predictions hold?
    Prove(prove::Args),
    /// Precompress a folder: gzip, br and zstd, or what a policy asks for
    Pack(Box<pack::Args>),
    /// Compare codecs and levels on your files, natively and inside PHP
    Codec(codec::Args),
    /// Run studies: the built-in ones, or your own files
    Run(Box<run::Args>),
    /// Put load on a server: how fast, at what cost, every response verified
    Load(Box<load::Args>),
    /// Show where a PHP script spends its time
    Profile(Box<profile::Args>),
    /// Compare two runs, or one with a baseline: what got worse or better
    Compare(Box<compare::Args>),
    /// List runs, show or open one, show a metric over time, remove old ones
    Runs(Box<runs::Args>),
    /// Show what can be measured here, and how to install what is missing
    Check(check::Args),
    /// Manage what measuring needs: content (corpus), PHP runtimes, links
    Lab(lab::Args),
}

/// Runs the program and tells its exit code, see `cli::exit`.
pub fn main() -> ExitCode {
    if let Err(error) = limits::keep() {
        return exit::ended(Err(error));
    }
    begin()
}

fn begin() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let agent = launcher::dispatch(&args)
        .or_else(|| warden::dispatch(&args))
        .or_else(|| namespace::dispatch(&args))
        .or_else(|| access::dispatch(&args));
    if let Some(code) = agent {
        return code;
    }
    match Agent::asked(args) {
        Some(Ok(agent)) => exit::ended(agent.run()),
        Some(Err(error)) => usage::answer(&error, &read_arguments()),
        None => user(),
    }
}

/// The verbs that people type.
fn user() -> ExitCode {
    completion::answer(command);
    umask::begin();
    let words = read_arguments();
    if words.get(1).is_some_and(|word| word == "help") && words.get(2).is_some_and(|word| word == "exit") {
        return exit::ended(terminal::print(&exit::help()).map(|()| exit::Exit::Fine.into()));
    }
    let matches = help::limited(command(), &words)
        .long_version(long_version())
        .try_get_matches_from(std::env::args_os());
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error, &words),
    };
    // What a killed lab could not clear away.
    shelter::sweep();
    limits::tell_memory();
    if cli.trust_config {
        whole::trust();
    }
    let is_pair = matches!(&cli.verb, Some(Verb::Compare(args)) if args.is_paired());
    if cli.defs.len() > 1 && !is_pair {
        let two = "--defs: give one folder; two are the sides of weigh compare --paired";
        return exit::ended(Err(exit::refused(anyhow::anyhow!(two))));
    }
    let defs = cli.defs.first().map(PathBuf::as_path);
    let Some(verb) = cli.verb else {
        namespace::allow_networks();
        return exit::ended(journey::run(&cli.journey, defs));
    };
    if cli.journey.is_given() {
        let flags = "--yes, --quick and --budget before a command are of weigh alone; give them after it";
        return exit::ended(Err(exit::refused(anyhow::anyhow!(flags))));
    }
    match &verb {
        // What is not this process's own cannot be metered from within.
        Verb::Run(args) if args.names_running_stores() => {}
        Verb::Advise(_) | Verb::Prove(_) | Verb::Run(_) | Verb::Compare(_) => namespace::allow_networks(),
        Verb::Lab(args) if args.makes_links() => namespace::allow_networks(),
        _ => {}
    }
    exit::ended(match verb {
        Verb::Advise(args) => advise::run(&args, defs),
        Verb::Check(args) => check::run(&args, defs),
        Verb::Pack(args) => pack::run(&args, defs),
        Verb::Site(args) => site::run(&args, defs),
        Verb::Codec(args) => codec::run(&args, defs),
        Verb::Prove(args) => prove::run(&args, defs),
        Verb::Run(args) => run::run(&args, defs),
        Verb::Runs(args) => runs::run(&args),
        Verb::Compare(args) => compare::run(&args, &cli.defs),
        Verb::Load(args) => load::run(&args),
        Verb::Profile(args) => profile::run(&args, defs),
        Verb::Lab(args) => lab::run(&args, defs, command),
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
