//! Horizontal bars, one a row, in panels beside each other; a bar that is too long is cut, and its number says how long.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, GRID, INK, PAPER, Pen, QUIET, Rect};

/// Heights of a row between which rows stay readable.
const PITCH: (f64, f64) = (15.0, 30.0);
/// Room between a bar and its number, and behind that.
const GAP: f64 = 6.0;

/// One bar: its parts from the left with their colours, how far a whisker goes on from there, and what stands behind it.
#[derive(Default)]
pub(super) struct Bar {
    pub parts: Vec<(f64, RGBAColor)>,
    pub whisker: Option<f64>,
    pub text: String,
}

impl Bar {
    fn length(&self) -> f64 {
        self.parts.iter().map(|part| part.0).sum()
    }

    /// With its whisker.
    fn reach(&self) -> f64 {
        self.whisker.unwrap_or(0.0).max(self.length())
    }
}

/// How many rows fit between two heights.
pub(super) fn most(top: f64, bottom: f64) -> usize {
    ((bottom - top) / PITCH.0) as usize
}

/// The height of one of so many rows.
pub(super) fn pitch(count: usize, top: f64, bottom: f64) -> f64 {
    ((bottom - top) / count.max(1) as f64).min(PITCH.1)
}

/// The names of the rows, right-aligned at `x`.
pub(super) fn names(
    canvas: &Canvas,
    names: &[(String, RGBColor)],
    (x, width): (f64, f64),
    (top, pitch): (f64, f64),
) -> Result<()> {
    for (place, (name, color)) in names.iter().enumerate() {
        let pen = Pen::new(size(pitch), *color).anchored(HPos::Right);
        let y = top + pitch * (place as f64 + 0.5);
        canvas.text(&canvas.fit(name, pen, width), (x, y), pen)?;
    }
    Ok(())
}

fn size(pitch: f64) -> f64 {
    (pitch * 0.72).clamp(11.0, 15.0)
}

/// The bars of a panel below its title. Those longer than `cap` are cut.
pub(super) fn panel(
    canvas: &Canvas,
    title: &str,
    rect: Rect,
    bars: &[Bar],
    (cap, pitch): (f64, f64),
) -> Result<()> {
    let longest = bars.iter().map(Bar::reach).filter(|l| l.is_finite()).fold(0.0, f64::max).min(cap);
    let pen = Pen::new(size(pitch) - 1.0, QUIET);
    let number = bars.iter().map(|bar| canvas.width(&bar.text, pen)).fold(0.0, f64::max) + 2.0 * GAP;
    let scale = if longest > 0.0 { (rect.width() - number).max(0.0) / longest } else { 0.0 };
    let head = Pen::new(15.0, INK).bold();
    canvas.text(&canvas.fit(title, head, rect.width()), (rect.left, rect.top - 16.0), head)?;
    let bottom = rect.top + pitch * bars.len() as f64;
    canvas.line(&[(rect.left, rect.top), (rect.left, bottom)], GRID.mix(1.0), 1.5)?;
    for (place, bar) in bars.iter().enumerate() {
        let top = rect.top + pitch * place as f64 + pitch * 0.14;
        let low = top + pitch * 0.72;
        let mut x = rect.left;
        let end = rect.left + longest * scale;
        for (part, color) in &bar.parts {
            let right = (x + part.max(0.0) * scale).min(end);
            if right > x {
                canvas.rect(Rect { left: x, top, right, bottom: low }, *color)?;
            }
            x = right;
        }
        if let Some(whisker) = bar.whisker {
            let far = (rect.left + whisker * scale).min(end);
            let middle = (top + low) / 2.0;
            canvas.line(&[(x, middle), (far, middle)], INK.mix(0.8), 1.5)?;
            if whisker <= longest {
                canvas.line(
                    &[(far, middle - pitch * 0.2), (far, middle + pitch * 0.2)],
                    INK.mix(0.8),
                    1.5,
                )?;
            }
            x = x.max(far);
        }
        if bar.reach() > longest * 1.001 {
            // Two strokes of paper: the bar goes on.
            for back in [10.0, 16.0] {
                canvas.line(&[(x - back, low + 1.0), (x - back + 5.0, top - 1.0)], PAPER.mix(1.0), 2.0)?;
            }
        }
        canvas.text(&bar.text, (x + GAP, (top + low) / 2.0), pen)?;
    }
    Ok(())
}
