//! `weigh advise`: measures what a site's decisions need, decides, and writes the policy.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::exit::{Exit, OrRefuse};
use crate::live::Preparing;
use crate::measuring::reports;
use crate::quantity::one_of;
use crate::{plan, quantity, results, terminal};
use weigh_answer::block::{Block, Step};
use weigh_answer::format::{Detail, markdown};
use weigh_answer::page;
use weigh_answer::policy::{Decided, decide, document, for_page, loads};
use weigh_answer::report::Report;
use weigh_model::commented::commented;
use weigh_model::gate::Gate;
use weigh_model::policy::{Objective, Policy, Rule, Trial, Withheld};
use weigh_model::site::{Kind, Sample, Site};
use weigh_model::text::{clean, clean_path};
use weigh_os::atomic_dir;
use weigh_rig::server::{Definition, Found};
use weigh_run::dir::StoredRun;
use weigh_run::lab::{Home, Lab, Progress};
use weigh_run::list::find;
use weigh_site::advise::{self, BUDGET, Encodings, POLICY, read_policy, server_of, studies_for};
use weigh_site::configuration::{self, Emitted, checked, emit};
use weigh_site::page_cache_proof::judge_page_cache;
use weigh_site::server_config::Configured;
use weigh_site::{overrides, regression};

/// Flags of `weigh advise`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The site's file, and runs of its sample that are used instead of measuring: folders, names in weigh-runs, or `latest`
    #[arg(value_name = "SITE|RUN")]
    given: Vec<PathBuf>,
    /// What to minimise: the time that visitors wait (for pages loaded in a browser until LCP; or fcp, load), or the cost at the site's prices
    #[arg(long, value_name = "WHAT", default_value = "time", value_parser = one_of(&OBJECTIVES, Objective::name))]
    objective: Objective,
    /// The longest time to measure, such as 60s or 5m
    #[arg(long, value_name = "TIME", default_value_t = BUDGET, value_parser = quantity::time)]
    budget: f64,
    /// Measure nothing: show the studies that would be measured, and how long they take
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run, write these studies into a new folder, to be edited and run: weigh run DIR/NAME.toml
    #[arg(long, value_name = "DIR", requires = "dry_run")]
    save: Option<PathBuf>,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, value_parser = quantity::whole::<u64>)]
    seed: u64,
    /// The folder to write policy, advice and configuration to
    #[arg(long, value_name = "DIR", default_value = ADVICE)]
    out: PathBuf,
    /// Replace the folder if it is there
    #[arg(long)]
    force: bool,
    /// The policy as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  weigh advise                              the site in site.toml
  weigh advise site.toml --objective money  the cheapest, not the fastest
  weigh advise site.toml weigh-runs/shop-responses-20261124-101500";

const OBJECTIVES: [Objective; 4] = [Objective::Time, Objective::Fcp, Objective::Load, Objective::Money];

/// The page of an advice in its folder.
const PAGE: &str = "advice.html";

pub const ADVICE: &str = "advice";

impl Args {
    /// Those of a site's file, within this many seconds, to the usual folder.
    pub fn of_site(file: &Path, budget: f64) -> Args {
        Args {
            given: vec![file.to_owned()],
            objective: Objective::Time,
            budget,
            dry_run: false,
            save: None,
            seed: 1,
            out: ADVICE.into(),
            force: true,
            json: false,
        }
    }
}

/// An advice, as it was written.
pub struct Advised {
    pub decided: Decided,
    blocks: Vec<Block>,
    failures: usize,
}

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let lab = Lab::open(defs).or_usage_error()?;
    if args.dry_run {
        let (file, _) = told_apart(&args.given).or_usage_error()?;
        let site = weigh_site::open(&file).or_usage_error()?.site;
        return plan::for_site(&lab, &site, &file, args.budget, args.save.as_deref());
    }
    let Some(advised) = advised(args, &lab)? else { return Ok(Exit::Internal.into()) };
    if args.json {
        terminal::print_json(&advised.decided.policy)?;
    } else {
        show(&advised.blocks, args)?;
    }
    Ok(Exit::of_failures(advised.failures).into())
}

