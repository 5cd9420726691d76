//! `weigh compare --paired`: two PHPs in the rounds of one run, or two URLs in alternating blocks.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use weigh_model::plan::Plan;

use super::{Args, Judging, finish};
use crate::cli::exit::{Exit, OrRefuse};
use crate::cli::live::Preparing;
use crate::cli::run::{More, begin, finish as measure, plan_each, run_folder};
use crate::cli::terminal;
use crate::interrupt::Interrupt;
use crate::lab::{Lab, Own};
use crate::planner::Ask;
use crate::shelter::Shelter;
use weigh_answer::compare::{Comparison, Names, gate};
use weigh_answer::subject;
use weigh_model::text::clean_path;

/// More rounds than any time holds.
const MOST_ROUNDS: u32 = 1_000_000;

/// Runs the verb.
pub fn run(args: &Args, judging: &Judging, defs: Option<&Path>) -> Result<ExitCode> {
    let words: Vec<String> = args.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.iter().any(|word| word.contains("://")) {
        return urls(args, &words);
    }
    let lab = Lab::open(defs).or_refuse()?;
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let (plan, names) = plan(&lab, args, &words, staging.path()).or_refuse()?;
    let gates = judging.with(&plan.study.gates);
    gate::check(&gates, subject::of_plan(&plan)).or_refuse()?;
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    let mut dir = begin(plan, &run_folder(None, "paired"))?;
    if !measure(&lab, &mut dir, &More::default(), &interrupt)? {
        return Ok(Exit::Internal.into());
    }
    let results = dir.stored().report();
    let comparison = Comparison::paired(&results, names, &gates);
    terminal::note(&format!("Run: {}", clean_path(dir.path())));
    finish(args, judging, &comparison)
}

/// Two URLs are two sides of a load, which alternates.
fn urls(args: &Args, words: &[String]) -> Result<ExitCode> {
    let [a, b] = words else {
        return Err(anyhow::anyhow!("--paired compares two URLs, or two PHPs on a study")).or_refuse();
    };
    let other = args.out.is_some() || args.full || args.gates.gates.is_some() || !args.php.is_empty();
    let has_gates = !args.gates.gate.is_empty() || args.gates.junit.is_some();
    if other || has_gates {
        let how =
            "weigh load A --vs B has its own results; leave out --gate, --junit, --out, --full and --php";
        return Err(anyhow::anyhow!("two URLs are compared by load: {how}")).or_refuse();
    }
    crate::cli::load::versus(a, b, args.budget, args.json)
}

/// The plan of one study with the configurations that both PHPs have, measured to the end of the time.
fn plan(lab: &Lab, args: &Args, words: &[String], staging: &Path) -> Result<(Plan, Names)> {
    let [a, b] = args.php.as_slice() else { bail!("--paired needs two PHPs: --php php8.2 --php php8.4") };
    ensure!(words.len() == 1, "--paired measures one study, such as cache-levels (weigh plan lists them)");
    let mut own = Own { content: args.content.clone(), ..Own::default() };
    let mut studies = lab.studies(words, &own)?;
    args.only.iter().try_for_each(|words| studies.iter_mut().try_for_each(|study| study.only(words)))?;
    let inventory = lab.survey(&studies, &args.php, &mut own, &mut Preparing::new())?;
    let ask = Ask { seed: args.seed, budget_seconds: Some(args.budget), ..Ask::default() };
    let mut plans = plan_each(lab, &studies, &own, &inventory, &ask, staging)?;
    let mut plan = plans.pop().context("the study has no plan")?;
    let phps: Vec<&str> =
        inventory.runtimes.iter().filter(|one| one.binary.is_some()).map(|one| one.name.as_str()).collect();
    let [first, second] = phps[..] else {
        bail!("{} and {} are one PHP; name two", a.display(), b.display());
    };
    let names = Names { a: first.to_owned(), b: second.to_owned() };
    keep_pairs(&mut plan, &names)?;
    Ok((plan, names))
}

/// Keeps the cells that both PHPs have, and lets none of them stop before the time is over.
fn keep_pairs(plan: &mut Plan, names: &Names) -> Result<()> {
    let of = |runtime: &str| -> Vec<String> {
        let cells = plan.cells.iter().filter(|cell| cell.runtime == runtime);
        cells.map(|cell| cell.id.replace(&format!("/{runtime}/"), "//")).collect()
    };
    let (a, b) = (of(&names.a), of(&names.b));
    plan.cells.retain(|cell| {
        let id = cell.id.replace(&format!("/{}/", cell.runtime), "//");
        [&names.a, &names.b].contains(&&cell.runtime) && a.contains(&id) && b.contains(&id)
    });
    ensure!(
        !plan.cells.is_empty(),
        "the study has no configuration that both {} and {} can run",
        names.a,
        names.b
    );
    plan.policy.to_the_end = true;
    plan.policy.max_rounds = MOST_ROUNDS;
    Ok(())
}
