//! Encode time against bytes: which settings of a group are worth considering.

use std::collections::BTreeMap;

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::super::text::shorten;
use super::super::view::{GroupView, Row};
use super::axis::{Axis, Naming, Plot, time_tick};
use super::canvas::{Canvas, INK, Pen, QUIET, Rect, sheet, whole};
use super::labels::Layout;
use super::{palette, title};
use crate::analysis::model::Analysis;
use weigh_model::units;

mod equal;
mod names;

/// A copy of the content is off the scale when it is this much larger than the largest encoding.
const OFF: f64 = 1.25;

/// A cell with a place.
struct Point<'a> {
    row: &'a Row<'a>,
    ns: f64,
    bytes: f64,
}

fn points<'a>(group: &'a GroupView) -> Vec<Point<'a>> {
    let point = |row: &'a Row<'a>| {
        let ns = row.encode().map(|encode| encode.cpu).filter(|ns| *ns > 0.0 && ns.is_finite())?;
        let bytes = row.result.encoded_bytes as f64;
        (bytes > 0.0).then_some(Point { row, ns, bytes })
    };
    group.rows.iter().filter_map(point).collect()
}

fn is_copy(row: &Row) -> bool {
    row.result.cell.setting.codec == "identity"
}

/// There are at least two settings to compare.
pub(super) fn possible(group: &GroupView) -> bool {
    points(group).iter().filter(|point| !is_copy(point.row)).count() >= 2
}

/// The chart of one group.
pub(super) fn draw(analysis: &Analysis, group: &GroupView) -> Result<String> {
    let all = points(group);
    let (copies, coded): (Vec<_>, Vec<_>) = all.into_iter().partition(|point| is_copy(point.row));
    let largest = coded.iter().map(|point| point.bytes).fold(0.0, f64::max);
    let (off, near): (Vec<_>, Vec<_>) = copies.into_iter().partition(|point| point.bytes > largest * OFF);
    let mut shown = coded;
    shown.extend(near);
    sheet(&heading(group), |canvas| {
        let top = title::head(canvas, &heading(group), &subtitle(analysis, group))?;
        let plot = plot(&shown, top + 26.0);
        frame(canvas, &plot, group)?;
        let mut layout = Layout::new(plot.rect);
        off_scale(canvas, &plot, &mut layout, &off)?;
        for point in &shown {
            layout.take_dot(plot.place(point.ns, point.bytes), radius(point.row) + 1.0);
        }
        curves(canvas, &plot, &shown)?;
        let front: Vec<_> =
            group.front().filter_map(|row| shown.iter().find(|point| std::ptr::eq(point.row, row))).collect();
        let path: Vec<_> = front.iter().map(|point| plot.place(point.ns, point.bytes)).collect();
        canvas.line(&path, INK.mix(0.75), 2.0)?;
        layout.take_path(&path);
        let equal = equal::curves(analysis, &plot, &shown, &off);
        for (_, path) in &equal {
            canvas.dashes(path, QUIET.mix(0.8), 1.25)?;
        }
        dots(canvas, &plot, &shown)?;
        names::front(canvas, &plot, &mut layout, &front)?;
        names::equal(canvas, &mut layout, &equal)?;
        names::rest(canvas, &plot, &mut layout, group, &shown)?;
        let remark = if equal.is_empty() {
            "Line: Pareto front."
        } else {
            "Line: Pareto front. Dashed: equal encode + transfer cost at that link speed."
        };
        title::foot(canvas, analysis, group.synthetic(), remark)
    })
}

fn heading(group: &GroupView) -> String {
    let name = shorten(&super::super::text::clean(&group.group.payload), 40);
    let rows: Vec<_> = group.rows.iter().filter(|row| !is_copy(row) && row.encode().is_some()).collect();
    let front: Vec<_> = rows.iter().filter(|row| row.result.front).collect();
    match (front.first(), front.last()) {
        (Some(fast), Some(small)) if front.len() > 1 => format!(
            "{name}: {} of {} settings are worth considering, from {} (fastest) to {} (smallest)",
            front.len(),
            rows.len(),
            whole(&fast.label),
            whole(&small.label)
        ),
        (Some(one), _) => {
            format!("{name}: {} beats {} in both time and bytes", whole(&one.label), others(rows.len() - 1))
        }

        _ => format!("{name}: encode time against bytes"),
    }
}

fn others(count: usize) -> String {
    if count == 1 { "the other".into() } else { format!("the {count} others") }
}

