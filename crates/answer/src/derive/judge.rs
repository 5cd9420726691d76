//! Gives every estimate the noise of its metric in a run.

use std::sync::Arc;

use weigh_stats::{Noise, Rounds, TABLES};

use crate::estimate::{Drawn, MEDIAN};
use crate::first::grouped;
use crate::metric::Better;
use crate::report::shape::Shape;
use crate::row::Row;

/// Gives every estimate the noise of its metric in this run: of each metric with a better direction, over the groups
/// that compete. The probability of a wrong difference is divided among the headlines. Returns the number of comparisons
/// that it is corrected for.
pub fn judge(shape: &Shape, rows: &mut [Row], seed: u64) -> usize {
    let groups = grouped(rows.iter().enumerate().map(|(at, row)| (shape.key(&row.cell), at)));
    let drawn = |metric: &str, at: &usize| rows[*at].get(metric)?.drawn.as_deref();
    let headlines = shape.headline.iter().filter(|id| (0..rows.len()).any(|at| drawn(id, &at).is_some()));
    let level = TABLES / headlines.count().max(1) as f64;
    let noise = |metric: &str| {
        let table = |rows: &Vec<usize>| rows.iter().filter_map(|at| drawn(metric, at)).collect();
        let tables: Vec<Vec<&Drawn>> = groups.iter().map(|(_, rows)| table(rows)).collect();
        let is_median = tables.iter().flatten().next()?.quantile >= MEDIAN;
        let tables: Vec<Vec<Rounds>> =
            tables.iter().map(|table| table.iter().map(|drawn| drawn.rounds.as_slice()).collect()).collect();
        Some(Arc::new(Noise::of(&tables, is_median, level, seed)))
    };
    let metrics = shape.metrics().filter(|metric| metric.better != Better::Neither);
    let all: Vec<(&str, Arc<Noise>)> =
        metrics.filter_map(|metric| Some((metric.id, noise(metric.id)?))).collect();
    for (metric, noise) in &all {
        let of_metric = rows.iter_mut().filter_map(|row| row.values.get_mut(*metric)?.drawn.as_mut());
        of_metric.for_each(|drawn| drawn.noise = Some(noise.clone()));
    }
    all.iter().map(|(_, noise)| noise.comparisons()).sum()
}
