//! A table with typed columns that fits the width it is given: less important columns go, texts are
//! shortened or wrapped. Owns layout; refuses to know what the figures mean.

use console::Style;
use weigh_model::units;

use crate::bars;
use crate::text::{clean, columns, shorten, wrap};

/// Columns between two columns.
const GAP: usize = 2;
/// The narrowest column of a list, where its texts and its name are wider.
const NARROWEST: usize = 8;
/// The narrowest and the widest bar worth drawing.
const BAR: (usize, usize) = (8, 24);

/// How a column's cells are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Left aligned; may be shortened to this many columns.
    Text(usize),
    /// Left aligned; wrapped where there is no room, to no less than this many columns.
    Wrapped(usize),
    /// Three significant digits, decimal points one under the other.
    Three,
    /// A fixed number of decimals.
    Fixed(usize),
    /// A whole number with thousands separated.
    Whole,
    /// A bar from 0 to the column's largest number, where there is room left.
    Bar,
}

impl Kind {
    /// Whether its cells end at the column's right edge.
    pub fn is_right(self) -> bool {
        matches!(self, Kind::Three | Kind::Fixed(_) | Kind::Whole)
    }
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The header.
    pub name: &'static str,
    /// The unit of every cell, on the header's second line.
    pub unit: String,
    /// How its cells are shown.
    pub kind: Kind,
    /// 0 stays; of the others the highest goes first when room is short.
    pub priority: u8,
}

impl Column {
    /// A column of that name.
    pub fn new(name: &'static str, unit: impl Into<String>, kind: Kind, priority: u8) -> Column {
        Column { name, unit: unit.into(), kind, priority }
    }
}

/// One cell: a text, or a number that may be missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Shown as it is.
    Text(String),
    /// Shown as the column's kind says; a dash where it is missing.
    Number(Option<f64>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}
impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(Some(number))
    }
}
impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Cell {
        Cell::Number(number)
    }
}

/// How a row stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Like any other.
    #[default]
    Plain,
    /// On the front.
    Strong,
    /// Dominated.
    Dim,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom, a cell for each column.
    pub rows: Vec<(Tone, Vec<Cell>)>,
    /// A plain list: no rule under its names, and every column stays.
    pub plain: bool,
}

/// A column beside what stands in it.
pub fn field(
    name: &'static str,
    unit: &str,
    kind: Kind,
    priority: u8,
    cell: impl Into<Cell>,
) -> (Column, Cell) {
    (Column::new(name, unit, kind, priority), cell.into())
}

impl Grid {
    /// A table with a row for each thing; `row` has each column beside what stands in it.
    pub fn of<T>(things: impl IntoIterator<Item = T>, row: impl Fn(T) -> Vec<(Column, Cell)>) -> Grid {
        Grid::toned(things, |thing| (Tone::Plain, row(thing)))
    }

    /// As [`Grid::of`], with how each row stands out.
    pub fn toned<T>(
        things: impl IntoIterator<Item = T>,
        row: impl Fn(T) -> (Tone, Vec<(Column, Cell)>),
    ) -> Grid {
        let mut grid = Grid::new(Vec::new());
        for (tone, fields) in things.into_iter().map(row) {
            let (columns, cells) = fields.into_iter().unzip();
            grid.columns = columns;
            grid.push(tone, cells);
        }
        grid
    }

