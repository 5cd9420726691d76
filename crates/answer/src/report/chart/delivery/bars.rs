//! Bytes and CPU time of each way of a group, as bars.

use anyhow::Result;
use plotters::prelude::*;

use super::super::super::delivery::view::{GroupView, Row};
use super::super::super::text::{clean, shorten};
use super::super::canvas::{Rect, SIZE, sheet};
use super::super::rows::{self, Bar};
use super::super::{palette, title};
use crate::analysis::delivery::model::DeliveryAnalysis;
use weigh_model::units;

const BOTTOM: f64 = 700.0;
/// CPU time beyond this many times that of gzip is cut: the others would not be seen.
const CUT: f64 = 2.0;

/// There are at least two ways.
pub(super) fn possible(group: &GroupView) -> bool {
    shown(group, 2).len() >= 2
}

/// Ways with both figures in the plan's order; when there are too many, those that say least go: off the front, from the
/// end.
fn shown<'a>(group: &'a GroupView, most: usize) -> Vec<&'a Row<'a>> {
    let mut rows: Vec<&Row> = group.rows.iter().filter(|row| row.cpu_ms().is_some()).collect();
    let place = |row: &&Row| group.group.cells.iter().position(|id| *id == row.result.cell.id);
    rows.sort_by_key(place);
    let named = [&group.group.reference, &group.group.gzip];
    let is_told =
        |row: &Row| row.result.front || named.iter().any(|id| id.as_ref() == Some(&row.result.cell.id));
    while rows.len() > most.max(2) {
        let least = rows.iter().rposition(|row| !is_told(row)).unwrap_or(rows.len() - 1);
        rows.remove(least);
    }
    rows
}

/// The chart of one group.
pub(super) fn draw(analysis: &DeliveryAnalysis, group: &GroupView) -> Result<String> {
    let heading = heading(group);
    sheet(&heading, |canvas| {
        let about = [group.about(), group.place(), clean(&analysis.run.machine)].join(" · ");
        let top = title::head(canvas, &heading, &about)? + 40.0;
        let rows = shown(group, rows::most(top, BOTTOM));
        let pitch = rows::pitch(rows.len(), top, BOTTOM);
        let color = |row: &Row| palette::codec(&row.result.cell.setting.codec);
        let names: Vec<_> = rows.iter().map(|row| (shorten(&row.label, 32), color(row))).collect();
        rows::names(canvas, &names, (236.0, 236.0 - title::MARGIN), (top, pitch))?;
        let bytes: Vec<Bar> = rows
            .iter()
            .map(|row| Bar {
                parts: vec![(row.result.body_bytes as f64, color(row).mix(0.85))],
                text: units::bytes(row.result.body_bytes),
                ..Bar::default()
            })
            .collect();
        let rect = Rect { left: 246.0, top, right: 690.0, bottom: BOTTOM };
        rows::panel(canvas, "Body of a response", rect, &bytes, (f64::INFINITY, pitch))?;
        let cpu: Vec<Bar> = rows.iter().map(|row| time(row, color(row))).collect();
        let gzip = group.gzip().and_then(|row| row.result.cpu_ns());
        let cap = gzip.map_or(f64::INFINITY, |ns| ns * CUT);
        let rect = Rect { left: 716.0, top, right: SIZE.0 - title::MARGIN + 30.0, bottom: BOTTOM };
        rows::panel(canvas, "CPU time a response: PHP, then server (paler)", rect, &cpu, (cap, pitch))?;
        let remark = "A bar with a break is longer than twice that of gzip; its number says how long.";
        title::foot(canvas, analysis, group.synthetic(), remark)
    })
}

/// PHP's part, then the server's, paler.
fn time(row: &Row, color: RGBColor) -> Bar {
    let Some(cpu) = row.result.cpu.as_ref() else { return Bar::default() };
    let part = |ns: Option<f64>, strength: f64| (ns.unwrap_or(0.0), color.mix(strength));
    Bar {
        parts: vec![part(cpu.php.map(|q| q.value), 0.9), part(cpu.server.map(|q| q.value), 0.4)],
        text: units::ns(cpu.total.value),
        ..Bar::default()
    }
}

fn heading(group: &GroupView) -> String {
    let name = shorten(&clean(&group.group.payload), 40);
    let least = |row: &&Row| (row.cpu_ms().unwrap_or(f64::MAX) * 1e6) as u64;
    let gzip = group.gzip();
    let limit = gzip.map_or(0, |row| row.result.body_bytes);
    let better = group.rows.iter().filter(|row| !row.is_copy() && row.result.body_bytes < limit);
    match (gzip, better.min_by_key(least)) {
        (Some(gzip), Some(best)) if best.cpu_ms() < gzip.cpu_ms() => format!(
            "{name}: {} sends fewer bytes than {} for {} of its CPU time",
            best.label,
            gzip.label,
            units::percent(best.cpu_ms().unwrap_or(0.0) / gzip.cpu_ms().unwrap_or(f64::INFINITY))
        ),
        (Some(gzip), _) => format!("{name}: no way sends fewer bytes than {} for less CPU time", gzip.label),
        _ => format!("{name}: bytes and CPU time of each way"),
    }
}