fn subtitle(analysis: &Analysis, group: &GroupView) -> String {
    let title = group.title();
    let runtime = title.rsplit(", ").next().unwrap_or_default();
    let runtime = runtime.to_owned();
    [group.about(), runtime, super::super::text::clean(&analysis.run.machine)].join(" · ")
}

fn plot(points: &[Point], top: f64) -> Plot {
    let ends = |value: fn(&Point) -> f64| {
        let low = points.iter().map(value).fold(f64::MAX, f64::min);
        (low, points.iter().map(value).fold(f64::MIN, f64::max))
    };
    let (x, y) = (ends(|point| point.ns), ends(|point| point.bytes));
    let rect = Rect { left: 144.0, top, right: 1106.0, bottom: 632.0 };
    // A tenth of the size fills the height at most: small differences should look small.
    let y = (y.0.min(y.1 * 0.9), y.1);
    let wide = y.1 / y.0 > 5.0;
    let y = if wide { Axis::log(y.0, y.1, (0.10, 0.10)) } else { Axis::linear(y.0, y.1, (0.12, 0.12)) };
    Plot { rect, x: Axis::log(x.0, x.1, (0.06, 0.10)), y }
}

fn frame(canvas: &Canvas, plot: &Plot, group: &GroupView) -> Result<()> {
    let naming = Naming {
        x: "encode time (CPU), logarithmic",
        y: "encoded size",
        x_tick: &time_tick,
        y_tick: &|bytes| units::bytes(bytes.round() as u64),
    };
    plot.frame(canvas, &naming)?;
    let Some(payload) = group.payload.filter(|payload| payload.bytes > 0) else { return Ok(()) };
    let pen = Pen::new(15.0, QUIET);
    for tick in plot.y.ticks() {
        let (_, y) = plot.place(1.0, tick);
        let share = units::percent(tick / payload.bytes as f64);
        canvas.text(&share, (plot.rect.right + 8.0, y), pen)?;
    }
    let right = pen.anchored(HPos::Right);
    canvas.text("% of original", (super::canvas::SIZE.0 - title::MARGIN, plot.rect.top - 14.0), right)
}

fn radius(row: &Row) -> f64 {
    if row.result.front { 6.5 } else { 4.5 }
}

fn dots(canvas: &Canvas, plot: &Plot, points: &[Point]) -> Result<()> {
    let (front, rest): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.row.result.front);
    for point in rest {
        canvas.dot(
            plot.place(point.ns, point.bytes),
            radius(point.row),
            palette::row(point.row).mix(0.45),
        )?;
    }
    for point in front {
        canvas.dot(plot.place(point.ns, point.bytes), radius(point.row), palette::row(point.row).mix(1.0))?;
    }
    Ok(())
}

/// The levels of one codec, joined by a thin line.
fn curves(canvas: &Canvas, plot: &Plot, points: &[Point]) -> Result<()> {
    for curve in families(points).values() {
        let path: Vec<_> = curve.iter().map(|point| plot.place(point.ns, point.bytes)).collect();
        canvas.line(&path, palette::row(curve[0].row).mix(0.3), 1.5)?;
    }
    Ok(())
}

/// Points of the same codec, serializer and options, by level.
fn families<'a, 'b>(points: &'b [Point<'a>]) -> BTreeMap<(String, String), Vec<&'b Point<'a>>> {
    let mut families: BTreeMap<_, Vec<&Point>> = BTreeMap::new();
    for point in points {
        let cell = &point.row.result.cell;
        let options = format!("{}{:?}", cell.setting.codec, cell.setting.options);
        families.entry((cell.serializer.clone().unwrap_or_default(), options)).or_default().push(point);
    }
    for curve in families.values_mut() {
        curve.sort_by_key(|point| point.row.result.cell.setting.level);
    }
    families
}

/// A copy of the content that is far above everything else is named, not drawn.
fn off_scale(canvas: &Canvas, plot: &Plot, layout: &mut Layout, off: &[Point]) -> Result<()> {
    let mut x = plot.rect.left;
    for point in off {
        let text =
            format!("▲ {}: {}, {}", point.row.label, units::bytes(point.bytes as u64), units::ns(point.ns));
        let pen = Pen::new(14.0, QUIET);
        let width = canvas.width(&text, pen);
        if x + width > plot.rect.right {
            break;
        }
        let rect =
            Rect { left: x + 6.0, top: plot.rect.top - 24.0, right: x + width, bottom: plot.rect.top - 4.0 };
        canvas.text(&text, (rect.left, plot.rect.top - 14.0), pen)?;
        layout.take(rect);
        x += width + 24.0;
    }
    Ok(())
}
