//! `weigh compare --paired`: two sides in the rounds of one run, or two URLs in alternating blocks.
//!
//! A side is a plan of its own, with definitions, PHP, document root and configuration. What is given twice is one on each side; what is
//! given once is the same on both. Only configurations that both sides have, and that they can differ in, are measured.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail, ensure};
use weigh_content::defs::Definitions;
use weigh_model::cell::{Cell, NO_PHP};
use weigh_model::inventory::NATIVE;
use weigh_model::link::LinkSpec;
use weigh_model::page::Protocol;
use weigh_model::payload::Origin;
use weigh_model::plan::{Plan, Side};

use super::{Args, finish};
use crate::exit::{Exit, OrRefuse};
use crate::gates::Judging;
use crate::live::Preparing;
use crate::load::versus;
use crate::measuring::measured;
use crate::terminal;
use weigh_answer::compare::{Comparison, Names, gate, page_loads};
use weigh_answer::gather::FaultRow;
use weigh_answer::load::live;
use weigh_answer::report::Report;
use weigh_answer::subject;
use weigh_model::text::{clean, clean_path};
use weigh_model::way::CONFIG;
use weigh_os::machine::Machine;
use weigh_os::shelter::Shelter;
use weigh_run::dir::StoredRun;
use weigh_run::lab::Lab;
use weigh_run::measure::{RunOptions, run_folder, why_empty};
use weigh_run::planner::PlanOptions;
use weigh_run::planning::Planning;
use weigh_site::overrides;
use weigh_site::overrides::UserOverrides;
use weigh_site::page_loads::PairedPages;

/// More rounds than any time holds.
const MOST_ROUNDS: u32 = 1_000_000;
/// Failures that are told one by one.
const FEW: usize = 5;
/// The link where none is named.
const LOOPBACK: &str = "loopback";
/// The longest name of a side.
const LONGEST: usize = 32;

pub fn run(args: &Args, judging: &Judging, defs: &[PathBuf]) -> Result<ExitCode> {
    let twice = Twice { defs, php: &args.php, configs: &args.server_config, docroots: &args.docroot };
    let words: Vec<String> = args.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.iter().any(|word| word.contains("://")) {
        return urls(args, judging, &words, &twice);
    }
    if args.browser {
        return Err(anyhow!("--browser loads pages: give two URLs")).or_usage_error();
    }
    let lab = Lab::open(defs.first().filter(|_| defs.len() == 1).map(PathBuf::as_path)).or_usage_error()?;
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let plan = plan(args, &twice, &words, staging.path()).or_usage_error()?;
    let gates = judging.with(&plan.study.gates);
    gate::check(&gates, subject::of_plan(&plan)).or_usage_error()?;
    let Some(dir) = measured(&lab, plan, &run_folder(None, "paired"), &RunOptions::default())? else {
        return Ok(Exit::Internal.into());
    };
    let sides = &dir.plan().sides;
    let names = Names { a: sides[0].name.clone(), b: sides[1].name.clone() };
    let stored = dir.stored();
    let (a, b) = (side(stored, &names.a), side(stored, &names.b));
    let faults: Vec<String> = [(&names.a, &a), (&names.b, &b)].into_iter().flat_map(failed).collect();
    faults.iter().take(FEW).for_each(|line| terminal::note(line));
    if faults.len() > FEW {
        terminal::note(&format!("and {} more failures: weigh runs show latest --full", faults.len() - FEW));
    }
    let comparison = Comparison::paired(&a, &b, names, &gates);
    terminal::note(&format!("Run: {}", clean_path(dir.path())));
    ended(finish(args, judging, &comparison)?, !faults.is_empty())
}

/// The failures of a side, one line each.
fn failed((name, report): (&String, &Report)) -> Vec<String> {
    let line = |one: &FaultRow| clean(&format!("{} of {name} failed: {}", one.cell, one.fault.message));
    report.faults.iter().map(line).collect()
}

/// The results of one side, as of a run of its own.
fn side(stored: &StoredRun, side: &str) -> Report {
    let (plan, records) = stored.plan.alone(&stored.records, side);
    Report::of(&stored.facts(), &plan, &records)
}

