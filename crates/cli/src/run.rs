//! `weigh run`: studies, measured into run directories, and resumed after an interruption.

mod each;
mod placed;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::compare::machines::CoreHour;
use crate::compare::{GateFlags, Judging};
use crate::exit::{self, Exit, OrRefuse};
use crate::live::{Live, Preparing};
use crate::on::OnFlags;
use crate::profiled as profiles;
use crate::report::ColumnsFlag;
use crate::{quantity, report, terminal};
use weigh_answer::compare::gate::{self, Outcome};
use weigh_answer::document;
use weigh_answer::format::{self, Detail, Format, Medium, Options};
use weigh_answer::report::Report;
use weigh_answer::table::Columns;
use weigh_cluster::executor::Remote;
use weigh_model::inventory::Inventory;
use weigh_model::plan::Plan;
use weigh_model::units;
use weigh_os::interrupt::Interrupt;
use weigh_os::machine::Machine;
use weigh_os::shelter::Shelter;
use weigh_rig::store::url::hidden;
use weigh_run::clock::SystemClock;
use weigh_run::dir::{RunDir, RunFile, StoredRun, refuse_used};
use weigh_run::lab::profiled::{self, Contents};
use weigh_run::lab::{Lab, Planning};
use weigh_run::list::{FOLDER, find};
use weigh_run::log::LogError;
use weigh_run::planner::{PlanOptions, has_each};
use weigh_run::study::Study;
use weigh_run::subject::{self, Surroundings, delivery};
use weigh_site::overrides;
use weigh_site::overrides::Own;

pub use placed::Placed;
use placed::resumed_on;

/// Flags of `weigh run`.
#[derive(Debug, clap::Args)]
#[command(after_help = exit::help(EXAMPLES))]
pub struct Args {
    /// Built-in studies by name, or files ending in .toml; without any, every built-in study
    #[arg(value_name = "STUDY")]
    studies: Vec<String>,
    /// The quick form of each study
    #[arg(long)]
    quick: bool,
    /// Only the blocks of the study whose description has these words, such as "slow clients"
    #[arg(long, value_name = "WORDS", value_parser = words)]
    only: Option<String>,
    /// Only the configuration with this id (repeatable), as `weigh plan STUDY --cells` lists them
    #[arg(long = "configuration", value_name = "ID", value_parser = words)]
    configurations: Vec<String>,
    /// Go on with an interrupted run: its folder, its name in weigh-runs, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["studies", "quick", "only", "configurations", "php", "out", "budget", "exhaustive", "seed", "content", "docroot", "server_config", "url", "page"])]
    resume: Option<PathBuf>,
    /// Go on with a run that was not begun here: the programs and configurations that it names are carried out
    #[arg(long, requires = "resume")]
    trust: bool,
    /// A PHP to measure (repeatable): a binary, or a fetched runtime's name; without one, those on PATH
    #[arg(long, value_name = "BINARY")]
    php: Vec<PathBuf>,
    /// The longest time to measure, such as 60, 60s or 2m, instead of the study's own budget
    #[arg(long, value_name = "TIME", value_parser = quantity::time)]
    budget: Option<f64>,
    /// Measure everything to the last round
    #[arg(long)]
    exhaustive: bool,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
    /// Where to write the run (of one study); default: a new folder in weigh-runs/
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// After the run, profile the configurations in PHP whose ids have these words, such as "redis/phpredis"; the profiles go into its folder
    #[arg(long, value_name = "WORDS", value_parser = words)]
    profile: Option<String>,
    /// All evidence instead of the answer
    #[arg(long)]
    full: bool,
    /// The results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    wanted: ColumnsFlag,
    #[command(flatten)]
    gates: GateFlags,
    #[command(flatten)]
    on: OnFlags,
    /// Measure on one node of each kind, and say which kind is the cheapest for the study
    #[arg(long, help_heading = "Many machines", requires = "on", conflicts_with_all = ["resume", "gate", "gates", "junit", "columns"])]
    each_machine: bool,
    /// What a core of a kind of node costs per hour, as KIND=PRICE (repeatable)
    #[arg(long, value_name = "KIND=PRICE", help_heading = "Many machines", requires = "each_machine")]
    core_hour: Vec<CoreHour>,
    #[command(flatten)]
    own: Own,
}

