//! The summary as it was published: writes and reads with failures, and transactions a second by both definitions.

use super::super::document::Block;
use super::super::text::clean;
use crate::analysis::client::model::{ClientAnalysis, ClientResult, Summary};
use crate::analysis::model::Quantity;
use weigh_model::client::ValueKind;
use weigh_model::units;

/// Of the published example, one key a worker and a number, on every store, driver and runtime; in a summary of the first alone.
pub(super) fn section(analysis: &ClientAnalysis, full: bool) -> Vec<Block> {
    let Some(first) = analysis.cells.iter().find(|c| is_number(c)) else { return Vec::new() };
    let work = analysis.works.iter().find(|work| work.cells.contains(&first.cell.id));
    let of_work = |c: &&ClientResult| work.is_some_and(|work| work.cells.contains(&c.cell.id));
    let most = if full { usize::MAX } else { 1 };
    let shown = analysis.cells.iter().filter(of_work).take(most);
    let mut blocks = vec![Block::Heading(2, "Summary as published".into())];
    for result in shown {
        blocks.push(Block::Text(clean(&result.cell.id)));
        blocks.extend(lines(&result.summary).map(Block::Literal));
    }
    blocks
}

fn is_number(result: &ClientResult) -> bool {
    result.cell.client.as_ref().is_some_and(|client| client.value == ValueKind::Integer)
}

/// The two lines of a summary.
pub(super) fn lines(summary: &Summary) -> [String; 2] {
    let number = |count: u64| units::count(usize::try_from(count).unwrap_or(usize::MAX), "", "");
    let number = |count: u64| number(count).trim_end().to_owned();
    let rate = |rate: Option<Quantity>| match rate {
        Some(Quantity { value, low, high }) if high > low => {
            format!(
                "{} tps [{}, {}]",
                units::significant(value),
                units::significant(low),
                units::significant(high)
            )
        }
        Some(Quantity { value, .. }) => format!("{} tps", units::significant(value)),
        None => "– tps".into(),
    };
    let (writes, reads) = (summary.writes, summary.reads);
    let failed = reads.failed.saturating_add(reads.wrong);
    [
        format!(
            "writes {} (failed {}, {}) · reads {} (failed {}, {}; {} not found)",
            number(writes.count),
            number(writes.failed),
            units::percent(summary.writes_made()),
            number(reads.count),
            number(failed),
            units::percent(summary.reads_made()),
            number(reads.misses)
        ),
        format!(
            "{} transactions executed at average {} per-process, combined to {}",
            number(summary.transactions),
            rate(summary.per_process),
            rate(summary.combined)
        ),
    ]
}
