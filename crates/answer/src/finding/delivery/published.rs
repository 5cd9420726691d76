//! The published table beside what was measured here: how far the orders agree, and where they do not.

use super::*;
use crate::exhibit::published_delivery::{Agreement, Disagreement, Measure};

/// Disagreements that a sentence tells; the table has all.
const TOLD: usize = 2;

/// One sentence per column that both have.
pub fn agreement(evidence: &Evidence) -> Vec<Draft> {
    let Some(table) = &evidence.report.exhibits.published_delivery else { return Vec::new() };
    let cells: Vec<String> = table.rows.iter().map(|row| row.cell.clone()).collect();
    let agreements = table.agreements.iter().filter(|agreement| agreement.pairs > 0);
    first_leads(agreements.map(|agreement| (sentence(agreement, table.rows.len()), cells.clone())))
}

fn sentence(agreement: &Agreement, rows: usize) -> String {
    let rank = agreement.rank.map_or(String::new(), |rank| format!(", rank correlation {rank:.2}"));
    let open = match agreement.undecided {
        0 => String::new(),
        n => format!("; {} cannot be told apart here", units::count(n as usize, "pair", "pairs")),
    };
    let mut text = format!(
        "Of {}, {} of {} {} to each other in {} here as published{rank}{open}.",
        units::count(rows, "published row", "published rows"),
        agreement.same,
        units::count(agreement.pairs as usize, "pair", "pairs"),
        if agreement.pairs == 1 { "stands" } else { "stand" },
        agreement.measure.words(),
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
    let alike = if d.is_alike_as_published() { "alike with " } else { "" };
    format!(
        "{} and {} are {alike}{} and {} as published, {} and {} here",
        d.labels.0,
        d.labels.1,
        measure.show(d.published.0),
        measure.show(d.published.1),
        measure.show(d.here.0),
        measure.show(d.here.1)
    )
}