const EXAMPLES: &str = "Examples:
  weigh run cache-levels --quick                 one study in its quick form
  weigh run page-output --content page.html      the same on a page of yours
  weigh run --resume latest                      go on after an interruption";

/// Words to look for: an empty text would match everything.
pub fn words(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("give at least one word".into()) } else { Ok(text.to_owned()) }
}

#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The answer, or all evidence.
    pub detail: Detail,
    pub json: bool,
    /// Columns of the tables.
    pub columns: Columns,
}

impl Shown {
    /// As the flags `--full`, `--json` and `--columns` say. Who asks for columns wants the tables that have them.
    pub fn new(full: bool, json: bool, wanted: &ColumnsFlag) -> Shown {
        let detail = if full || wanted.columns.is_some() { Detail::Full } else { Detail::Summary };
        Shown { detail, json, columns: wanted.columns.clone().unwrap_or_default() }
    }
}

/// What else the user said that a run needs to know, and that its folder does not.
#[derive(Clone, Debug, Default)]
pub struct More {
    /// Words for stores: a URL with its password is nowhere else.
    pub stores: Vec<String>,
    /// Words of the configurations to profile after the run.
    pub profile: Option<String>,
    pub shown: Shown,
    /// The limits that results must keep, beside those of the study.
    pub judging: Judging,
    /// The node of a cluster that the visits are made on; none: this machine.
    pub placed: Option<Placed>,
}

impl Args {
    /// Whether it measures stores that run already.
    pub fn names_running_stores(&self) -> bool {
        self.own.stores.iter().any(|words| words.contains("://"))
    }

    fn after(&self, own: &Own, judging: &Judging, placed: Option<Placed>) -> More {
        let (shown, judging) = (Shown::new(self.full, self.json, &self.wanted), judging.clone());
        More { stores: own.stores.clone(), profile: self.profile.clone(), shown, judging, placed }
    }

    /// Makes sure that all of it can be measured on a node, which has nothing of the user's but the content.
    fn suits_a_node(&self, defs: Option<&Path>) -> Result<()> {
        let Some(on) = &self.on.on else { return Ok(()) };
        let flags = [
            ("--defs", defs.is_some()),
            ("--profile", self.profile.is_some()),
            ("--server-config", self.own.config.is_some()),
            ("--url", !self.own.urls.is_empty()),
            ("--page", self.own.page.is_some()),
            ("--store", !self.own.stores.is_empty()),
        ];
        match flags.iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                bail!("{flag} is of this machine, and --on {on} measures on another; leave one of them out")
            }
            None => Ok(()),
        }
    }
}

/// Where a run is written: the folder that the user named, or a new one that no other run has, called by the name and the time.
pub fn run_folder(out: Option<&Path>, name: &str) -> PathBuf {
    if let Some(out) = out {
        return out.to_owned();
    }
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let path = Path::new(FOLDER).join(format!("{name}-{now}"));
    // Two runs within a second are two runs.
    let numbered = (2..).map(|n| path.with_file_name(format!("{name}-{now}-{n}")));
    std::iter::once(path.clone()).chain(numbered).find(|p| !p.exists()).unwrap_or(path)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this many failures.
    Complete {
        /// Configurations without a number.
        failures: usize,
        /// What its gates came to; none: it has none.
        gates: Option<Outcome>,
    },
    Interrupted,
}

