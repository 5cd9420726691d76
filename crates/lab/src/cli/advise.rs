//! `weigh advise`: measures what a site's decisions need, decides, and writes the policy.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::advise::{self, Written};
use crate::cli::exit::{self, Exit, OrRefuse};
use crate::cli::live::Preparing;
use crate::cli::run::{More, finish, run_folder};
use crate::cli::{one_of, quantity, report, terminal};
use crate::configuration::{Emitted, Here, emit};
use crate::digest;
use crate::interrupt::Interrupt;
use crate::lab::{Lab, Own, Planning, Progress, Proved};
use crate::planner::Ask;
use crate::rig::guard;
use crate::rig::server::{Definition, Found};
use crate::rig::service::FolderDefinition;
use crate::rig::user::OwnUser;
use crate::run::dir::RunDir;
use crate::run::list::find;
use crate::shelter::Shelter;
use crate::site;
use crate::study::Study;
use crate::subject::delivery::study::DeliveryBlocks;
use weigh_answer::document::Block;
use weigh_answer::format::{Detail, markdown};
use weigh_answer::policy::{Decided, decide, document};
use weigh_answer::report::Report;
use weigh_model::plan::Plan;
use weigh_model::policy::{Objective, Policy};
use weigh_model::site::Site;
use weigh_model::text::clean_path;

/// Flags of `weigh advise`.
#[derive(Debug, clap::Args)]
#[command(after_help = exit::help(EXAMPLES))]
pub struct Args {
    /// The site's file, and runs of its sample that are used instead of measuring: folders, names in weigh-runs, or `latest`
    #[arg(value_name = "SITE|RUN")]
    given: Vec<PathBuf>,
    /// What to minimise: the time that visitors wait, or the cost at the site's prices
    #[arg(long, value_name = "WHAT", default_value = "time", value_parser = one_of(&OBJECTIVES, objective))]
    objective: Objective,
    /// The longest time to measure, such as 60s or 5m
    #[arg(long, value_name = "TIME", default_value_t = BUDGET, value_parser = quantity::time)]
    budget: f64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
    /// The folder to write policy, advice and configuration to
    #[arg(long, value_name = "DIR", default_value = "advice")]
    out: PathBuf,
    /// Replace the folder if it is there
    #[arg(long)]
    force: bool,
    /// The policy as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  weigh advise                                  what to do with the site in site.toml
  weigh advise site.toml --objective money      the cheapest instead of the fastest
  weigh advise site.toml weigh-runs/shop-responses-20261124-101500";

const OBJECTIVES: [Objective; 2] = [Objective::Time, Objective::Money];

fn objective(one: Objective) -> &'static str {
    match one {
        Objective::Time => "time",
        Objective::Money => "money",
    }
}

/// The file of a policy in its folder.
pub const POLICY: &str = "policy.toml";

/// Runs the verb.
pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let (file, runs) = told_apart(&args.given).or_refuse()?;
    let lab = Lab::open(defs).or_refuse()?;
    let opened = site::open(&file).or_refuse()?;
    let mut progress = Preparing::new();
    opened.notes.iter().for_each(|note| progress.note(note));
    let place = Place::new(&args.out, args.force).or_refuse()?;
    let site = opened.site;
    let mut reports =
        runs.iter().map(|run| Ok(RunDir::open(run)?.stored().report())).collect::<Result<Vec<_>>>();
    let reports = match &mut reports {
        Ok(found) if found.is_empty() => match measure(&lab, args, &site, &file)? {
            Some(measured) => measured,
            None => return Ok(Exit::Internal.into()),
        },
        _ => reports.or_refuse()?,
    };
    drop(progress);
    let links = lab.visitors_links(&site).or_refuse()?;
    let sha256 = digest::sha256(
        &std::fs::read(&file).with_context(|| format!("{}: cannot be read", clean_path(&file)))?,
    );
    let decided = decide(&site, &sha256, &links, &reports, args.objective);
    let emitted = emitted(&lab, &site, &decided)?;
    let mut blocks = document(&decided, &site);
    blocks.extend(carried_out(&emitted));
    let options = report::options(Detail::Full, None);
    let mut files = vec![
        (PathBuf::from(POLICY), policy_text(&decided)?),
        (PathBuf::from("advice.md"), markdown::text(&blocks, &[], &options)),
    ];
    files.extend(emitted.iter().map(|one| (Path::new("config").join(&one.file), one.text())));
    place.write(&files)?;
    if args.json {
        terminal::print_json(&decided.policy)?;
    } else {
        show(&blocks, args)?;
    }
    Ok(Exit::of_failures(reports.iter().map(|report| report.faults.len()).sum()).into())
}

