//! Scales: ranges with ticks at round numbers, linear or logarithmic, drawn by plotters.

use anyhow::Result;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;

use super::canvas::{Canvas, FINE, GRID, Pen, QUIET, Rect, at, failed, fine};

/// One axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    log: bool,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

impl Axis {
    /// From the smallest to the largest of positive values, with `slack` (a share of the span) at both ends.
    pub fn log(low: f64, high: f64, slack: (f64, f64)) -> Axis {
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
        Axis { log: true, low, high, ticks }
    }

    /// Exactly the given ticks on a logarithmic scale.
    pub fn log_at(ticks: &[f64]) -> Axis {
        let ticks: Vec<f64> = ticks.iter().filter(|tick| **tick > 0.0).map(|tick| tick.log10()).collect();
        let ticks = spaced(&ticks, 0.12);
        let (low, high) =
            (ticks.iter().copied().fold(f64::MAX, f64::min), ticks.iter().copied().fold(f64::MIN, f64::max));
        Axis { log: true, low, high: high.max(low + 0.1), ticks }
    }

    /// A linear scale with about six round ticks.
    pub fn linear(low: f64, high: f64, slack: (f64, f64)) -> Axis {
        let span = (high - low).max(high.abs() * 0.02).max(f64::MIN_POSITIVE);
        let (low, high) = (low - span * slack.0, low + span * (1.0 + slack.1));
        let raw = (high - low) / 6.0;
        let unit = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|by| by * unit).into_iter().find(|step| *step >= raw);
        let step = step.unwrap_or(unit * 10.0);
        let first = (low / step).ceil() as i64;
        let ticks = (first..).map(|index| index as f64 * step).take_while(|tick| *tick <= high).collect();
        Axis { log: false, low, high, ticks }
    }

    /// A linear scale over whole numbers, one tick each.
    pub fn whole(low: i32, high: i32) -> Axis {
        let ticks = (low..=high).map(f64::from).collect();
        Axis { log: false, low: f64::from(low) - 0.3, high: f64::from(high) + 0.3, ticks }
    }

    fn scale(&self, value: f64) -> f64 {
        if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    fn value(&self, scaled: f64) -> f64 {
        if self.log { 10f64.powf(scaled) } else { scaled }
    }

    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&self.scale(value))
    }

    /// The values at both ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.value(self.low), self.value(self.high))
    }

    /// The values at the ticks.
    pub fn ticks(&self) -> Vec<f64> {
        self.ticks.iter().map(|tick| self.value(*tick)).collect()
    }

    /// Values spread evenly over the scale.
    pub fn spread(&self, count: usize) -> Vec<f64> {
        let step = (self.high - self.low) / (count.max(2) - 1) as f64;
        (0..count).map(|index| self.value(self.low + step * index as f64)).collect()
    }
}

/// The axis as plotters wants it: values of the data in, pixels and ticks out.
impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (self.scale(*value) - self.low) / (self.high - self.low);
        limit.0 + (f64::from(limit.1 - limit.0) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> std::ops::Range<f64> {
        let (low, high) = self.ends();
        low..high
    }
}

impl ValueFormatter<f64> for Axis {}

/// A rectangle with two axes.
pub(super) struct Plot {
    pub rect: Rect,
    pub x: Axis,
    pub y: Axis,
}

/// How the axes of a plot are named and their ticks written.
pub(super) struct Naming<'a> {
    pub x: &'a str,
    pub y: &'a str,
    pub x_tick: &'a dyn Fn(f64) -> String,
    pub y_tick: &'a dyn Fn(f64) -> String,
}

const X_LABELS: f64 = 34.0;
const Y_LABELS: f64 = 84.0;

impl Plot {
    /// Pixels of a place in the data.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let share_x = (self.x.scale(x) - self.x.low) / (self.x.high - self.x.low);
        let share_y = (self.y.scale(y) - self.y.low) / (self.y.high - self.y.low);
        // An interval may end at zero or at infinity; its picture ends a little outside of the plot.
        let (share_x, share_y) = (share_x.clamp(-0.02, 1.02), share_y.clamp(-0.02, 1.02));
        (self.rect.left + share_x * self.rect.width(), self.rect.bottom - share_y * self.rect.height())
    }

    /// Draws grid, ticks and names.
    pub fn frame(&self, canvas: &Canvas, naming: &Naming) -> Result<()> {
        let outer = canvas.root.clone().shrink(
            at(self.rect.left - Y_LABELS, self.rect.top),
            (fine(self.rect.width() + Y_LABELS) as u32, fine(self.rect.height() + X_LABELS) as u32),
        );
        let mut chart = ChartBuilder::on(&outer)
            .x_label_area_size(fine(X_LABELS))
            .y_label_area_size(fine(Y_LABELS))
            .build_cartesian_2d(self.x.clone(), self.y.clone())
            .map_err(failed)?;
        let label = Pen::new(15.0, QUIET);
        chart
            .configure_mesh()
            .x_labels(self.x.ticks.len())
            .y_labels(self.y.ticks.len())
            .x_max_light_lines(0)
            .y_max_light_lines(0)
            .bold_line_style(GRID.stroke_width(FINE as u32))
            .light_line_style(TRANSPARENT)
            .axis_style(QUIET.stroke_width(FINE as u32))
            .x_label_style(label.style())
            .y_label_style(label.style())
            .x_label_formatter(&|x| (naming.x_tick)(*x))
            .y_label_formatter(&|y| (naming.y_tick)(*y))
            .set_all_tick_mark_size(fine(5.0))
            .draw()
            .map_err(failed)?;
        let name = Pen::new(16.0, super::canvas::INK);
        let center = plotters::style::text_anchor::HPos::Center;
        let middle = (self.rect.left + self.rect.right) / 2.0;
        canvas.text(naming.x, (middle, self.rect.bottom + X_LABELS + 16.0), name.anchored(center))?;
        let widest = self.y.ticks().into_iter().map(|tick| canvas.width(&(naming.y_tick)(tick), label));
        let left = self.rect.left - 28.0 - widest.fold(0.0, f64::max);
        canvas.text(
            naming.y,
            (left, (self.rect.top + self.rect.bottom) / 2.0),
            name.anchored(center).upright(),
        )
    }
}

