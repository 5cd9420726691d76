//! `weigh lab runtime`: PHP runtimes beside the system's, fetched from other suites of the machine's own archive.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::exit::{Exit, OrRefuse};
use crate::terminal;
use weigh_answer::table::Grid;
use weigh_model::text::clean_path;
use weigh_model::units;
use weigh_rig::runtime::{Origin, PhpRuntime};
use weigh_rig::suite::{self, Added, Progress, RuntimeSource};
use weigh_run::lab::{Home, Lab};

/// Flags of `weigh lab runtime`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  weigh lab runtime list\n  weigh lab runtime add debian:trixie")]
pub struct Args {
    #[command(subcommand)]
    what: RuntimeVerb,
}

#[derive(Debug, Subcommand)]
enum RuntimeVerb {
    /// Fetch the PHP of another suite, such as debian:trixie; nothing is installed
    #[command(
        after_help = "Examples:\n  weigh lab runtime add debian:trixie\n  weigh lab runtime add debian:experimental/8.5"
    )]
    Add {
        /// SOURCE:SUITE, such as debian:trixie or debian:experimental/8.5
        #[arg(value_name = "SUITE")]
        name: String,
    },
    /// List the PHPs on PATH and those fetched
    #[command(after_help = "Examples:\n  weigh lab runtime list\n  weigh lab runtime list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a fetched runtime
    #[command(after_help = "Examples:\n  weigh lab runtime remove php8.4")]
    Remove {
        /// Its name, such as php8.4
        #[arg(value_name = "RUNTIME")]
        name: String,
    },
}

/// The version of the JSON this verb writes.
const SCHEMA: u32 = 1;

/// What `weigh lab runtime list --json` writes.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Listing {
    /// The version of this form.
    schema: u32,
    /// The folder of fetched runtimes.
    folder: String,
    /// Every runtime.
    runtimes: Vec<Row>,
}

/// One runtime.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Row {
    /// `php8.4`: what `--php` takes for a fetched one.
    name: String,
    /// As queried.
    version: String,
    /// `system`, or what it was fetched from: `debian:trixie`.
    origin: String,
    /// The binary, or the folder of a fetched one.
    place: String,
    /// The program and leading arguments of the command line.
    cli: Vec<String>,
    /// The same of its PHP-FPM, null without one.
    fpm: Option<Vec<String>>,
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    match &args.what {
        RuntimeVerb::Add { name } => add(&lab, name)?,
        RuntimeVerb::List { json } => list(&lab, *json)?,
        RuntimeVerb::Remove { name } => {
            suite::remove(name, &lab.runtimes()).or_usage_error()?;
            terminal::print(&format!("removed {name}\n"))?;
        }
    }
    Ok(Exit::Fine.into())
}

fn add(home: &Home, name: &str) -> Result<()> {
    home.keeps().or_usage_error()?;
    let source = name.split(':').next().unwrap_or(name);
    let (text, place) = home.definitions.runtime_source(source).or_usage_error()?;
    let source = RuntimeSource::parse(text, &place).or_usage_error()?;
    suite::suite_of(name).or_usage_error()?;
    let bar = terminal::bytes_bar();
    let added =
        suite::add(name, &source, Path::new("/etc/apt"), &home.runtimes(), &mut |event| show(&bar, event));
    bar.finish_and_clear();
    terminal::print(&summary(name, &added?))
}

fn show(bar: &ProgressBar, event: Progress) {
    let line = match event {
        Progress::Step(line) => line,
        Progress::Need { packages, bytes } => {
            bar.set_length(bytes);
            format!("downloading {packages} packages, {}", units::bytes(bytes))
        }
        Progress::Arrived(bytes) => return bar.set_position(bytes),
    };
    terminal::say_on(bar, &line);
}

fn summary(name: &str, added: &Added) -> String {
    let PhpRuntime { name: runtime, version, fpm, .. } = &added.runtime;
    let fpm = if fpm.is_some() { "with" } else { "without" };
    let mut text = match added.downloaded {
        Some(bytes) => {
            format!(
                "{runtime} is PHP {version} of {name}, {fpm} PHP-FPM ({} of packages)\n",
                units::bytes(bytes)
            )
        }
        None => format!(
            "{runtime} (PHP {version} of {name}) was fetched before; to fetch it again: weigh lab runtime remove {runtime}\n"
        ),
    };
    if !added.left_out.is_empty() {
        text.push_str(&format!("left out, as they cannot be loaded: {}\n", added.left_out.join(", ")));
    }
    text.push_str(&format!("measure it: weigh codec --php {runtime} FILE\n"));
    text
}

fn list(lab: &Lab, json: bool) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let runtimes = PhpRuntime::all(&path, &lab.runtimes());
    let rows: Vec<Row> = runtimes.iter().map(row).collect();
    let folder = lab.runtimes().display().to_string();
    if json {
        return terminal::print_json(&Listing { schema: SCHEMA, folder, runtimes: rows });
    }
    if rows.is_empty() {
        return terminal::print(
            "no PHP found: apt install php-cli, or weigh lab runtime add debian:trixie\n",
        );
    }
    let mut table = Grid::list(&["runtime", "version", "origin", "PHP-FPM", "place"]);
    for row in &rows {
        let fpm = if row.fpm.is_some() { "yes" } else { "no" };
        table.line(&[&row.name, &row.version, &row.origin, fpm, &row.place]);
    }
    terminal::print(&terminal::lines(&table))
}

fn row(runtime: &PhpRuntime) -> Row {
    let texts =
        |words: &Vec<OsString>| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (origin, place) = match &runtime.origin {
        Origin::Program(binary) => ("system".to_owned(), clean_path(binary)),
        Origin::Fetched { source, prefix } => (source.clone(), clean_path(prefix)),
    };
    Row {
        name: runtime.name.clone(),
        version: runtime.version.clone(),
        origin,
        place: place.to_string(),
        cli: texts(&runtime.cli),
        fpm: runtime.fpm.as_ref().map(texts),
    }
}
