//! The published table compared with the measurements: how far the orders agree, and where they differ.

use weigh_model::units;

use crate::report::exhibit::published::Agreement;
use crate::report::finding::{Draft, Evidence};
use crate::text::clean;

/// The most disagreements in a sentence; the table has all.
const TOLD: usize = 2;

/// One sentence per column that both have.
pub fn agreement(evidence: &Evidence) -> Vec<Draft> {
    let Some(table) = &evidence.report.exhibits.published else { return Vec::new() };
    let cells: Vec<String> = table.rows.iter().map(|row| row.cell.clone()).collect();
    let study = evidence.plan.study.published_table.as_ref();
    let cite = study.map(|published| published.cite.as_str()).filter(|cite| !cite.is_empty());
    let cite = cite.unwrap_or("The published table");
    let draft = |(at, agreement)| Draft::new(at == 0, sentence(cite, agreement), cells.clone());
    table.agreements.iter().enumerate().map(draft).collect()
}

fn sentence(cite: &str, agreement: &Agreement) -> String {
    let rank = agreement.rank.map_or(String::new(), |rank| format!(" (rank correlation {rank:.2})"));
    let column = clean(&agreement.column);
    let mut text = match agreement.same {
        0 if agreement.disagreements.is_empty() => {
            format!("{cite}, {column}: no rows differ significantly here.")
        }
        0 => format!("{cite}: the published order in {column} was not reproduced here."),
        same => format!(
            "{cite}, {column}: {same} of {} here in the published order{rank}.",
            units::count(agreement.pairs as usize, "pair is", "pairs are")
        ),
    };
    if agreement.undecided > 0 && agreement.undecided < agreement.pairs {
        let pairs = units::count(agreement.undecided as usize, "pair", "pairs");
        text.push_str(&format!(" Tied here, or too few rounds: {pairs}."));
    }
    let told = agreement.disagreements.iter().take(TOLD);
    told.for_each(|one| text.push_str(&format!(" Not so in {}.", one.words(&agreement.column))));
    let left = agreement.disagreements.len().saturating_sub(TOLD);
    if left > 0 {
        let more = units::count(left, "disagreement", "disagreements");
        text.push_str(&format!(" {more} more in the table."));
    }
    text
}