/// The ticks that keep a distance of this share of the span: the ends, then powers of ten, then the others.
fn spaced(ticks: &[f64], share: f64) -> Vec<f64> {
    let (Some(first), Some(last)) = (ticks.first(), ticks.last()) else { return Vec::new() };
    let mut kept = vec![*first];
    let round = |tick: &&f64| (tick.round() - **tick).abs() < 1e-9;
    let (tens, others): (Vec<&f64>, Vec<&f64>) = ticks.iter().partition(round);
    for tick in [last].into_iter().chain(tens).chain(others) {
        if kept.iter().all(|other| (other - tick).abs() >= (last - first) * share) {
            kept.push(*tick);
        }
    }
    kept.sort_by(f64::total_cmp);
    kept
}

/// A path cut into dashes of `on` pixels with gaps of `off`.
pub(super) fn dashes(points: &[(f64, f64)], on: f64, off: f64) -> Vec<Vec<(f64, f64)>> {
    let mut out: Vec<Vec<(f64, f64)>> = Vec::new();
    let (mut drawing, mut left) = (true, on);
    let mut dash: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length <= left {
                left -= length;
                if drawing {
                    dash.push(to);
                }
                break;
            }
            let share = left / length;
            from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            if drawing {
                dash.push(from);
                out.push(std::mem::take(&mut dash));
            } else {
                dash = vec![from];
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
    }
    if drawing && dash.len() > 1 {
        out.push(dash);
    }
    out
}

/// A time in nanoseconds for a tick: without zeros behind the point.
pub(super) fn time_tick(ns: f64) -> String {
    let text = weigh_model::units::ns(ns);
    match text.split_once(' ') {
        Some((number, unit)) => format!("{} {unit}", short(number)),
        None => text,
    }
}

/// A number for a tick.
pub(super) fn number_tick(number: f64) -> String {
    short(&weigh_model::units::significant(number)).to_owned()
}

fn short(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::linear(900_000.0, 2_100_000.0, (0.05, 0.05));
        assert_eq!(axis.ticks(), [1_000_000.0, 1_250_000.0, 1_500_000.0, 1_750_000.0, 2_000_000.0]);
        let axis = Axis::log(0.9e6, 8e9, (0.0, 0.0));
        let ticks: Vec<_> = axis.ticks().into_iter().map(time_tick).collect();
        assert_eq!(ticks, ["1 ms", "10 ms", "100 ms", "1 s"]);
        assert!(axis.ticks().into_iter().all(|tick| axis.holds(tick)));
    }

    #[test]
    fn crowded_ticks_give_way_to_round_ones() {
        let axis = Axis::log_at(&[10.0, 50.0, 100.0, 500.0, 1000.0, 2500.0, 10_000.0, 25_000.0]);
        let ticks: Vec<_> = axis.ticks().iter().map(|tick| tick.round()).collect();
        assert_eq!(ticks, [10.0, 100.0, 1000.0, 25_000.0]);
    }

    #[test]
    fn a_single_value_still_has_a_range() {
        for axis in [Axis::log(5.0, 5.0, (0.1, 0.1)), Axis::linear(5.0, 5.0, (0.1, 0.1))] {
            let (low, high) = axis.ends();
            assert!(low < 5.0 && high > 5.0, "{axis:?}");
        }
    }

    #[test]
    fn dashes_keep_their_length() {
        let cut = dashes(&[(0.0, 0.0), (10.0, 0.0), (20.0, 0.0)], 6.0, 5.0);
        assert_eq!(cut.len(), 2);
        assert_eq!(cut[0], [(0.0, 0.0), (6.0, 0.0)]);
        assert_eq!(cut[1], [(11.0, 0.0), (17.0, 0.0)]);
    }
}
