//! Charts: shapes as plain data, drawn as SVG. Knows nothing of what is measured: whoever has figures fills a
//! shape with them. Owns how charts look; refuses to read results.
//!
//! Labels stand beside what they name and never cover each other, which no charting crate of the registry does;
//! with the layout our own, SVG is written directly.

mod axis;
mod bars;
mod canvas;
mod fields;
mod labels;
mod lines;
mod palette;
mod scatter;
#[cfg(test)]
mod tests;

pub use axis::{Axis, bytes_tick, ends, time_tick};
pub use bars::{Bar, BarPanel, Bars};
pub use canvas::{Color, INK, QUIET, fonts, whole};
pub use fields::{Field, FieldRow, Fields};
pub use lines::{Line, LinePanel, Lines, LinkStrip, Mark};
pub use palette::{GREEN, ORANGE, VIOLET, beside, codec, heat, heat_legend};
pub use scatter::{Scatter, ScatterPoint, Slope};

use canvas::{Anchor, Canvas, MARGIN, Pen, WIDTH};

/// A chart with what is written around it.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The answer, as title.
    pub title: String,
    /// What it is about: parts joined by ` · `.
    pub about: String,
    /// How to read it; at the foot.
    pub remark: String,
    /// Where it comes from; at the foot.
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
    /// The picture, 1200 pixels wide and as high as what it shows.
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

    /// Draws title and subtitle; gives the height where the chart may begin.
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
