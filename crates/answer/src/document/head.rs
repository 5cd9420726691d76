//! The head of a report: the question, the answer, and what it was measured on.

use weigh_model::payload::Origin;
use weigh_model::units;

use crate::document::{Block, more};
use crate::finding::Finding;
use crate::report::Report;
use crate::text::clean;

/// Title, question and the facts of the run.
pub(super) fn head(report: &Report, facts: String) -> Vec<Block> {
    let (study, payloads) = (&report.study, &report.payloads);
    let title = if study.title.is_empty() { &study.name } else { &study.title };
    let mut blocks = vec![Block::Heading(1, clean(title))];
    if !study.question.is_empty() {
        blocks.push(Block::Text(clean(&study.question)));
    }
    blocks.push(Block::Remark(facts));
    if payloads.iter().any(|payload| matches!(payload.origin, Origin::Synthetic { .. })) {
        let all = payloads.iter().all(|payload| matches!(payload.origin, Origin::Synthetic { .. }));
        let which = if all { "All" } else { "Some" };
        blocks.push(Block::Text(format!("{which} of the content is SYNTHETIC; its tables say so.")));
    }
    blocks
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

/// The answer as numbered sentences, the most important first.
pub(super) fn findings(findings: &[Finding], most: usize) -> Vec<Block> {
    let mut findings: Vec<&Finding> = findings.iter().collect();
    findings.sort_by_key(|finding| finding.rank);
    let left = findings.len().saturating_sub(most);
    let sentences: Vec<_> = findings.iter().take(most).map(|finding| clean(&finding.text)).collect();
    let mut blocks = vec![Block::Heading(2, "Answer".into())];
    if sentences.is_empty() {
        blocks.push(Block::Text("There is no answer yet: too little was measured.".into()));
    } else {
        blocks.push(Block::Steps(sentences));
    }
    blocks.extend(more(left, "more finding", "more findings"));
    blocks
}
