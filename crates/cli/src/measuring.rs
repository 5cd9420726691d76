//! A run, for the verbs that measure: made before the user's eyes, its results shown and kept, its gates judged.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::exit::{Exit, OrRefuse};
use crate::gates::Judging;
use crate::live::{Live, Preparing};
use crate::results::{self, OutputOptions};
use crate::{profiled, terminal};
use weigh_answer::compare::gate::{self, GateOutcome};
use weigh_answer::document;
use weigh_answer::format::{self, Detail, Format, Medium, Options};
use weigh_answer::report::{Report, RunFacts};
use weigh_answer::table::Columns;
use weigh_model::plan::Plan;
use weigh_model::policy::Policy;
use weigh_model::site::Site;
use weigh_model::units;
use weigh_os::interrupt::Interrupt;
use weigh_os::shelter::Shelter;
use weigh_rig::store::url::hidden;
use weigh_run::dir::{RunDir, RunFile};
use weigh_run::lab::Lab;
use weigh_run::measure::{self, RunOptions, run_folder, why_empty};
use weigh_run::profiled::Contents;
use weigh_run::study::Study;
use weigh_site::advise::plans;

/// What is done with the results of a run.
#[derive(Clone, Debug, Default)]
pub struct After {
    pub shown: OutputOptions,
    /// The limits that results must keep, beside those of the study.
    pub judging: Judging,
    /// Words of the configurations to profile.
    pub profile: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this many failures.
    Complete {
        /// Configurations without a number.
        failures: usize,
        /// What its gates came to; none: it has none.
        gates: Option<GateOutcome>,
    },
    Interrupted,
}

impl Ended {
    pub fn code(self) -> ExitCode {
        match self {
            Ended::Complete { gates: Some(GateOutcome::Fail), .. } => Exit::Worse.into(),
            Ended::Complete { failures: 1.., .. } => Exit::Failures.into(),
            Ended::Complete { gates, .. } => Exit::of_gates(gates).into(),
            Ended::Interrupted => Exit::Internal.into(),
        }
    }
}

/// A plan measured into `folder`, a new run directory; none: the user interrupted it.
pub fn measured(lab: &Lab, plan: Plan, folder: &Path, options: &RunOptions) -> Result<Option<RunDir>> {
    let mut dir = begin(plan, folder, options)?;
    let is_complete = finish(lab, &mut dir, options, Detail::Summary)?;
    Ok(is_complete.then_some(dir))
}

/// The runs of a site's studies, in new folders of `weigh-runs`: none for a study that has nothing to measure here. None at all
/// if the user interrupted them. All are planned before the first is measured.
pub fn reports(
    lab: &Lab,
    site: &Site,
    policy: Option<&Policy>,
    studies: Vec<Study>,
    seed: u64,
) -> Result<Option<Vec<Option<Report>>>> {
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let plans =
        plans(lab, site, policy, studies, seed, staging.path(), &mut Preparing::new()).or_usage_error()?;
    let mut reports = Vec::new();
    for plan in plans {
        if plan.cells.is_empty() {
            terminal::note(&format!("{}: {}", plan.study.name, why_empty(&plan)));
            reports.push(None);
            continue;
        }
        let folder = run_folder(None, &plan.study.name);
        let Some(dir) = measured(lab, plan, &folder, &RunOptions::default())? else { return Ok(None) };
        reports.push(Some(dir.stored().report()));
    }
    Ok(Some(reports))
}

fn begin(plan: Plan, folder: &Path, options: &RunOptions) -> Result<RunDir> {
    let command = std::env::args_os().map(|a| hidden(&a.to_string_lossy())).collect();
    measure::begin(plan, folder, command, options, &mut Live::new(false)).or_usage_error()
}

/// Measures what is left of a run, before the user's eyes; false: the user interrupted it.
fn finish(lab: &Lab, dir: &mut RunDir, options: &RunOptions, detail: Detail) -> Result<bool> {
    let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
    measure::measure(lab, dir, options, &interrupt, &mut Live::new(detail == Detail::Full))
}

