//! Downloads: CPU time by whom it falls on, for each server and way, with the workers that were busy.

use anyhow::Result;
use plotters::prelude::*;

use super::super::super::delivery::view;
use super::super::super::text::{clean, shorten};
use super::super::canvas::{INK, Rect, SIZE, sheet};
use super::super::rows::{self, Bar};
use super::super::title;
use crate::analysis::delivery::model::{DeliveryAnalysis, DeliveryResult};
use weigh_model::cell::Subject;
use weigh_model::payload::Origin;
use weigh_model::units;
use weigh_model::way::WayKind;

const BOTTOM: f64 = 700.0;
const PHP: RGBColor = RGBColor(119, 90, 170);
const SERVER: RGBColor = RGBColor(0, 138, 100);
const WORKERS: RGBColor = RGBColor(213, 94, 0);

/// The contents that are downloaded, in the plan's order.
pub(super) fn payloads(analysis: &DeliveryAnalysis) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in analysis.cells.iter().filter(|c| is_shown(c)) {
        if !names.contains(&cell.cell.payload.as_str()) {
            names.push(&cell.cell.payload);
        }
    }
    names
}

fn is_shown(result: &DeliveryResult) -> bool {
    result.cell.subject == Subject::Download && result.cpu.is_some()
}

/// The chart of one content.
pub(super) fn draw(analysis: &DeliveryAnalysis, payload: &str) -> Result<String> {
    let mut cells: Vec<&DeliveryResult> =
        analysis.cells.iter().filter(|c| is_shown(c) && c.cell.payload == payload).collect();
    // A server's ways stand together.
    cells.sort_by_key(|c| server(c).to_owned());
    let heading = heading(&cells, payload);
    sheet(&heading, |canvas| {
        let content = analysis.payloads.iter().find(|p| p.name == payload);
        let size = content.map(|p| units::bytes(p.bytes)).unwrap_or_default();
        let about = format!("{} · {size} · {}", clean(payload), clean(&analysis.run.machine));
        let top = title::head(canvas, &heading, &about)? + 40.0;
        cells.truncate(rows::most(top, BOTTOM));
        let pitch = rows::pitch(cells.len(), top, BOTTOM);
        let names: Vec<_> = cells.iter().map(|cell| (shorten(&name(cell), 44), INK)).collect();
        rows::names(canvas, &names, (316.0, 316.0 - title::MARGIN), (top, pitch))?;
        let times: Vec<Bar> = cells.iter().map(|cell| time(cell)).collect();
        let rect = Rect { left: 326.0, top, right: 806.0, bottom: BOTTOM };
        let what = "CPU time a response: server (green), PHP (violet)";
        rows::panel(canvas, what, rect, &times, (f64::INFINITY, pitch))?;
        let busy: Vec<Bar> = cells.iter().map(|cell| workers(cell)).collect();
        let rect = Rect { left: 826.0, top, right: SIZE.0 - title::MARGIN + 20.0, bottom: BOTTOM };
        let what = "A PHP worker is busy for, a response";
        rows::panel(canvas, what, rect, &busy, (f64::INFINITY, pitch))?;
        let synthetic = content.is_some_and(|p| matches!(p.origin, Origin::Synthetic { .. }));
        title::foot(canvas, analysis, synthetic, "Intervals and requests a second are in the tables.")
    })
}

fn server(result: &DeliveryResult) -> &str {
    result.cell.delivery.as_ref().map_or("", |d| &d.server)
}

/// `nginx php/readfile`, with what else tells it apart.
fn name(result: &DeliveryResult) -> String {
    let delivery = result.cell.delivery.as_ref();
    let connections = delivery.map_or(1, |d| d.connections);
    let more = if connections > 1 { format!(" ×{connections}") } else { String::new() };
    let link =
        delivery.and_then(|d| d.link.as_ref()).map_or(String::new(), |link| format!(" @{}", clean(link)));
    format!("{} {}{more}{link}", clean(server(result)), view::label(result))
}

fn time(result: &DeliveryResult) -> Bar {
    let Some(cpu) = result.cpu.as_ref() else { return Bar::default() };
    let part = |ns: Option<f64>, color: RGBColor| (ns.unwrap_or(0.0), color.mix(0.8));
    Bar {
        parts: vec![part(cpu.server.map(|q| q.value), SERVER), part(cpu.php.map(|q| q.value), PHP)],
        text: units::ns(cpu.total.value),
        ..Bar::default()
    }
}

fn workers(result: &DeliveryResult) -> Bar {
    match result.worker_seconds {
        Some(seconds) => {
            Bar { parts: vec![(seconds, WORKERS.mix(0.7))], text: units::ns(seconds * 1e9), ..Bar::default() }
        }
        None if result.cpu.as_ref().is_some_and(|cpu| cpu.php.is_some()) => {
            Bar { text: "not read".into(), ..Bar::default() }
        }
        None => Bar { text: "no PHP".into(), ..Bar::default() },
    }
}

/// What handing over takes, beside what PHP takes for the same: the range over servers.
fn heading(cells: &[&DeliveryResult], payload: &str) -> String {
    let name = shorten(&clean(payload), 40);
    let kind = |c: &DeliveryResult| c.cell.delivery.as_ref().map(|d| d.kind);
    let shares: Vec<f64> = cells
        .iter()
        .filter(|c| kind(c) == Some(WayKind::Offload))
        .filter_map(|offload| {
            let same = cells.iter().filter(|c| server(c) == server(offload));
            let plain = same.filter(|c| kind(c) == Some(WayKind::Plain)).filter_map(|c| c.cpu_ns());
            Some(offload.cpu_ns()? / plain.reduce(f64::min)?)
        })
        .collect();
    let (low, high) = (
        shares.iter().copied().fold(f64::INFINITY, f64::min),
        shares.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    );
    if shares.is_empty() {
        return format!("{name}: CPU time of each way");
    }
    let (low, high) = (units::percent(low), units::percent(high));
    let range = if low == high { low } else { format!("{low} to {high}") };
    format!("{name}: handing over takes {range} of the CPU time of PHP's best way")
}
