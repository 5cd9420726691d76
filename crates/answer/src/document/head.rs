//! The head of a report: the question, the answer, and what was measured.

use weigh_model::caveat::Caveat;
use weigh_model::record::StopReason;
use weigh_model::units;

use crate::block::{Block, more};
use crate::document::group::{View, is_synthetic, marks};
use crate::first::distinct;
use crate::output::Options;
use crate::report::Report;
use crate::report::finding::Finding;
use crate::row::Row;
use crate::subject::codec;
use crate::table::Role;
use crate::text::clean;

/// The most rows of the answer's table.
const CHOICES: usize = 4;

pub(super) fn head(report: &Report) -> Vec<Block> {
    let study = &report.study;
    let title = if study.title.is_empty() { &study.name } else { &study.title };
    let mut blocks = vec![Block::Heading(1, clean(title))];
    if !study.question.is_empty() {
        blocks.push(Block::Remark(clean(&study.question)));
    }
    blocks
}

/// The basis of the answer in a line: configurations, rounds, and failures.
pub(super) fn measured(report: &Report) -> String {
    let count =
        |number: usize, one: &str, several: &str| (number > 0).then(|| units::count(number, one, several));
    let synthetic = report.payloads.iter().any(is_synthetic).then(|| "SYNTHETIC content".to_owned());
    let parts = [
        Some(units::count(
            report.rows.len() + report.exhibits.cells(),
            "configuration measured",
            "configurations measured",
        )),
        Some(units::count(report.run.rounds as usize, "round", "rounds")),
        Some(units::ns(report.run.seconds * 1e9)),
        (!report.run.complete).then(|| "NOT COMPLETE".to_owned()),
        synthetic,
        count(report.faults.len(), "failure", "failures"),
        count(report.unmeasured.len(), "not measured", "not measured"),
        count(report.caveats.len(), "caveat", "caveats"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// One line on the run.
pub(super) fn facts(report: &Report) -> String {
    let run = &report.run;
    let cells = report.rows.len() + report.exhibits.cells();
    let mut facts = vec![
        format!("weigh {}", clean(&run.version)),
        clean(&run.started),
        clean(&run.machine),
        format!(
            "{} in {} and {}",
            units::count(cells, "configuration", "configurations"),
            units::count(run.rounds as usize, "round", "rounds"),
            units::ns(run.seconds * 1e9),
        ),
        format!("seed {}", run.seed),
    ];
    if !run.complete {
        facts.push("NOT COMPLETE".into());
    }
    facts.retain(|fact| !fact.is_empty());
    facts.join(" · ")
}

/// The answer: the recommendation in sentences, and a table of the choices.
pub(super) fn answer(report: &Report, options: &Options) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(sentences(report))];
    blocks.extend(choices(report, options));
    blocks
}

/// The recommendation in sentences, or why there is none.
pub fn sentences(report: &Report) -> Vec<String> {
    match &report.advice {
        Some(advice) => advice.sentences.iter().map(|sentence| clean(&sentence.text)).collect(),
        None => no_recommendation(report),
    }
}

/// A note that there is no answer yet, and what to do for one.
fn no_recommendation(report: &Report) -> Vec<String> {
    let ended_by_budget =
        !report.unmeasured.is_empty() || report.rows.iter().any(|row| row.stop == Some(StopReason::Budget));
    let is_metered = |row: &Row| row.caveats.iter().all(|caveat| !matches!(caveat, Caveat::NotMetered));
    if !report.rows.is_empty() && !report.rows.iter().any(is_metered) {
        return vec!["No recommendation: the CPU time of these servers is unknown.".to_owned()];
    }
    if report.run.complete && report.shape.name == codec::SHAPE.name && report.study.links.is_none() {
        let front = "● marks the best trade-offs of time and bytes.".to_owned();
        return vec!["No recommendation: no link speed is given.".to_owned(), front];
    }
    let mut sentences = vec!["No recommendation: too little was measured, or nothing competes.".to_owned()];
    if !report.run.complete {
        sentences.push("Continue the run with --resume.".into());
    } else if ended_by_budget {
        sentences.push("Measure again with a larger --budget.".into());
    }
    sentences
}

/// The recommendation, current practice, the uncompressed content, and the ends of the front, for one content: the first if nothing is recommended.
fn choices(report: &Report, options: &Options) -> Vec<Block> {
    let first = report.advice.as_ref().and_then(|advice| advice.recommended.first());
    let cells = first.map_or(&[][..], |first| &first.cells);
    let group = match cells.get(cells.len() / 2) {
        Some(id) => report.groups.iter().find(|group| group.has(id)),
        None => report.groups.first(),
    };
    let Some(group) = group else { return Vec::new() };
    let view = View::of(report, group);
    let ends = [view.on_front().next(), view.on_front().last()].into_iter().flatten().map(Row::id);
    let marked = group.marks.values().map(String::as_str);
    let recommended = group.cells.iter().map(String::as_str).filter(|id| report.recommends(id));
    let mut shown: Vec<&str> = distinct(recommended.chain(marked).chain(ends));
    shown.truncate(CHOICES);
    let rows: Vec<&Row> = view.rows.iter().copied().filter(|row| shown.contains(&row.id())).collect();
    let mut table = view.table(rows.iter().copied(), &options.columns);
    let note = table.columns.iter().position(|column| column.role == Role::Note);
    // Beside a recommendation, how sure it is stands in its sentences; caveats are in the tables below.
    if let Some(at) = note.filter(|_| report.advice.is_some()) {
        for (row, (_, cells)) in rows.iter().zip(&mut table.rows) {
            cells[at] = marks(report, group, row).join(", ").into();
        }
    }
    vec![Block::Remark(format!("{}:", view.title())), Block::Table(table)]
}

/// The evidence as numbered sentences, the most important first.
pub(super) fn findings(findings: &[Finding], most: usize) -> Vec<Block> {
    let mut findings: Vec<&Finding> = findings.iter().collect();
    findings.sort_by_key(|finding| finding.rank);
    let left = findings.len().saturating_sub(most);
    let sentences: Vec<_> = findings.iter().take(most).map(|finding| clean(&finding.text)).collect();
    if sentences.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading(2, "Evidence".into()), Block::Steps(sentences)];
    blocks.extend(more(left, "more finding", "more findings"));
    blocks
}
