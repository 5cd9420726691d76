//! Horizontal bars, one per row, in panels. A bar may have parts and a whisker; a bar that is too long is truncated,
//! and its number gives the value.

use super::canvas::{Anchor, Canvas, Color, GRID, INK, MARGIN, PAPER, Pen, QUIET, Rect, WIDTH};

/// Height of a row, and of a row if there are many.
const PITCH: f64 = 30.0;
const CLOSE: f64 = 22.0;
/// Rows from which on there are many.
const MANY: usize = 18;
/// Space between a bar and its number, and after the number.
const GAP: f64 = 6.0;
const BETWEEN: f64 = 14.0;
/// The widest names of rows.
const NAMES: f64 = 330.0;
/// As wide where there is one panel alone.
const ALONE: f64 = 360.0;

#[derive(Clone, Debug)]
pub struct Bars {
    /// One a row, at most [`Bars::MOST`].
    pub names: Vec<(String, Color)>,
    pub panels: Vec<BarPanel>,
    /// What the colours of parts mean.
    pub legend: Vec<(&'static str, Color)>,
}

/// One figure of every row.
#[derive(Clone, Debug)]
pub struct BarPanel {
    pub title: &'static str,
    /// Of the width; those of all panels make 1.
    pub share: f64,
    pub cap: f64,
    pub bars: Vec<Bar>,
}

/// One bar: its parts from the left with their colours, the length of its whisker, and the label after it.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    pub parts: Vec<(f64, Color)>,
    pub whisker: Option<f64>,
    pub text: String,
}

impl Bar {
    fn reach(&self) -> f64 {
        self.whisker.unwrap_or(0.0).max(self.parts.iter().map(|part| part.0).sum())
    }
}

impl Bars {
    /// Rows of one picture at most.
    pub const MOST: usize = 31;

    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let top = top + if self.legend.is_empty() { 40.0 } else { 66.0 };
        let pitch = if self.names.len() > MANY { CLOSE } else { PITCH };
        let size = (pitch * 0.72).clamp(11.0, 15.0);
        let pen = Pen::new(size, INK).anchored(Anchor::End);
        let widest = canvas
            .widest(self.names.iter().map(|name| name.0.as_str()), pen)
            .min(if self.panels.len() == 1 { ALONE } else { NAMES });
        let end = MARGIN + widest;
        for (place, (name, color)) in self.names.iter().enumerate() {
            let y = top + pitch * (place as f64 + 0.5);
            canvas.text(
                &canvas.fit(name, pen, widest),
                (end, y),
                Pen::new(size, *color).anchored(Anchor::End),
            );
        }
        let mut left = end + 10.0;
        canvas.legend(&self.legend, (left, top - 44.0));
        let width = WIDTH - MARGIN + BETWEEN - left;
        for panel in &self.panels {
            let right = left + width * panel.share - BETWEEN;
            panel.draw(canvas, Rect { left, top, right, bottom: top }, (pitch, size - 1.0));
            left = right + BETWEEN;
        }
        top + pitch * self.names.len() as f64
    }
}

impl BarPanel {
    /// No bar is truncated.
    pub fn new(title: &'static str, share: f64, bars: Vec<Bar>) -> BarPanel {
        BarPanel { title, share, cap: f64::INFINITY, bars }
    }

    fn draw(&self, canvas: &mut Canvas, rect: Rect, (pitch, size): (f64, f64)) {
        let reaches = self.bars.iter().map(Bar::reach).filter(|reach| reach.is_finite());
        let longest = reaches.fold(0.0, f64::max).min(self.cap);
        let pen = Pen::new(size, QUIET);
        let number = canvas.widest(self.bars.iter().map(|bar| bar.text.as_str()), pen) + 2.0 * GAP;
        let scale = if longest > 0.0 { (rect.width() - number).max(0.0) / longest } else { 0.0 };
        let head = Pen::new(15.0, INK).bold();
        canvas.text(&canvas.fit(self.title, head, rect.width()), (rect.left, rect.top - 16.0), head);
        let bottom = rect.top + pitch * self.bars.len() as f64;
        canvas.line(&[(rect.left, rect.top), (rect.left, bottom)], GRID, 1.5);
        for (place, bar) in self.bars.iter().enumerate() {
            let top = rect.top + pitch * (place as f64 + 0.14);
            let field = Rect { top, bottom: top + pitch * 0.72, ..rect };
            let end = bar.draw(canvas, field, (longest, scale));
            canvas.text(&bar.text, (end + GAP, field.middle().1), pen);
        }
    }
}

impl Bar {
    /// Draws parts, whisker and truncation mark; returns the end.
    fn draw(&self, canvas: &mut Canvas, field: Rect, (longest, scale): (f64, f64)) -> f64 {
        let end = field.left + longest * scale;
        let mut x = field.left;
        for (part, color) in &self.parts {
            let right = (x + part.max(0.0) * scale).min(end);
            if right > x {
                canvas.rect(Rect { left: x, right, ..field }, *color);
            }
            x = right;
        }
        if let Some(whisker) = self.whisker {
            let far = (field.left + whisker * scale).min(end);
            let (middle, half) = (field.middle().1, field.height() * 0.28);
            canvas.line(&[(x, middle), (far, middle)], INK.faded(0.8), 1.5);
            if whisker <= longest {
                canvas.line(&[(far, middle - half), (far, middle + half)], INK.faded(0.8), 1.5);
            }
            x = x.max(far);
        }
        if self.reach() > longest * 1.001 {
            // Two strokes in the background colour mark a truncated bar.
            for back in [10.0, 16.0] {
                let stroke = [(x - back, field.bottom + 1.0), (x - back + 5.0, field.top - 1.0)];
                canvas.line(&stroke, PAPER, 2.0);
            }
        }
        x
    }
}
