//! The published table beside what was measured here: how far the orders agree, and where they do not.

use crate::analysis::delivery::findings::{Evidence, label};
use crate::analysis::delivery::model::{Agreement, Disagreement, Measure};
use crate::analysis::findings::Draft;
use weigh_model::units;

/// Disagreements that a sentence tells; the table has all.
const TOLD: usize = 2;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let Some(table) = evidence.published else { return Vec::new() };
    let cells: Vec<String> = table.rows.iter().map(|row| row.cell.clone()).collect();
    let mut drafts: Vec<Draft> = Vec::new();
    for agreement in table.agreements.iter().filter(|a| a.pairs > 0) {
        let text = sentence(agreement, table.rows.len());
        drafts.push(Draft { text, cells: cells.clone(), lead: drafts.is_empty() });
    }
    drafts
}

fn sentence(agreement: &Agreement, rows: usize) -> String {
    let what = match agreement.measure {
        Measure::Bytes => "bytes",
        Measure::Seconds => "seconds a request",
        Measure::Rate => "requests a second",
    };
    let rank = agreement.rank.map_or(String::new(), |rank| format!(", rank correlation {rank:.2}"));
    let open = match agreement.undecided {
        0 => String::new(),
        n => format!("; {} cannot be told apart here", units::count(n as usize, "pair", "pairs")),
    };
    let mut text = format!(
        "Of {}, {} of {} {} to each other in {what} here as published{rank}{open}.",
        units::count(rows, "published row", "published rows"),
        agreement.same,
        units::count(agreement.pairs as usize, "pair", "pairs"),
        if agreement.pairs == 1 { "stands" } else { "stand" },
    );
    let told: Vec<String> =
        agreement.disagreements.iter().take(TOLD).map(|d| one(agreement.measure, d)).collect();
    let left = agreement.disagreements.len() - told.len();
    if !told.is_empty() {
        let more = if left > 0 { format!("; and {} more", label::number(left)) } else { String::new() };
        text.push_str(&format!(" Not so: {}{more}.", told.join("; ")));
    }
    text
}

fn one(measure: Measure, d: &Disagreement) -> String {
    let show = |x: f64| match measure {
        Measure::Bytes => units::bytes(x.round() as u64),
        Measure::Seconds => label::seconds(x),
        Measure::Rate => units::significant(x),
    };
    let alike = if d.is_alike_as_published() { "alike with " } else { "" };
    format!(
        "{} and {} are {alike}{} and {} as published, {} and {} here",
        d.labels.0,
        d.labels.1,
        show(d.published.0),
        show(d.published.1),
        show(d.here.0),
        show(d.here.1)
    )
}
