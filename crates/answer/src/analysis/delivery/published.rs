//! A published table of deliveries beside what was measured here: row by row, and how far the orders agree.

use crate::analysis::cost::Cost;
use crate::analysis::delivery::costs::Costs;
use crate::analysis::delivery::model::{
    Agreement, DeliveryResult, Disagreement, Measure, PublishedTable, RowComparison,
};
use weigh_model::plan::Plan;
use weigh_model::study::{PublishedDelivery, PublishedDeliveryRow};

/// Published figures closer than this differ by chance.
const ALIKE: f64 = 0.01;

/// The published rows whose cells were measured, on the runtime that has most of them; `None` when the study has no table
/// or none of its cells was measured.
pub(super) fn compare(plan: &Plan, costs: &[Costs], cells: &[DeliveryResult]) -> Option<PublishedTable> {
    let table = plan.study.published_delivery.as_ref()?;
    let mut names: Vec<&str> = Vec::new();
    cells.iter().map(|c| c.cell.runtime.as_str()).for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    let of_runtime = |runtime: &str| -> Vec<(&PublishedDeliveryRow, usize)> {
        let cell = |row: &PublishedDeliveryRow| {
            // A static way beside a script's takes part in every runtime's table.
            cells.iter().position(|c| {
                let fits = c.cell.runtime == runtime || c.cell.runtime == weigh_model::cell::NO_PHP;
                fits && table.is_of(row, &c.cell)
            })
        };
        table.rows.iter().filter_map(|row| Some((row, cell(row)?))).collect()
    };
    // Of equal ones, the first.
    let (runtime, rows) = names
        .into_iter()
        .map(|name| (name, of_runtime(name)))
        .rev()
        .max_by_key(|(_, rows)| rows.len())
        .filter(|(_, rows)| !rows.is_empty())?;
    let agreements = [Measure::Bytes, Measure::Seconds, Measure::Rate];
    let agreements = agreements.into_iter().filter_map(|measure| agreement(measure, &rows, costs, cells));
    Some(PublishedTable {
        runtime: runtime.to_owned(),
        agreements: agreements.collect(),
        rows: rows.iter().map(|(row, index)| comparison(table, row, &cells[*index])).collect(),
    })
}

fn comparison(
    table: &PublishedDelivery,
    row: &PublishedDeliveryRow,
    result: &DeliveryResult,
) -> RowComparison {
    let one_by_one = result.one_by_one.filter(|_| table.connections == 1);
    RowComparison {
        published: row.clone(),
        cell: result.cell.id.clone(),
        bytes: result.body_bytes,
        seconds: one_by_one.zip(row.requests).map(|(one, requests)| one.value * requests as f64),
        mean_seconds: result.service.as_ref().map(|times| times.mean),
        requests_per_second: result.rate.map(|rate| rate.value),
    }
}

/// What a row says of a column, as published.
fn published(measure: Measure, row: &PublishedDeliveryRow) -> Option<f64> {
    match measure {
        Measure::Bytes => row.bytes.map(|bytes| bytes as f64),
        Measure::Seconds => {
            row.mean_seconds.or_else(|| Some(row.seconds? / row.requests.filter(|n| *n > 0)? as f64))
        }
        Measure::Rate => row.requests_per_second,
    }
}

/// The same here: the number, and its cost over rounds where it has one.
fn here<'a>(measure: Measure, result: &DeliveryResult, costs: &'a Costs) -> Option<(f64, Option<&'a Cost>)> {
    match measure {
        Measure::Bytes => Some((result.body_bytes as f64, None)),
        Measure::Seconds => costs.seconds.as_ref().map(|cost| (cost.time(), Some(cost))),
        Measure::Rate => costs.rate.as_ref().map(|cost| (cost.time(), Some(cost))),
    }
}

fn agreement(
    measure: Measure,
    rows: &[(&PublishedDeliveryRow, usize)],
    costs: &[Costs],
    cells: &[DeliveryResult],
) -> Option<Agreement> {
    let known: Vec<_> = rows
        .iter()
        .filter_map(|(row, index)| {
            let (value, cost) = here(measure, &cells[*index], &costs[*index])?;
            Some((*row, *index, published(measure, row)?, value, cost))
        })
        .collect();
    let mut found =
        Agreement { measure, pairs: 0, same: 0, undecided: 0, rank: None, disagreements: Vec::new() };
    let (mut concordant, mut compared) = (0.0, 0.0);
    for (at, one) in known.iter().enumerate() {
        for other in &known[at + 1..] {
            let pair = Pair::of((one.2, other.2), (one.3, other.3), one.4.zip(other.4));
            found.pairs += 1;
            match pair {
                Pair::Same => found.same += 1,
                Pair::Undecided => found.undecided += 1,
                Pair::Other => found.disagreements.push(Disagreement {
                    labels: (one.0.label.clone(), other.0.label.clone()),
                    cells: (cells[one.1].cell.id.clone(), cells[other.1].cell.id.clone()),
                    published: (one.2, other.2),
                    here: (one.3, other.3),
                }),
            }
            let signs = (one.2 - other.2).signum() * (one.3 - other.3).signum();
            if !is_alike((one.2, other.2)) && one.3 != other.3 {
                compared += 1.0;
                concordant += signs;
            }
        }
    }
    found.rank = (compared > 0.0).then(|| concordant / compared);
    (known.len() > 1).then_some(found)
}

/// Two figures that differ by chance.
fn is_alike(pair: (f64, f64)) -> bool {
    (pair.0 / pair.1 - 1.0).abs() <= ALIKE
}

/// How a pair of rows stands here, beside as published.
enum Pair {
    /// In the same order, or alike in both.
    Same,
    /// Not to be told apart here.
    Undecided,
    /// The other way round beyond doubt, or alike in only one of the two.
    Other,
}

impl Pair {
    fn of(published: (f64, f64), here: (f64, f64), costs: Option<(&Cost, &Cost)>) -> Pair {
        let is_clear = costs.is_none_or(|(a, b)| a.clearly_apart(b));
        let same_order = (published.0 < published.1) == (here.0 < here.1);
        match (is_alike(published), is_alike(here)) {
            (true, true) => Pair::Same,
            (false, false) if is_clear && same_order => Pair::Same,
            _ if !is_clear => Pair::Undecided,
            _ => Pair::Other,
        }
    }
}
