//! Lines with intervals in one or two panels, their names at the right end, marks at crossings, and strips below with
//! the best choice in each range.

use super::axis::{Axis, Plot};
use super::canvas::{Anchor, Canvas, Color, INK, MARGIN, PAPER, Pen, QUIET, Rect, WIDTH};
use super::labels::{Layout, stack};
use crate::text::shorten;

/// Height of a strip, and from one to the next.
const STRIP: f64 = 26.0;
const STRIPS: f64 = 32.0;
/// The height of a panel at least, and of a line's name without and with small letters.
const LEAST: f64 = 300.0;
const NAME: (f64, f64) = (21.0, 40.0);
/// From a panel to the names of its lines.
const BESIDE: f64 = 22.0;

#[derive(Clone, Debug)]
pub struct Lines {
    pub panels: Vec<LinePanel>,
    /// Below the first panel, along its axis, under this caption.
    pub strips: Vec<LinkStrip>,
    pub caption: &'static str,
}

#[derive(Clone, Debug)]
pub struct LinePanel {
    pub title: &'static str,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    pub level: Option<f64>,
    pub marks: Vec<Mark>,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    /// In small letters below the name.
    pub more: String,
    pub color: Color,
    /// Drawn thick; else dashed and thin.
    pub is_strong: bool,
    pub has_dots: bool,
    /// x, y, and the interval of y.
    pub points: Vec<(f64, f64, f64, f64)>,
}

/// A place with an interval along x.
#[derive(Clone, Debug)]
pub struct Mark {
    pub x: f64,
    pub y: f64,
    /// None: the interval has no end.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub color: Color,
    pub label: String,
}

/// The best choice in each range.
#[derive(Clone, Debug)]
pub struct LinkStrip {
    pub name: String,
    /// Each with its end, its colour and its names, the longest first.
    pub parts: Vec<(f64, Color, Vec<String>)>,
}

impl Lines {
    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let height = self.panels.iter().map(LinePanel::height).fold(LEAST, f64::max);
        let mut bottom = top;
        let mut labels: f64 = top;
        // From left to right, and where names end.
        let columns: &[(f64, f64, f64)] = match self.panels.len() {
            1 => &[(144.0, 950.0, WIDTH - 16.0)],
            _ => &[(128.0, 500.0, 638.0), (706.0, 1000.0, WIDTH - MARGIN)],
        };
        for (panel, (left, right, end)) in self.panels.iter().zip(columns) {
            let room = if panel.title.is_empty() { 14.0 } else { 44.0 };
            bottom = top + room + height;
            let rect = Rect { left: *left, top: top + room, right: *right, bottom };
            labels = labels.max(panel.draw(canvas, rect, *end));
        }
        let Some(panel) = self.panels.first().filter(|_| !self.strips.is_empty()) else {
            return bottom + 60.0;
        };
        let rect = Rect { left: columns[0].0, top, right: columns[0].1, bottom };
        let below = labels + 37.0;
        let caption = (rect.left, below);
        canvas.text(self.caption, caption, Pen::new(15.0, QUIET));
        for (index, strip) in self.strips.iter().enumerate() {
            strip.draw(canvas, &panel.plot(rect), below + 14.0 + STRIPS * index as f64);
        }
        below + 14.0 + STRIPS * self.strips.len() as f64
    }
}

