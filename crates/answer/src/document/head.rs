//! The head of a report: the question, the answer, and what was measured.

use weigh_model::caveat::Caveat;
use weigh_model::record::StopReason;
use weigh_model::units;

use crate::block::{Block, Step, more};
use crate::document::group::{View, is_synthetic, marks};
use crate::first::distinct;
use crate::label;
use crate::metric::codec::IDENTITY;
use crate::output::Options;
use crate::report::Report;
use crate::report::finding::Finding;
use crate::row::Row;
use crate::subject::codec;
use crate::text::{clean, dotted};
use crate::verdict::Confidence;

/// The most rows of the answer's table.
const CHOICES: usize = 4;
/// The same where it is the only table of codecs.
const ROWS: usize = 12;
/// Trade-offs that are named.
const NAMED: usize = 6;

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
    dotted(parts.into_iter().flatten())
}

/// One line on the run.
pub(super) fn facts(report: &Report) -> String {
    let run = &report.run;
    let cells = report.rows.len() + report.exhibits.cells();
    let complete = if run.complete { "" } else { "NOT COMPLETE" };
    dotted([
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
        complete.to_owned(),
    ])
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
        Some(advice) => {
            let mut sentences: Vec<String> =
                advice.sentences.iter().map(|sentence| clean(&sentence.text)).collect();
            let sure = match advice.confidence {
                Confidence::Settled => Some("Settled: every other choice costs significantly more."),
                Confidence::Tied => {
                    Some("Tied: no significant difference to others; this one needs the least set-up.")
                }
                // The second sentence says why, and how to go on.
                Confidence::TooFewRounds => None,
            };
            sure.into_iter().for_each(|sure| sentences.insert(sentences.len().min(1), sure.to_owned()));
            sentences
        }
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
    let is_of_codecs = report.shape.name == codec::SHAPE.name;
    if let Some(best) = trade_offs(report).filter(|_| report.run.complete && is_of_codecs) {
        return vec![best];
    }
    let mut sentences = vec!["No recommendation: too little was measured, or nothing competes.".to_owned()];
    if !report.run.complete {
        sentences.push("Continue the run with --resume.".into());
    } else if ended_by_budget {
        sentences.push("Measure again with a larger --budget.".into());
    }
    sentences
}

/// What is neither slower nor larger than something else, of settings of which none competes for a use; none if nothing is on a front.
fn trade_offs(report: &Report) -> Option<String> {
    let front = report.groups.iter().flat_map(|group| &group.front).filter_map(|id| report.row(id));
    let coded = front.filter(|row| row.cell.setting.codec != IDENTITY);
    let best = distinct(coded.map(|row| label::of_cell(&row.cell)));
    (!best.is_empty()).then(|| format!("Best trade-offs of time and bytes: {}.", label::some(&best, NAMED)))
}

/// The group in the middle of those that the first recommendation was measured in.
pub fn answered(report: &Report) -> Option<usize> {
    let advice = report.advice.as_ref()?;
    let cells = &advice.recommended.first()?.cells;
    let id = cells.get(cells.len() / 2)?;
    report.groups.iter().position(|group| group.has(id))
}

/// The recommendation, current practice, the uncompressed content, and the ends of the front, for one content: the first if nothing is recommended.
fn choices(report: &Report, options: &Options) -> Vec<Block> {
    let Some(group) = answered(report).map(|at| &report.groups[at]).or(report.groups.first()) else {
        return Vec::new();
    };
    let view = View::of(report, group);
    let ends = [view.on_front().next(), view.on_front().last()].into_iter().flatten().map(Row::id);
    let marked = group.marks.values().map(String::as_str);
    let recommended = group.cells.iter().map(String::as_str).filter(|id| report.recommends(id));
    let is_only = report.groups.len() == 1 && report.shape.name == codec::SHAPE.name;
    let others = view.rows.iter().map(|row| row.id()).take_while(|_| is_only);
    let mut shown: Vec<&str> = distinct(recommended.chain(marked).chain(ends).chain(others));
    shown.truncate(if is_only { ROWS } else { CHOICES });
    let rows: Vec<&Row> = view.rows.iter().copied().filter(|row| shown.contains(&row.id())).collect();
    let mut table = view.table(rows.iter().copied(), &options.columns);
    let note = table.columns.iter().position(|column| column.name == "note");
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
    let sentences: Vec<_> =
        findings.iter().take(most).map(|finding| Step::new(clean(&finding.text))).collect();
    if sentences.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading(2, "Evidence".into()), Block::Steps(sentences)];
    blocks.extend(more(left, "more finding", "more findings"));
    blocks
}