/// Measures, decides, and writes the folder; none: interrupted.
///
/// # Errors
/// As the verb's.
pub fn advised(args: &Args, lab: &Lab) -> Result<Option<Advised>> {
    let (file, runs) = told_apart(&args.given).or_usage_error()?;
    let opened = weigh_site::open(&file).or_usage_error()?;
    let mut progress = Preparing::new();
    opened.notes.iter().for_each(|note| progress.note(note));
    may_write(&args.out, args.force).or_usage_error()?;
    drop(progress);
    let site = opened.site;
    knows_loads(args.objective, &site).or_usage_error()?;
    let reports: Vec<Report> = if runs.is_empty() {
        let studies = studies_for(lab, &site, &file, args.budget).or_usage_error()?;
        match reports(lab, &site, None, studies, args.seed)? {
            Some(reports) => reports.into_iter().flatten().collect(),
            None => return Ok(None),
        }
    } else {
        let report = |run: &PathBuf| Ok(StoredRun::read(run)?.report());
        runs.iter().map(report).collect::<Result<_>>().or_usage_error()?
    };
    let failures = reports.iter().map(|report| report.faults.len()).sum();
    let links = advise::visitors_links(lab, &site).or_usage_error()?;
    let folder = weigh_site::folder_of(&file);
    let encodings = Encodings::new(&site, &folder);
    let encoded = |kind, sample: &Sample, rule: &Rule| encodings.bytes(kind, sample, rule);
    let decided = decide(&site, &opened.sha256, &links, reports, args.objective, &encoded);
    let mut decided = decided.or_usage_error()?;
    decided.policy.gates = gates_before(&args.out)?;
    let mut emitted = emitted(lab, &site, &mut decided)?;
    // What the trial took back changes no load.
    decided.policy.loads = loads(&decided.policy, &site, &links);
    let mut blocks = document(&decided, &site);
    // What is to be typed is typed where this command was.
    let policy = format!(" {}", clean_path(&args.out.join(POLICY)));
    let config = format!(" {}/", clean_path(&args.out.join("config")));
    let commands = steps(&mut blocks).filter_map(|step| step.deploy.as_mut());
    commands.for_each(|text| *text = text.replace(" policy.toml", &policy));
    let commands = emitted.iter_mut().flat_map(|one| &mut one.first);
    commands.for_each(|text| *text = text.replace(" config/", &config));
    blocks.extend(carried_out(&emitted, decided.policy.trial.as_ref()));
    let options = results::options(Detail::Full, None);
    let mut files = vec![
        (PathBuf::from(POLICY), policy_text(&decided)?),
        (PathBuf::from("advice.md"), markdown::text(&blocks, &[], &options)),
    ];
    if page::is_built_in() {
        let page =
            page::page(&paged(&decided.policy, &site, &blocks, &emitted, &args.out), &[], None::<&()>)?;
        files.push((PathBuf::from(PAGE), page));
    }
    let below = |(file, text)| (Path::new("config").join::<PathBuf>(file), text);
    files.extend(configuration::files(&emitted).into_iter().map(below));
    atomic_dir::write(&files, &args.out)?;
    Ok(Some(Advised { decided, blocks, failures }))
}

/// Makes sure that there are loads of pages for an objective that is a moment of them.
fn knows_loads(objective: Objective, site: &Site) -> Result<()> {
    let is_of_loads = matches!(objective, Objective::Fcp | Objective::Load);
    let name = objective.name();
    ensure!(
        !is_of_loads || !site.loaded.is_empty(),
        "--objective {name}: no page was loaded in a browser; look again: weigh site --force --browser with --url or --render"
    );
    Ok(())
}

/// The site's file among what was given, else the usual one, and the runs.
fn told_apart(given: &[PathBuf]) -> Result<(PathBuf, Vec<PathBuf>)> {
    let (files, runs): (Vec<&PathBuf>, Vec<&PathBuf>) =
        given.iter().partition(|path| path.extension().is_some_and(|e| e == "toml"));
    ensure!(files.len() < 2, "two sites are named: {} and {}", clean_path(files[0]), clean_path(files[1]));
    let file = files.first().map_or_else(|| PathBuf::from("site.toml"), |file| (*file).clone());
    Ok((file, runs.into_iter().map(|run| find(run)).collect::<Result<_>>()?))
}

/// The files that carry out a policy on the site's server, without those that would make something worse. What these would have carried
/// out stays as it is.
fn emitted(lab: &Lab, site: &Site, decided: &mut Decided) -> Result<Vec<Emitted>> {
    let servers: Vec<Found> = server_of(lab, site)?.iter().map(Definition::find).collect();
    let own = configured(lab, site);
    let mut progress = Preparing::new();
    progress.doing("trying the files on the site's configuration");
    for found in &servers {
        regression::judge(site, found, own.as_ref(), &mut decided.policy)?;
    }
    judge_page_cache(lab, site, &mut decided.policy, &mut progress)?;
    let read = own.as_ref().and_then(|own| own.as_ref().ok()).map(|own| &own.read);
    let mut emitted = checked(&servers, read, |here| emit(&decided.policy, site, here))?;
    regression::judge_settings(lab, site, &mut decided.policy, &mut emitted)?;
    Ok(emitted)
}

/// The site's own configuration, with what its folders have of their own; none: the site names none.
fn configured(home: &Home, site: &Site) -> Option<Result<Configured>> {
    let read = overrides::configuration_of(home, site)?;
    Some(read.map(|mut configured| {
        let files: Vec<PathBuf> =
            site.of(Kind::Asset).flat_map(|s| &s.sample).map(|s| s.path.clone().into()).collect();
        if let Some((rules, docroot)) =
            configured.found.definition.own.as_ref().zip(site.sources.docroot.as_ref())
        {
            configured.read.tree.take_folders(rules, docroot.as_ref(), docroot.as_ref(), &files);
        }
        configured
    }))
}

