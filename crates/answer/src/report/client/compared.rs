//! Runtimes, drivers, stores and settings beside each other.

use super::super::document::Block;
use super::super::grid::{Cell, Column, Grid, Kind as Shown, Tone};
use super::super::text::clean;
use super::view;
use crate::analysis::client::model::{ClientAnalysis, Comparison, Kind, is_settled};
use crate::analysis::model::Relative;
use weigh_model::units;

/// Rows of each kind in a summary.
const FEW: usize = 5;

const LEGEND: &str = "Each ratio is formed inside each round, where both do the same work within the same minute, and is the median over rounds with \
    its 95% interval. A figure with ≈ cannot be told apart from 1.";

/// The table of all comparisons.
pub(super) fn section(analysis: &ClientAnalysis, full: bool) -> Vec<Block> {
    let kinds = [Kind::Runtime, Kind::Variant, Kind::Driver, Kind::Store, Kind::Setting];
    let mut grid = Grid::new(columns());
    let mut left = 0;
    for kind in kinds {
        let of_kind: Vec<&Comparison> = analysis.comparisons.iter().filter(|c| c.kind == kind).collect();
        let shown = if full { of_kind.len() } else { FEW.min(of_kind.len()) };
        left += of_kind.len() - shown;
        of_kind[..shown].iter().for_each(|c| grid.push(Tone::Plain, cells(analysis, c)));
    }
    if grid.rows.is_empty() {
        return Vec::new();
    }
    let mut blocks =
        vec![Block::Heading(2, "Beside each other".into()), Block::Remark(LEGEND.into()), Block::Table(grid)];
    if left > 0 {
        let more = units::count(left, "more comparison", "more comparisons");
        blocks.push(Block::Remark(format!("{more} in the full report.")));
    }
    blocks
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("another", "", Shown::Text(7), 4),
        Column::new("content", "", Shown::Text(7), 0),
        Column::new("work", "", Shown::Text(9), 3),
        Column::new("with", "", Shown::Text(14), 2),
        Column::new("this", "", Shown::Text(10), 0),
        Column::new("beside", "", Shown::Text(10), 0),
        Column::new("transactions", "× [95%]", Shown::Text(19), 0),
        Column::new("CPU time", "× [95%]", Shown::Text(19), 1),
        Column::new("PHP's CPU", "× [95%]", Shown::Text(19), 6),
        Column::new("peak memory", "× [95%]", Shown::Text(19), 2),
        Column::new("PSS", "× [95%]", Shown::Text(19), 7),
        Column::new("PUT p50", "× [95%]", Shown::Text(19), 5),
        Column::new("GET p50", "× [95%]", Shown::Text(19), 4),
        Column::new("n", "", Shown::Whole, 8),
    ]
}

fn cells(analysis: &ClientAnalysis, of: &Comparison) -> Vec<Cell> {
    let own = analysis.works.iter().find(|work| work.cells.contains(&of.cell));
    let ratio = |relative: Option<Relative>| ratio(relative, of.rounds).into();
    let (with, this, beside) = names(analysis, of);
    vec![
        of.kind.name().into(),
        clean(own.map_or("", |work| &work.payload)).into(),
        view::row(analysis, &of.cell).map(|row| row.work()).unwrap_or_default().into(),
        with.into(),
        this.into(),
        beside.into(),
        ratio(of.combined),
        ratio(of.cpu),
        ratio(of.client_cpu),
        self::ratio(of.memory, u32::MAX).into(),
        ratio(of.pss),
        ratio(of.put),
        ratio(of.get),
        f64::from(of.rounds).into(),
    ]
}

/// What the two have in common, and what they differ in.
fn names(analysis: &ClientAnalysis, of: &Comparison) -> (String, String, String) {
    let parts = |id: &str| {
        let row = view::row(analysis, id);
        row.map_or_else(
            || (String::new(), clean(id)),
            |row| {
                let setting = Some(row.setting.clone()).filter(|setting| !setting.is_empty());
                let common = |parts: Vec<String>| {
                    parts.into_iter().chain(setting.clone()).collect::<Vec<_>>().join(" ")
                };
                match of.kind {
                    Kind::Runtime | Kind::Variant => (common(vec![row.place]), row.runtime),
                    Kind::Driver | Kind::Store => (common(vec![row.runtime]), row.place),
                    Kind::Setting => (format!("{} {}", row.place, row.runtime), row.setting),
                }
            },
        )
    };
    let ((with, this), (_, beside)) = (parts(&of.cell), parts(&of.beside));
    (with, this, beside)
}

/// `1.31 [1.28, 1.34]`, `≈1.02 [0.98, 1.05]`.
fn ratio(relative: Option<Relative>, rounds: u32) -> String {
    let Some(of) = relative else { return String::new() };
    let mark = if is_settled(&of, rounds) { "" } else { "≈" };
    let digits = |x: f64| if x < 10.0 { format!("{x:.2}") } else { units::significant(x) };
    let [value, low, high] = [of.ratio, of.low, of.high].map(digits);
    format!("{mark}{value} [{low}, {high}]")
}
