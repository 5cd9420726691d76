//! A table as lines: columns side by side, or a list of rows if there is no room; then the names of columns that are
//! left out, and the legend.

use console::Style;

use super::fit::{Choice, GAP, Slot};
use super::{Cell, Column, Columns, Grid, Kind, Role, Sheet, Tone};
use crate::bars;
use crate::text::{columns, fold, wrap};
use weigh_model::units;

/// The narrowest and the widest bar worth drawing.
const BAR: (usize, usize) = (8, 24);
/// Words wider than this are hard to read.
const PROSE: usize = 110;

impl Sheet<'_> {
    /// Without colours, with every column.
    pub fn plain(width: usize) -> Sheet<'static> {
        Sheet { width, color: false, columns: &Columns::All, more: "", is_brief: false }
    }

    fn style(&self) -> Style {
        Style::new().force_styling(self.color)
    }

    fn toned(&self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => self.style(),
            Tone::Strong => self.style().green(),
            Tone::Dim => self.style().dim(),
        }
    }

    fn remark(&self, out: &mut String, text: &str, indent: &str) {
        for (at, line) in wrap(text, self.width.min(PROSE) - indent.len()).iter().enumerate() {
            let indent = if at == 0 { "" } else { indent };
            out.push_str(&format!("{indent}{}\n", self.style().dim().apply_to(line)));
        }
    }
}

impl Grid {
    /// The table in at most the sheet's width, each line ending in a newline.
    pub fn draw(&self, sheet: &Sheet) -> String {
        if self.rows.is_empty() && !self.plain {
            return String::new();
        }
        let choice = self.choose(sheet);
        let mut out = if choice.fits { self.beside(&choice, sheet) } else { self.listed(&choice, sheet) };
        let left = if sheet.is_brief {
            counted(choice.left.len(), sheet.more)
        } else {
            self.left_out(&choice.left, sheet.more)
        };
        if let Some(line) = left {
            sheet.remark(&mut out, &line, "");
        }
        for (name, about) in self.legend(&choice.shown) {
            sheet.remark(&mut out, &format!("{name}: {about}"), "  ");
        }
        out
    }

    /// The names of columns that are left out, and how to see them; empty if there are none.
    pub fn left_out(&self, left: &[usize], more: &str) -> Option<String> {
        let mut names: Vec<String> = left.iter().map(|index| self.columns[*index].called()).collect();
        names.dedup();
        (!names.is_empty()).then(|| format!("more columns: {} ({more})", names.join(", ")))
    }

    /// Columns with their meaning, for the legend.
    pub fn legend(&self, shown: &[usize]) -> Vec<(String, &'static str)> {
        let columns = shown.iter().map(|index| &self.columns[*index]).filter(|_| self.has_legend);
        let told = columns.filter(|column| !column.about.is_empty());
        told.map(|column| (column.title(), column.about)).collect()
    }

    fn beside(&self, choice: &Choice, sheet: &Sheet) -> String {
        let mut slots = self.slots(&choice.shown, sheet.width);
        let used: usize = slots.iter().map(|slot| slot.width + GAP).sum();
        let bar = self.columns.iter().position(|column| column.kind == Kind::Bar);
        let bar = bar.filter(|_| !matches!(sheet.columns, Columns::These(_)) && sheet.width >= used + BAR.0);
        if let Some(index) = bar {
            let width = (sheet.width - used).min(BAR.1);
            let at = slots.iter().position(|drawn| drawn.index > index).unwrap_or(slots.len());
            slots.insert(at, Slot::of(index, width, self.bars(index, width)));
        }
        self.paint(&mut slots, sheet)
    }

    fn bars(&self, index: usize, width: usize) -> Vec<String> {
        let number = |cells: &[Cell]| match cells[index] {
            Cell::Number(Some(number)) => number,
            _ => 0.0,
        };
        let largest = self.rows.iter().map(|(_, cells)| number(cells)).fold(0.0, f64::max);
        self.rows.iter().map(|(_, cells)| bars::bar(number(cells) / largest, width)).collect()
    }

