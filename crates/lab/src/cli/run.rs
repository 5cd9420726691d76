//! `weigh run`: studies, measured into run directories, and resumed after an interruption.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};

use crate::cli::live::{Live, Preparing};
use crate::cli::profiled as profiles;
use crate::cli::report::Wanted;
use crate::cli::{exit_code, terminal};
use crate::interrupt::Interrupt;
use crate::lab::profiled::{self, Contents};
use crate::lab::{Lab, Own, Planning};
use crate::log::LogError;
use crate::planner::Ask;
use crate::rig::store::url::hidden;
use crate::run;
use crate::run::clock::SystemClock;
use crate::run::dir::RunDir;
use crate::shelter::Shelter;
use crate::subject::{self, Surroundings, delivery};
use weigh_answer::document;
use weigh_answer::format::{self, Detail, FORMATS, Format, Medium, Options};
use weigh_answer::report::Report;
use weigh_answer::table::Columns;
use weigh_model::plan::Plan;

/// Flags of `weigh run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Built-in studies by name, or files ending in .toml; without any, every built-in study
    #[arg(value_name = "STUDY")]
    studies: Vec<String>,
    /// The quick form of each study
    #[arg(long)]
    quick: bool,
    /// Only the blocks of the study whose description has these words, such as "slow clients"
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// Go on with an interrupted run
    #[arg(long, value_name = "DIR", conflicts_with_all = ["studies", "quick", "only", "php", "out", "budget", "exhaustive", "seed", "content", "docroot", "server_config", "url", "page"])]
    resume: Option<PathBuf>,
    /// A PHP to measure (repeatable): a binary, or a fetched runtime's name; without one, those on PATH
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// Seconds to measure at most, instead of the study's own budget
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    budget: Option<f64>,
    /// Measure everything to the last round
    #[arg(long)]
    exhaustive: bool,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to write the run (of one study); default: a new folder in weigh-runs/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Profile the cells in PHP whose ids have these words, such as "redis/phpredis", after the run; the profiles go into its folder
    #[arg(long, value_name = "WORDS")]
    profile: Option<String>,
    /// Full tables instead of the summary
    #[arg(long)]
    full: bool,
    /// The results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    own: Own,
}

/// A number of seconds above zero.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s.is_finite() && s > 0.0 => Ok(s),
        _ => Err("give a number of seconds above zero".into()),
    }
}

/// What else the user said that a run needs to know, and that its folder does not.
#[derive(Clone, Debug, Default)]
pub struct More {
    /// Words for stores: a URL with its password is nowhere else.
    pub stores: Vec<String>,
    /// Cells to profile after the run.
    pub profile: Option<String>,
    /// Columns of the tables.
    pub columns: Columns,
}

impl Args {
    /// Whether it measures stores that run already.
    pub fn names_running_stores(&self) -> bool {
        self.own.stores.iter().any(|words| words.contains("://"))
    }

    fn after(&self, own: &Own) -> More {
        More { stores: own.stores.clone(), profile: self.profile.clone(), columns: self.wanted.columns() }
    }
}

/// Where a run is written: the folder that the user named, or a new one that no other run has, called by the name and the time.
pub fn run_folder(out: Option<&Path>, name: &str) -> PathBuf {
    if let Some(out) = out {
        return out.to_owned();
    }
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let path = Path::new("weigh-runs").join(format!("{name}-{now}"));
    // Two runs within a second are two runs.
    let numbered = (2..).map(|n| path.with_file_name(format!("{name}-{now}-{n}")));
    std::iter::once(path.clone()).chain(numbered).find(|p| !p.exists()).unwrap_or(path)
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this many cells faulted.
    Complete {
        /// Cells without a number.
        faults: usize,
    },
    /// At the user's wish.
    Interrupted,
}

impl Ended {
    /// The program's exit code.
    pub fn code(self) -> ExitCode {
        match self {
            Ended::Complete { faults } => exit_code(faults),
            Ended::Interrupted => ExitCode::FAILURE,
        }
    }
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs)?;
    let detail = if args.full { Detail::Full } else { Detail::Summary };
    let mut own = args.own.clone();
    if let Some(path) = &args.resume {
        let dir = RunDir::open(path)?;
        if let Some(words) = &args.profile {
            profiled::check(std::slice::from_ref(dir.plan()), words)?;
        }
        return Ok(go_on(&lab, dir, &args.after(&own), detail, args.json)?.code());
    }
    // Every study is read and planned before the first is measured: a typing error should not wait for an hour.
    let mut studies = lab.studies(&args.studies, &own)?;
    args.only.iter().try_for_each(|words| studies.iter_mut().try_for_each(|study| study.only(words)))?;
    if studies.len() > 1 && args.out.is_some() {
        bail!("--out names one folder, but {} studies would be run; name one study", studies.len());
    }
    let inventory = lab.survey(&studies, &args.php, &mut own, &mut Preparing::new())?;
    for (binary, why) in &inventory.refused {
        terminal::note(&format!("{} is left out: {why}", binary.display()));
    }
    let ask = Ask {
        quick: args.quick,
        seed: args.seed,
        budget_seconds: args.budget,
        exhaustive: args.exhaustive,
        ..Ask::default()
    };
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let mut plans = Vec::new();
    for (number, study) in studies.iter().enumerate() {
        let folder = staging.path().join(number.to_string());
        std::fs::create_dir(&folder).context("no temporary folder for the content")?;
        let progress = &mut Preparing::new();
        let mut planning = Planning { ask: &ask, inventory: &inventory, staging: &folder, progress };
        plans.push(lab.plan_own(study, &own, &mut planning)?);
    }
    if let Some(words) = &args.profile {
        profiled::check(&plans, words)?;
    }
    let alone = plans.len() == 1;
    let mut faults = 0;
    for plan in plans {
        if plan.cells.is_empty() && !alone {
            // The other studies have their answers all the same; the exit code tells.
            terminal::note(&format!("{}: {}", plan.study.name, nothing(&plan)));
            faults += 1;
            continue;
        }
        let folder = run_folder(args.out.as_deref(), &plan.study.name);
        match measure(&lab, plan, &folder, &args.after(&own), detail, args.json)? {
            Ended::Complete { faults: more } => faults += more,
            Ended::Interrupted => return Ok(Ended::Interrupted.code()),
        }
    }
    Ok(exit_code(faults))
}

