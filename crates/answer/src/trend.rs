//! A metric over the runs of a study: its change points, and what else changed there.
//!
//! The method is E-divisive, see [`weigh_stats::change_points`]. The error level is shared by all configurations, so that 5% holds for
//! the whole table.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weigh_stats::{change_points, median, values_needed};

use crate::facts::{Difference, Facts, differences};
use crate::metric::{Better, Metric, MetricDescription};

/// The version of [`Trend`] as JSON.
pub const SCHEMA: u32 = 1;
/// The probability of one or more change points in a table in which nothing changed.
pub const LEVEL: f64 = 0.05;
/// Any fixed number: the same runs give the same answer.
const SEED: u64 = 1;

/// A metric over the runs of a study: what `weigh runs trend --json` writes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trend {
    /// The version of this form.
    pub schema: u32,
    /// The study.
    pub study: String,
    /// The metric.
    pub metric: MetricDescription,
    /// The runs, the oldest first.
    pub runs: Vec<RunAt>,
    /// The probability of one or more change points in this table if nothing changed.
    pub level: f64,
    /// The number of runs in which a change in the middle can be found, for this number of configurations.
    pub runs_needed: usize,
    /// Each configuration, those with the largest change first.
    pub series: Vec<Series>,
}

/// A run of a trend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunAt {
    /// Its name.
    pub name: String,
    /// When it was started, RFC 3339, UTC.
    pub started: String,
}

/// One configuration.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Series {
    /// Its id.
    pub configuration: String,
    /// Its values, the oldest first.
    pub points: Vec<Point>,
    /// Where its level changed, the oldest first.
    pub changes: Vec<Change>,
}

/// A value of one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// The position of its run.
    pub run: usize,
    /// The value, in the metric's unit.
    pub value: f64,
    /// Lower end of its interval within the run.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// A change of a configuration's level.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The position of the last run before the change.
    pub last: usize,
    /// The position of the first run after it.
    pub first: usize,
    /// The median value from the change before this one to this one.
    pub before: f64,
    /// The median value from this change to the next one.
    pub after: f64,
    /// After ÷ before; null where before is 0.
    pub ratio: Option<f64>,
    /// Whether the change is for the worse; null where neither direction is better.
    pub is_worse: Option<bool>,
    /// The share of random orders of the values that look as much like a change.
    pub p: f64,
    /// What the two runs were measured with, as far as it differs.
    pub with: Vec<Difference>,
}

impl Trend {
    /// Looks for changes in values by configuration; `facts` tells what a run was measured with.
    pub fn of(
        study: &str,
        metric: &Metric,
        runs: Vec<RunAt>,
        values: BTreeMap<String, Vec<Point>>,
        facts: &mut dyn FnMut(&str) -> Facts,
    ) -> Trend {
        let share = LEVEL / values.len().max(1) as f64;
        let mut series: Vec<Series> = values
            .into_iter()
            .map(|(configuration, points)| {
                let mut changes = changes(&points, share, metric.better);
                for change in &mut changes {
                    change.with =
                        differences(&facts(&runs[change.last].name), &facts(&runs[change.first].name));
                }
                Series { configuration, points, changes }
            })
            .collect();
        // Names stay in their order where nothing changed.
        series.sort_by(|a, b| b.largest().total_cmp(&a.largest()));
        Trend {
            schema: SCHEMA,
            study: study.to_owned(),
            metric: metric.into(),
            runs,
            level: LEVEL,
            runs_needed: values_needed(share),
            series,
        }
    }
}

impl Series {
    /// The largest change, as the distance of its ratio from 1 in either direction; 0 without one.
    fn largest(&self) -> f64 {
        let size =
            |change: &Change| change.ratio.filter(|r| *r > 0.0).map_or(f64::INFINITY, |r| r.ln().abs());
        self.changes.iter().map(size).fold(0.0, f64::max)
    }
}

fn changes(points: &[Point], level: f64, better: Better) -> Vec<Change> {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let found = change_points(&values, level, SEED).unwrap_or_default();
    let edges: Vec<usize> =
        std::iter::once(0).chain(found.iter().map(|point| point.at)).chain([values.len()]).collect();
    let levels = edges.windows(2).map(|edge| median(&values[edge[0]..edge[1]]).unwrap_or_default());
    let levels: Vec<f64> = levels.collect();
    let change = |(point, levels): (&weigh_stats::ChangePoint, &[f64])| {
        let (before, after) = (levels[0], levels[1]);
        let is_worse = match better {
            Better::Less => Some(after > before),
            Better::More => Some(after < before),
            Better::Neither => None,
        };
        Change {
            last: points[point.at - 1].run,
            first: points[point.at].run,
            before,
            after,
            ratio: (before != 0.0).then(|| after / before),
            is_worse,
            p: point.p,
            with: Vec::new(),
        }
    };
    found.iter().zip(levels.windows(2)).map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject;

    fn metric(id: &str) -> &'static Metric {
        subject::named("codec").metrics().find(|metric| metric.id == id).unwrap()
    }

    fn runs(count: usize) -> Vec<RunAt> {
        let run =
            |at| RunAt { name: format!("run-{at}"), started: format!("2026-01-{:02}T00:00:00Z", at + 1) };
        (0..count).map(run).collect()
    }

    fn points(values: impl IntoIterator<Item = f64>) -> Vec<Point> {
        let point = |(run, value)| Point { run, value, low: None, high: None };
        values.into_iter().enumerate().map(point).collect()
    }

    /// Values that go up and down a little about 100.
    fn noise(at: usize) -> f64 {
        100.0 + [0.3, -1.1, 0.8, -0.2, 1.3, -0.7, 0.1][at % 7]
    }

    #[test]
    fn a_change_says_from_where_to_where_and_what_changed_with_it() {
        let step = |at: usize| if at < 12 { noise(at) } else { noise(at) * 1.1 };
        let values = BTreeMap::from([
            ("a/steady".to_owned(), points((0..20).map(noise))),
            ("b/slower".to_owned(), points((0..20).map(step))),
        ]);
        let mut facts = |run: &str| {
            let number: usize = run.trim_start_matches("run-").parse().unwrap();
            let php = if number < 12 { "8.2.1" } else { "8.2.2" };
            BTreeMap::from([("php8.2".to_owned(), php.to_owned()), ("kernel".to_owned(), "6.1".to_owned())])
        };
        let trend = Trend::of("s", metric("encode"), runs(20), values, &mut facts);
        let names: Vec<&str> = trend.series.iter().map(|series| series.configuration.as_str()).collect();
        assert_eq!(names, ["b/slower", "a/steady"], "what changed comes first");
        assert_eq!(trend.series[1].changes, []);
        let [change] = trend.series[0].changes.as_slice() else { panic!("{:?}", trend.series[0].changes) };
        assert_eq!((change.last, change.first, change.is_worse), (11, 12, Some(true)));
        assert!((change.ratio.unwrap() - 1.1).abs() < 0.01, "{change:?}");
        let with =
            Difference { name: "php8.2".into(), before: Some("8.2.1".into()), after: Some("8.2.2".into()) };
        assert_eq!(change.with, [with]);
    }

    #[test]
    fn more_configurations_need_more_runs() {
        let table = |count: usize| {
            let values = (0..count).map(|at| (format!("{at}"), points((0..5).map(noise)))).collect();
            Trend::of("s", metric("encode"), runs(5), values, &mut |_| BTreeMap::new())
        };
        assert_eq!((table(1).runs_needed, table(60).runs_needed), (8, 14));
        assert!(table(60).series.iter().all(|series| series.changes.is_empty()));
    }
}