/// As [`measured`], and shows the results.
pub fn measure_and_show(
    lab: &Lab,
    plan: Plan,
    folder: &Path,
    options: &RunOptions,
    after: &After,
) -> Result<Ended> {
    know_columns(&plan, after).or_usage_error()?;
    finish_and_show(lab, begin(plan, folder, options)?, options, after)
}

/// A misspelt column is refused before anything is measured.
fn know_columns(plan: &Plan, after: &After) -> Result<()> {
    match &after.shown.columns {
        columns @ Columns::These(_) => document::check(&Report::of(&RunFacts::default(), plan, &[]), columns),
        _ => Ok(()),
    }
}

/// Measures what is left of a run, which may be nothing, and shows the results.
pub fn go_on(lab: &Lab, dir: RunDir, options: &RunOptions, after: &After) -> Result<Ended> {
    know_columns(dir.plan(), after).or_usage_error()?;
    finish_and_show(lab, dir, options, after)
}

fn finish_and_show(lab: &Lab, mut dir: RunDir, options: &RunOptions, after: &After) -> Result<Ended> {
    let (path, plan) = (dir.path().to_owned(), dir.plan().clone());
    let contents = after.profile.as_ref().map(|words| Contents::keep(&plan, &path, words)).transpose()?;
    if !finish(lab, &mut dir, options, after.shown.detail)? {
        return Ok(Ended::Interrupted);
    }
    let (results, file) = (dir.stored().report(), dir.file().clone());
    drop(dir);
    show(&results, &path, &after.shown, &file)?;
    if let Some(contents) = &contents {
        let interrupt = Interrupt::on_signals().context("signals cannot be caught")?;
        profiled::run(lab, (&path, &plan, contents), &options.stores, after.shown.json, &interrupt)?;
        // The page shows them.
        let pages: Vec<_> = format::available().filter(|format| format.name() == "html").collect();
        let options = results::options(after.shown.detail, Some(&file));
        let options = Options { flames: results::flames(&path, &pages), ..options };
        for page in pages {
            results::write(&results, page, &options, &path.join("report"))?;
        }
    }
    let gates = judged(&results, after)?;
    Ok(Ended::Complete { failures: results.faults.len(), gates })
}

/// Judges the gates that need no other run, shows them, and writes them where they are asked for.
fn judged(results: &Report, after: &After) -> Result<Option<GateOutcome>> {
    let gates = after.judging.with(&results.study.gates);
    let (judged, beside) = gate::judge_alone(&gates, results);
    let suite = format!("weigh run {}", results.study.name);
    after.judging.tell(&suite, &judged, after.shown.detail, after.shown.json)?;
    if beside > 0 {
        let gates = units::count(beside, "gate needs", "gates need");
        terminal::note(&format!("{gates} a baseline: weigh compare --baseline NAME"));
    }
    Ok(gate::worst(&judged))
}

/// Prints the results, and leaves report and pictures in the run directory.
fn show(results: &Report, path: &Path, shown: &OutputOptions, file: &RunFile) -> Result<()> {
    let options = options(shown, Some(file));
    let printed: &dyn Format = if shown.json { &format::json::Json } else { &format::terminal::Terminal };
    results::print(results, printed, &options)?;
    written(results, path, &options)?;
    results::further(path, shown.detail);
    Ok(())
}

pub fn options(shown: &OutputOptions, file: Option<&RunFile>) -> Options {
    Options { columns: shown.columns.clone(), ..results::options(shown.detail, file) }
}

/// Leaves report and pictures in the run directory.
pub fn written(results: &Report, path: &Path, options: &Options) -> Result<()> {
    let folder = path.join("report");
    for format in format::available().filter(|format| format.medium() != Medium::Screen) {
        results::write(results, format, options, &folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