impl Ended {
    pub fn code(self) -> ExitCode {
        match self {
            Ended::Complete { gates: Some(Outcome::Fail), .. } => Exit::Worse.into(),
            Ended::Complete { failures: 1.., .. } => Exit::Failures.into(),
            Ended::Complete { gates, .. } => Exit::of_gates(gates).into(),
            Ended::Interrupted => Exit::Internal.into(),
        }
    }
}

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    args.suits_a_node(defs).or_refuse()?;
    let lab = Lab::open(defs).or_refuse()?;
    let judging = args.gates.read().or_refuse()?;
    if let Some(word) = &args.resume {
        let path = find(word).or_refuse()?;
        let stored = StoredRun::read(&path).or_refuse()?;
        if !args.trust && (!stored.is_complete() || args.profile.is_some()) {
            lab.refuse_foreign(&stored).or_refuse()?;
        }
        drop(stored);
        let dir = RunDir::open(&path).or_refuse()?;
        if let Some(words) = &args.profile {
            profiled::check(&lab, std::slice::from_ref(dir.plan()), words).or_refuse()?;
        }
        let kind = dir.file().machine.kind.clone();
        let placed =
            resumed_on(&dir, &args.on, || Placed::asked(&args.on, &lab, kind.as_deref())).or_refuse()?;
        return Ok(go_on(&lab, dir, &args.after(&args.own, &judging, placed))?.code());
    }
    if args.each_machine {
        return each::run(args, &lab, &judging);
    }
    let mut own = args.own.clone();
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let (plans, placed) = plans(&lab, args, &mut own, &judging, staging.path()).or_refuse()?;
    let (alone, more) = (plans.len() == 1, args.after(&own, &judging, placed));
    ensure!(alone || !judging.has_junit(), "--junit is one study's; name one study");
    let (mut failures, mut gates) = (0, None);
    for plan in plans {
        if plan.cells.is_empty() && !alone {
            // The other studies have their answers all the same; the exit code tells.
            terminal::note(&format!("{}: {}", plan.study.name, nothing(&plan)));
            failures += 1;
            continue;
        }
        let folder = run_folder(args.out.as_deref(), &plan.study.name);
        match measure(&lab, plan, &folder, &more)? {
            Ended::Complete { failures: more, gates: worst } => {
                failures += more;
                gates = [gates, worst].into_iter().flatten().min();
            }
            Ended::Interrupted => return Ok(Ended::Interrupted.code()),
        }
    }
    Ok(Ended::Complete { failures, gates }.code())
}

/// A plan for every study that is asked for. Every study is read and planned before the first is measured: a slip must not show after an hour.
/// On a node, they are made from what it has.
fn plans(
    lab: &Lab,
    args: &Args,
    own: &mut Own,
    judging: &Judging,
    staging: &Path,
) -> Result<(Vec<Plan>, Option<Placed>)> {
    let studies = asked(lab, args, own)?;
    let mut placed = Placed::asked(&args.on, lab, None)?;
    let remote = placed.as_mut().map(|(_, remote)| remote);
    let plans = plans_of(lab, args, own, judging, staging, (&studies, remote))?;
    Ok((plans, placed.map(|(placed, _)| placed)))
}

/// The studies that are asked for.
fn asked(lab: &Lab, args: &Args, own: &mut Own) -> Result<Vec<Study>> {
    let mut studies = overrides::studies(lab, &args.studies, own)?;
    args.only.iter().try_for_each(|words| studies.iter_mut().try_for_each(|study| study.only(words)))?;
    if let Some(out) = &args.out {
        let many = studies.len();
        ensure!(many < 2, "--out names one folder, but {many} studies would be run; name one study");
        refuse_used(out)?;
    }
    Ok(studies)
}

