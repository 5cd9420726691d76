//! The names beside the points of a trade-off chart.

use anyhow::Result;

use super::super::super::text::shorten;
use super::super::super::view::GroupView;
use super::super::axis::Plot;
use super::super::canvas::{Canvas, Pen, QUIET};
use super::super::labels::{Layout, put};
use super::super::palette;
use super::equal::Curve;
use super::{Point, families};
use weigh_model::units;

/// The two ends first, then every second, so that a crowd keeps the most telling names.
pub(super) fn front(canvas: &Canvas, plot: &Plot, layout: &mut Layout, front: &[&Point]) -> Result<()> {
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

pub(super) fn equal(canvas: &Canvas, layout: &mut Layout, equal: &[Curve]) -> Result<()> {
    equal.iter().for_each(|(_, path)| layout.take_path(path));
    for (mbit, path) in equal {
        let pen = Pen::new(14.0, QUIET);
        let text = units::mbit(*mbit);
        for share in [0.0, 0.03, 0.06, 0.12, 0.2, 0.3, 0.9, 1.0] {
            let point = path[((path.len() - 1) as f64 * share) as usize];
            if put(canvas, layout, &text, pen, point, false)? {
                break;
            }
        }
    }
    Ok(())
}

/// The reference, then each codec without a name yet once, where there is room beside one of its points.
pub(super) fn rest(
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