/// Why a plan has no cells: each reason once.
fn nothing(plan: &Plan) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for exclusion in &plan.exclusions {
        let remedy = exclusion.remedy.as_ref().map_or(String::new(), |r| format!(" ({r})"));
        let reason = format!("{}{remedy}", exclusion.reason);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let reasons = if reasons.is_empty() { vec!["no block has a cell".into()] } else { reasons };
    format!("nothing to measure: {}", reasons.join("; "))
}

/// Measures a plan into `folder`, a new run directory, and shows the results.
pub fn measure(
    lab: &Lab,
    plan: Plan,
    folder: &Path,
    more: &More,
    detail: Detail,
    json: bool,
) -> Result<Ended> {
    if plan.cells.is_empty() {
        bail!(nothing(&plan));
    }
    if let Some(exposed) = delivery::exposure(&plan) {
        terminal::note(&exposed);
    }
    let command = std::env::args_os().map(|a| hidden(&a.to_string_lossy())).collect();
    let dir = RunDir::create(folder, plan, command)?;
    go_on(lab, dir, more, detail, json)
}

/// Measures what is left of a run, which may be nothing, and shows the results.
fn go_on(lab: &Lab, mut dir: RunDir, more: &More, detail: Detail, json: bool) -> Result<Ended> {
    let (path, plan) = (dir.path().to_owned(), dir.plan().clone());
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    let contents = more.profile.as_ref().map(|words| Contents::keep(&plan, &path, words)).transpose()?;
    if dir.stored().is_complete() {
        terminal::note(&format!("{}: the run is complete; there is nothing left to measure", path.display()));
    } else {
        let (scratch, logs) = (&dir.scratch(), &dir.logs());
        let around = Surroundings { lab, scratch, logs, stores: &more.stores, interrupt: &interrupt };
        let mut executor = subject::of_plan(&plan).executor(&plan, &around)?;
        if let Some(remark) = executor.remark() {
            terminal::note_once(remark);
        }
        let mut live = Live::new(&plan, dir.records(), detail == Detail::Full);
        let outcome = run::run(&mut dir, &mut *executor, &interrupt, &SystemClock::new(), &mut live);
        live.clear();
        let outcome = outcome.map_err(|error| match error.downcast_ref::<LogError>() {
            Some(_) => anyhow!("{error:#}; go on with: weigh run --resume {}", path.display()),
            None => error,
        })?;
        if !outcome.complete {
            terminal::note(&format!("interrupted; go on with: weigh run --resume {}", path.display()));
            return Ok(Ended::Interrupted);
        }
    }
    let (results, command) = (dir.stored().report(), shell_words::join(&dir.file().command));
    drop(dir);
    show(&results, &path, (detail, &more.columns), json, command)?;
    if let Some(contents) = &contents {
        profiles::run(lab, &path, &plan, contents, &more.stores, &interrupt, json)?;
    }
    Ok(Ended::Complete { faults: results.faults.len() })
}

/// Prints the results, and leaves report and chart in the run directory.
fn show(
    results: &Report,
    path: &Path,
    (detail, columns): (Detail, &Columns),
    json: bool,
    command: String,
) -> Result<()> {
    // A misspelt name is no reason to lose what was measured: it can be asked for again.
    let columns = match document::check(results, columns) {
        Ok(()) => columns.clone(),
        Err(error) => {
            terminal::note(&format!("{error}; show them with: weigh report {}", path.display()));
            Columns::Few
        }
    };
    let options = Options { columns, ..crate::cli::report::options(detail, Some(command)) };
    let printed: &dyn Format = if json { &format::json::Json } else { &format::terminal::Terminal };
    crate::cli::report::print(results, printed, &options)?;
    let folder = path.join("report");
    let mut notes = vec![format!("run       {}", path.display())];
    for format in FORMATS.iter().filter(|format| format.medium() != Medium::Screen) {
        let written = crate::cli::report::write(results, *format, &options, &folder)?;
        let (word, most) = format.announced().unwrap_or_default();
        notes.extend(written.iter().take(most).map(|file| format!("{word:<9} {}", file.display())));
    }
    notes.iter().for_each(|note| terminal::note(note));
    Ok(())
}

#[cfg(test)]
mod tests;
