//! Coloured fields in rows and columns, with words in them.

use super::canvas::{Anchor, Canvas, Color, INK, MARGIN, Pen, Rect, WIDTH};

/// The widest names of rows, and the height of a row.
const NAMES: f64 = 300.0;
const PITCH: f64 = 46.0;
const WIDEST: f64 = 180.0;

#[derive(Clone, Debug)]
pub struct Fields {
    pub columns: Vec<String>,
    pub rows: Vec<FieldRow>,
    pub legend: Vec<(&'static str, Color)>,
}

/// One row: its name and its fields, each with the place of its column.
#[derive(Clone, Debug)]
pub struct FieldRow {
    pub name: String,
    pub fields: Vec<(usize, Field)>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub fill: Color,
    pub words: String,
    pub more: String,
}

impl Fields {
    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64) -> f64 {
        let top = top + 80.0;
        let pen = Pen::new(15.0, INK).anchored(Anchor::End);
        let widest = canvas.widest(self.rows.iter().map(|row| row.name.as_str()), pen).min(NAMES);
        let left = MARGIN + widest + 12.0;
        let width = (WIDTH - MARGIN - left) / self.columns.len().max(1) as f64;
        let width = width.min(WIDEST);
        canvas.legend(&self.legend, (left + 2.0, top - 58.0));
        let head = Pen::new(15.0, INK).bold().anchored(Anchor::Middle);
        for (place, column) in self.columns.iter().enumerate() {
            let x = left + (place as f64 + 0.5) * width;
            canvas.text(&canvas.fit(column, head, width - 4.0), (x, top - 16.0), head);
        }
        for (place, row) in self.rows.iter().enumerate() {
            let y = top + PITCH * place as f64;
            let name = canvas.fit(&row.name, pen, widest);
            canvas.text(&name, (left - 12.0, y + PITCH / 2.0), pen);
            for (column, field) in &row.fields {
                let x = left + *column as f64 * width;
                let (right, bottom) = (x + width - 2.0, y + PITCH - 2.0);
                field.draw(canvas, Rect { left: x + 2.0, top: y + 2.0, right, bottom });
            }
        }
        top + PITCH * self.rows.len() as f64
    }
}

impl Field {
    fn draw(&self, canvas: &mut Canvas, rect: Rect) {
        canvas.rect(rect, self.fill);
        let (x, y) = rect.middle();
        let pen = Pen::new(15.0, self.fill.ink()).bold().anchored(Anchor::Middle);
        canvas.text(&canvas.fit(&self.words, pen, rect.width() - 6.0), (x, y - 9.0), pen);
        let pen = Pen::new(13.0, self.fill.ink()).anchored(Anchor::Middle);
        canvas.text(&canvas.fit(&self.more, pen, rect.width() - 6.0), (x, y + 10.0), pen);
    }
}