/// Two URLs are two sides of a load, which alternates.
fn urls(args: &Args, judging: &Judging, words: &[String], twice: &Twice<'_>) -> Result<ExitCode> {
    let [a, b] = words else {
        return Err(anyhow!("--paired compares two URLs, or two sides of a study")).or_usage_error();
    };
    let of_study = twice.all().into_iter().find(|(_, given)| !given.is_empty()).map(|(flag, _)| flag);
    let of_study = of_study.or((!args.content.is_empty()).then_some("--content"));
    let of_study = of_study.or(args.only.as_ref().map(|_| "--only"));
    if let Some(flag) = of_study {
        return Err(anyhow!("{flag} is about a study; two URLs are compared as they are")).or_usage_error();
    }
    let started = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    if args.browser {
        let compared = loads([a, b], args, judging, &started)?;
        return ended(finish(args, judging, &compared)?, false);
    }
    live::check(judging.asked()).or_usage_error()?;
    let compared = match versus(a, b, (args.budget, args.seed))? {
        Ok(compared) => compared,
        Err(stopped) => return Ok(stopped),
    };
    let names = Names { a: a.clone(), b: b.clone() };
    let machine = Machine::query().line();
    let comparison = live::comparison(&compared, names, &started, &machine, judging.asked());
    let allows_failures = judging.asked().iter().any(|gate| gate.metric == "errors");
    let failures = if allows_failures { 0 } else { compared.faults() };
    ended(finish(args, judging, &comparison)?, failures > 0)
}

/// Loads of two URLs in a browser, over each link, in equal parts of the time.
fn loads([a, b]: [&String; 2], args: &Args, judging: &Judging, started: &str) -> Result<Comparison> {
    page_loads::check(judging.asked()).or_usage_error()?;
    let definitions = Definitions::load(None)?;
    let named = if args.link.is_empty() { vec![LOOPBACK.to_owned()] } else { args.link.clone() };
    let links: Vec<LinkSpec> =
        named.iter().map(|name| definitions.link(name)).collect::<Result<_>>().or_usage_error()?;
    let (links, allowed, seconds, seed) = (&links, &args.allow_remote, args.budget, args.seed);
    let pair = PairedPages { urls: [a, b], links, allowed, protocols: protocols(&args.http)?, seconds, seed };
    let all = pair.load(&mut Preparing::new()).or_usage_error()?;
    let names = Names { a: a.clone(), b: b.clone() };
    Ok(page_loads::comparison(&all, names, started, &Machine::query().line(), judging.asked()))
}

/// The protocol of each side: one is both sides'.
fn protocols(given: &[String]) -> Result<[Option<Protocol>; 2]> {
    let protocol = |version: &String| match version.as_str() {
        "3" => Protocol::Http3,
        "2" => Protocol::Http2,
        _ => Protocol::Http1,
    };
    match given {
        [] => Ok([None; 2]),
        [both] => Ok([Some(protocol(both)); 2]),
        [a, b] => Ok([Some(protocol(a)), Some(protocol(b))]),
        _ => Err(anyhow!("--http: a pair has two sides; give it twice at most")).or_usage_error(),
    }
}

fn ended(exit: Exit, has_failures: bool) -> Result<ExitCode> {
    Ok(if exit == Exit::Fine && has_failures { Exit::Failures } else { exit }.into())
}

/// What may be given twice, once for each side.
struct Twice<'a> {
    defs: &'a [PathBuf],
    php: &'a [PathBuf],
    configs: &'a [PathBuf],
    docroots: &'a [PathBuf],
}

impl Twice<'_> {
    fn all(&self) -> [(&'static str, &[PathBuf]); 4] {
        [
            ("--defs", self.defs),
            ("--server-config", self.configs),
            ("--docroot", self.docroots),
            ("--php", self.php),
        ]
    }

    /// The names of the sides: where the first that is given twice differs.
    fn names(&self) -> Result<[String; 2]> {
        for (flag, given) in self.all() {
            ensure!(given.len() <= 2, "{flag}: a pair has two sides; give it twice at most");
            let is_one = given.len() == 2 && given[0] == given[1];
            ensure!(!is_one || flag != "--php", "--php: {} is on both sides; name two", given[0].display());
        }
        let Some((_, given)) = self.all().into_iter().find(|(_, given)| given.len() == 2) else {
            bail!(
                "--paired needs two sides: give --php, --server-config, --docroot or --defs twice, such as --php php8.2 --php php8.4"
            );
        };
        names(&given[0], &given[1])
    }

    /// Whether the two sides can differ in a cell of one of them.
    fn can_differ(&self, cell: &Cell) -> bool {
        self.defs.len() == 2 && cell.runtime != NATIVE
            || self.php.len() == 2 && ![NATIVE, NO_PHP].contains(&cell.runtime.as_str())
            || self.configs.len() == 2 && cell.setting.codec == CONFIG
            || self.docroots.len() == 2 && cell.delivery.is_some()
    }
}

/// The one of this side, or of both.
fn pick_side(given: &[PathBuf], side: usize) -> Option<&PathBuf> {
    given.get(side).or(given.first())
}

