//! Coloured fields in rows and columns, with words in them.

use super::canvas::{Anchor, BOTTOM, Canvas, Color, INK, MARGIN, Pen, Rect, WIDTH};

/// The widest names of rows, and the height of a row where there is room.
const NAMES: f64 = 280.0;
const PITCH: f64 = 50.0;

/// A table of fields.
#[derive(Clone, Debug)]
pub struct Fields {
    pub columns: Vec<String>,
    pub rows: Vec<FieldRow>,
}

/// One row: its name and its fields, each with the place of its column.
#[derive(Clone, Debug)]
pub struct FieldRow {
    pub name: String,
    pub fields: Vec<(usize, Field)>,
}

/// One field.
#[derive(Clone, Debug)]
pub struct Field {
    pub fill: Color,
    pub ink: Color,
    pub words: String,
    /// Below the words, where there is room.
    pub more: String,
}

impl Fields {
    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let top = top + 50.0;
        let pen = Pen::new(15.0, INK).anchored(Anchor::End);
        let widest = canvas.widest(self.rows.iter().map(|row| row.name.as_str()), pen).min(NAMES);
        let left = MARGIN + widest + 12.0;
        let width = (WIDTH - MARGIN - left) / self.columns.len().max(1) as f64;
        let pitch = ((BOTTOM - top) / self.rows.len().max(1) as f64).min(PITCH);
        let head = Pen::new(15.0, INK).bold().anchored(Anchor::Middle);
        for (place, column) in self.columns.iter().enumerate() {
            let x = left + (place as f64 + 0.5) * width;
            canvas.text(&canvas.fit(column, head, width - 4.0), (x, top - 16.0), head);
        }
        for (place, row) in self.rows.iter().enumerate() {
            let y = top + pitch * place as f64;
            let name = canvas.fit(&row.name, pen, widest);
            canvas.text(&name, (left - 12.0, y + pitch / 2.0), pen);
            for (column, field) in &row.fields {
                let x = left + *column as f64 * width;
                let (right, bottom) = (x + width - 2.0, y + pitch - 2.0);
                field.draw(canvas, Rect { left: x + 2.0, top: y + 2.0, right, bottom });
            }
        }
        top + pitch * self.rows.len() as f64
    }
}

impl Field {
    fn draw(&self, canvas: &mut Canvas, rect: Rect) {
        canvas.rect(rect, self.fill);
        let (x, y) = rect.middle();
        let is_high = rect.height() >= 38.0;
        let pen = Pen::new(15.0, self.ink).bold().anchored(Anchor::Middle);
        let middle = if is_high { y - 8.0 } else { y };
        canvas.text(&canvas.fit(&self.words, pen, rect.width() - 6.0), (x, middle), pen);
        if is_high {
            let pen = Pen::new(13.0, self.ink).anchored(Anchor::Middle);
            canvas.text(&canvas.fit(&self.more, pen, rect.width() - 6.0), (x, y + 10.0), pen);
        }
    }
}
