//! Encode time against bytes: which settings of a group are worth considering.

use std::collections::BTreeMap;

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::super::text::shorten;
use super::super::view::{GroupView, Row};
use super::axis::{Axis, Naming, Plot, time_tick};
use super::canvas::{Canvas, INK, PAPER, Pen, QUIET, Rect, sheet};
use super::labels::{Layout, Place, Wish};
use super::{palette, title};
use crate::analysis::model::Analysis;
use crate::units;

/// Links that have a meaning to most readers, in Mbit/s.
const LINKS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];
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
        let ns = row.encode().map(|encode| encode.median).filter(|ns| *ns > 0.0)?;
        Some(Point { row, ns, bytes: row.result.encoded_bytes as f64 })
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
        let equal = iso_costs(analysis, &plot, &shown, &off);
        for (_, path) in &equal {
            canvas.dashes(path, QUIET.mix(0.8), 1.25)?;
        }
        dots(canvas, &plot, &shown)?;
        label_front(canvas, &plot, &mut layout, &front)?;
        label_equal(canvas, &mut layout, &equal)?;
        label_rest(canvas, &plot, &mut layout, group, &shown)?;
        let remark = if equal.is_empty() {
            "Line: Pareto front."
        } else {
            "Line: Pareto front. Dashed: equal encode + transfer time; the touched setting is best at that speed."
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
            fast.label,
            small.label
        ),
        (Some(one), _) => {
            format!("{name}: {} beats all {} others in both time and bytes", one.label, rows.len() - 1)
        }
        _ => format!("{name}: encode time against bytes"),
    }
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

/// For up to three links: the curve of all (time, bytes) that cost as much as the best setting there. A link
/// on which a copy beats every codec has none.
fn iso_costs(
    analysis: &Analysis,
    plot: &Plot,
    points: &[Point],
    off: &[Point],
) -> Vec<(f64, Vec<(f64, f64)>)> {
    let studied = analysis.study.links.as_ref().map(|links| links.mbit.as_slice()).unwrap_or(&LINKS);
    let total = |point: &Point, mbit: f64| point.ns + point.bytes * 8e3 / mbit;
    let mut chosen: Vec<(f64, &Point)> = Vec::new();
    for mbit in LINKS.iter().copied().filter(|mbit| studied.contains(mbit)) {
        let best = points.iter().chain(off).min_by(|a, b| total(a, mbit).total_cmp(&total(b, mbit)));
        let Some(best) = best.filter(|best| !off.iter().any(|point| std::ptr::eq(point, *best))) else {
            continue;
        };
        if !chosen.iter().any(|(_, other)| std::ptr::eq(*other, best)) {
            chosen.push((mbit, best));
        }
    }
    chosen.truncate(3);
    let curve = |(mbit, best): (f64, &Point)| {
        let cost = total(best, mbit);
        let at = |ns: f64| (ns, (cost - ns) / 8e3 * mbit);
        let path = plot.x.spread(600).into_iter().map(at);
        let path = path.filter(|(_, bytes)| *bytes > 0.0 && plot.y.holds(*bytes));
        (mbit, path.map(|(ns, bytes)| plot.place(ns, bytes)).collect::<Vec<_>>())
    };
    chosen.into_iter().map(curve).filter(|(_, path)| path.len() > 1).collect()
}

fn put(
    canvas: &Canvas,
    layout: &mut Layout,
    text: &str,
    pen: Pen,
    point: (f64, f64),
    far: bool,
) -> Result<bool> {
    let size = (canvas.width(text, pen) + 2.0, pen.size * 1.25);
    let Some(Place { rect, leader }) = layout.put(&Wish { point, size, far }) else { return Ok(false) };
    let middle = (rect.top + rect.bottom) / 2.0;
    if leader {
        let end =
            (point.0.clamp(rect.left, rect.right), if point.1 > middle { rect.bottom } else { rect.top });
        canvas.line(&[point, end], pen.color.mix(0.5), 1.0)?;
    }
    let paper = Rect {
        left: rect.left - 1.0,
        top: rect.top + 1.0,
        right: rect.right + 1.0,
        bottom: rect.bottom - 1.0,
    };
    canvas.rect(paper, PAPER.mix(0.75))?;
    canvas.text(text, (rect.left, middle), pen)?;
    Ok(true)
}

/// The two ends first, then every second, so that a crowd keeps the most telling names.
fn label_front(canvas: &Canvas, plot: &Plot, layout: &mut Layout, front: &[&Point]) -> Result<()> {
    let last = front.len().saturating_sub(1);
    let mut order: Vec<usize> = (0..front.len()).collect();
    order.sort_by_key(|index| (*index != 0 && *index != last, index % 2, *index));
    for point in order.into_iter().map(|index| front[index]) {
        let pen = Pen::new(15.0, palette::row(point.row)).bold();
        let text = shorten(&point.row.label, 34);
        put(canvas, layout, &text, pen, plot.place(point.ns, point.bytes), true)?;
    }
    Ok(())
}

fn label_equal(canvas: &Canvas, layout: &mut Layout, equal: &[(f64, Vec<(f64, f64)>)]) -> Result<()> {
    for (mbit, path) in equal {
        let pen = Pen::new(14.0, QUIET);
        let text = units::mbit(*mbit);
        for share in [0.0, 0.06, 0.12, 0.2, 0.3, 1.0] {
            let point = path[((path.len() - 1) as f64 * share) as usize];
            if put(canvas, layout, &text, pen, point, false)? {
                break;
            }
        }
    }
    Ok(())
}

/// The reference, then each codec without a name yet once, where there is room beside one of its points.
fn label_rest(
    canvas: &Canvas,
    plot: &Plot,
    layout: &mut Layout,
    group: &GroupView,
    points: &[Point],
) -> Result<()> {
    let reference = points.iter().find(|point| Some(point.row.result.cell.id.as_str()) == group.reference());
    if let Some(point) = reference.filter(|point| !point.row.result.front) {
        let pen = Pen::new(14.0, palette::row(point.row)).bold();
        let text = format!("{} (reference)", shorten(&point.row.label, 30));
        put(canvas, layout, &text, pen, plot.place(point.ns, point.bytes), true)?;
    }
    for curve in families(points).values() {
        let named = curve.iter().any(|point| {
            point.row.result.front || Some(point.row.result.cell.id.as_str()) == group.reference()
        });
        if named {
            continue;
        }
        let pen = Pen::new(14.0, palette::row(curve[0].row));
        for point in curve.iter().rev() {
            let text = shorten(&point.row.label, 30);
            if put(canvas, layout, &text, pen, plot.place(point.ns, point.bytes), false)? {
                break;
            }
        }
    }
    Ok(())
}
