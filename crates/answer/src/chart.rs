//! Charts: shapes as plain data, drawn as SVG. This module does not know what was measured: callers fill shapes with
//! figures. It decides how charts look, and does not read results.
//!
//! Labels are placed next to what they name and never overlap, which no charting crate offers; with our own layout, SVG
//! is written directly.

mod axis;
mod bars;
mod canvas;
pub mod dark;
mod fields;
mod labels;
mod lines;
mod palette;
mod scatter;
#[cfg(test)]
mod tests;

pub use axis::{Axis, bytes_tick, ends, time_tick};
pub use bars::{Bar, BarPanel, Bars};
pub use canvas::{Color, INK, QUIET, whole};
pub use fields::{Field, FieldRow, Fields};
pub use lines::{Line, LinePanel, Lines, LinkStrip, Mark};
pub use palette::{GREEN, ORANGE, VIOLET, beside, codec, heat, heat_legend};
pub use scatter::{Scatter, ScatterPoint, Slope};

use canvas::{Anchor, Canvas, MARGIN, Pen, WIDTH};

/// A chart with the text around it.
#[derive(Clone, Debug)]
pub struct Chart {
    pub title: String,
    /// What it shows: parts joined by ` · `.
    pub about: String,
    /// How to read it; in the footer.
    pub remark: String,
    /// The source; in the footer.
    pub source: String,
    pub drawing: Drawing,
}

/// What a chart shows, by its shape.
#[derive(Clone, Debug)]
pub enum Drawing {
    Scatter(Scatter),
    Lines(Lines),
    Bars(Bars),
    Fields(Fields),
}

impl Chart {
    /// The picture, 1200 pixels wide and as high as its content.
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::default();
        let top = self.head(&mut canvas);
        let bottom = match &self.drawing {
            Drawing::Scatter(scatter) => scatter.draw(&mut canvas, top),
            Drawing::Lines(lines) => lines.draw(&mut canvas, top),
            Drawing::Bars(bars) => bars.draw(&mut canvas, top),
            Drawing::Fields(fields) => fields.draw(&mut canvas, top),
        };
        let foot = bottom + 34.0;
        self.foot(&mut canvas, foot);
        canvas.finish(&self.title, &format!("{}. {}", self.about, self.remark), foot + 24.0)
    }

    /// Draws title and subtitle; returns the height at which the chart may start.
    fn head(&self, canvas: &mut Canvas) -> f64 {
        let width = WIDTH - 2.0 * MARGIN;
        let mut y = 44.0;
        let lines = [
            (&self.title, " ", Pen::new(26.0, INK).bold(), 34.0),
            (&self.about, " · ", Pen::new(16.0, QUIET), 23.0),
        ];
        for (text, separator, pen, height) in lines {
            for line in canvas.wrap(text, separator, pen, width, 3) {
                canvas.text(&line, (MARGIN, y), pen);
                y += height;
            }
        }
        y + 4.0
    }

    fn foot(&self, canvas: &mut Canvas, y: f64) {
        let pen = Pen::new(14.0, QUIET);
        let right = pen.anchored(Anchor::End);
        let room = WIDTH - 2.0 * MARGIN - canvas.width(&self.source, right) - 30.0;
        canvas.text(&self.source, (WIDTH - MARGIN, y), right);
        canvas.text(&canvas.fit(&self.remark, pen, room), (MARGIN, y), pen);
    }
}
