//! `weigh compare`: two runs or loads, one and a baseline, or two sides interleaved in one run.

mod machines;
mod paired;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, ensure};
use clap::ValueEnum;

use crate::baseline as baselines;
use crate::exit::{Exit, OrRefuse};
use crate::gates::{GateFlags, Judging};
use crate::machines::CoreHour;
use crate::{quantity, results, terminal};
use weigh_answer::compare::{Change, Comparison, Names, document, gate};
use weigh_answer::format::{self, Detail, Options};
use weigh_answer::report::Report;
use weigh_answer::{load, page};
use weigh_model::text::{clean, clean_path};
use weigh_run::baseline;
use weigh_run::dir::RUN;
use weigh_run::kept::StoredMeasurement;
use weigh_run::list::{FOLDER, LATEST, find_kept, kept_below};
use weigh_run::loading::load_dir;

/// Flags of `weigh compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// OLD NEW: two runs or loads (folder, name or `latest`); fewer with --baseline
    #[arg(value_name = "RUN")]
    words: Vec<PathBuf>,
    /// Compare with this baseline; worse results end with exit code 4
    #[arg(long, value_name = "BASELINE")]
    baseline: Option<String>,
    /// Keep a run or a load as a baseline, the newest run if none is named; one of the same name is replaced
    #[arg(long, value_name = "BASELINE", help_heading = "Baselines", conflicts_with_all = ["baseline", "machines", "paired", "baselines", "forget"])]
    save: Option<String>,
    /// List the baselines in weigh-runs/baselines
    #[arg(long, help_heading = "Baselines", conflicts_with_all = ["words", "baseline", "machines", "paired", "forget"])]
    baselines: bool,
    /// Remove a baseline
    #[arg(long, value_name = "BASELINE", help_heading = "Baselines", conflicts_with_all = ["words", "baseline", "machines", "paired"])]
    forget: Option<String>,
    /// Compare anyway if machine, content or link differ
    #[arg(long)]
    force: bool,
    /// Which machine is cheapest: runs of a study on different machines, as RUN or NAME=RUN
    #[arg(long, conflicts_with_all = ["baseline", "force", "paired", "gate", "gates", "junit"])]
    machines: bool,
    /// What a core of a machine costs per hour, as NAME=PRICE (repeatable)
    #[arg(long, value_name = "NAME=PRICE", requires = "machines")]
    core_hour: Vec<CoreHour>,
    /// How the result looks: markdown is for a pull request, html one page
    #[arg(long, short, value_enum, default_value = "terminal", value_name = "FORMAT")]
    format: Form,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Every configuration, not only what differs
    #[arg(long)]
    full: bool,
    /// Write the result into this file instead of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    gates: GateFlags,
    /// Measure A and B now, interleaved, a study or two URLs: give --php, --server-config, --docroot or --defs twice
    #[arg(long, help_heading = PAIRED, conflicts_with_all = ["baseline", "force"])]
    paired: bool,
    /// A PHP of a pair: a binary, or a fetched runtime's name
    #[arg(long, value_name = "BINARY", help_heading = PAIRED, requires = "paired")]
    php: Vec<PathBuf>,
    /// Your web server's configuration, in a private instance
    #[arg(long, value_name = "FILE", help_heading = PAIRED, requires = "paired")]
    server_config: Vec<PathBuf>,
    /// The server that the configuration is for, where the file does not tell
    #[arg(long, value_name = "NAME", help_heading = PAIRED, requires = "server_config")]
    server: Option<String>,
    /// The site to measure, by its name, where the configuration has several
    #[arg(long, value_name = "NAME", help_heading = PAIRED, requires = "server_config")]
    site: Option<String>,
    /// Your document root: some of its assets in place of the study's. Of two, files that both have
    #[arg(long, value_name = "DIR", help_heading = PAIRED, requires = "paired", conflicts_with = "content")]
    docroot: Vec<PathBuf>,
    /// Load two URLs in a browser: LCP, FCP, load, bytes
    #[arg(long, help_heading = PAIRED, requires = "paired")]
    browser: bool,
    /// A link between the browser and the pages, such as 4g (repeatable)
    #[arg(long, value_name = "LINK", help_heading = PAIRED, requires = "browser")]
    link: Vec<String>,
    /// The HTTP version of the browser; twice: A's and B's
    #[arg(long, value_name = "VERSION", help_heading = PAIRED, requires = "browser", value_parser = ["1.1", "2", "3"])]
    http: Vec<String>,
    /// Allow loads of this remote host (repeatable)
    #[arg(long, value_name = "HOST", help_heading = PAIRED, requires = "browser")]
    allow_remote: Vec<String>,
    /// How long to measure
    #[arg(long = "for", value_name = "TIME", default_value = "10m", help_heading = PAIRED, requires = "paired", value_parser = quantity::time)]
    budget: f64,
    /// A file or folder of yours in place of the content of a pair's study (repeatable)
    #[arg(long, value_name = "PATH", help_heading = PAIRED, requires = "paired")]
    content: Vec<PathBuf>,
    /// Only the blocks of the study whose description has these words
    #[arg(long, value_name = "WORDS", help_heading = PAIRED, requires = "paired", value_parser = quantity::parse_words)]
    only: Option<String>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, help_heading = PAIRED, requires = "paired", value_parser = quantity::whole::<u64>)]
    seed: u64,
}

