//! A trade-off: points by two costs, the front of points that are not dominated, and names where there is room.

use std::collections::BTreeMap;

use super::axis::{Axis, Plot, Tick, ends};
use super::canvas::{Anchor, Canvas, Color, INK, MARGIN, Pen, QUIET, Rect, WIDTH};
use super::labels::Layout;
use crate::text::shorten;
use weigh_model::units;

/// Points that are not worth naming are drawn up to this many times the largest time and size of those that are.
const VIEW: (f64, f64) = (3.0, 1.6);
/// The height of the plot: of an empty one, of each point more, and at most.
const HEIGHT: (f64, f64, f64) = (240.0, 14.0, 450.0);

/// A point may be left out of the plot if it is this much larger than the largest of the others.
const FAR: f64 = 1.25;

/// Points by two costs, the less the better.
#[derive(Clone, Debug)]
pub struct Scatter {
    /// Name and ticks of the axes: along, logarithmic, and up.
    pub x: (&'static str, Tick),
    pub y: (&'static str, Tick),
    /// In the order in which points of one family are joined.
    pub points: Vec<ScatterPoint>,
    /// The 100% of the right axis.
    pub whole: Option<f64>,
    pub slopes: Vec<Slope>,
}

#[derive(Clone, Debug)]
pub struct ScatterPoint {
    pub x: f64,
    pub y: f64,
    pub label: String,
    pub color: Color,
    /// Points of one family are joined by a thin line; one of them is named.
    pub family: String,
    pub is_front: bool,
    /// On the front and worth considering: it has a name.
    pub is_worth: bool,
    /// What the answer recommends: named first, with an arrow.
    pub is_recommended: bool,
    pub is_open: bool,
    /// If it is far above the others, it is named above the plot instead of drawn.
    pub is_aside: bool,
    /// Its role: `reference`.
    pub mark: Option<&'static str>,
}

/// All (x, y) of one sum of costs: y = `start` − x × `fall`.
#[derive(Clone, Debug)]
pub struct Slope {
    pub name: String,
    pub start: f64,
    pub fall: f64,
}

impl ScatterPoint {
    fn radius(&self) -> f64 {
        if self.is_told() { 6.5 } else { 4.5 }
    }

    /// It is named before others are.
    fn is_told(&self) -> bool {
        self.is_worth || self.is_recommended
    }

    /// Its name, with an arrow where it is recommended.
    fn name(&self) -> String {
        let arrow = if self.is_recommended { "→ " } else { "" };
        format!("{arrow}{}", shorten(&self.label, 40))
    }
}

impl Scatter {
    /// A point that is named above the plot.
    pub fn is_off(&self, point: &ScatterPoint) -> bool {
        let largest = self.points.iter().filter(|point| !point.is_aside).map(|point| point.y);
        point.is_aside && point.y > largest.fold(0.0, f64::max) * FAR
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let (off, near): (Vec<_>, Vec<_>) = self.points.iter().partition(|point| self.is_off(point));
        let far = self.far();
        let (shown, beyond): (Vec<_>, Vec<_>) =
            near.into_iter().partition(|point| point.x <= far.0 && point.y <= far.1);
        let (x, y) = self.axes(&shown);
        let top = top + 26.0;
        let height = (HEIGHT.0 + HEIGHT.1 * shown.len() as f64).min(HEIGHT.2);
        let rect = Rect { left: 144.0, top, right: 1106.0, bottom: top + height };
        let plot = Plot { rect, x: &x, y: &y };
        plot.frame(canvas);
        self.shares(canvas, &plot);
        name_aside(canvas, &plot, &off, beyond.len());
        let at = |point: &ScatterPoint| plot.place(point.x, point.y);
        let mut layout = Layout::new(rect.inset(4.0));
        shown.iter().for_each(|point| layout.take_dot(at(point), point.radius() + 1.0));
        let families = families(&shown);
        for family in families.values() {
            let path: Vec<_> = family.iter().map(|point| at(point)).collect();
            canvas.line(&path, family[0].color.faded(0.3), 1.5);
        }
        let mut front: Vec<_> = shown.iter().copied().filter(|point| point.is_front).collect();
        front.sort_by(|a, b| a.x.total_cmp(&b.x));
        let path: Vec<_> = front.iter().map(|point| at(point)).collect();
        canvas.line(&path, INK.faded(0.75), 2.0);
        layout.take_path(&path);
        let slopes = self.slopes.iter().map(|slope| (slope, slope.path(&plot))).filter(|s| s.1.len() > 1);
        let slopes: Vec<_> = slopes.collect();
        slopes.iter().for_each(|(_, path)| canvas.dashes(path, QUIET.faded(0.8), 1.25));
        for point in shown.iter().filter(|p| !p.is_front).chain(shown.iter().filter(|p| p.is_front)) {
            let strength = if point.is_told() { 1.0 } else { 0.45 };
            if point.is_open {
                canvas.ring(at(point), point.radius(), point.color);
            } else {
                canvas.dot(at(point), point.radius(), point.color.faded(strength));
            }
        }
        let mut told: Vec<_> = shown.iter().copied().filter(|point| point.is_told()).collect();
        told.sort_by(|a, b| a.x.total_cmp(&b.x));
        name_told(canvas, &plot, &mut layout, &told);
        name_slopes(canvas, &mut layout, &slopes);
        name_rest(canvas, &plot, &mut layout, &shown, &families);
        rect.bottom + 60.0
    }

    /// The largest time and size that are drawn.
    fn far(&self) -> (f64, f64) {
        let named = || {
            self.points.iter().filter(|point| !point.is_aside && (point.is_told() || point.mark.is_some()))
        };
        if named().next().is_none() {
            return (f64::INFINITY, f64::INFINITY);
        }
        (ends(named().map(|point| point.x)).1 * VIEW.0, ends(named().map(|point| point.y)).1 * VIEW.1)
    }

    fn axes(&self, shown: &[&ScatterPoint]) -> (Axis, Axis) {
        let (low, high) = ends(shown.iter().map(|point| point.y));
        // A tenth of the size fills at most the height, so that small differences look small.
        let low = low.min(high * 0.9);
        let y = if high / low > 5.0 {
            Axis::log((low, high), (0.10, 0.10))
        } else {
            Axis::linear((low, high), (0.12, 0.12))
        };
        let x = Axis::log(ends(shown.iter().map(|point| point.x)), (0.06, 0.10));
        (x.named(self.x.0, self.x.1), y.named(self.y.0, self.y.1))
    }

    fn shares(&self, canvas: &mut Canvas, plot: &Plot) {
        let Some(whole) = self.whole else { return };
        let pen = Pen::new(15.0, QUIET);
        for tick in plot.y.ticks() {
            let y = plot.place(1.0, tick).1;
            canvas.text(&units::percent(tick / whole), (plot.rect.right + 8.0, y), pen);
        }
        let corner = (WIDTH - MARGIN, plot.rect.top - 14.0);
        canvas.text("% of original", corner, pen.anchored(Anchor::End));
    }
}

impl Slope {
    fn path(&self, plot: &Plot) -> Vec<(f64, f64)> {
        let all = plot.x.spread(400).into_iter().map(|x| (x, self.start - x * self.fall));
        let seen = all.filter(|(_, y)| *y > 0.0 && plot.y.holds(*y));
        seen.map(|(x, y)| plot.place(x, y)).collect()
    }
}

fn families<'a>(points: &[&'a ScatterPoint]) -> BTreeMap<&'a str, Vec<&'a ScatterPoint>> {
    let mut families: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    points.iter().for_each(|point| families.entry(&point.family).or_default().push(*point));
    families
}

