//! What holds for every table at every width: nothing is wider, cut, alike or missing. Used by the tests of this crate and of its rooms.

use std::collections::HashSet;

use weigh_answer::table::{Cell, Columns, Grid, Kind, Role, Sheet};
use weigh_answer::text::columns;

use weigh_answer::block::Block;

/// Columns of terminals that there are.
pub const WIDTHS: [usize; 5] = [60, 80, 100, 120, 200];

/// Columns of a table that nobody asked for, and factors among them, at most.
const MOST: (usize, usize) = (9, 4);

/// A longer word without a space or slash may be broken.
const PIECE: usize = 24;

/// Every table among the blocks; says how many there are.
pub fn tables(name: &str, blocks: &[Block]) -> usize {
    let grids = blocks.iter().filter_map(|block| match block {
        Block::Table(grid) => Some(grid),
        _ => None,
    });
    grids.map(|grid| table(name, grid)).count()
}

fn table(name: &str, grid: &Grid) {
    let head: Vec<&str> = grid.columns.iter().map(|column| column.name).collect();
    let name = &format!("{name}, table of {head:?}");
    are_rows_apart(name, grid);
    for width in WIDTHS {
        for columns in [&Columns::Few, &Columns::All] {
            let sheet = Sheet { width, color: false, columns, more: "--columns all", is_brief: false };
            let text = grid.draw(&sheet);
            let name = &format!("{name} at {width}, {columns:?}:\n{text}");
            is_inside(name, &text, width);
            is_whole(name, grid, &text);
            is_complete(name, grid, &text);
            if *columns == Columns::Few && !grid.plain {
                is_small(name, grid, &text);
            }
        }
    }
}

/// The factors, no part of which is ever left out, tell rows apart; of a table without factors, the rows do.
fn are_rows_apart(name: &str, grid: &Grid) {
    let factors: Vec<usize> =
        (0..grid.columns.len()).filter(|at| grid.columns[*at].role == Role::Factor).collect();
    let mut seen = HashSet::new();
    let texts: Vec<Vec<String>> = factors.iter().map(|at| grid.texts(*at)).collect();
    for row in 0..grid.rows.len() {
        let own: Vec<&str> = texts.iter().map(|texts| texts[row].as_str()).collect();
        assert!(seen.insert(own.clone()), "{name}: two rows are {own:?}");
    }
}

fn is_inside(name: &str, text: &str, width: usize) {
    for line in text.lines() {
        assert!(columns(line) <= width, "{name}: wider: {line}");
    }
}

/// Each number and each word of what is shown stands there whole; no sign of a cut that was not in the cell.
fn is_whole(name: &str, grid: &Grid, text: &str) {
    let cuts: usize =
        (0..grid.columns.len()).flat_map(|at| grid.texts(at)).map(|t| t.matches('…').count()).sum();
    assert!(text.matches('…').count() <= cuts, "{name}: cut");
    let left = left_out(text);
    for (at, column) in grid.columns.iter().enumerate() {
        if left.contains(&column.called()) || column.kind == Kind::Bar {
            continue;
        }
        for cell in grid.texts(at) {
            let words = cell.split([' ', '/']).filter(|word| columns(word) <= PIECE);
            for word in words.filter(|word| *word != "–" && *word != "●") {
                assert!(text.contains(word), "{name}: {word} of {} is not whole", column.name);
            }
        }
    }
}

/// The columns that the line under the table names.
fn left_out(text: &str) -> HashSet<String> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = flat.split_once("more columns: ").and_then(|(_, rest)| rest.split_once(" (--columns all)"));
    line.map_or_else(HashSet::new, |(names, _)| names.split(", ").map(str::to_owned).collect())
}

fn has_something(grid: &Grid, at: usize) -> bool {
    grid.columns[at].kind != Kind::Bar
        && grid.rows.iter().any(|(_, cells)| match &cells[at] {
            Cell::Text(text) => !text.trim().is_empty(),
            Cell::Number(number) => number.is_some(),
        })
}

/// Every column with something in it is shown, with its name, or named below.
fn is_complete(name: &str, grid: &Grid, text: &str) {
    let left = left_out(text);
    for (at, column) in grid.columns.iter().enumerate().filter(|(at, _)| has_something(grid, *at)) {
        let named = column.name.split(' ').all(|word| text.contains(word));
        let is_listed = column.role == Role::Factor
            && grid.texts(at).iter().all(|t| t.len() > PIECE || text.contains(t.trim()));
        assert!(named || is_listed || left.contains(&column.called()), "{name}: {} vanished", column.name);
        assert!(column.role != Role::Factor || !left.contains(&column.called()), "{name}: a factor went");
    }
}

fn is_small(name: &str, grid: &Grid, text: &str) {
    let left = left_out(text);
    let shown: Vec<_> = (0..grid.columns.len())
        .filter(|at| has_something(grid, *at) && !left.contains(&grid.columns[*at].called()))
        .collect();
    let factors = shown.iter().filter(|at| grid.columns[**at].role == Role::Factor).count();
    assert!(shown.len() <= MOST.0 && factors <= MOST.1, "{name}: {} columns, {factors} factors", shown.len());
}