    fn paint(&self, slots: &mut [Slot], sheet: &Sheet) -> String {
        let units = slots.iter().any(|slot| !self.columns[slot.index].unit.is_empty());
        let heads = self.heads(slots, units);
        let rows: Vec<Vec<Vec<String>>> = (0..self.rows.len())
            .map(|row| slots.iter().map(|slot| self.broken(slot, &slot.texts[row])).collect())
            .collect();
        for (at, slot) in slots.iter_mut().enumerate() {
            let cells = rows.iter().chain([&heads]).flat_map(|row| &row[at]);
            slot.width = cells.map(|line| columns(line)).max().unwrap_or(0);
        }
        let mut out = String::new();
        if !self.plain {
            self.put(&mut out, slots, &heads, &sheet.style().bold());
            let width: usize = slots.iter().map(|slot| slot.width + GAP).sum();
            out.push_str(&format!("{}\n", "─".repeat(width.saturating_sub(GAP))));
        } else if self.columns.iter().any(|column| !column.name.is_empty()) {
            self.put(&mut out, slots, &heads, &sheet.style());
        }
        for ((tone, _), cells) in self.rows.iter().zip(&rows) {
            self.put(&mut out, slots, cells, &sheet.toned(*tone));
        }
        out
    }

    /// Names, which end on one line, and the units below them.
    fn heads(&self, slots: &[Slot], units: bool) -> Vec<Vec<String>> {
        let names = slots.iter().map(|slot| self.broken(slot, self.columns[slot.index].name));
        let names: Vec<Vec<String>> = names.collect();
        let most = names.iter().map(Vec::len).max().unwrap_or(0);
        let head = |(slot, name): (&Slot, Vec<String>)| {
            let above = std::iter::repeat_n(String::new(), most - name.len());
            let unit = self.broken(slot, &self.columns[slot.index].unit);
            above.chain(name).chain(unit.into_iter().filter(|_| units)).collect()
        };
        slots.iter().zip(names).map(head).collect()
    }

    /// A text's lines, no wider than its slot; a number is one.
    fn broken(&self, slot: &Slot, text: &str) -> Vec<String> {
        if self.columns[slot.index].kind == Kind::Text {
            fold(text, slot.width)
        } else {
            vec![text.to_owned()]
        }
    }

    /// Appends one row, as many lines high as its highest cell.
    fn put(&self, out: &mut String, slots: &[Slot], cells: &[Vec<String>], style: &Style) {
        for at in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let mut line = String::new();
            for (slot, cell) in slots.iter().zip(cells) {
                let text = cell.get(at).map_or("", String::as_str);
                let blank = " ".repeat(slot.width.saturating_sub(columns(text)));
                let text = if text.is_empty() { String::new() } else { style.apply_to(text).to_string() };
                line += &if self.columns[slot.index].kind.is_right() { blank + &text } else { text + &blank };
                line += &" ".repeat(GAP);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    /// One block per row: its factors, and below them its figures with their names.
    fn listed(&self, choice: &Choice, sheet: &Sheet) -> String {
        let is_factor = |index: &&usize| self.columns[**index].role == Role::Factor;
        let (factors, others): (Vec<usize>, Vec<usize>) = choice.shown.iter().partition(is_factor);
        let texts: Vec<Vec<String>> = (0..self.columns.len()).map(|index| self.texts(index)).collect();
        let mut out = String::new();
        for (row, (tone, _)) in self.rows.iter().enumerate() {
            let joined = |shown: &[usize]| {
                let room = sheet.width - GAP;
                let cell = |index: &usize| label_cell(&self.columns[*index], &texts[*index][row], room);
                shown.iter().filter_map(cell).collect::<Vec<_>>().join(" · ")
            };
            for line in fold(&joined(&factors), sheet.width) {
                out.push_str(&format!("{}\n", sheet.toned(*tone).apply_to(line)));
            }
            if others.is_empty() {
                continue;
            }
            for line in wrap(&joined(&others), sheet.width - GAP) {
                out.push_str(&format!("{}{}\n", " ".repeat(GAP), sheet.toned(*tone).apply_to(line)));
            }
        }
        out
    }
}

/// How many columns are not shown, and how to see them; nothing where all are.
fn counted(left: usize, more: &str) -> Option<String> {
    (left > 0).then(|| format!("{} more: {more}", units::count(left, "column", "columns")))
}

/// A cell with the name of its column, on one line if it is a number and there is room; empty for an empty cell.
fn label_cell(column: &Column, text: &str, room: usize) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text == "–" {
        return None;
    }
    let named = format!("{}: {text}", column.title());
    match (column.role, column.kind) {
        (Role::Factor, Kind::Text) => Some(text.to_owned()),
        (_, Kind::Text) => Some(named),
        _ if columns(&named) <= room => Some(named.replace(' ', "\u{a0}")),
        _ => Some(format!("{}: {}", column.title(), text.replace(' ', "\u{a0}"))),
    }
}