/// What is far above everything else, with its figures.
fn name_aside(canvas: &mut Canvas, plot: &Plot, off: &[&ScatterPoint], beyond: usize) {
    let mut x = plot.rect.left;
    let pen = Pen::new(14.0, QUIET);
    let mut end = plot.rect.right - 60.0;
    if beyond > 0 {
        let text = format!("{beyond} slower or larger: see table");
        canvas.text(&text, (end, plot.rect.top - 14.0), pen.anchored(Anchor::End));
        end -= canvas.width(&text, pen) + 24.0;
    }
    for point in off {
        let figures = format!("{}, {}", units::bytes(point.y as u64), units::ns(point.x));
        let text = format!("▲ {}: {figures}", point.name());
        let width = canvas.width(&text, pen);
        if x + width > end {
            break;
        }
        canvas.text(&text, (x + 6.0, plot.rect.top - 14.0), pen);
        x += width + 24.0;
    }
}

/// What is recommended first, then the two ends, then every second, so that a crowd keeps the most telling names.
fn name_told(canvas: &mut Canvas, plot: &Plot, layout: &mut Layout, told: &[&ScatterPoint]) {
    let last = told.len().saturating_sub(1);
    let mut order: Vec<usize> = (0..told.len()).collect();
    order.sort_by_key(|index| {
        (!told[*index].is_recommended, *index != 0 && *index != last, index % 2, *index)
    });
    for point in order.into_iter().map(|index| told[index]) {
        let pen = Pen::new(15.0, point.color).bold();
        layout.write(canvas, &point.name(), pen, plot.place(point.x, point.y), true);
    }
}

fn name_slopes(canvas: &mut Canvas, layout: &mut Layout, slopes: &[(&Slope, Vec<(f64, f64)>)]) {
    slopes.iter().for_each(|(_, path)| layout.take_path(path));
    for (slope, path) in slopes {
        let at = |share: f64| path[((path.len() - 1) as f64 * share) as usize];
        let mut shares = [0.0, 0.03, 0.06, 0.12, 0.2, 0.3, 0.9, 1.0].into_iter();
        shares.any(|share| layout.write(canvas, &slope.name, Pen::new(14.0, QUIET), at(share), false));
    }
}

/// The marked ones, then each family without a name yet once, where there is room beside one of its points.
fn name_rest(
    canvas: &mut Canvas,
    plot: &Plot,
    layout: &mut Layout,
    shown: &[&ScatterPoint],
    families: &BTreeMap<&str, Vec<&ScatterPoint>>,
) {
    let at = |point: &ScatterPoint| plot.place(point.x, point.y);
    for point in shown.iter().filter(|point| !point.is_told()) {
        if let Some(mark) = point.mark {
            let text = format!("{} ({mark})", point.name());
            layout.write(canvas, &text, Pen::new(14.0, point.color).bold(), at(point), true);
        }
    }
    let is_named = |point: &&ScatterPoint| point.is_told() || point.mark.is_some();
    for family in families.values().filter(|family| !family.iter().any(is_named)) {
        let pen = Pen::new(14.0, family[0].color);
        let mut points = family.iter().rev();
        points.any(|point| layout.write(canvas, &point.name(), pen, at(point), false));
    }
}