const PAIRED: &str = "Interleaved (--paired)";
const EXAMPLES: &str = "Examples:
  weigh compare --save main          keep the newest run as the baseline main
  weigh compare --baseline main      the newest run with a baseline
  weigh compare old new -f markdown  two runs or two loads, for a pull request
  weigh compare --paired cache-levels --php php8.2 --php php8.4 --for 10m
                                     two PHPs in the same rounds";

impl Args {
    fn shown(&self) -> (Form, Options) {
        let detail = if self.full { Detail::Full } else { Detail::Summary };
        let of_terminal = results::options(detail, None);
        let form = if self.json { Form::Json } else { self.format };
        (form, Options { color: of_terminal.color && self.out.is_none(), ..of_terminal })
    }

    /// Whether two sides are measured.
    pub fn is_paired(&self) -> bool {
        self.paired
    }
}

/// How a comparison looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Terminal,
    Markdown,
    Html,
    Json,
}

pub fn run(args: &Args, defs: &[PathBuf]) -> Result<ExitCode> {
    if let Some(out) = &args.out {
        load_dir::can_write(out).or_usage_error()?;
    }
    if let Some(name) = &args.save {
        return match args.words.as_slice() {
            [] => baselines::save(name, Path::new(LATEST)),
            [run] => baselines::save(name, run),
            _ => Err(anyhow!("--save keeps one run; leave out the others")).or_usage_error(),
        };
    }
    if args.baselines {
        return baselines::list(args.shown().0 == Form::Json);
    }
    if let Some(name) = &args.forget {
        return baselines::forget(name);
    }
    if args.machines {
        return machines::run(args);
    }
    let judging = args.gates.read().or_usage_error()?;
    if args.paired {
        return paired::run(args, &judging, defs);
    }
    let (a, b) = sides(args).or_usage_error()?;
    let mut gates = judging.with(&b.report.study.gates);
    if b.is_load {
        gates = load::gate::between(gates);
    }
    gate::check(&gates, b.report.shape()).or_usage_error()?;
    let names = Names { a: a.name, b: b.name };
    let comparison = Comparison::of(&a.report, &b.report, names, &gates);
    allowed(&comparison, args.force).or_usage_error()?;
    Ok(finish(args, &judging, &comparison)?.into())
}

