//! The published table compared with the measurements: how far the orders agree, and where they differ.

use super::*;
use crate::exhibit::published_delivery::{Agreement, Disagreement, Measure};

/// The most disagreements in a sentence; the table has all.
const TOLD: usize = 2;

/// One sentence per column that both have.
pub fn agreement(evidence: &Evidence) -> Vec<Draft> {
    let Some(table) = &evidence.report.exhibits.published_delivery else { return Vec::new() };
    let cells: Vec<String> = table.rows.iter().map(|row| row.cell.clone()).collect();
    let agreements = table.agreements.iter().filter(|agreement| agreement.pairs > 0);
    let study = evidence.plan.study.published_delivery.as_ref();
    let cite = study.map(|published| published.cite.as_str()).filter(|cite| !cite.is_empty());
    let cite = cite.unwrap_or("The published table");
    first_leads(agreements.map(|agreement| (sentence(cite, agreement), cells.clone())))
}

fn sentence(cite: &str, agreement: &Agreement) -> String {
    let rank = agreement.rank.map_or(String::new(), |rank| format!(" (rank correlation {rank:.2})"));
    let measure = agreement.measure.words();
    let mut text = match agreement.same {
        0 => format!("{cite}: we could not reproduce the published order in {measure}."),
        same => format!(
            "{cite}, {measure}: {same} of {} here in the published order{rank}.",
            units::count(agreement.pairs as usize, "pair is", "pairs are")
        ),
    };
    if agreement.undecided > 0 {
        let pairs = units::count(agreement.undecided as usize, "pair", "pairs");
        text.push_str(&format!(" Tied here, or too few rounds: {pairs}."));
    }
    let told = agreement.disagreements.iter().take(TOLD);
    told.for_each(|d| text.push_str(&format!(" {}", one(agreement.measure, d))));
    let left = agreement.disagreements.len().saturating_sub(TOLD);
    if left > 0 {
        text.push_str(&format!(
            " {} more in the table.",
            units::count(left, "disagreement", "disagreements")
        ));
    }
    text
}

/// `Not so: zstd 1 and zstd 3, published 40.1 ms and 44.5 ms, here 61.0 ms and 34.6 ms.`
fn one(measure: Measure, d: &Disagreement) -> String {
    let alike = if d.is_alike_as_published() { " (alike)" } else { "" };
    format!(
        "Not so: {} and {}, published {} and {}{alike}, here {} and {}.",
        d.labels.0,
        d.labels.1,
        measure.show(d.published.0),
        measure.show(d.published.1),
        measure.show(d.here.0),
        measure.show(d.here.1)
    )
}
