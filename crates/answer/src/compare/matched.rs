//! Which rows of two sides are the same configuration: by their factors, not by their ids.

use std::collections::BTreeMap;

use weigh_model::cell::{Cell, NO_PHP};

use crate::report::Report;
use crate::row::Row;

/// The names of the two sides.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub a: String,
    pub b: String,
}

/// Rows in pairs, and those without a partner.
pub struct Pairs<'r> {
    /// (A, B), in B's order.
    pub both: Vec<(&'r Row, &'r Row)>,
    /// Ids that only A has.
    pub only_a: Vec<String>,
    /// Ids that only B has.
    pub only_b: Vec<String>,
    /// A runtime of A and the one that takes its place in B, where each has only one that the other has not.
    pub replaced: Option<(String, String)>,
}

/// Pairs the rows of two runs. If each run has exactly one runtime that the other has not, they count as the same.
pub fn by_factors<'r>(a: &'r Report, b: &'r Report) -> Pairs<'r> {
    let replaced = replaced(a, b);
    let as_in_b = |runtime: &str| match &replaced {
        Some((of_a, of_b)) if runtime == of_a => of_b.clone(),
        _ => runtime.to_owned(),
    };
    let pairs =
        pair(a.rows.iter(), b.rows.iter(), |cell| as_in_b(&cell.runtime), |cell| cell.runtime.clone());
    Pairs { replaced, ..pairs }
}

/// Pairs the rows of two runs with the same runtimes.
pub fn alike<'r>(a: &'r Report, b: &'r Report) -> Pairs<'r> {
    let own = |cell: &Cell| cell.runtime.clone();
    pair(a.rows.iter(), b.rows.iter(), own, own)
}

fn pair<'r>(
    a: impl Iterator<Item = &'r Row>,
    b: impl Iterator<Item = &'r Row>,
    runtime_a: impl Fn(&Cell) -> String,
    runtime_b: impl Fn(&Cell) -> String,
) -> Pairs<'r> {
    let mut of_a: BTreeMap<String, &Row> =
        a.map(|row| (row.cell.factors(&runtime_a(&row.cell)), row)).collect();
    let (mut both, mut only_b) = (Vec::new(), Vec::new());
    for row in b {
        match of_a.remove(&row.cell.factors(&runtime_b(&row.cell))) {
            Some(partner) => both.push((partner, row)),
            None => only_b.push(row.id().to_owned()),
        }
    }
    let only_a = of_a.into_values().map(|row| row.id().to_owned()).collect();
    Pairs { both, only_a, only_b, replaced: None }
}

fn replaced(a: &Report, b: &Report) -> Option<(String, String)> {
    let only = |of: &Report, other: &Report| {
        let names = of.runtimes.iter().map(|runtime| runtime.name.clone());
        let is_new =
            |name: &String| name != NO_PHP && other.runtimes.iter().all(|runtime| runtime.name != *name);
        let mut new: Vec<String> = names.filter(is_new).collect();
        if new.len() == 1 { new.pop() } else { None }
    };
    Some((only(a, b)?, only(b, a)?))
}
