//! A table with typed columns that fits the width it is given: less important columns go, texts are
//! shortened, nothing wraps. Owns layout; refuses to know what the figures mean.

use comfy_table::{Attribute, Cell as Drawn, CellAlignment, Color, LineStyle, Row, Table, TableStyle};

use super::bars;
use super::text::{columns, shorten};
use weigh_model::units;

/// Columns between two columns.
const GAP: usize = 2;
/// The narrowest and the widest bar worth drawing.
const BAR: (usize, usize) = (8, 24);

/// How a column's cells are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Left aligned; may be shortened to this many columns.
    Text(usize),
    /// Three significant digits, decimal points one under the other.
    Three,
    /// A fixed number of decimals.
    Fixed(usize),
    /// A whole number with thousands separated.
    Whole,
    /// A bar from 0 to the column's largest number, where there is room left.
    Bar,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: &'static str,
    /// The unit of every cell, on the header's second line.
    pub unit: String,
    pub kind: Kind,
    /// 0 stays; of the others the highest goes first when room is short.
    pub priority: u8,
}

impl Column {
    pub fn new(name: &'static str, unit: impl Into<String>, kind: Kind, priority: u8) -> Column {
        Column { name, unit: unit.into(), kind, priority }
    }
}

/// One cell: a text, or a number that may be missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
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
    pub columns: Vec<Column>,
    pub rows: Vec<(Tone, Vec<Cell>)>,
}

impl Grid {
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, rows: Vec::new() }
    }

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
        if self.rows.is_empty() {
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
        self.paint(plan, color)
    }

    /// Which columns, how wide, with their cells padded but not yet shortened.
    fn fit(&self, width: usize) -> Vec<Slot> {
        let mut slots: Vec<Slot> = self.filled().into_iter().map(|index| self.slot(index)).collect();
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

    /// The fewest columns a slot can have: its header stays whole.
    fn least(&self, slot: &Slot) -> usize {
        match self.columns[slot.index].kind {
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

    fn paint(&self, slots: Vec<Slot>, color: bool) -> String {
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─')));
        table.force_no_tty();
        if color {
            table.enforce_styling();
        }
        let units = slots.iter().any(|slot| !self.columns[slot.index].unit.is_empty());
        let heads = slots.iter().map(|slot| {
            let column = &self.columns[slot.index];
            let unit = if units { format!("\n{}", column.unit) } else { String::new() };
            let head = Drawn::new(format!("{}{unit}", column.name));
            head.set_alignment(alignment(column.kind)).add_attribute(Attribute::Bold)
        });
        table.set_header(heads.collect::<Vec<_>>());
        for (row, (tone, _)) in self.rows.iter().enumerate() {
            let cells = slots.iter().map(|slot| {
                let text = shorten(&slot.texts[row], slot.width);
                toned(Drawn::new(text).set_alignment(alignment(self.columns[slot.index].kind)), *tone)
            });
            table.add_row(Row::from(cells.collect::<Vec<_>>()));
        }
        let last = slots.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at == last { 0 } else { GAP as u16 }));
        }
        table.lines().fold(String::new(), |out, line| out + line.trim_end() + "\n")
    }
}

/// A column that is drawn.
struct Slot {
    index: usize,
    width: usize,
    texts: Vec<String>,
}

fn alignment(kind: Kind) -> CellAlignment {
    match kind {
        Kind::Text(_) | Kind::Bar => CellAlignment::Left,
        Kind::Three | Kind::Fixed(_) | Kind::Whole => CellAlignment::Right,
    }
}

fn toned(cell: Drawn, tone: Tone) -> Drawn {
    match tone {
        Tone::Plain => cell,
        Tone::Strong => cell.fg(Color::Green),
        Tone::Dim => cell.add_attribute(Attribute::Dim),
    }
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