/// The site's file among what was given, else the usual one, and the runs.
fn told_apart(given: &[PathBuf]) -> Result<(PathBuf, Vec<PathBuf>)> {
    let (files, runs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        given.iter().partition(|path| path.extension().is_some_and(|e| e == "toml"));
    ensure!(files.len() < 2, "two sites are named: {} and {}", clean_path(files[0]), clean_path(files[1]));
    let file = files.first().map_or_else(|| PathBuf::from("site.toml"), |file| (*file).clone());
    Ok((file, runs.into_iter().map(|run| find(run)).collect::<Result<_>>()?))
}

/// Runs the studies of a site; none: the user interrupted them.
fn measure(lab: &Lab, args: &Args, site: &Site, file: &Path) -> Result<Option<Vec<Report>>> {
    let written = written_studies(lab, site, file, args.budget).or_refuse()?;
    let studies = written.iter().map(read).collect::<Result<Vec<_>>>()?;
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    let mut reports = Vec::new();
    for study in &studies {
        let staging = Shelter::new().context("no temporary folder for the content")?;
        let plan = planned(lab, site, None, study, args.seed, staging.path()).or_refuse()?;
        match measured(lab, plan, &interrupt)? {
            Measured::Run(report) => reports.push(*report),
            Measured::Nothing => {}
            Measured::Interrupted => return Ok(None),
        }
    }
    Ok(Some(reports))
}

/// How the run of a study ended.
pub enum Measured {
    /// Its results.
    Run(Box<Report>),
    /// Nothing of it can be measured here, which was said.
    Nothing,
    /// The user interrupted it.
    Interrupted,
}

/// Runs a plan in a new folder of `weigh-runs`.
pub fn measured(lab: &Lab, plan: Plan, interrupt: &Interrupt) -> Result<Measured> {
    if plan.cells.is_empty() {
        terminal::note(&format!("{}: nothing can be measured here", plan.study.name));
        return Ok(Measured::Nothing);
    }
    let command = std::env::args().collect();
    let folder = run_folder(None, &plan.study.name);
    let mut dir = RunDir::create(&folder, plan, command).or_refuse()?;
    match finish(lab, &mut dir, &More::default(), interrupt)? {
        true => Ok(Measured::Run(Box::new(dir.stored().report()))),
        false => Ok(Measured::Interrupted),
    }
}

/// Seconds that the studies of a site may take, where the user does not say.
pub const BUDGET: f64 = 300.0;

/// The studies that a site's decisions need.
pub fn written_studies(lab: &Lab, site: &Site, file: &Path, seconds: f64) -> Result<Vec<Written>> {
    let server = server_of(lab, site)?;
    let written = advise::studies(site, &site::folder_of(file), server.as_ref(), seconds)?;
    if written.is_empty() {
        bail!("{}: it has no sample file to measure; look at the site again: weigh site", clean_path(file));
    }
    Ok(written)
}

/// The definition of a site's web server.
pub fn server_of(lab: &Lab, site: &Site) -> Result<Option<Definition>> {
    let Some(name) = &site.sources.server else { return Ok(None) };
    let known = Definition::load(&lab.definitions)?.into_iter().find(|definition| definition.name == *name);
    known.map(Some).with_context(|| format!("sources.server: no server `{name}` is known"))
}

/// A study as its file is read.
pub fn read(written: &Written) -> Result<Study> {
    Study::parse(&written.text()?, &written.name)
}

/// The plan of one of them, with the user's configuration where the site has it.
pub fn planned(
    lab: &Lab,
    site: &Site,
    policy: Option<&Policy>,
    study: &Study,
    seed: u64,
    staging: &Path,
) -> Result<Plan> {
    let is_sent = !study.part::<DeliveryBlocks>().deliveries.is_empty();
    let config = site.sources.server_config.as_ref().filter(|_| is_sent).map(PathBuf::from);
    let mut own = Own {
        server: site.sources.server.clone().filter(|_| config.is_some()),
        docroot: site.sources.docroot.as_ref().filter(|_| config.is_some()).map(PathBuf::from),
        config,
        names_files: true,
        proved: policy
            .filter(|_| is_sent)
            .map(|policy| Box::new(Proved { policy: policy.clone(), site: site.clone() })),
        ..Own::default()
    };
    let php: Vec<PathBuf> = site.sources.php.iter().take(1).map(PathBuf::from).collect();
    let mut progress = Preparing::new();
    let inventory = lab.survey(std::slice::from_ref(study), &php, &mut own, &mut progress)?;
    let ask = Ask { seed, ..Ask::default() };
    let mut planning = Planning { ask: &ask, inventory: &inventory, staging, progress: &mut progress };
    lab.plan_own(study, &own, &mut planning)
}

/// The files that carry out a policy on the site's server, checked by it in a private instance.
fn emitted(lab: &Lab, site: &Site, decided: &Decided) -> Result<Vec<Emitted>> {
    let servers: Vec<Found> = server_of(lab, site)?.iter().map(Definition::find).collect();
    let user =
        OwnUser::for_programs(servers.iter().filter_map(|found| found.program.as_deref())).ok().flatten();
    let room = Shelter::of(user).context("no temporary folder")?;
    let place = guard::Place::new(room.path(), room.path().join("log")).of(user);
    emit(&decided.policy, site, Here { servers: &servers, place: Some(&place) })
}

/// Where the files go, and what the server says against one.
fn carried_out(emitted: &[Emitted]) -> Vec<Block> {
    if emitted.is_empty() {
        return Vec::new();
    }
    let line = |one: &Emitted| {
        let file = Path::new("config").join(&one.file);
        let place = match (one.line.is_empty(), one.place.is_empty()) {
            (false, _) => format!("{}: {}, {}", clean_path(&file), one.line, one.place),
            (true, false) => format!("{}: {}", clean_path(&file), one.place),
            (true, true) => clean_path(&file),
        };
        (place, one.unchecked.clone())
    };
    let heading = Block::Heading(2, "Configuration, written and not installed:".into());
    vec![heading, Block::Points(emitted.iter().map(line).collect())]
}

/// The policy as it is written.
fn policy_text(decided: &Decided) -> Result<String> {
    let text = toml::to_string(&decided.policy).context("the policy cannot be written")?;
    let notes: String = decided.notes.iter().map(|note| format!("# {note}\n")).collect();
    Ok(format!("{notes}{text}"))
}

fn show(blocks: &[Block], args: &Args) -> Result<()> {
    let text = weigh_answer::format::terminal::text(blocks, &report::options(Detail::Full, None));
    let policy = args.out.join(POLICY);
    terminal::print(&format!(
        "{text}\nPolicy: {}. Next: weigh prove {}\n",
        clean_path(&policy),
        clean_path(&policy)
    ))
}

/// The folder that the advice is written to: whole, or not at all.
struct Place {
    folder: PathBuf,
}

impl Place {
    /// Makes sure that the folder can be written before anything is measured.
    fn new(folder: &Path, force: bool) -> Result<Place> {
        let named = clean_path(folder);
        if folder.exists() {
            ensure!(force, "{named} exists; name another with --out, or replace it with --force");
            let is_own = folder.join(POLICY).is_file() || std::fs::read_dir(folder)?.next().is_none();
            ensure!(is_own, "{named} has no {POLICY}, so it is not replaced; name another folder with --out");
        }
        Ok(Place { folder: folder.to_owned() })
    }

    /// Writes the files into a new folder beside it, which then takes its place.
    fn write(&self, files: &[(PathBuf, String)]) -> Result<()> {
        let full = std::path::absolute(&self.folder).context("the folder has no path")?;
        let parent = full.parent().context("the folder has no parent")?;
        let fail = || format!("{} cannot be written", clean_path(&self.folder));
        let fresh = tempfile::Builder::new().prefix(".advice-").tempdir_in(parent).with_context(fail)?;
        for (name, text) in files {
            let file = fresh.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap_or(fresh.path())).with_context(fail)?;
            std::fs::write(file, text).with_context(fail)?;
        }
        if full.exists() {
            let old = tempfile::Builder::new().prefix(".advice-").tempdir_in(parent).with_context(fail)?;
            std::fs::rename(&full, old.path().join("old")).with_context(fail)?;
        }
        std::fs::rename(fresh.keep(), &full).with_context(fail)
    }
}
