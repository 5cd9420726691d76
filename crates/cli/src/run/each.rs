//! `weigh run STUDY --on CLUSTER --each-machine`: a run on one node of each kind, and what the study's operations cost on each.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::{Args, plans_of, select_studies};
use crate::exit::{Exit, OrRefuse};
use crate::gates::Judging;
use crate::machines::{Run, check, compared, folder, text};
use crate::measuring::{Ended, measured, options, written};
use crate::placed::{Placed, run_options};
use crate::terminal;
use weigh_cluster::Want;
use weigh_model::plan::Plan;
use weigh_model::text::{clean, clean_path};
use weigh_os::interrupt::Interrupt;
use weigh_os::shelter::Shelter;
use weigh_run::lab::Lab;
use weigh_run::measure::{run_folder, why_empty};

/// Runs it. Every plan is made before the first is measured; then one machine after the other is.
pub fn run(args: &Args, lab: &Lab, judging: &Judging) -> Result<ExitCode> {
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let planned = plan(args, lab, judging, staging.path()).or_usage_error()?;
    let after = args.after(judging);
    let base = run_folder(args.out.as_deref(), &planned[0].1.study.name);
    let (mut runs, mut failures, mut paths) = (Vec::new(), 0, Vec::<PathBuf>::new());
    for (placed, plan) in planned {
        let kind = placed.machine.kind.clone().unwrap_or_default();
        let path = unused(&base, &kind, args.out.is_some(), &paths);
        terminal::note(&format!("measuring on {}: node {}", clean(&kind), clean(&placed.node)));
        let Some(dir) = measured(lab, plan, &path, &run_options(&[], Some(placed)))? else {
            return Ok(Ended::Interrupted.code());
        };
        let report = dir.stored().report();
        written(&report, &path, &options(&after.shown, None))?;
        failures += report.faults.len();
        runs.push(Run { kind, report });
        paths.push(path);
    }
    let machines = compared(&runs, &args.core_hour)?;
    terminal::show(args.json, &machines, || text(&machines, &options(&after.shown, None)))?;
    let names: Vec<String> = paths.iter().map(|path| clean_path(path).to_string()).collect();
    terminal::note(&format!(
        "Again, at other prices: weigh compare --machines {}",
        shell_words::join(&names)
    ));
    Ok(Exit::of_failures(failures).into())
}

/// A folder for the run on a kind, which no other has.
fn unused(base: &Path, kind: &str, is_named: bool, used: &[PathBuf]) -> PathBuf {
    let own = folder(kind);
    let first = match is_named {
        true => base.join(own),
        false => PathBuf::from(format!("{}-{}", base.display(), own.display())),
    };
    let numbered = (2..).map(|n| PathBuf::from(format!("{}-{n}", first.display())));
    std::iter::once(first.clone()).chain(numbered).find(|path| !used.contains(path)).unwrap_or(first)
}

/// A node of each kind, with the plan that is made from what it has.
fn plan(args: &Args, lab: &Lab, judging: &Judging, staging: &Path) -> Result<Vec<(Placed, Plan)>> {
    let mut own = args.own.overrides();
    let studies = select_studies(lab, args, &mut own)?;
    ensure!(studies.len() == 1, "--each-machine measures one study; name one");
    let (on, cluster) =
        args.on.on.as_ref().zip(args.on.open(lab, Want::all(1))?).context("--on is missing")?;
    let mut kinds: Vec<String> = Vec::new();
    for node in cluster.usable() {
        if !kinds.contains(&node.kind) {
            kinds.push(node.kind.clone());
        }
    }
    if let [only] = kinds.as_slice() {
        bail!(
            "all nodes of the cluster are of one kind, {}; label others: ray start --labels weigh-kind=NAME",
            clean(only)
        );
    }
    check(&kinds.iter().map(String::as_str).collect::<Vec<_>>(), &args.core_hour)?;
    let mut all = Vec::new();
    for (number, kind) in kinds.iter().enumerate() {
        let folder = staging.join(format!("machine-{number}"));
        std::fs::create_dir(&folder).context("no temporary folder for the content")?;
        let place = |interrupt: &Interrupt| Placed::new(on, &cluster, Some(kind), interrupt);
        let (placed, mut remote) = Interrupt::during(place).context("signals cannot be caught")??;
        let mut plans = plans_of(lab, args, &mut own, judging, &folder, (&studies, Some(&mut remote)))?;
        let plan = plans.pop().context("the study has no plan")?;
        let shape = weigh_answer::subject::of_plan(&plan);
        ensure!(shape.costs.is_some(), "{} has no CPU time per operation", plan.study.name);
        if plan.cells.is_empty() {
            return Err(anyhow!("{}", why_empty(&plan)).context(format!("machine {}", clean(kind))));
        }
        all.push((placed, plan));
    }
    Ok(all)
}