/// The plan of each study, from what this machine or a node has.
fn plans_of(
    lab: &Lab,
    args: &Args,
    own: &mut Own,
    judging: &Judging,
    staging: &Path,
    (studies, remote): (&[Study], Option<&mut Remote>),
) -> Result<Vec<Plan>> {
    let inventory = match remote {
        None => overrides::survey(lab, studies, &args.php, own, &mut Preparing::new())?,
        Some(remote) => {
            let survey = |interrupt: &Interrupt| remote.inventory(studies, &args.php, interrupt);
            Interrupt::during(survey).context("signals cannot be caught")??
        }
    };
    for (binary, why) in &inventory.refused {
        terminal::note(&format!("{} is left out: {why}", binary.display()));
    }
    let options = PlanOptions {
        quick: args.quick,
        seed: args.seed,
        budget_seconds: args.budget,
        exhaustive: args.exhaustive,
        configurations: args.configurations.clone(),
        ..PlanOptions::default()
    };
    let mut plans = plan_each(lab, studies, own, &inventory, &options, staging)?;
    if !args.configurations.is_empty() {
        has_each(&plans, &args.configurations)?;
        // The other studies were not meant.
        plans.retain(|plan| !plan.cells.is_empty());
    }
    if let Some(words) = &args.profile {
        profiled::check(lab, &plans, words)?;
    }
    for plan in &plans {
        gate::check(&judging.with(&plan.study.gates), weigh_answer::subject::of_plan(plan))?;
    }
    Ok(plans)
}

/// The plan of each study, with its content in a folder of its own below `staging`.
pub fn plan_each(
    lab: &Lab,
    studies: &[Study],
    own: &Own,
    inventory: &Inventory,
    options: &PlanOptions,
    staging: &Path,
) -> Result<Vec<Plan>> {
    let plan = |(number, study): (usize, &Study)| {
        let folder = staging.join(number.to_string());
        std::fs::create_dir(&folder).context("no temporary folder for the content")?;
        let progress = &mut Preparing::new();
        overrides::plan(lab, study, own, &mut Planning { options, inventory, staging: &folder, progress })
    };
    studies.iter().enumerate().map(plan).collect()
}

/// Why a plan has no cells: each reason once.
pub fn nothing(plan: &Plan) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for exclusion in &plan.exclusions {
        let remedy = exclusion.remedy.as_ref().map_or(String::new(), |r| format!(" ({r})"));
        let reason = format!("{}{remedy}", exclusion.reason);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let reasons = if reasons.is_empty() { vec!["no configuration".into()] } else { reasons };
    format!("nothing to measure: {}", reasons.join("; "))
}

/// A new run directory for a plan. Who can read what its servers will send is said.
pub fn begin(plan: Plan, folder: &Path) -> Result<RunDir> {
    begin_on(plan, folder, Machine::query())
}

/// The same of a run on that machine.
fn begin_on(plan: Plan, folder: &Path, machine: Machine) -> Result<RunDir> {
    if plan.cells.is_empty() {
        return Err(anyhow!(nothing(&plan))).or_refuse();
    }
    if let Some(exposed) = delivery::exposure(&plan) {
        terminal::note(&exposed);
    }
    let command = std::env::args_os().map(|a| hidden(&a.to_string_lossy())).collect();
    RunDir::create_of(folder, plan, command, machine).or_refuse()
}

/// Measures a plan into `folder`, a new run directory, and shows the results.
pub fn measure(lab: &Lab, plan: Plan, folder: &Path, more: &More) -> Result<Ended> {
    let machine = more.placed.as_ref().map_or_else(Machine::query, |placed| placed.machine.clone());
    go_on(lab, begin_on(plan, folder, machine)?, more)
}

/// Measures what is left of a run, which may be nothing, and shows the results.
fn go_on(lab: &Lab, mut dir: RunDir, more: &More) -> Result<Ended> {
    let (path, plan) = (dir.path().to_owned(), dir.plan().clone());
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    let contents = more.profile.as_ref().map(|words| Contents::keep(&plan, &path, words)).transpose()?;
    if !finish(lab, &mut dir, more, &interrupt)? {
        return Ok(Ended::Interrupted);
    }
    let (results, file) = (dir.stored().report(), dir.file().clone());
    drop(dir);
    show(&results, &path, &more.shown, &file)?;
    if let Some(contents) = &contents {
        profiles::run(lab, &path, &plan, contents, more, &interrupt)?;
        // The page shows them.
        let pages: Vec<_> = format::available().filter(|format| format.name() == "html").collect();
        let options = report::options(more.shown.detail, Some(&file));
        let options = Options { flames: report::flames(&path, &pages), ..options };
        for page in pages {
            report::write(&results, page, &options, &path.join("report"))?;
        }
    }
    let gates = judged(&results, more)?;
    Ok(Ended::Complete { failures: results.faults.len(), gates })
}

