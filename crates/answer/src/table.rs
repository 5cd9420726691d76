//! A table with typed columns that fits a given width. A column is a factor, which is always complete, a metric or a
//! note; the most important ones stay. No cell is truncated; columns without room are named below. This module decides
//! the layout, and does not know what the figures mean.

mod draw;
mod fit;

use std::str::FromStr;

use weigh_model::text::clean;
use weigh_model::units;

use crate::text::slug;

/// The form of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Left aligned; wrapped if there is no room.
    Text,
    /// Three significant digits, with aligned decimal points.
    Three,
    /// A fixed number of decimals.
    Fixed(usize),
    /// A whole number with thousands separated.
    Whole,
    /// A bar from 0 to the column's largest number, if there is room left.
    Bar,
}

impl Kind {
    /// Whether its cells end at the column's right edge.
    pub fn is_right(self) -> bool {
        matches!(self, Kind::Three | Kind::Fixed(_) | Kind::Whole)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It identifies rows: every table has room for it.
    Factor,
    Metric,
    Note,
}

#[derive(Clone, Debug)]
pub struct Column {
    /// The id of its metric or factor; empty if its name serves as id.
    pub id: &'static str,
    pub name: &'static str,
    /// The unit of every cell, on the header's second line.
    pub unit: String,
    /// How its cells are shown.
    pub kind: Kind,
    pub role: Role,
    /// Priority of metrics and notes: the lowest number stays longest.
    pub rank: u8,
    /// Its meaning, in a sentence; empty if the header is enough.
    pub about: &'static str,
}

impl Column {
    pub fn new(name: &'static str, unit: impl Into<String>, kind: Kind, rank: u8) -> Column {
        Column { id: "", name, unit: unit.into(), kind, role: Role::Metric, rank, about: "" }
    }

    /// A column that tells rows apart.
    pub fn factor(name: &'static str, unit: &str, kind: Kind) -> Column {
        Column { role: Role::Factor, ..Column::new(name, unit, kind, 0) }
    }

    /// A column of words on rows.
    pub fn note(name: &'static str, rank: u8) -> Column {
        Column { role: Role::Note, ..Column::new(name, "", Kind::Text, rank) }
    }

    /// The same under the id of its metric.
    pub fn of(self, id: &'static str) -> Column {
        Column { id, ..self }
    }

    /// The same with its meaning.
    pub fn about(self, about: &'static str) -> Column {
        Column { about, ..self }
    }

    /// Its name in `--columns`.
    pub fn called(&self) -> String {
        match (self.id, self.name) {
            ("", "") => slug(&self.unit),
            ("", name) => slug(name),
            (id, _) => id.to_owned(),
        }
    }

    /// Name and unit on one line.
    fn title(&self) -> String {
        match (self.name, self.unit.as_str()) {
            ("", unit) => unit.to_owned(),
            (name, "") => name.to_owned(),
            (name, unit) => format!("{name} ({unit})"),
        }
    }
}

/// Which metrics and notes tables show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// The most important that fit.
    #[default]
    Few,
    All,
    /// Those with these names, if a table has one of them.
    These(Vec<String>),
}

impl FromStr for Columns {
    type Err = String;

    /// `all`, or names with commas between them.
    fn from_str(text: &str) -> Result<Columns, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        match names.as_slice() {
            _ if names.iter().any(String::is_empty) => {
                Err("name columns, with commas between them, or all".into())
            }
            [all] if all == "all" => Ok(Columns::All),
            _ => Ok(Columns::These(names)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// Columns of text.
    pub width: usize,
    pub color: bool,
    pub columns: &'a Columns,
    /// How to see the others: `--columns all`.
    pub more: &'a str,
    /// The others are counted, not named.
    pub is_brief: bool,
}

/// One cell: a text, or a number that may be missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    /// Shown in the form of the column; a dash if missing.
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

/// The emphasis of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Strong,
    Dim,
}

#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub columns: Vec<Column>,
    /// From top to bottom, a cell for each column.
    pub rows: Vec<(Tone, Vec<Cell>)>,
    /// A plain list: no rule under its names, and every column stays.
    pub plain: bool,
    /// Whether the legend of its columns follows.
    pub has_legend: bool,
    /// The most columns if none are requested; none: as many as of any table.
    pub most: Option<usize>,
}

/// A metric's column with its cell.
pub fn field(name: &'static str, unit: &str, kind: Kind, rank: u8, cell: impl Into<Cell>) -> (Column, Cell) {
    (Column::new(name, unit, kind, rank), cell.into())
}

pub fn factor(name: &'static str, text: impl Into<String>) -> (Column, Cell) {
    (Column::factor(name, "", Kind::Text), Cell::Text(text.into()))
}

pub fn remark(name: &'static str, rank: u8, text: impl Into<String>) -> (Column, Cell) {
    (Column::note(name, rank), Cell::Text(text.into()))
}

impl Grid {
    /// A table with a row for each thing; `row` returns each column with its cell.
    pub fn of<T>(things: impl IntoIterator<Item = T>, row: impl Fn(T) -> Vec<(Column, Cell)>) -> Grid {
        Grid::toned(things, |thing| (Tone::Plain, row(thing)))
    }

    /// Like [`Grid::of`], with the emphasis of each row.
    pub fn toned<T>(
        things: impl IntoIterator<Item = T>,
        row: impl Fn(T) -> (Tone, Vec<(Column, Cell)>),
    ) -> Grid {
        let mut grid = Grid::default();
        for (tone, fields) in things.into_iter().map(row) {
            let (columns, cells) = fields.into_iter().unzip();
            grid.columns = columns;
            grid.push(tone, cells);
        }
        grid
    }

    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, ..Grid::default() }
    }

    /// A list of texts that wrap if there is no room. Columns without a name have no header.
    pub fn list(names: &[&'static str]) -> Grid {
        let columns = names.iter().map(|name| Column::factor(name, "", Kind::Text));
        Grid { columns: columns.collect(), plain: true, ..Grid::default() }
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

    /// Columns with content, without bars, in order; for a list, all columns.
    fn filled(&self) -> Vec<usize> {
        let filled = |index: &usize| {
            self.columns[*index].kind != Kind::Bar
                && self.rows.iter().any(|(_, cells)| match &cells[*index] {
                    Cell::Text(text) => !text.trim().is_empty(),
                    Cell::Number(number) => number.is_some(),
                })
        };
        (0..self.columns.len()).filter(|index| self.plain || filled(index)).collect()
    }

    /// A column's cells as text, without padding.
    pub fn texts(&self, index: usize) -> Vec<String> {
        let kind = self.columns[index].kind;
        self.rows.iter().map(|(_, cells)| one(&cells[index], kind)).collect()
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

#[cfg(test)]
mod tests;