    /// A table that drops columns and shortens texts where room is short.
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, rows: Vec::new(), plain: false }
    }

    /// A list of texts that wrap where room is short. Columns without a name have no header.
    pub fn list(names: &[&'static str]) -> Grid {
        let columns = names.iter().map(|name| Column::new(name, "", Kind::Wrapped(NARROWEST), 0));
        Grid { columns: columns.collect(), rows: Vec::new(), plain: true }
    }

    /// Adds a line to a list; texts from outside are cleaned.
    pub fn line(&mut self, texts: &[impl AsRef<str>]) {
        self.push(Tone::Plain, texts.iter().map(|text| clean(text.as_ref()).into()).collect());
    }

    /// Adds a row, of a cell for each column.
    pub fn push(&mut self, tone: Tone, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push((tone, cells));
    }

    /// Columns with something in them, bars left out, in order.
    pub fn filled(&self) -> Vec<usize> {
        let filled = |index: &usize| {
            self.columns[*index].kind != Kind::Bar
                && self.rows.iter().any(|(_, cells)| match &cells[*index] {
                    Cell::Text(text) => !text.is_empty(),
                    Cell::Number(number) => number.is_some(),
                })
        };
        (0..self.columns.len()).filter(filled).collect()
    }

    /// A column's cells as text, without padding.
    pub fn texts(&self, index: usize) -> Vec<String> {
        let kind = self.columns[index].kind;
        self.rows.iter().map(|(_, cells)| one(&cells[index], kind)).collect()
    }

    /// The table in at most `width` columns, each line ending in a newline.
    pub fn draw(&self, width: usize, color: bool) -> String {
        if self.rows.is_empty() && !self.plain {
            return String::new();
        }
        let mut plan = self.fit(width);
        let used: usize = plan.iter().map(|drawn| drawn.width + GAP).sum();
        let bar = self.columns.iter().position(|column| column.kind == Kind::Bar);
        if let Some(index) = bar.filter(|_| width >= used + BAR.0) {
            let width = (width - used).min(BAR.1);
            let at = plan.iter().position(|drawn| drawn.index > index).unwrap_or(plan.len());
            plan.insert(at, Slot { index, width, texts: self.bars(index, width) });
        }
        self.paint(&mut plan, color)
    }

    /// Which columns, how wide, with their cells padded but not yet shortened.
    fn fit(&self, width: usize) -> Vec<Slot> {
        let shown = if self.plain { (0..self.columns.len()).collect() } else { self.filled() };
        let mut slots: Vec<Slot> = shown.into_iter().map(|index| self.slot(index)).collect();
        loop {
            let total: usize = slots.iter().map(|slot| slot.width + GAP).sum::<usize>().saturating_sub(GAP);
            let excess = total.saturating_sub(width);
            let slack: usize = slots.iter().map(|slot| slot.width - self.least(slot)).sum();
            let last = slots.iter().enumerate().max_by_key(|(_, slot)| self.columns[slot.index].priority);
            match last {
                Some((at, slot)) if excess > slack && self.columns[slot.index].priority > 0 => {
                    slots.remove(at);
                }
                _ => {
                    self.narrow(&mut slots, excess);
                    return slots;
                }
            }
        }
    }

    /// Takes `excess` columns from the texts, always from the one that can give most.
    fn narrow(&self, slots: &mut [Slot], excess: usize) {
        for _ in 0..excess {
            let widest = slots.iter_mut().max_by_key(|slot| slot.width - self.least(slot));
            match widest {
                Some(slot) if slot.width > self.least(slot) => slot.width -= 1,
                _ => return,
            }
        }
    }

    /// The fewest columns a slot can have: the header stays whole where its texts do not wrap.
    fn least(&self, slot: &Slot) -> usize {
        match self.columns[slot.index].kind {
            Kind::Wrapped(least) => slot.width.min(least),
            Kind::Text(least) => slot.width.min(least.max(self.head(slot.index))),
            _ => slot.width,
        }
    }

    fn head(&self, index: usize) -> usize {
        columns(self.columns[index].name).max(columns(&self.columns[index].unit))
    }

    fn slot(&self, index: usize) -> Slot {
        let mut texts = self.texts(index);
        if self.columns[index].kind == Kind::Three {
            align_points(&mut texts);
        }
        let width = texts.iter().map(|text| columns(text)).max().unwrap_or(0).max(self.head(index));
        Slot { index, width, texts }
    }

    fn bars(&self, index: usize, width: usize) -> Vec<String> {
        let number = |cells: &[Cell]| match cells[index] {
            Cell::Number(Some(number)) => number,
            _ => 0.0,
        };
        let largest = self.rows.iter().map(|(_, cells)| number(cells)).fold(0.0, f64::max);
        self.rows.iter().map(|(_, cells)| bars::bar(number(cells) / largest, width)).collect()
    }

    fn paint(&self, slots: &mut [Slot], color: bool) -> String {
        let style = || Style::new().force_styling(color);
        let units = slots.iter().any(|slot| !self.columns[slot.index].unit.is_empty());
        let heads: Vec<Vec<String>> = slots.iter().map(|slot| self.heads(slot, units)).collect();
        let rows: Vec<Vec<Vec<String>>> = (0..self.rows.len())
            .map(|row| slots.iter().map(|slot| self.fold(slot, &slot.texts[row])).collect())
            .collect();
        for (at, slot) in slots.iter_mut().enumerate() {
            let cells = rows.iter().chain([&heads]).flat_map(|row| &row[at]);
            slot.width = cells.map(|line| columns(line)).max().unwrap_or(0);
        }
        let mut out = String::new();
        if !self.plain {
            self.put(&mut out, slots, &heads, &style().bold());
            let width: usize = slots.iter().map(|slot| slot.width + GAP).sum();
            out.push_str(&format!("{}\n", "─".repeat(width.saturating_sub(GAP))));
        } else if self.columns.iter().any(|column| !column.name.is_empty()) {
            self.put(&mut out, slots, &heads, &style());
        }
        for ((tone, _), cells) in self.rows.iter().zip(&rows) {
            let style = match tone {
                Tone::Plain => style(),
                Tone::Strong => style().green(),
                Tone::Dim => style().dim(),
            };
            self.put(&mut out, slots, cells, &style);
        }
        out
    }

    fn heads(&self, slot: &Slot, units: bool) -> Vec<String> {
        let column = &self.columns[slot.index];
        let unit = units.then(|| column.unit.clone());
        self.fold(slot, column.name).into_iter().chain(unit).collect()
    }

    /// A text's lines, no wider than its slot.
    fn fold(&self, slot: &Slot, text: &str) -> Vec<String> {
        match self.columns[slot.index].kind {
            // A text that fits keeps the blanks at its begin.
            Kind::Wrapped(_) if columns(text) > slot.width => wrap(text, slot.width),
            _ => vec![shorten(text, slot.width)],
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
}

/// A column that is drawn.
struct Slot {
    index: usize,
    width: usize,
    texts: Vec<String>,
}

fn one(cell: &Cell, kind: Kind) -> String {
    match (cell, kind) {
        (Cell::Text(text), _) => text.clone(),
        (Cell::Number(None), _) => "–".into(),
        (Cell::Number(Some(number)), Kind::Fixed(decimals)) => format!("{number:.decimals$}"),
        (Cell::Number(Some(number)), Kind::Whole) if *number < 1e3 => format!("{number:.0}"),
        (Cell::Number(Some(number)), Kind::Whole) => units::significant(number.round()),
        (Cell::Number(Some(number)), _) => units::significant(*number),
    }
}

/// Pads on the right so that decimal points stand one under the other in a right-aligned column.
fn align_points(texts: &mut [String]) {
    let after = |text: &str| text.find('.').map_or(0, |point| text.len() - point);
    let longest = texts.iter().map(|text| after(text)).max().unwrap_or(0);
    for text in texts {
        let missing = longest - after(text);
        text.push_str(&"\u{a0}".repeat(missing));
    }
}

#[cfg(test)]
mod tests;
