//! CPU time against bytes: which ways of a group are worth considering.

use std::collections::BTreeMap;

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::super::super::delivery::view::{GroupView, Row};
use super::super::super::text::{clean, shorten};
use super::super::axis::{Axis, Naming, Plot, time_tick};
use super::super::canvas::{Canvas, INK, Pen, QUIET, Rect, SIZE, sheet, whole};
use super::super::labels::{Layout, put};
use super::super::{palette, title};
use crate::analysis::delivery::model::DeliveryAnalysis;
use weigh_model::units;
use weigh_model::way::By;

/// The content as it is is off the scale when it is this much larger than the largest encoding.
const OFF: f64 = 1.25;

/// A cell with a place.
#[derive(Clone, Copy)]
struct Point<'a> {
    row: &'a Row<'a>,
    ns: f64,
    bytes: f64,
}

impl Point<'_> {
    fn color(&self) -> RGBColor {
        palette::codec(&self.row.result.cell.setting.codec)
    }

    fn by_server(&self) -> bool {
        self.row.result.cell.delivery.as_ref().is_some_and(|d| d.by == By::Server)
    }

    fn radius(&self) -> f64 {
        if self.row.result.front { 6.5 } else { 4.5 }
    }
}

fn points<'a>(group: &'a GroupView) -> Vec<Point<'a>> {
    let point = |row: &'a Row<'a>| {
        let ns = row.result.cpu_ns().filter(|ns| *ns > 0.0 && ns.is_finite())?;
        let bytes = row.result.body_bytes as f64;
        (bytes > 0.0).then_some(Point { row, ns, bytes })
    };
    group.rows.iter().filter_map(point).collect()
}

/// There are at least three encodings to compare.
pub(super) fn possible(group: &GroupView) -> bool {
    points(group).iter().filter(|point| !point.row.is_copy()).count() >= 3
}

/// The chart of one group.
pub(super) fn draw(analysis: &DeliveryAnalysis, group: &GroupView) -> Result<String> {
    let (copies, coded): (Vec<_>, Vec<_>) = points(group).into_iter().partition(|p| p.row.is_copy());
    let largest = coded.iter().map(|point| point.bytes).fold(0.0, f64::max);
    let (off, near): (Vec<_>, Vec<_>) = copies.into_iter().partition(|point| point.bytes > largest * OFF);
    let mut shown = coded;
    shown.extend(near);
    let heading = heading(group);
    sheet(&heading, |canvas| {
        let about = [group.about(), group.place(), clean(&analysis.run.machine)].join(" · ");
        let top = title::head(canvas, &heading, &about)?;
        let plot = plot(&shown, top + 26.0);
        frame(canvas, &plot, group)?;
        let mut layout = Layout::new(plot.rect);
        off_scale(canvas, &plot, &off)?;
        for point in &shown {
            layout.take_dot(plot.place(point.ns, point.bytes), point.radius() + 1.0);
        }
        for curve in families(&shown).values() {
            let path: Vec<_> = curve.iter().map(|point| plot.place(point.ns, point.bytes)).collect();
            canvas.line(&path, curve[0].color().mix(0.3), 1.5)?;
        }
        let front: Vec<&Point> = shown.iter().filter(|point| point.row.result.front).collect();
        let path: Vec<_> = front.iter().map(|point| plot.place(point.ns, point.bytes)).collect();
        canvas.line(&path, INK.mix(0.75), 2.0)?;
        layout.take_path(&path);
        dots(canvas, &plot, &shown)?;
        names(canvas, &plot, &mut layout, group, &shown)?;
        let remark = "Line: Pareto front. Filled: made by PHP; open: made by the server.";
        title::foot(canvas, analysis, group.synthetic(), remark)
    })
}

