//! The head of a report: the question, the answer, and what was measured.

use weigh_model::record::StopReason;
use weigh_model::units;

use crate::advice::Advice;
use crate::document::group::{View, is_synthetic};
use crate::document::{Block, more};
use crate::finding::Finding;
use crate::first::distinct;
use crate::format::Options;
use crate::report::Report;
use crate::row::Row;
use crate::text::clean;

/// The most rows of the answer's table.
const CHOICES: usize = 5;

/// Title and question.
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
            units::count(cells, "cell", "cells"),
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
    let Some(advice) = &report.advice else {
        return vec![Block::Answer(no_recommendation(report))];
    };
    let mut blocks =
        vec![Block::Answer(advice.sentences.iter().map(|sentence| clean(&sentence.text)).collect())];
    blocks.extend(choices(report, advice, options));
    blocks
}

/// A note that there is no answer yet, and what to do for one.
fn no_recommendation(report: &Report) -> Vec<String> {
    let ended_by_budget =
        !report.unmeasured.is_empty() || report.rows.iter().any(|row| row.stop == Some(StopReason::Budget));
    let mut sentences = vec!["No recommendation: too little was measured, or nothing competes.".to_owned()];
    if !report.run.complete {
        sentences.push("Continue the run with --resume.".into());
    } else if ended_by_budget {
        sentences.push("Use a larger --budget.".into());
    }
    sentences
}

/// The recommendation, current practice, the uncompressed content, and the ends of the front, for one content.
fn choices(report: &Report, advice: &Advice, options: &Options) -> Vec<Block> {
    let first = advice.recommended.first().map_or(&[][..], |first| &first.cells);
    let Some(group) = first.get(first.len() / 2).and_then(|id| report.groups.iter().find(|g| g.has(id)))
    else {
        return Vec::new();
    };
    let view = View::of(report, group);
    let ends = [view.on_front().next(), view.on_front().last()].into_iter().flatten().map(Row::id);
    let marked = group.marks.values().map(String::as_str);
    let recommended = group.cells.iter().map(String::as_str).filter(|id| advice.recommends(id));
    let mut shown: Vec<&str> = distinct(recommended.chain(marked).chain(ends));
    shown.truncate(CHOICES);
    let rows = view.rows.iter().copied().filter(|row| shown.contains(&row.id()));
    vec![Block::Remark(format!("{}:", view.title())), Block::Table(view.table(rows, &options.columns))]
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
