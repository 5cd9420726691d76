//! `weigh link`: the profiles of links, one measured, a command run over one.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::defs::Definitions;

/// Flags of `weigh link`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make links, measure them and show what was asked beside it
    Measure {
        /// Profiles, or links such as 100mbit/20ms and 10mbit:1mbit/50ms/0.1%/queue=100KB
        #[arg(required = true)]
        links: Vec<String>,
    },
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let definitions = Definitions::load(defs)?;
    if let Some(What::Measure { links }) = &args.what {
        for name in links {
            let link = crate::rig::link::Link::make(&definitions.link(name)?)?;
            println!("{:#?}\n{:?}", link.measured(), link.measured().off(link.spec()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The emulator's own verb.
pub fn agent(task: &str, near: &Path, far: &Path) -> Result<ExitCode> {
    crate::rig::link::serve(task, near, far)?;
    Ok(ExitCode::SUCCESS)
}