impl LinePanel {
    fn plot(&self, rect: Rect) -> Plot<'_> {
        Plot { rect, x: &self.x, y: &self.y }
    }

    /// What the names of its lines need.
    fn height(&self) -> f64 {
        self.lines.len() as f64 * self.gap() + 24.0
    }

    fn gap(&self) -> f64 {
        if self.lines.iter().any(|line| !line.more.is_empty()) { NAME.1 } else { NAME.0 }
    }

    /// Returns how far down its labels reach.
    fn draw(&self, canvas: &mut Canvas, rect: Rect, end: f64) -> f64 {
        let plot = self.plot(rect);
        let labels = plot.frame(canvas);
        let head = Pen::new(18.0, INK).bold().anchored(Anchor::Middle);
        canvas.text(self.title, (rect.middle().0, rect.top - 20.0), head);
        if let Some(level) = self.level {
            let y = plot.place(1.0, level).1;
            canvas.dashes(&[(rect.left, y), (rect.right, y)], INK.faded(0.8), 1.5);
        }
        self.lines.iter().for_each(|line| line.band(canvas, &plot));
        self.lines.iter().for_each(|line| line.draw(canvas, &plot));
        self.name_lines(canvas, &plot, end);
        let mut layout = Layout::new(rect.inset(4.0));
        self.lines.iter().for_each(|line| layout.take_path(&line.path(&plot)));
        self.marks.iter().for_each(|mark| mark.draw(canvas, &plot, &mut layout));
        labels
    }

    /// Names at the right end, moved apart, each with a thin line to the height of its end.
    fn name_lines(&self, canvas: &mut Canvas, plot: &Plot, end: f64) {
        let Rect { top, right, bottom, .. } = plot.rect;
        let gap = self.gap();
        let lowest = bottom - if gap == NAME.1 { 16.0 } else { 4.0 };
        let ends: Vec<f64> =
            self.lines.iter().map(|line| line.path(plot).last().map_or(bottom, |end| end.1)).collect();
        let heights = stack(&ends, gap, (top + 4.0, lowest));
        let x = right + BESIDE;
        for ((line, end_y), y) in self.lines.iter().zip(ends).zip(heights) {
            canvas.line(&[(right + 3.0, end_y), (x - 5.0, y)], line.color.faded(0.6), 1.0);
            let name = Pen::new(15.0, line.color).weighted(line.is_strong);
            canvas.text(&canvas.fit(&line.name, name, end - x), (x, y), name);
            let more = Pen::new(12.0, line.color);
            canvas.text(&canvas.fit(&line.more, more, end - x), (x, y + 16.0), more);
        }
    }
}

impl Line {
    fn path(&self, plot: &Plot) -> Vec<(f64, f64)> {
        self.points.iter().map(|(x, y, ..)| plot.place(*x, *y)).collect()
    }

    fn band(&self, canvas: &mut Canvas, plot: &Plot) {
        if self.points.iter().any(|(_, _, low, high)| low < high) {
            let low = self.points.iter().map(|(x, _, low, _)| plot.place(*x, *low));
            let high = self.points.iter().rev().map(|(x, _, _, high)| plot.place(*x, *high));
            canvas.area(&low.chain(high).collect::<Vec<_>>(), self.color.faded(0.15));
        }
    }

    fn draw(&self, canvas: &mut Canvas, plot: &Plot) {
        let path = self.path(plot);
        if self.is_strong {
            canvas.line(&path, self.color, 2.5);
        } else {
            canvas.dashes(&path, self.color.faded(0.9), 1.75);
        }
        if self.has_dots {
            path.iter().for_each(|point| canvas.dot(*point, 4.0, self.color));
        }
    }
}

impl Mark {
    fn draw(&self, canvas: &mut Canvas, plot: &Plot, layout: &mut Layout) {
        let (left, right) = plot.x.ends();
        let ends = [self.low.unwrap_or(left), self.high.unwrap_or(right)].map(|x| plot.place(x, self.y));
        if self.low.is_some() && self.high.is_some() {
            canvas.line(&ends, self.color.faded(0.8), 2.5);
        } else {
            canvas.dashes(&ends, self.color.faded(0.5), 1.5);
        }
        let point = plot.place(self.x, self.y);
        canvas.ring(point, 4.5, self.color);
        layout.take_dot(point, 6.0);
        if !self.label.is_empty() {
            layout.write(canvas, &self.label, Pen::new(14.0, self.color), point, true);
        }
    }
}

impl LinkStrip {
    fn draw(&self, canvas: &mut Canvas, plot: &Plot, top: f64) {
        let mut left = plot.rect.left;
        for (end, color, names) in &self.parts {
            let right = plot.place(*end, 1.0).0;
            let part = Rect { left, top, right, bottom: top + STRIP };
            canvas.rect(part, color.legible());
            let pen = Pen::new(14.0, PAPER).bold();
            canvas.rect(Rect { left: right - 1.0, ..part }, PAPER);
            if let Some(name) = names.iter().find(|name| canvas.width(name, pen) <= part.width() - 10.0) {
                canvas.text(name, (left + 6.0, part.middle().1), pen);
            }
            left = right;
        }
        let beside = (plot.rect.right + BESIDE, top + STRIP / 2.0);
        canvas.text(&shorten(&self.name, 26), beside, Pen::new(15.0, INK));
    }
}