/// Where the files go, what the server says against one, and which are not written.
fn carried_out(emitted: &[Emitted], trial: Option<&Trial>) -> Vec<Block> {
    let withheld = trial.map_or(&[][..], |trial| &trial.withheld);
    if emitted.is_empty() && withheld.is_empty() {
        return Vec::new();
    }
    let line = |one: &Emitted| {
        let file = Path::new("config").join(&one.file);
        let place = match (one.line.is_empty(), one.place.is_empty()) {
            (false, _) => format!("{}: {}: {}", clean_path(&file), one.place, one.line),
            (true, false) => format!("{}: {}", clean_path(&file), one.place),
            (true, true) => clean_path(&file),
        };
        (place, one.unchecked.clone())
    };
    let heading = Block::Heading(2, "Configuration, written and not installed".into());
    let left_out = |one: &Withheld| {
        let more = one.worse.iter().skip(1).map(regression::sentence).collect::<Vec<_>>().join("; ");
        let file = clean_path(&Path::new("config").join(&one.file)).to_string();
        (
            format!("{file}: {}", clean(&regression::reason(one))),
            Some(clean(&more)).filter(|more| !more.is_empty()),
        )
    };
    let mut seen = HashSet::new();
    let first = emitted.iter().flat_map(|one| &one.first).filter(|first| seen.insert(*first));
    let first = first.map(|first| (format!("First: {}", clean(first)), None));
    let points = first.chain(emitted.iter().map(line)).chain(withheld.iter().map(left_out)).collect();
    let is_written = trial.is_some_and(|trial| {
        emitted.iter().any(|one| one.tried == Some(configuration::describe_trial(trial)))
    });
    let told =
        trial.filter(|_| is_written).map(|trial| Block::Remark(clean(&configuration::describe_trial(trial))));
    [heading, Block::Points(points)].into_iter().chain(told).collect()
}

fn steps(blocks: &mut [Block]) -> impl Iterator<Item = &mut Step> {
    blocks.iter_mut().flat_map(|block| if let Block::Steps(steps) = block { &mut steps[..] } else { &mut [] })
}

/// The same for a browser: with a title, and with the files to copy.
fn paged(policy: &Policy, site: &Site, blocks: &[Block], emitted: &[Emitted], out: &Path) -> Vec<Block> {
    let mut paged = vec![Block::Heading(1, format!("Advice for {}", clean(&policy.site)))];
    paged.extend(for_page(policy, site, blocks.to_vec()));
    // A file that carries out several steps is included once.
    let mut left: Vec<&Emitted> = emitted.iter().collect();
    for step in steps(&mut paged) {
        let (own, others): (Vec<&Emitted>, _) =
            left.into_iter().partition(|one| one.what.contains(&step.text));
        step.install.extend(own.iter().flat_map(|one| one.commands(&out.join("config"))));
        left = others;
    }
    for one in emitted {
        paged.push(Block::Heading(2, clean_path(&Path::new("config").join(&one.file)).to_string()));
        paged.push(Block::Literal(one.text()));
    }
    paged
}

fn policy_text(decided: &Decided) -> Result<String> {
    let text = toml::to_string(&decided.policy).context("the policy cannot be written")?;
    let text = commented::<Policy>(&text, true);
    let notes: String = decided.notes.iter().map(|note| format!("# {note}\n")).collect();
    Ok(format!("{notes}{text}"))
}

fn show(blocks: &[Block], args: &Args) -> Result<()> {
    let text = weigh_answer::format::terminal::text(blocks, &results::options(Detail::Full, None));
    let policy = args.out.join(POLICY);
    let page = match page::is_built_in() {
        true => format!("Page: {}. ", clean_path(&args.out.join(PAGE))),
        false => String::new(),
    };
    let policy = clean_path(&policy);
    terminal::print(&format!("{text}\n{page}Policy: {policy}. Next: weigh prove {policy}\n"))
}

/// The gates that somebody wrote into the policy that is replaced.
fn gates_before(folder: &Path) -> Result<Vec<Gate>> {
    let file = folder.join(POLICY);
    if !file.exists() {
        return Ok(Vec::new());
    }
    Ok(read_policy(&file).context("its gates are to be kept")?.gates)
}

/// Makes sure that the folder may be written before anything is measured, and the policy there can be read.
fn may_write(folder: &Path, force: bool) -> Result<()> {
    let named = clean_path(folder);
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    ensure!(force, "{named} exists; name another with --out, or replace it with --force");
    let is_own = folder.join(POLICY).is_file() || std::fs::read_dir(folder)?.next().is_none();
    ensure!(is_own, "{named} has no {POLICY}, so it is not replaced; name another folder with --out");
    gates_before(folder).map(drop)
}
