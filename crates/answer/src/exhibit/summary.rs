//! The summary in its published form: writes and reads with failures, and transactions per second by both definitions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::client::ValueKind;
use weigh_model::units;

use crate::document::Block;
use crate::estimate::Estimate;
use crate::exhibit::Exhibit;
use crate::format::{Detail, Options};
use crate::report::Report;
use crate::row::Row;
use crate::subject::client::{COMBINED, PER_PROCESS};
use crate::text::clean;

/// The cells that do the work of the published example.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PublishedSummary {
    /// Their ids, in the plan's order.
    pub cells: Vec<String>,
}

impl PublishedSummary {
    /// The cells that do the same work as the first cell with a number, on every store, driver and runtime.
    pub(crate) fn of(report: &Report) -> Option<PublishedSummary> {
        let is_number =
            |row: &&Row| row.cell.client.as_ref().is_some_and(|client| client.value == ValueKind::Integer);
        let first = report.rows.iter().find(is_number)?;
        let group = report.groups.iter().find(|group| group.has(first.id()))?;
        Some(PublishedSummary { cells: group.cells.clone() })
    }
}

impl Exhibit for PublishedSummary {
    fn leads(&self) -> bool {
        true
    }

    /// A summary shows the first alone.
    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block> {
        let most = if options.detail == Detail::Full { usize::MAX } else { 1 };
        let mut blocks = vec![Block::Heading(2, "Summary as published".into())];
        for row in self.cells.iter().take(most).filter_map(|id| report.row(id)) {
            blocks.push(Block::Text(clean(row.id())));
            blocks.extend(lines(row).map(Block::Literal));
        }
        blocks
    }
}

/// The two lines of a summary.
fn lines(row: &Row) -> [String; 2] {
    let count =
        |of: u64| units::count(usize::try_from(of).unwrap_or(usize::MAX), "", "").trim_end().to_owned();
    let number = |metric: &str| count(row.count(metric));
    let made = |metric: &str| units::percent(row.value(metric).unwrap_or(1.0));
    let rate = |metric: &str| match row.get(metric) {
        Some(Estimate { value, low: Some(low), high: Some(high), .. }) if high > low => {
            let [value, low, high] = [value, low, high].map(|x| units::significant(*x));
            format!("{value} tps ({low}–{high})")
        }
        Some(Estimate { value, .. }) => format!("{} tps", units::significant(*value)),
        None => "– tps".into(),
    };
    [
        format!(
            "writes {} (failed {}, {}) · reads {} (failed {}, {}; {} not found)",
            number("writes"),
            number("writes-failed"),
            made("writes-made"),
            number("reads"),
            count(row.count("reads-failed") + row.count("wrong")),
            made("reads-made"),
            number("misses")
        ),
        format!(
            "{} transactions executed at average {} per-process, combined to {}",
            number("transactions"),
            rate(PER_PROCESS),
            rate(COMBINED)
        ),
    ]
}
