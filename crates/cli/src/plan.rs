//! What `--dry-run` shows: what a study would measure, what is left out and why, and how long it takes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use crate::exit::{Exit, OrRefuse};
use crate::live::Preparing;
use crate::terminal;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use weigh_answer::table::Grid;
use weigh_answer::text::clean;
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Plan};
use weigh_model::site::Site;
use weigh_model::text::clean_path;
use weigh_model::units;
use weigh_os::shelter::Shelter;
use weigh_run::lab::{Home, Lab};
use weigh_run::planner::forecast::{plan_seconds, rounds_seconds};
use weigh_run::subject;
use weigh_site::advise::{plans, studies_for};
use weigh_stats::ROUNDS;

/// The version of the JSON that lists studies.
const SCHEMA: u32 = 1;

/// What `weigh run --dry-run --json` writes where no study is named.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Listing {
    /// The version of this form.
    schema: u32,
    /// Every built-in study, and those of `--defs`.
    studies: Vec<Row>,
}

/// One study.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Row {
    /// What `weigh run` takes.
    name: String,
    /// A heading.
    title: String,
    /// What it answers.
    question: String,
}

/// Shows plans: as tables, each configuration on a line of its own where `each`, or the only one as JSON.
///
/// # Errors
/// Two plans as JSON; what printing has.
pub fn show(mut plans: Vec<Plan>, each: bool, json: bool) -> Result<ExitCode> {
    if json {
        ensure!(plans.len() == 1, "--json shows one plan; name one study");
        terminal::print_json(&as_written(plans.remove(0)))?;
    } else {
        let texts: Vec<String> = plans.iter().map(|plan| describe(plan, each)).collect();
        terminal::print(&texts.join("\n"))?;
    }
    Ok(Exit::Fine.into())
}

/// What `weigh advise` would measure for a site; `save`: the studies, to be edited and run.
///
/// # Errors
/// A site that cannot be planned for; a folder that is there.
pub fn for_site(lab: &Lab, site: &Site, file: &Path, budget: f64, save: Option<&Path>) -> Result<ExitCode> {
    let studies = studies_for(lab, site, file, budget).or_usage_error()?;
    if let Some(folder) = save {
        std::fs::create_dir(folder)
            .with_context(|| format!("--save {}", clean_path(folder)))
            .or_usage_error()?;
    }
    let staging = Shelter::new().context("no temporary folder for the content")?;
    let progress = &mut Preparing::new();
    let plans = plans(lab, site, None, studies.clone(), 1, staging.path(), progress).or_usage_error()?;
    for (one, plan) in studies.iter().zip(plans) {
        terminal::print(&format!("{}\n", describe(&plan, false)))?;
        if let Some(folder) = save {
            let file = folder.join(format!("{}.toml", one.name));
            std::fs::write(&file, one.to_toml()?).with_context(|| clean_path(&file))?;
            terminal::print(&format!("written to {}\n\n", clean_path(&file)))?;
        }
    }
    Ok(Exit::Fine.into())
}

/// The content was staged only to be looked at: its place is the one it would have in a run directory.
fn as_written(mut plan: Plan) -> Plan {
    for payload in &mut plan.payloads {
        payload.blob = weigh_run::dir::kept(payload);
    }
    plan
}

/// Lists the studies.
///
/// # Errors
/// A study that cannot be read.
pub fn list(home: &Home, json: bool) -> Result<ExitCode> {
    let row = |name: String| {
        let study = home.study(&name)?;
        Ok(Row { name, title: study.title, question: study.question })
    };
    let names = home.definitions.study_names();
    let studies = names.into_iter().map(row).collect::<Result<Vec<_>>>().or_usage_error()?;
    if json {
        terminal::print_json(&Listing { schema: SCHEMA, studies })?;
        return Ok(Exit::Fine.into());
    }
    let mut table = Grid::list(&["study", "question"]);
    studies.iter().for_each(|study| table.line(&[&*study.name, &study.question]));
    let table = terminal::lines(&table);
    terminal::print(&format!("{table}\nShow one: weigh run --dry-run STUDY; measure it: weigh run STUDY\n"))?;
    Ok(Exit::Fine.into())
}

fn describe(plan: &Plan, each: bool) -> String {
    let mut out = format!("{}\n{}\n\n", plan.study.title, plan.study.question);
    let table = if each { cell_table(plan) } else { group_table(plan) };
    out.push_str(&terminal::lines(&table));
    let cells = plan.cells.len();
    out.push_str(&format!(
        "\n{}, seed {}\nestimated time {}, at most {}\n",
        units::count(cells, "configuration", "configurations"),
        plan.seed,
        units::ns(plan_seconds(plan) * 1e9),
        units::ns(plan.policy.budget_seconds * 1e9),
    ));
    let enough = rounds_seconds(plan, ROUNDS as u32);
    if !plan.policy.exhaustive && enough > plan.policy.budget_seconds {
        let seconds = enough.ceil();
        out.push_str(&format!(
            "A difference is claimed from {ROUNDS} rounds on, which take about {seconds:.0} s: weigh run --budget {seconds:.0}s, or measure less\n"
        ));
    }
    out.push_str(&exclusions(&plan.exclusions));
    out
}

/// The cells in groups, with what differs within each.
fn group_table(plan: &Plan) -> Grid {
    let subject = subject::of_plan(plan);
    let mut groups: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for cell in &plan.cells {
        let bytes = plan.payloads.iter().find(|p| p.name == cell.payload).map_or(0, Payload::size);
        let (group, own) = subject.overview(cell, bytes);
        groups.entry(group).or_default().push(own);
    }
    let mut table = Grid::list(subject.columns());
    for (mut texts, mut own) in groups {
        texts.push(own.len().to_string());
        own.dedup();
        texts.push(own.join(" "));
        table.line(&texts);
    }
    table
}

fn cell_table(plan: &Plan) -> Grid {
    let mut table = Grid::list(&["configuration", "est. time per sample"]);
    for cell in &plan.cells {
        table.line(&[&*cell.id, &units::ns(cell.expected_seconds * 1e9)]);
    }
    table
}

/// Exclusions by reason, because one missing extension may leave out a hundred cells.
fn exclusions(exclusions: &[Exclusion]) -> String {
    let mut reasons: BTreeMap<(&str, Option<&str>), Vec<&str>> = BTreeMap::new();
    for e in exclusions {
        reasons.entry((&e.reason, e.remedy.as_deref())).or_default().push(&e.cell);
    }
    let mut out = String::new();
    for ((reason, remedy), cells) in reasons {
        // Reasons and remedies may hold what a program said.
        out.push_str(&format!("\nleft out: {}\n", clean(reason)));
        let more = cells.len().saturating_sub(4);
        let shown = cells.iter().take(4).map(|cell| clean(cell)).collect::<Vec<_>>().join(", ");
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        out.push_str(&format!("  {shown}{rest}\n"));
        if let Some(remedy) = remedy {
            out.push_str(&format!("  to include them: {}\n", clean(remedy)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_said_does_not_reach_the_terminal_as_it_is() {
        let hostile = "\x1b]0;title\x07no\nsuch \u{202e}module";
        let exclusion =
            Exclusion { cell: hostile.into(), reason: hostile.into(), remedy: Some(hostile.into()) };
        let text = exclusions(&[exclusion]);
        assert!(
            !text.contains(|c: char| c != '\n' && c.is_control()) && !text.contains('\u{202e}'),
            "{text:?}"
        );
        assert_eq!(text.lines().count(), 4, "{text:?}");
    }
}
