//! `weigh profile`: what a PHP script spends where, from a run of it or from a profiler's files.

pub(in crate::cli) mod output;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::cli::run::seconds;
use crate::cli::{EXIT_FAULTS, one_of, terminal};
use crate::interrupt::Interrupt;
use crate::lab::Lab;
use crate::profile::script::{Kept, Profiled, Script};
use crate::profile::tools::{self, Profiler};
use crate::profile::{self};
use crate::rig::runtime::PhpRuntime;
use weigh_answer::profile::compare::compare;
use weigh_answer::profile::document::{Document, Run, Shown};
use weigh_answer::profile::report::{Choice, Sort};
use weigh_model::profile::Profile;
use weigh_model::text::clean_path;

/// Flags of `weigh profile`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files of profilers: cachegrind (Xdebug, callgrind), collapsed stacks, speedscope, perf script; also as .gz
    #[arg(value_name = "FILE", required_unless_present = "script", conflicts_with = "script")]
    files: Vec<PathBuf>,
    /// A PHP script and its arguments, run under a profiler; what it writes goes to stderr
    #[arg(last = true, value_name = "SCRIPT")]
    script: Vec<OsString>,
    /// Function by function: two files, or a script in two PHPs
    #[arg(long)]
    compare: bool,
    /// The PHP to run the script in (repeatable, to compare two): a binary, or a fetched runtime's name
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// What profiles: xdebug counts every call, excimer and perf take samples; auto takes the first that is there
    #[arg(long, default_value = "auto", value_parser = wanted)]
    profiler: Wanted,
    /// Pairs of a plain and a profiled run that measure what profiling costs; 0: the script runs once
    #[arg(long, default_value_t = 5, value_name = "PAIRS")]
    pairs: usize,
    /// Seconds that all runs in a PHP may take together
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = seconds)]
    limit: f64,
    /// The order of functions
    #[arg(long, value_parser = one_of(Sort::ALL, Sort::name), default_value = Sort::Own.name())]
    sort: Sort,
    /// Functions to show at most; files have all
    #[arg(long, default_value_t = 25, value_name = "COUNT")]
    top: usize,
    /// The callers and callees of this function, or of those whose names hold this
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Also how calls and inclusive costs were found
    #[arg(long, short)]
    verbose: bool,
    /// Write tables, JSON, flame graphs and speedscope files into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The result as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  weigh profile -- import.php --all              run a script under the best profiler there is
  weigh profile --php php8.2 --php php8.4 -- import.php
  weigh profile cachegrind.out.1234.gz           a file of Xdebug's
  weigh profile --function 'App->boot' cachegrind.out.1234
  weigh profile --compare before.out after.out
  weigh profile cachegrind.out.1234 --out DIR    with flame graph and speedscope file";

/// A profiler, or none in particular.
type Wanted = Option<Profiler>;

fn wanted(text: &str) -> Result<Wanted, String> {
    use clap::ValueEnum;
    match text {
        "auto" => Ok(None),
        name => Profiler::from_str(name, false).map(Some).map_err(|_| {
            let known: Vec<&str> = Profiler::ALL.iter().map(|profiler| profiler.name()).collect();
            format!("there are auto, {}", known.join(", "))
        }),
    }
}

/// A profile with its name.
pub(in crate::cli) struct Named {
    pub(in crate::cli) name: String,
    pub(in crate::cli) profile: Profile,
    pub(in crate::cli) run: Option<Run>,
    /// What the profiler wrote, when we had it do so.
    pub(in crate::cli) file: Option<Kept>,
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    if args.script.is_empty() && !args.php.is_empty() {
        bail!("--php says where a script runs: weigh profile --php BINARY -- SCRIPT");
    }
    if args.compare && args.script.is_empty() && args.files.len() != 2 {
        bail!("--compare takes two files, before and after; there are {}", args.files.len());
    }
    if args.compare && !args.script.is_empty() && args.php.len() != 2 {
        bail!("--compare of a script takes two --php; there are {}", args.php.len());
    }
    let profiles = if args.script.is_empty() { files(&args.files)? } else { script(args, defs)? };
    let is_compared = args.compare || !args.script.is_empty() && profiles.len() == 2;
    let comparison = match profiles.as_slice() {
        [a, b] if is_compared => Some(compare((&a.name, &a.profile), (&b.name, &b.profile))?),
        _ => None,
    };
    let shown = profiles.iter().map(|p| Shown::of(&p.name, &p.profile, p.run.clone())).collect();
    let document = Document::of(shown, comparison);
    let choice = Choice { sort: args.sort, top: args.top, function: args.function.clone() };
    output::write(args, &document, &choice, &profiles)?;
    let is_whole = |shown: &Shown| shown.cut.is_none() && shown.run.as_ref().is_none_or(|run| run.is_fine);
    Ok(if document.profiles.iter().all(is_whole) { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAULTS) })
}

fn files(paths: &[PathBuf]) -> Result<Vec<Named>> {
    let read = |path: &PathBuf| {
        Ok(Named {
            name: clean_path(path),
            profile: profile::read(path, &Interrupt::new())?,
            run: None,
            file: None,
        })
    };
    paths.iter().map(read).collect()
}

/// The script in every PHP that was named. A signal ends this in an orderly way, for there is something running; later ones end the program at once.
fn script(args: &Args, defs: Option<&Path>) -> Result<Vec<Named>> {
    let script = Path::new(&args.script[0]);
    if !script.is_file() {
        bail!("{}: there is no such script", clean_path(script));
    }
    let lab = Lab::open(defs)?;
    Interrupt::during(|interrupt| interrupt.ended(in_each(args, &lab, interrupt)))
        .context("signals cannot be caught")?
}

fn in_each(args: &Args, lab: &Lab, interrupt: &Interrupt) -> Result<Vec<Named>> {
    let home = lab.php_home()?;
    let named = if args.php.is_empty() { vec![PathBuf::from("php")] } else { args.php.clone() };
    let mut profiles: Vec<Named> = Vec::new();
    for php in lab.php(&named)? {
        let tool = tools::for_php(&php, &home, args.profiler)?;
        terminal::note(&format!("profiling in {} with {} {}", php.name, tool.profiler.name(), tool.version));
        let script = Script {
            php: &php,
            tool: &tool,
            words: &args.script,
            limit: Duration::from_secs_f64(args.limit),
            pairs: args.pairs,
        };
        let Profiled { profile, run, file } = script.profile(interrupt)?;
        let name = format!("{} in {}", clean_path(Path::new(&args.script[0])), unique(&php, &profiles));
        profiles.push(Named { name, profile, run: Some(run), file: Some(file) });
    }
    Ok(profiles)
}

/// The PHP's name, with its version where another one has that name.
fn unique(php: &PhpRuntime, others: &[Named]) -> String {
    let is_taken = others.iter().any(|other| other.run.as_ref().is_some_and(|run| run.php == php.name));
    if is_taken { format!("{} ({})", php.name, php.version) } else { php.name.clone() }
}
