//! A table with typed columns that fits the width it is given. A column is a factor, which stays whole, a metric or a note, of which the most
//! important stay. No cell is cut; what has no room is named below. Owns layout; refuses to know what the figures mean.

mod draw;
mod fit;

use std::str::FromStr;

use weigh_model::text::clean;
use weigh_model::units;

use crate::text::slug;

/// How a column's cells are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Left aligned; wrapped where there is no room.
    Text,
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

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It tells rows apart: every table has room for it.
    Factor,
    /// A result.
    Metric,
    /// Words on a row.
    Note,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// The id of its metric or factor; empty where its name serves.
    pub id: &'static str,
    /// The header.
    pub name: &'static str,
    /// The unit of every cell, on the header's second line.
    pub unit: String,
    /// How its cells are shown.
    pub kind: Kind,
    /// What it is for.
    pub role: Role,
    /// Of metrics and notes the lowest stay longest.
    pub rank: u8,
    /// What it means, in a sentence; empty where its header says so.
    pub about: &'static str,
}

impl Column {
    /// A column of a metric.
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

    /// The same with what it means.
    pub fn about(self, about: &'static str) -> Column {
        Column { about, ..self }
    }

    /// What `--columns` calls it.
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
    /// All.
    All,
    /// Those that are called so, where a table has one of them.
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

/// What tables are drawn on.
#[derive(Clone, Copy, Debug)]
pub struct Sheet<'a> {
    /// Columns of text.
    pub width: usize,
    /// With colours and weights.
    pub color: bool,
    /// Which columns are wanted.
    pub columns: &'a Columns,
    /// How the others can be seen: `--columns all`.
    pub more: &'a str,
    /// The others are counted, not named.
    pub is_brief: bool,
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
    /// What its columns mean stands below.
    pub has_legend: bool,
}

/// A metric's column beside what stands in it.
pub fn field(name: &'static str, unit: &str, kind: Kind, rank: u8, cell: impl Into<Cell>) -> (Column, Cell) {
    (Column::new(name, unit, kind, rank), cell.into())
}

/// A text that tells rows apart, beside its column.
pub fn factor(name: &'static str, text: impl Into<String>) -> (Column, Cell) {
    (Column::factor(name, "", Kind::Text), Cell::Text(text.into()))
}

/// Words on a row, beside their column.
pub fn remark(name: &'static str, rank: u8, text: impl Into<String>) -> (Column, Cell) {
    (Column::note(name, rank), Cell::Text(text.into()))
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
        let mut grid = Grid::default();
        for (tone, fields) in things.into_iter().map(row) {
            let (columns, cells) = fields.into_iter().unzip();
            grid.columns = columns;
            grid.push(tone, cells);
        }
        grid
    }

    /// A table without rows.
    pub fn new(columns: Vec<Column>) -> Grid {
        Grid { columns, ..Grid::default() }
    }

    /// A list of texts that wrap where room is short. Columns without a name have no header.
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

    /// Columns with something in them, bars left out, in order; of a list, all.
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
