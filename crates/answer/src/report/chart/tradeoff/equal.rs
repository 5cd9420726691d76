//! Curves of equal cost over a link.

use super::super::axis::Plot;
use super::Point;
use crate::analysis::model::Analysis;

/// Links that have a meaning to most readers, in Mbit/s.
const LINKS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];

/// A link's speed in Mbit/s with its curve in pixels.
pub(super) type Curve = (f64, Vec<(f64, f64)>);

/// For up to three links: the curve of all (time, bytes) that cost as much as the best setting there. A link
/// on which a copy beats every codec has none.
pub(super) fn curves(analysis: &Analysis, plot: &Plot, points: &[Point], off: &[Point]) -> Vec<Curve> {
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