fn heading(group: &GroupView) -> String {
    let name = shorten(&clean(&group.group.payload), 40);
    let rows: Vec<_> = group.rows.iter().filter(|row| !row.is_copy() && row.cpu_ms().is_some()).collect();
    let front: Vec<_> = rows.iter().filter(|row| row.result.front).collect();
    match (front.first(), front.last()) {
        (Some(fast), Some(small)) if front.len() > 1 => format!(
            "{name}: {} of {} encodings are worth considering, from {} (least CPU time) to {} (smallest)",
            front.len(),
            rows.len(),
            whole(&fast.label),
            whole(&small.label)
        ),
        (Some(one), _) => format!("{name}: {} takes the least CPU time and bytes", whole(&one.label)),
        _ => format!("{name}: CPU time against bytes"),
    }
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
        x: "CPU time of server and PHP a response, logarithmic",
        y: "body size",
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
    canvas.text("% of original", (SIZE.0 - title::MARGIN, plot.rect.top - 14.0), right)
}

fn dots(canvas: &Canvas, plot: &Plot, points: &[Point]) -> Result<()> {
    for is_front in [false, true] {
        for point in points.iter().filter(|point| point.row.result.front == is_front) {
            let place = plot.place(point.ns, point.bytes);
            if point.by_server() {
                canvas.ring(place, point.radius(), point.color())?;
            } else {
                canvas.dot(place, point.radius(), point.color().mix(if is_front { 1.0 } else { 0.45 }))?;
            }
        }
    }
    Ok(())
}

/// Points of the same way by the same hand with the same options, by level.
fn families<'a, 'b>(points: &'b [Point<'a>]) -> BTreeMap<String, Vec<&'b Point<'a>>> {
    let mut families: BTreeMap<String, Vec<&Point>> = BTreeMap::new();
    for point in points {
        let setting = &point.row.result.cell.setting;
        let key = format!("{}{}{:?}", point.by_server(), setting.codec, setting.options);
        families.entry(key).or_default().push(point);
    }
    families.values_mut().for_each(|curve| curve.sort_by_key(|p| p.row.result.cell.setting.level));
    families
}

/// The front's ends, then the rest of the front, the group's gzip, and each way without a name yet once.
fn names(
    canvas: &Canvas,
    plot: &Plot,
    layout: &mut Layout,
    group: &GroupView,
    points: &[Point],
) -> Result<()> {
    let mut front: Vec<&Point> = points.iter().filter(|point| point.row.result.front).collect();
    front.sort_by(|a, b| a.ns.total_cmp(&b.ns));
    let last = front.len().saturating_sub(1);
    let mut order: Vec<usize> = (0..front.len()).collect();
    order.sort_by_key(|index| (*index != 0 && *index != last, index % 2, *index));
    for point in order.into_iter().map(|index| front[index]) {
        let pen = Pen::new(15.0, point.color()).bold();
        let text = shorten(&point.row.label, 34);
        put(canvas, layout, &text, pen, plot.place(point.ns, point.bytes), true)?;
    }
    let is_gzip = |point: &&Point| Some(&point.row.result.cell.id) == group.group.gzip.as_ref();
    if let Some(point) = points.iter().find(is_gzip).filter(|point| !point.row.result.front) {
        let text = format!("{} (gzip)", shorten(&point.row.label, 30));
        let pen = Pen::new(14.0, point.color()).bold();
        put(canvas, layout, &text, pen, plot.place(point.ns, point.bytes), true)?;
    }
    for curve in families(points).values() {
        if curve.iter().any(|point| point.row.result.front || is_gzip(point)) {
            continue;
        }
        let pen = Pen::new(14.0, curve[0].color());
        for point in curve.iter().rev() {
            let text = shorten(&point.row.label, 30);
            if put(canvas, layout, &text, pen, plot.place(point.ns, point.bytes), false)? {
                break;
            }
        }
    }
    Ok(())
}

/// The content as it is, far above everything else, is named and not drawn.
fn off_scale(canvas: &Canvas, plot: &Plot, off: &[Point]) -> Result<()> {
    let mut x = plot.rect.left;
    for point in off {
        let text =
            format!("▲ {}: {}, {}", point.row.label, units::bytes(point.bytes as u64), units::ns(point.ns));
        let pen = Pen::new(14.0, QUIET);
        let width = canvas.width(&text, pen);
        if x + width > plot.rect.right {
            break;
        }
        canvas.text(&text, (x + 6.0, plot.rect.top - 14.0), pen)?;
        x += width + 24.0;
    }
    Ok(())
}
