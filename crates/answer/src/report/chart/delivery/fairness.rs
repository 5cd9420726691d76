//! Slow clients: for each server and way, by their number, what a light request takes, and whether workers are free, kept, or all
//! taken.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::super::super::text::{clean, shorten};
use super::super::canvas::{Canvas, INK, PAPER, Pen, QUIET, Rect, SIZE, sheet};
use super::super::title;
use crate::analysis::delivery::model::{DeliveryAnalysis, FairnessResult, Outcome};
use weigh_model::cell::Slow;
use weigh_model::payload::Origin;
use weigh_model::units;

/// Rows and columns drawn at most.
const ROWS: usize = 16;
const COLUMNS: usize = 9;
const LEFT: f64 = 330.0;
const BOTTOM: f64 = 690.0;
const FREE: RGBColor = RGBColor(0, 138, 100);
const KEPT: RGBColor = RGBColor(200, 150, 0);
const STARVED: RGBColor = RGBColor(190, 60, 30);

/// One row: a server's way with a pool.
struct Row<'a> {
    name: String,
    cells: Vec<(&'a FairnessResult, &'a Slow)>,
}

/// There is something to show.
pub(super) fn possible(analysis: &DeliveryAnalysis) -> bool {
    !rows(analysis).is_empty()
}

fn slow(result: &FairnessResult) -> Option<&Slow> {
    result.cell.delivery.as_ref()?.slow.as_ref()
}

fn rows(analysis: &DeliveryAnalysis) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    for (result, slow) in analysis.fairness.iter().filter_map(|r| Some((r, slow(r)?))) {
        let delivery = result.cell.delivery.as_ref();
        let server = delivery.map_or("", |d| &d.server);
        let way = delivery.map(|d| d.way(&result.cell.setting)).unwrap_or_default();
        let pool = if slow.script_memory > 0 { format!(", {} workers", slow.workers) } else { String::new() };
        let runtime = if analysis.runtimes.len() > 1 {
            format!(" {}", clean(&result.cell.runtime))
        } else {
            String::new()
        };
        let name = format!("{}{runtime} {}{pool}", clean(server), clean(&way));
        match rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.cells.push((result, slow)),
            None => rows.push(Row { name, cells: vec![(result, slow)] }),
        }
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows.truncate(ROWS);
    rows
}

/// The numbers of slow clients, ascending.
fn numbers(rows: &[Row]) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        rows.iter().flat_map(|r| r.cells.iter().map(|(_, slow)| slow.clients)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.truncate(COLUMNS);
    numbers
}

/// A field for each server's way and number of slow clients.
pub(super) fn draw(analysis: &DeliveryAnalysis) -> Result<String> {
    let rows = rows(analysis);
    let numbers = numbers(&rows);
    let heading = heading(&rows);
    sheet(&heading, |canvas| {
        let about = about(analysis, &rows);
        let top = title::head(canvas, &heading, &about)? + 50.0;
        let width = (SIZE.0 - title::MARGIN - LEFT) / numbers.len().max(1) as f64;
        let pitch = ((BOTTOM - top) / rows.len().max(1) as f64).min(64.0);
        for (place, number) in numbers.iter().enumerate() {
            let x = LEFT + (place as f64 + 0.5) * width;
            let pen = Pen::new(15.0, INK).bold().anchored(HPos::Center);
            let text = if *number == 0 { "no slow client".to_owned() } else { format!("{number} slow") };
            canvas.text(&canvas.fit(&text, pen, width - 4.0), (x, top - 16.0), pen)?;
        }
        for (place, row) in rows.iter().enumerate() {
            let y = top + place as f64 * pitch;
            let pen = Pen::new(15.0, INK).anchored(HPos::Right);
            let name = canvas.fit(&shorten(&row.name, 60), pen, LEFT - title::MARGIN - 12.0);
            canvas.text(&name, (LEFT - 12.0, y + pitch / 2.0), pen)?;
            for (result, slow) in &row.cells {
                let Some(column) = numbers.iter().position(|n| *n == slow.clients) else { continue };
                let left = LEFT + column as f64 * width;
                let field = Rect {
                    left: left + 2.0,
                    top: y + 2.0,
                    right: left + width - 2.0,
                    bottom: y + pitch - 2.0,
                };
                draw_field(canvas, field, result)?;
            }
        }
        let is_synthetic = |name: &str| {
            let payload = analysis.payloads.iter().find(|p| p.name == name);
            payload.is_some_and(|p| matches!(p.origin, Origin::Synthetic { .. }))
        };
        let synthetic = analysis.fairness.iter().any(|r| is_synthetic(&r.cell.payload));
        let remark = "Green: PHP's workers are free. Yellow: kept, and there are enough. Red: most light requests wait over 0.1 s.";
        title::foot(canvas, analysis, synthetic, remark)
    })
}

/// What a light request takes, and below it how many workers are busy.
fn draw_field(canvas: &Canvas, field: Rect, result: &FairnessResult) -> Result<()> {
    let color = match result.outcome {
        Outcome::Alone => QUIET,
        Outcome::Free => FREE,
        Outcome::Kept => KEPT,
        Outcome::Starved => STARVED,
    };
    let strength = if result.outcome == Outcome::Alone { 0.15 } else { 0.85 };
    canvas.rect(field, color.mix(strength))?;
    let ink = if result.outcome == Outcome::Alone { INK } else { PAPER };
    let (x, y) = ((field.left + field.right) / 2.0, (field.top + field.bottom) / 2.0);
    let share = result.prompt as f64 / result.due.max(1) as f64;
    let first = match &result.light {
        Some(light) if result.outcome != Outcome::Starved => format!("p99 {}", units::ns(light.p99 * 1e9)),
        _ => format!("{} in 0.1 s", units::percent(share)),
    };
    let pen = Pen::new(15.0, ink).bold().anchored(HPos::Center);
    let is_high = field.height() >= 38.0;
    canvas.text(
        &canvas.fit(&first, pen, field.width() - 6.0),
        (x, if is_high { y - 8.0 } else { y }),
        pen,
    )?;
    let Some(busy) = result.busy.filter(|_| is_high) else { return Ok(()) };
    let pen = Pen::new(13.0, ink).anchored(HPos::Center);
    canvas.text(&canvas.fit(&format!("{busy:.0} busy"), pen, field.width() - 6.0), (x, y + 10.0), pen)
}

fn about(analysis: &DeliveryAnalysis, rows: &[Row]) -> String {
    let first = rows.first().and_then(|row| row.cells.first());
    let what = first.map_or_else(String::new, |(result, slow)| {
        format!(
            "A light request's response time while slow clients take {} at {}/s from a pool of {} workers",
            units::bytes(result.content_bytes),
            units::bytes(slow.read_rate),
            slow.workers
        )
    });
    format!("{what} · {}", clean(&analysis.run.machine))
}

/// Which ways starve light requests, and which never do.
fn heading(rows: &[Row]) -> String {
    let starves = |row: &&Row| row.cells.iter().any(|(r, _)| r.outcome == Outcome::Starved);
    let starving = rows.iter().filter(starves).count();
    let all = units::count(rows.len(), "setup", "setups");
    match starving {
        0 => format!("Slow clients starve nobody in any of {all}"),
        n if n == rows.len() => format!("Slow clients starve light requests in all of {all}"),
        n => format!("Slow clients starve light requests in {n} of {all}"),
    }
}