/// Names for the sides by the last part in which two paths differ.
fn names(a: &Path, b: &Path) -> Result<[String; 2]> {
    let (a, b) = (std::path::absolute(a)?, std::path::absolute(b)?);
    let word = |part: std::path::Component<'_>| -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        let text = part.as_os_str().to_string_lossy().replace(|c| !is_plain(c), "-");
        text.trim_start_matches(['.', '-']).chars().take(LONGEST).collect()
    };
    let mut parts = a.components().rev().zip(b.components().rev()).map(|(a, b)| [word(a), word(b)]);
    let found = parts.find(|[a, b]| a != b && !a.is_empty() && !b.is_empty());
    Ok(found.unwrap_or_else(|| ["a".into(), "b".into()]))
}

/// The plan of one study with what both sides have, measured to the end of the time.
fn plan(args: &Args, twice: &Twice<'_>, words: &[String], staging: &Path) -> Result<Plan> {
    let names = twice.names()?;
    ensure!(
        words.len() == 1,
        "--paired measures one study, such as cache-levels (weigh run --dry-run lists them)"
    );
    let mut sides: Vec<(Side, Plan)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let folder = staging.join(name);
        std::fs::create_dir(&folder).context("no temporary folder for the content")?;
        let beside = sides.first().zip(twice.docroots.first());
        let beside = beside.map(|((_, plan), root)| below(plan, root)).unwrap_or_default();
        let own = UserOverrides {
            content: args.content.clone(),
            docroot: pick_side(twice.docroots, at).cloned(),
            config: pick_side(twice.configs, at).cloned(),
            server: args.server.clone(),
            site: args.site.clone(),
            like: beside,
            ..UserOverrides::default()
        };
        let defs = pick_side(twice.defs, at).map(std::path::absolute).transpose()?;
        let lab = Lab::open(defs.as_deref())?;
        let php: Vec<PathBuf> = match twice.php.len() {
            2 => vec![twice.php[at].clone()],
            _ => twice.php.to_vec(),
        };
        let plan = of_side(&lab, args, (words, &php), own, &folder)?;
        sides.push((Side { name: name.clone(), defs }, plan));
    }
    keep_pairs(&mut sides, twice)?;
    let mut plan = Plan::of_sides(sides);
    plan.policy.to_the_end = true;
    plan.policy.max_rounds = MOST_ROUNDS;
    Ok(plan)
}

fn of_side(
    lab: &Lab,
    args: &Args,
    (words, php): (&[String], &[PathBuf]),
    mut own: UserOverrides,
    staging: &Path,
) -> Result<Plan> {
    let mut studies = overrides::studies(lab, words, &own)?;
    args.only.iter().try_for_each(|words| studies.iter_mut().try_for_each(|study| study.only(words)))?;
    let inventory = overrides::survey(lab, &studies, php, &mut own, &mut Preparing::new())?;
    let options =
        PlanOptions { seed: args.seed, budget_seconds: Some(args.budget), ..PlanOptions::default() };
    let (options, inventory, progress) = (&options, &inventory, &mut Preparing::new());
    let mut planning = Planning { options, inventory, staging, progress };
    let plan = overrides::plan_each(lab, &studies, &own, &mut planning)?.pop();
    let plan = plan.context("the study has no plan")?;
    ensure!(!plan.cells.is_empty(), "{}", why_empty(&plan));
    Ok(plan)
}

/// The files of a document root that a plan sends, by their paths below it.
fn below(plan: &Plan, root: &Path) -> Vec<PathBuf> {
    let path = |origin: &Origin| match origin {
        Origin::User { path, .. } => path.strip_prefix(root).ok().map(Path::to_owned),
        _ => None,
    };
    plan.payloads.iter().filter_map(|payload| path(&payload.origin)).collect()
}

/// Keeps the cells that both sides have and can differ in.
fn keep_pairs(sides: &mut [(Side, Plan)], twice: &Twice<'_>) -> Result<()> {
    let key = |cell: &Cell| cell.factors(if twice.php.len() == 2 { "" } else { &cell.runtime });
    let keys: Vec<BTreeSet<String>> =
        sides.iter().map(|(_, plan)| plan.cells.iter().map(key).collect()).collect();
    for (_, plan) in sides.iter_mut() {
        plan.cells.retain(|cell| twice.can_differ(cell) && keys.iter().all(|all| all.contains(&key(cell))));
        ensure!(
            !plan.cells.is_empty(),
            "the study has no configuration that both sides can run and differ in"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_named_by_what_differs_in_their_paths() {
        let joined = |a: &str, b: &str| names(Path::new(a), Path::new(b)).unwrap().join(" ");
        assert_eq!(joined("php8.2", "php8.4"), "php8.2 php8.4");
        assert_eq!(joined("/srv/old/nginx.conf", "/srv/new/nginx.conf"), "old new");
        assert_eq!(joined("/x/a b:c", "/x/..d"), "a-b-c d");
        assert_eq!(joined("/x", "/x"), "a b");
    }
}
