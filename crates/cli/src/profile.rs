//! `weigh profile`: where a PHP script spends its time, from a run of it or from a profiler's files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::exit::{Exit, OrRefuse};
use crate::profiles::{self, Named};
use crate::quantity::one_of;
use crate::results::options;
use crate::{quantity, terminal};
use weigh_answer::format::Detail;
use weigh_answer::profile::document::{Document, ShownProfile};
use weigh_answer::profile::report::{self, Choice, Sort};
use weigh_model::suggest::nearest;
use weigh_model::text::{clean, clean_path};
use weigh_os::interrupt::Interrupt;
use weigh_profile::script::{Profiled, Script};
use weigh_profile::tools::{self, Profiler};
use weigh_rig::runtime::PhpRuntime;
use weigh_run::lab::{Home, Lab};

/// Flags of `weigh profile`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files of profilers: cachegrind (Xdebug, callgrind), collapsed stacks; .gz is unpacked
    #[arg(value_name = "FILE", required_unless_present = "script", conflicts_with = "script")]
    files: Vec<PathBuf>,
    /// A PHP script and its arguments, run under a profiler; what it writes goes to stderr
    #[arg(last = true, value_name = "SCRIPT")]
    script: Vec<OsString>,
    /// The PHP to run the script in (repeatable): a binary, or a fetched runtime's name
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// The profiler: xdebug counts every call, excimer takes samples; auto takes the first that is installed
    #[arg(long, default_value = "auto", value_parser = wanted)]
    profiler: Wanted,
    /// Pairs of a plain and a profiled run that measure what profiling costs; 0: the script runs once
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = quantity::whole::<usize>)]
    pairs: usize,
    /// The longest time that all runs in one PHP may take together
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = quantity::time)]
    limit: f64,
    /// The order of functions
    #[arg(long, value_parser = one_of(Sort::ALL, Sort::name), default_value = Sort::Own.name())]
    sort: Sort,
    /// Functions to show at most; files list all
    #[arg(long, default_value_t = 25, value_name = "N", value_parser = quantity::whole::<usize>)]
    top: usize,
    /// Show the callers and callees of this function, or of those whose names contain this
    #[arg(long, value_name = "NAME", value_parser = quantity::parse_words)]
    function: Option<String>,
    /// Also say how calls and inclusive costs were found
    #[arg(long, short)]
    verbose: bool,
    /// Write tables, JSON, flame graphs and call paths into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The result as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  weigh profile -- import.php --all            run a script under a profiler
  weigh profile --function 'App->boot' cachegrind.out.1234
  weigh profile cachegrind.out.1234 --out DIR  also JSON and a flame graph";

/// A profiler, or none in particular.
type Wanted = Option<Profiler>;

fn wanted(text: &str) -> Result<Wanted, String> {
    use clap::ValueEnum;
    match text {
        "auto" => Ok(None),
        name => Profiler::from_str(name, false).map(Some).map_err(|_| {
            let known: Vec<&str> = Profiler::ALL.iter().map(|profiler| profiler.name()).collect();
            format!("known: auto, {}", known.join(", "))
        }),
    }
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    sensible(args).or_usage_error()?;
    let all = if args.script.is_empty() { files(&args.files).or_usage_error()? } else { script(args, defs)? };
    let shown = all.iter().map(|p| ShownProfile::of(&p.name, &p.profile, p.run.clone())).collect();
    let document = Document::of(shown);
    let unknown = args.function.as_deref().and_then(|name| unknown_function(name, &document));
    if let (Some(why), true) = (&unknown, args.script.is_empty()) {
        return Err(anyhow!("{why}")).or_usage_error();
    }
    // A script has run: what was found is shown all the same.
    let function = args.function.clone().filter(|_| unknown.is_none());
    let choice = Choice { sort: args.sort, top: args.top, function };
    write(args, &document, &choice, &all)?;
    if let Some(why) = unknown {
        bail!(why);
    }
    let is_cut =
        |shown: &&ShownProfile| shown.cut.is_some() || shown.run.as_ref().is_some_and(|run| !run.is_fine);
    Ok(Exit::of_failures(document.profiles.iter().filter(is_cut).count()).into())
}

/// Prints the document, and writes the folder that was asked for.
fn write(args: &Args, document: &Document, choice: &Choice, named: &[Named]) -> Result<()> {
    if let Some(out) = &args.out {
        profiles::folder(out, document, choice, named)?;
        terminal::note(&format!("written to {}", clean_path(out)));
    }
    let detail = if args.verbose { Detail::Full } else { Detail::Summary };
    terminal::show(args.json, document, || report::terminal(document, choice, &options(detail, None)))
}

/// What can be told before anything is read or run.
fn sensible(args: &Args) -> Result<()> {
    if args.script.is_empty() && !args.php.is_empty() {
        bail!("--php needs a script to run: weigh profile --php BINARY -- SCRIPT");
    }
    let is_script = |path: &&PathBuf| path.extension().is_some_and(|e| e == "php");
    if let Some(script) = args.files.iter().find(is_script) {
        let words: Vec<_> = args.files.iter().map(|file| file.to_string_lossy()).collect();
        bail!(
            "{}: a PHP script runs after --: weigh profile -- {}",
            clean_path(script),
            shell_words::join(words)
        );
    }
    args.out.iter().try_for_each(|out| profiles::unused(out))
}

/// Why no function is shown, where none of the document's is called so.
fn unknown_function(name: &str, document: &Document) -> Option<String> {
    let all = || document.profiles.iter().flat_map(|shown| &shown.functions).map(|row| row.name.as_str());
    let low = name.to_lowercase();
    if all().any(|function| function.to_lowercase().contains(&low)) {
        return None;
    }
    // Names are long: the near one may be a part of one, such as a method of a class.
    let parts = || {
        all().flat_map(|function| [function, function.rsplit(['>', ':', '\\']).next().unwrap_or_default()])
    };
    let hint = match nearest(name, parts()) {
        Some(near) => format!("did you mean `{}`?", clean(near)),
        None => "leave --function out to list them".into(),
    };
    Some(format!("--function {}: no function has this in its name; {hint}", clean(name)))
}

fn files(paths: &[PathBuf]) -> Result<Vec<Named>> {
    let read = |path: &PathBuf| {
        Ok(Named {
            name: clean_path(path),
            profile: weigh_profile::read(path, &Interrupt::new())?,
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
        return Err(anyhow!("{}: no such script", clean_path(script))).or_usage_error();
    }
    let lab = Lab::open(defs).or_usage_error()?;
    Interrupt::during(|interrupt| interrupt.ended(in_each(args, &lab, interrupt)))
        .context("signals cannot be caught")?
}

fn in_each(args: &Args, home: &Home, interrupt: &Interrupt) -> Result<Vec<Named>> {
    let php_home = home.php_home()?;
    let named = if args.php.is_empty() { vec![PathBuf::from("php")] } else { args.php.clone() };
    let php = home.php(&named).or_usage_error()?;
    let with_tool = |php| tools::for_php(&php, &php_home, args.profiler).map(|tool| (php, tool));
    let tools = php.into_iter().map(with_tool).collect::<Result<Vec<_>>>().or_usage_error()?;
    let mut profiles: Vec<Named> = Vec::new();
    for (php, tool) in tools {
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
