//! The time of driver and store for the bytes of a value: a line over stored bytes through the medians of calls without
//! a link.

use weigh_model::cell::Cell;
use weigh_stats::median;

use crate::first::grouped;
use crate::metric::client::STORED;
use crate::report::exhibit::prediction::{Operation, StoredBytes};
use crate::row::Row;
use crate::table::{Grid, Kind, factor, field};
use crate::text::clean;

/// The least number of calls for a line, and the least ratio of the largest size to the smallest.
const LEAST_CALLS: usize = 4;
const APART: f64 = 4.0;

impl StoredBytes {
    /// Of every driver, store and runtime whose sizes are far enough apart.
    pub fn all(rows: &[Row]) -> Vec<StoredBytes> {
        let near = rows.iter().filter(|row| row.cell.client.as_ref().is_some_and(|c| c.link.is_none()));
        let groups = grouped(near.filter_map(|row| Some((find_shared_factors(&row.cell)?, row))));
        let both = [Operation::Put, Operation::Get];
        groups
            .iter()
            .flat_map(|(_, rows)| both.into_iter().filter_map(|of| StoredBytes::of(rows, of)))
            .collect()
    }

    fn of(rows: &[&Row], operation: Operation) -> Option<StoredBytes> {
        let point = |row: &&Row| {
            // The median: waiting for neighbours is not work of the driver.
            let beside_coding = operation.p50(row)? * 1e9 - operation.coding(row);
            Some((row.value(STORED).filter(|bytes| *bytes > 0.0)?, beside_coding))
        };
        let points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
        let (least, most) =
            points.iter().fold((f64::INFINITY, 0.0f64), |(least, most), p| (least.min(p.0), most.max(p.0)));
        if points.len() < LEAST_CALLS || most < APART * least {
            return None;
        }
        let (ns_per_byte, fixed_ns) = line(&points)?;
        let cell = &rows.first()?.cell;
        let client = cell.client.as_ref()?;
        Some(StoredBytes {
            store: client.store.clone(),
            driver: client.driver.clone(),
            runtime: cell.runtime.clone(),
            workers: client.workers,
            operation,
            fixed_ns,
            ns_per_byte,
            cells: rows.iter().map(|row| row.cell.id.clone()).collect(),
            bytes: (least, most),
        })
    }

    /// Nanoseconds of a call with this many bytes.
    pub fn ns(&self, bytes: f64) -> f64 {
        self.fixed_ns + self.ns_per_byte * bytes
    }
}

/// What calls have in common that differ only in content and setting.
fn find_shared_factors(cell: &Cell) -> Option<(&str, &str, &str, String)> {
    let client = cell.client.as_ref()?;
    Some((&client.store, &client.driver, &cell.runtime, client.work()))
}

/// The one that is of the same driver, store, runtime and number of workers.
pub fn of_row<'s>(all: &'s [StoredBytes], row: &Row, operation: Operation) -> Option<&'s StoredBytes> {
    let client = row.cell.client.as_ref()?;
    all.iter().find(|of| {
        (&of.store, &of.driver, &of.runtime, of.workers, of.operation)
            == (&client.store, &client.driver, &row.cell.runtime, client.workers, operation)
    })
}

/// Slope and intercept of a line through points, robust against outliers: the median of the slopes of all pairs (Theil
/// 1950; Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of the American Statistical
/// Association 63 (1968)). The slope is never negative.
fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let pairs = points.iter().enumerate().flat_map(|(at, a)| points[..at].iter().map(move |b| (a, b)));
    let slopes: Vec<f64> =
        pairs.filter(|(a, b)| a.0 != b.0).map(|(a, b)| (a.1 - b.1) / (a.0 - b.0)).collect();
    let slope = median(&slopes)?.max(0.0);
    let heights: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    Some((slope, median(&heights)?.max(0.0)))
}

/// One row per driver, store, runtime and call.
pub(crate) fn table(all: &[StoredBytes]) -> Grid {
    Grid::of(all, |of| {
        let (least, most) = of.bytes;
        vec![
            factor("driver, store", format!("{} {}", clean(&of.store), clean(&of.driver))),
            factor("runtime", clean(&of.runtime)),
            factor("call", of.operation.name()),
            field("per byte", "ns", Kind::Three, 0, of.ns_per_byte),
            field("per call", "µs", Kind::Three, 0, of.fixed_ns / 1e3),
            field("from", "B", Kind::Whole, 2, least),
            field("to", "B", Kind::Whole, 2, most),
            field("of calls", "", Kind::Whole, 3, of.cells.len() as f64),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_point_does_not_move_the_line() {
        let mut points: Vec<(f64, f64)> =
            (1..=9).map(|i| (f64::from(i) * 1e4, 20e3 + f64::from(i) * 5e3)).collect();
        points[3].1 = 9e9;
        let (slope, height) = line(&points).unwrap();
        assert!((slope - 0.5).abs() < 1e-9 && (height - 20e3).abs() < 1e-3, "{slope} {height}");
        assert_eq!(line(&[(1.0, 5.0), (2.0, 4.0), (3.0, 3.0)]), Some((0.0, 4.0)), "bytes never save time");
        assert_eq!(line(&[(1.0, 5.0), (1.0, 4.0)]), None);
    }
}