/// Shows a comparison, and says what it came to.
fn finish(args: &Args, judging: &Judging, comparison: &Comparison) -> Result<Exit> {
    show(args, comparison)?;
    judging.write(&format!("weigh compare {}", comparison.a.name), &comparison.gates)?;
    let worse = args.baseline.is_some() && comparison.is_worse();
    let exit = match gate::worst(&comparison.gates) {
        Some(outcome) => Exit::of_gates(Some(outcome)),
        None if worse => Exit::Worse,
        None => Exit::Fine,
    };
    Ok(exit)
}

/// A side: its name and its results.
struct Side {
    name: String,
    report: Report,
    is_load: bool,
}

fn sides(args: &Args) -> Result<(Side, Side)> {
    match (&args.baseline, args.words.as_slice()) {
        (Some(name), words) if words.len() < 2 => {
            let a = Side { name: name.clone(), ..read(&baseline::find(name)?)? };
            let b = match words.first() {
                Some(word) => find_kept(word)?,
                None => newest(a.is_load)?,
            };
            Ok((a, read(&b)?))
        }
        (Some(_), _) => Err(anyhow!("--baseline compares one run with a baseline; leave out the second run")),
        (None, [a, b]) => Ok((read(&find_kept(a)?)?, read(&find_kept(b)?)?)),
        (None, _) => Err(anyhow!(
            "name two runs, the older one first, or a baseline: weigh compare --baseline main (weigh runs lists them)"
        )),
    }
}

fn newest(is_load: bool) -> Result<PathBuf> {
    let what = if is_load { "load" } else { "run" };
    let found =
        kept_below(Path::new(FOLDER)).into_iter().find(|found| is_load != found.path.join(RUN).is_file());
    found
        .map(|found| found.path)
        .with_context(|| format!("{FOLDER} has no {what} to compare; measure one: weigh {what}"))
}

fn read(path: &Path) -> Result<Side> {
    let name =
        path.file_name().map_or_else(|| clean_path(path).to_string(), |name| clean(&name.to_string_lossy()));
    let kept = StoredMeasurement::read(path)?;
    if let StoredMeasurement::Load(load) = &kept {
        let shown = clean_path(path);
        ensure!(
            load.is_single(),
            "{shown}: a comparison or calibration of its own; compare single loads: weigh load URL"
        );
    }
    Ok(Side { name, report: kept.report(), is_load: matches!(kept, StoredMeasurement::Load(_)) })
}

/// Refuses what cannot be compared; with `--force` it is a warning.
fn allowed(comparison: &Comparison, force: bool) -> Result<()> {
    let said = |change: &Change| clean(&format!("{} ({} before, {} now)", change.what, change.a, change.b));
    let forbidden: Vec<String> = comparison.forbidden().map(said).collect();
    if let Some(first) = forbidden.first() {
        let others = forbidden.len() - 1;
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        ensure!(
            force,
            "not comparable: another {first}{more}; measure both on one machine, or compare all the same: --force"
        );
        terminal::note(&format!("compared although it is not comparable: another {first}{more}"));
    }
    ensure!(!comparison.rows.is_empty(), "the two have no configuration in common");
    Ok(())
}

fn show(args: &Args, comparison: &Comparison) -> Result<()> {
    let (form, options) = args.shown();
    let text = match form {
        Form::Terminal => format::terminal::text(&document::blocks(comparison, &options), &options),
        Form::Markdown => document::for_pull_request(comparison, &options),
        Form::Html => page::page(&document::page_blocks(comparison), &[], None::<&()>).or_usage_error()?,
        Form::Json => serde_json::to_string_pretty(comparison)? + "\n",
    };
    put(args, form, &text)
}

/// Prints a result, or writes it into the file that is asked for.
fn put(args: &Args, form: Form, text: &str) -> Result<()> {
    match &args.out {
        Some(out) => {
            load_dir::write(out, text.as_bytes())?;
            terminal::print(&format!("{}\n", clean_path(out)))
        }
        None if form == Form::Terminal => terminal::print(text),
        None => terminal::write(text),
    }
}
