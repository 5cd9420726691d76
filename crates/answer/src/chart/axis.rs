//! Scales with ticks at round numbers, linear or logarithmic, and the rectangle between two of them.

use weigh_model::units;

use super::canvas::{Anchor, Canvas, GRID, INK, Pen, QUIET, Rect};

/// How a value is written at a tick.
pub type Tick = fn(f64) -> String;

#[derive(Clone, Debug)]
pub struct Axis {
    name: &'static str,
    tick: Tick,
    is_log: bool,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    /// Each tick has its label, if need be one row lower.
    is_named: bool,
}

impl Axis {
    fn new(is_log: bool, (low, high): (f64, f64), ticks: Vec<f64>) -> Axis {
        Axis { name: "", tick: units::trimmed_number, is_log, low, high, ticks, is_named: false }
    }

    /// From the smallest to the largest of positive values, with `slack` (a share of the span) at both ends.
    pub fn log((low, high): (f64, f64), slack: (f64, f64)) -> Axis {
        let low = low.max(f64::MIN_POSITIVE);
        let span = (high / low).log10().max(0.3);
        let (low, high) = (low.log10() - span * slack.0, low.log10() + span * (1.0 + slack.1));
        let wide = high - low;
        let steps: &[f64] = if wide > 3.2 {
            &[1.0]
        } else if wide > 1.2 {
            &[1.0, 3.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        let decades = low.floor() as i32..=high.ceil() as i32;
        let ticks = decades.flat_map(|decade| steps.iter().map(move |step| step.log10() + f64::from(decade)));
        let ticks: Vec<_> = ticks.filter(|tick| (low..=high).contains(tick)).collect();
        let ticks = if ticks.len() > 8 { ticks.into_iter().step_by(2).collect() } else { ticks };
        Axis::new(true, (low, high), ticks)
    }

    /// Exactly the given ticks on a logarithmic scale.
    pub fn log_at(ticks: &[f64]) -> Axis {
        let ticks: Vec<f64> = ticks.iter().filter(|tick| **tick > 0.0).map(|tick| tick.log10()).collect();
        let (low, high) = ends(ticks.iter().copied());
        Axis { is_named: true, ..Axis::new(true, (low, high.max(low + 0.1)), ticks) }
    }

    /// A linear scale with about six round ticks.
    pub fn linear((low, high): (f64, f64), slack: (f64, f64)) -> Axis {
        let span = (high - low).max(high.abs() * 0.02).max(f64::MIN_POSITIVE);
        let (low, high) = (low - span * slack.0, low + span * (1.0 + slack.1));
        let raw = (high - low) / 6.0;
        let unit = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|by| by * unit).into_iter().find(|step| *step >= raw);
        let step = step.unwrap_or(unit * 10.0);
        let first = (low / step).ceil() as i64;
        let ticks = (first..).map(|index| index as f64 * step).take_while(|tick| *tick <= high).collect();
        Axis::new(false, (low, high), ticks)
    }

    /// With its name, and how its ticks are written.
    pub fn named(self, name: &'static str, tick: Tick) -> Axis {
        Axis { name, tick, ..self }
    }

    fn scale(&self, value: f64) -> f64 {
        if self.is_log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    fn value(&self, scaled: f64) -> f64 {
        if self.is_log { 10f64.powf(scaled) } else { scaled }
    }

    /// The position of a value, 0 to 1. An interval may end at zero or at infinity: it is drawn up to the border of the
    /// plot.
    fn share(&self, value: f64) -> f64 {
        ((self.scale(value) - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&self.scale(value))
    }

    /// The values at both ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.value(self.low), self.value(self.high))
    }

    pub fn ticks(&self) -> Vec<f64> {
        self.ticks.iter().map(|tick| self.value(*tick)).collect()
    }

    /// Values spread evenly over the scale.
    pub fn spread(&self, count: usize) -> Vec<f64> {
        let step = (self.high - self.low) / (count.max(2) - 1) as f64;
        (0..count).map(|index| self.value(self.low + step * index as f64)).collect()
    }
}

/// A rectangle with two axes.
pub struct Plot<'a> {
    pub rect: Rect,
    pub x: &'a Axis,
    pub y: &'a Axis,
}

/// From the lower border to the ticks' labels and to the axis' name.
const X_TICK: f64 = 17.0;
const X_NAME: f64 = 50.0;
/// From one row of labels to the next.
const X_ROW: f64 = 19.0;

impl Plot<'_> {
    /// Pixels of a place in the data.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let Rect { left, bottom, .. } = self.rect;
        (left + self.x.share(x) * self.rect.width(), bottom - self.y.share(y) * self.rect.height())
    }

    /// Draws grid, ticks and names. A tick whose label would overlap the one before has its label one row lower, or
    /// none if not every tick needs one. Returns how far down labels reach.
    pub fn frame(&self, canvas: &mut Canvas) -> f64 {
        let Rect { left, top, right, bottom } = self.rect;
        let pen = Pen::new(15.0, QUIET);
        let mut free = vec![f64::NEG_INFINITY; if self.x.is_named { 2 } else { 1 }];
        let mut lowest = bottom + X_TICK;
        for tick in self.x.ticks() {
            let x = self.place(tick, 1.0).0;
            let label = (self.x.tick)(tick);
            let half = canvas.width(&label, pen) / 2.0;
            canvas.line(&[(x, top), (x, bottom)], GRID, 1.0);
            canvas.line(&[(x, bottom), (x, bottom + 5.0)], QUIET, 1.0);
            if let Some(row) = free.iter().position(|free| x - half > *free) {
                let y = bottom + X_TICK + X_ROW * row as f64;
                canvas.text(&label, (x, y), pen.anchored(Anchor::Middle));
                free[row] = x + half + 3.0;
                lowest = lowest.max(y);
            }
        }
        let labels: Vec<String> = self.y.ticks().into_iter().map(self.y.tick).collect();
        for (tick, label) in self.y.ticks().into_iter().zip(&labels) {
            let y = self.place(1.0, tick).1;
            canvas.line(&[(left, y), (right, y)], GRID, 1.0);
            canvas.line(&[(left - 5.0, y), (left, y)], QUIET, 1.0);
            canvas.text(label, (left - 10.0, y), pen.anchored(Anchor::End));
        }
        canvas.line(&[(left, top), (left, bottom), (right, bottom)], QUIET, 1.0);
        let name = Pen::new(16.0, INK).anchored(Anchor::Middle);
        let (x, y) = self.rect.middle();
        canvas.text(self.x.name, (x, bottom + X_NAME), name);
        let beside = left - 28.0 - canvas.widest(labels.iter().map(String::as_str), pen);
        canvas.text(self.y.name, (beside, y), name.upright());
        lowest
    }
}

/// The smallest and the largest of some values.
pub fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values.into_iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

/// A time in nanoseconds for a tick, without trailing zeros.
pub fn time_tick(ns: f64) -> String {
    let text = units::ns(ns);
    let Some((number, unit)) = text.split_once(' ').filter(|(number, _)| number.contains('.')) else {
        return text;
    };
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

pub fn bytes_tick(bytes: f64) -> String {
    units::bytes(bytes.round() as u64)
}
