//! `weigh link`: the profiles of links, one measured, a command run over one.

mod far;
mod table;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde::Serialize;

use super::choice::one_of;
use crate::cli::{EXIT_FAULTS, terminal};
use crate::defs::Definitions;
use crate::rig::link::{Link, Making};
use weigh_model::link::{LinkSpec, Measured, Way};

/// The version of the JSON this verb writes.
const SCHEMA: u32 = 1;
/// Tells a command the address of the other end.
const PEER: &str = "WEIGH_LINK_PEER";

/// Flags of `weigh link`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// The profiles, with what they come from
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make links, measure them, and show what was asked beside it
    Measure {
        /// Profiles, or links such as 100mbit/20ms and 10mbit:1mbit/50ms/0.1%/queue=100KB
        #[arg(required = true)]
        links: Vec<String>,
        #[command(flatten)]
        how: How,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a command at the near end of a link; WEIGH_LINK_PEER tells it the address of the far end
    Run {
        /// A profile, or a link such as 100mbit/20ms
        link: String,
        #[command(flatten)]
        how: How,
        /// A command that runs at the far end as long, such as a server
        #[arg(long, value_name = "COMMAND")]
        far: Option<String>,
        /// The command with its arguments
        #[arg(last = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
}

/// How links are to be made.
#[derive(Debug, clap::Args)]
struct How {
    /// This way and no other
    #[arg(long, value_parser = one_of(Way::ALL, Way::name))]
    way: Option<Way>,
    /// What losses are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What `weigh link --json` and `weigh link measure --json` write.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Document {
    /// The version of this form.
    schema: u32,
    /// Every link.
    links: Vec<Row>,
}

/// One link.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Row {
    /// What is asked of it.
    asked: LinkSpec,
    /// What it was measured as; null in a list.
    measured: Option<Measured>,
    /// What is not as asked, a sentence each.
    off: Vec<String>,
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let definitions = Definitions::load(defs)?;
    match &args.what {
        None => list(&definitions, args.json),
        Some(What::List { json }) => list(&definitions, args.json || *json),
        Some(What::Measure { links, how, json }) => measure(&definitions, links, how, args.json || *json),
        Some(What::Run { link, how, far, command }) => {
            let far = far::words(far.as_deref())?;
            let link = make(definitions.link(link)?, how)?;
            if !matches!(link.way(), Way::Loopback | Way::Netem | Way::Tun | Way::Rate) {
                let why = link.measured().passed_over.join("; ");
                bail!("a command runs over a link between two networks alone, which takes root ({why})");
            }
            terminal::note(&table::line(&link));
            far::run(&link, &far, command)
        }
    }
}

fn list(definitions: &Definitions, json: bool) -> Result<ExitCode> {
    let names = definitions.link_names();
    let specs = names.iter().map(|name| definitions.link(name)).collect::<Result<Vec<_>>>()?;
    let text = match json {
        false => table::profiles(&specs),
        true => {
            let rows = specs.into_iter().map(|asked| Row { asked, measured: None, off: Vec::new() });
            document(rows.collect())?
        }
    };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn measure(definitions: &Definitions, links: &[String], how: &How, json: bool) -> Result<ExitCode> {
    // A slip in the last one shows before the first is measured.
    let specs = links.iter().map(|name| definitions.link(name)).collect::<Result<Vec<_>>>()?;
    let mut rows = Vec::new();
    for spec in specs {
        let link = make(spec, how)?;
        let off = link.measured().off(link.spec());
        rows.push(Row { asked: link.spec().clone(), measured: Some(link.measured().clone()), off });
    }
    let is_off = rows.iter().any(|row| !row.off.is_empty());
    let text = if json { document(rows)? } else { table::measured(&rows) };
    terminal::print(&text)?;
    Ok(if is_off { ExitCode::from(EXIT_FAULTS) } else { ExitCode::SUCCESS })
}

fn make(spec: LinkSpec, how: &How) -> Result<Link> {
    Link::make_with(&spec, &Making { way: how.way, seed: how.seed, ..Making::default() })
}

fn document(links: Vec<Row>) -> Result<String> {
    let text = serde_json::to_string_pretty(&Document { schema: SCHEMA, links }).context("no JSON")?;
    Ok(format!("{text}\n"))
}

/// The emulator's own verb.
pub fn agent(task: &str, near: &Path, far: &Path) -> Result<ExitCode> {
    crate::rig::link::serve(task, near, far)?;
    Ok(ExitCode::SUCCESS)
}