/// Judges the gates that need no other run, shows them, and writes them where they are asked for.
fn judged(results: &Report, more: &More) -> Result<Option<Outcome>> {
    let gates = more.judging.with(&results.study.gates);
    let (judged, beside) = gate::judge_alone(&gates, results);
    let suite = format!("weigh run {}", results.study.name);
    more.judging.tell(&suite, &judged, more.shown.detail, more.shown.json)?;
    if beside > 0 {
        let gates = units::count(beside, "gate needs", "gates need");
        terminal::note(&format!("{gates} a baseline: weigh compare --baseline NAME"));
    }
    Ok(gate::worst(&judged))
}

/// Measures what is left of a run; false: the user interrupted it.
pub fn finish(lab: &Lab, dir: &mut RunDir, more: &More, interrupt: &Interrupt) -> Result<bool> {
    let (path, plan) = (dir.path().to_owned(), dir.plan().clone());
    if dir.stored().is_complete() {
        terminal::note(&format!("{}: the run is complete; nothing is left to measure", path.display()));
    } else {
        let (scratch, logs) = (&dir.scratch(), &dir.logs());
        let around = Surroundings { lab, scratch, logs, stores: &more.stores, interrupt };
        let (mut executor, clock) = match &more.placed {
            None => (subject::executor(&plan, &around)?, SystemClock::new()),
            Some(Placed { cluster, node, .. }) => {
                (cluster.executor(node, &plan, &path, &around)?, SystemClock::elsewhere())
            }
        };
        if let Some(remark) = executor.remark() {
            terminal::note_once(remark);
        }
        let mut live = Live::new(&plan, dir.records(), more.shown.detail == Detail::Full);
        let outcome = weigh_run::run(dir, &mut *executor, interrupt, &clock, &mut live);
        live.clear();
        let outcome = outcome.map_err(|error| match error.downcast_ref::<LogError>() {
            Some(_) => anyhow!("{error:#}; go on with: weigh run --resume {}", path.display()),
            None => error,
        })?;
        if !outcome.complete {
            let lost = more.placed.as_ref().and_then(|placed| placed.cluster.why_ended());
            let why = lost.map_or("interrupted".into(), |why| format!("the cluster is lost: {why}"));
            let on = more.placed.as_ref().map_or(String::new(), |placed| format!(" --on {}", placed.on));
            terminal::note(&format!("{why}; go on with: weigh run --resume {}{on}", path.display()));
            return Ok(false);
        }
    }
    Ok(true)
}

/// Prints the results, and leaves report and pictures in the run directory.
fn show(results: &Report, path: &Path, shown: &Shown, file: &RunFile) -> Result<()> {
    let mut options = options(shown, Some(file));
    // A misspelt name is no reason to lose what was measured: it can be asked for again.
    if let Err(error) = document::check(results, &options.columns) {
        terminal::note(&format!("{error}; show them with: weigh report {} --full", path.display()));
        options.columns = Columns::Few;
    }
    let printed: &dyn Format = if shown.json { &format::json::Json } else { &format::terminal::Terminal };
    report::print(results, printed, &options)?;
    written(results, path, &options)?;
    report::further(path, shown.detail);
    Ok(())
}

fn options(shown: &Shown, file: Option<&RunFile>) -> Options {
    Options { columns: shown.columns.clone(), ..report::options(shown.detail, file) }
}

/// Leaves report and pictures in the run directory.
fn written(results: &Report, path: &Path, options: &Options) -> Result<()> {
    let folder = path.join("report");
    for format in format::available().filter(|format| format.medium() != Medium::Screen) {
        report::write(results, format, options, &folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
