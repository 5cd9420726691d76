//! `weigh run`: studies, measured into run directories, and resumed after an interruption.

mod each;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::exit::OrRefuse;
use crate::gates::{GateFlags, Judging};
use crate::live::Preparing;
use crate::machines::CoreHour;
use crate::measuring::{After, Ended, go_on, measure_and_show};
use crate::on::OnFlags;
use crate::own::OwnFlags;
use crate::placed::{Placed, resumed_on, run_options};
use crate::results::{ColumnsFlag, OutputOptions};
use crate::{plan, quantity, terminal};
use weigh_answer::compare::gate::{self};
use weigh_cluster::executor::Remote;
use weigh_model::plan::Plan;
use weigh_os::interrupt::Interrupt;
use weigh_os::shelter::Shelter;
use weigh_run::dir::{RunDir, StoredRun, refuse_used};
use weigh_run::lab::{Home, Lab};
use weigh_run::list::find;
use weigh_run::measure::{run_folder, why_empty};
use weigh_run::planner::{PlanOptions, has_each};
use weigh_run::planning::Planning;
use weigh_run::profiled;
use weigh_run::study::Study;
use weigh_site::overrides;
use weigh_site::overrides::UserOverrides;

/// Flags of `weigh run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Built-in studies by name, or files ending in .toml; without any, every built-in study
    #[arg(value_name = "STUDY")]
    studies: Vec<String>,
    /// The quick form of each study
    #[arg(long)]
    quick: bool,
    /// Measure nothing: show what would be measured, what is left out and why, and how long it takes; without a study, list them
    #[arg(long, conflicts_with_all = ["resume", "out", "profile", "each_machine"])]
    dry_run: bool,
    /// With --dry-run, each configuration on a line of its own
    #[arg(long, requires = "dry_run")]
    cells: bool,
    /// Only the blocks of the study whose description has these words, such as "slow clients"
    #[arg(long, value_name = "WORDS", value_parser = quantity::parse_words)]
    only: Option<String>,
    /// Only the configuration with this id (repeatable), as --dry-run --cells lists them
    #[arg(long = "configuration", value_name = "ID", value_parser = quantity::parse_words)]
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
    #[arg(long, value_name = "WORDS", value_parser = quantity::parse_words)]
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
    own: OwnFlags,
}

const EXAMPLES: &str = "Examples:
  weigh run cache-levels --quick                 one study in its quick form
  weigh run page-output --content page.html      the same on a page of yours
  weigh run --dry-run page-output                what it would measure
  weigh run --resume latest                      go on after an interruption";

impl Args {
    /// Whether it measures stores that run already.
    pub fn names_running_stores(&self) -> bool {
        self.own.stores.iter().any(|words| words.contains("://"))
    }

    fn after(&self, judging: &Judging) -> After {
        let shown = OutputOptions::new(self.full, self.json, &self.wanted);
        After { shown, judging: judging.clone(), profile: self.profile.clone() }
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

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    args.suits_a_node(defs).or_usage_error()?;
    let lab = Lab::open(defs).or_usage_error()?;
    let judging = args.gates.read().or_usage_error()?;
    if let Some(word) = &args.resume {
        let path = find(word).or_usage_error()?;
        let stored = StoredRun::read(&path).or_usage_error()?;
        if !args.trust && (!stored.is_complete() || args.profile.is_some()) {
            lab.refuse_foreign(&stored).or_usage_error()?;
        }
        drop(stored);
        let dir = RunDir::open(&path).or_usage_error()?;
        if let Some(words) = &args.profile {
            profiled::check(&lab, std::slice::from_ref(dir.plan()), words).or_usage_error()?;
        }
        let kind = dir.file().machine.kind.clone();
        let placed =
            resumed_on(&dir, &args.on, || Placed::asked(&args.on, &lab, kind.as_deref())).or_usage_error()?;
        let options = run_options(&args.own.stores, placed);
        return Ok(go_on(&lab, dir, &options, &args.after(&judging))?.code());
    }
    if args.each_machine {
        return each::run(args, &lab, &judging);
    }
    if args.dry_run && args.studies.is_empty() && args.own.urls.is_empty() {
        return plan::list(&lab, args.json);
    }
    let mut own = args.own.overrides();
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let (plans, placed) = plans(&lab, args, &mut own, &judging, staging.path()).or_usage_error()?;
    if args.dry_run {
        return plan::show(plans, args.cells, args.json).or_usage_error();
    }
    let (alone, options, after) = (plans.len() == 1, run_options(&own.stores, placed), args.after(&judging));
    ensure!(alone || !judging.has_junit(), "--junit is one study's; name one study");
    let (mut failures, mut gates) = (0, None);
    for plan in plans {
        if plan.cells.is_empty() && !alone {
            // The other studies have their answers all the same; the exit code tells.
            terminal::note(&format!("{}: {}", plan.study.name, why_empty(&plan)));
            failures += 1;
            continue;
        }
        let folder = run_folder(args.out.as_deref(), &plan.study.name);
        match measure_and_show(&lab, plan, &folder, &options, &after)? {
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
    own: &mut UserOverrides,
    judging: &Judging,
    staging: &Path,
) -> Result<(Vec<Plan>, Option<Placed>)> {
    let studies = select_studies(lab, args, own)?;
    let mut placed = Placed::asked(&args.on, lab, None)?;
    let remote = placed.as_mut().map(|(_, remote)| remote);
    let plans = plans_of(lab, args, own, judging, staging, (&studies, remote))?;
    Ok((plans, placed.map(|(placed, _)| placed)))
}

fn select_studies(home: &Home, args: &Args, own: &mut UserOverrides) -> Result<Vec<Study>> {
    let mut studies = overrides::studies(home, &args.studies, own)?;
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
    own: &mut UserOverrides,
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
    let mut plans = {
        let (options, inventory, progress) = (&options, &inventory, &mut Preparing::new());
        overrides::plan_each(lab, studies, own, &mut Planning { options, inventory, staging, progress })?
    };
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
