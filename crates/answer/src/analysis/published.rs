//! A published table beside what was measured here.

use crate::analysis::model::{CellResult, PublishedComparison};
use weigh_model::plan::Plan;
use weigh_model::study::{Published, PublishedRow};

/// The published rows whose cells were measured, on the first runtime of the plan that has any; `None` when
/// the study has no table or none of its cells was measured.
pub(super) fn compare(plan: &Plan, cells: &[CellResult]) -> Option<Vec<PublishedComparison>> {
    let table = plan.study.published.as_ref()?;
    let items = plan.payloads.iter().find(|p| p.name == table.payload).map_or(1, |p| p.items.len().max(1));
    plan.runtimes
        .iter()
        .map(|runtime| {
            let rows = table.rows.iter().filter_map(|row| {
                let cell = cells.iter().find(|c| is_of_row(c, table, row, &runtime.name))?;
                comparison(row, cell, items as f64)
            });
            rows.collect::<Vec<_>>()
        })
        .find(|rows| !rows.is_empty())
}

fn is_of_row(result: &CellResult, table: &Published, row: &PublishedRow, runtime: &str) -> bool {
    let cell = &result.cell;
    cell.payload == table.payload
        && cell.runtime == runtime
        && cell.serializer == table.serializer
        && cell.setting.codec == table.codec
        && cell.setting.level == Some(row.level)
        && cell.setting.options.is_empty()
}

fn comparison(row: &PublishedRow, result: &CellResult, items: f64) -> Option<PublishedComparison> {
    let (compress, decompress) = (result.compress()?, result.decompress()?);
    let seconds = compress.cpu / items / 1e9;
    Some(PublishedComparison {
        published: row.clone(),
        cell: result.cell.id.clone(),
        compress_mb_s: compress.throughput(result.decoded_bytes),
        decompress_mb_s: decompress.throughput(result.decoded_bytes),
        decompress_mb_s_corrected: row.decompress_mb_s_published * row.ratio,
        ratio: result.ratio(),
        space_saving: result.space_saving() * 100.0,
        ratio_per_time: if seconds > 0.0 { result.ratio() / seconds } else { 0.0 },
        ms: seconds * 1e3,
    })
}
