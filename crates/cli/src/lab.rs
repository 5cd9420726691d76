//! `weigh lab`: what measuring needs: content, PHP runtimes, links; and the manual, for packages.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Command, Subcommand};

use crate::{corpus, link, man, runtime};

/// Flags of `weigh lab`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "Examples:
  weigh lab corpus fetch                     real content, pinned by digest
  weigh lab runtime add debian:8.4           a PHP next to the system's
  weigh lab link measure cable 100mbit/20ms  links: requested and measured";

#[derive(Debug, Subcommand)]
enum What {
    /// List and fetch the corpus: real content, pinned by digest
    Corpus(corpus::Args),
    /// Fetch, list and remove PHP runtimes next to the system's
    Runtime(runtime::Args),
    /// List link profiles, measure a link, run a command over one
    Link(link::Args),
    /// Write the manual's pages and the completions of shells, for packages
    #[command(hide = true)]
    Man(man::Args),
}

impl Args {
    pub fn makes_links(&self) -> bool {
        matches!(self.what, What::Link(_))
    }
}

/// Runs the verb. `command` is the parser of all.
pub fn run(args: &Args, defs: Option<&Path>, command: fn() -> Command) -> Result<ExitCode> {
    match &args.what {
        What::Corpus(args) => corpus::run(args, defs),
        What::Runtime(args) => runtime::run(args, defs),
        What::Link(args) => link::run(args, defs),
        What::Man(args) => man::run(args, command()),
    }
}
