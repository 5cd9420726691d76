//! `weigh runs trend`: a metric over time.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

use super::Which;
use crate::exit::{Exit, OrRefuse};
use crate::listing::history_of;
use crate::terminal;
use weigh_answer::bars;
use weigh_answer::metric::Unit;
use weigh_answer::table::{Grid, Kind};
use weigh_answer::trend::{Change, Point, Trend};
use weigh_history::{History, Series};
use weigh_model::text::{clean, covers};
use weigh_model::units;

/// The newest runs that are looked at, unless another number is given.
const RUNS: usize = 200;
/// The most values of a sparkline: the newest.
const SPARK: usize = 40;
/// The most differences that are named at a change point.
const NAMED: usize = 6;

/// Flags of `weigh runs trend`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A metric, such as encode; without one, the metrics that the runs have are listed
    #[arg(value_name = "METRIC")]
    metric: Option<String>,
    #[command(flatten)]
    which: Which,
    /// Only configurations whose id has this text, or matches this pattern with *
    #[arg(long, value_name = "PATTERN", requires = "metric")]
    only: Option<String>,
    /// As JSON
    #[arg(long, requires = "metric")]
    json: bool,
}

pub const EXAMPLES: &str = "Examples:
  weigh runs trend                          the metrics that the runs have
  weigh runs trend encode --only zstd       CPU time of encoding with zstd
  weigh runs trend server-cpu --since 90d --study page-output";

pub fn run(args: &Args, folder: &Path) -> Result<ExitCode> {
    let Some(metric) = &args.metric else { return metrics(args, folder) };
    let trend = history_of(folder).and_then(|history| trend(args, metric, &history)).or_usage_error()?;
    terminal::show(args.json, &trend, || text(&trend))?;
    Ok(Exit::Fine.into())
}

/// Lists the metrics that runs have.
fn metrics(args: &Args, folder: &Path) -> Result<ExitCode> {
    let study = args.which.study.as_deref();
    let found = history_of(folder).and_then(|history| history.metrics(study)).or_usage_error()?;
    let mut table = Grid::list(&["study", "metric", "meaning"]);
    for (study, metrics) in found {
        metrics.iter().for_each(|metric| table.line(&[&study, metric.id, metric.about]));
    }
    terminal::print(&terminal::lines(&table))?;
    terminal::note("One over time: weigh runs trend METRIC");
    Ok(Exit::Fine.into())
}

fn trend(args: &Args, metric: &str, history: &History) -> Result<Trend> {
    let mut filter = args.which.filter();
    filter.limit = filter.limit.or(Some(RUNS));
    let Series { study, metric, runs, mut values } = history.series(metric, &filter)?;
    if let Some(pattern) = &args.only {
        only(pattern, &mut values)?;
    }
    if values.is_empty() {
        bail!("{}: no run of {} has a value of it", metric.id, clean(&study));
    }
    Ok(Trend::of(&study, metric, runs, values, &mut |run: &str| history.facts(run)))
}

/// Keeps the configurations that match.
fn only(wanted: &str, values: &mut BTreeMap<String, Vec<Point>>) -> Result<()> {
    let example = values.keys().next().map_or_else(String::new, |id| format!("; one is {}", clean(id)));
    values.retain(|id, _| covers(wanted, id));
    if values.is_empty() {
        bail!("--only {}: no configuration matches{example}", clean(wanted));
    }
    Ok(())
}

fn text(trend: &Trend) -> String {
    let about = &trend.metric;
    let (unit, _, _) = about.unit.column();
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let runs = units::count(trend.runs.len(), "run", "runs");
    let span = match (trend.runs.first(), trend.runs.last()) {
        (Some(first), Some(last)) => format!(", {} to {}", day(&first.started), day(&last.started)),
        _ => String::new(),
    };
    let mut out = format!("{} of {}{unit}: {runs}{span}\n{}\n\n", about.id, trend.study, about.about);
    out.push_str(&terminal::lines(&table(trend)));
    let changed =
        trend.series.iter().flat_map(|series| series.changes.iter().map(move |change| (series, change)));
    let said: Vec<String> =
        changed.map(|(series, change)| describe_change(trend, &series.configuration, change)).collect();
    out.push('\n');
    out.push_str(&said.concat());
    if said.is_empty() {
        out.push_str(&nothing(trend));
    }
    out
}

fn table(trend: &Trend) -> Grid {
    let mut table = Grid::list(&["configuration", "smallest to largest", "first", "last", "changes"]);
    for column in &mut table.columns[2..] {
        column.kind = Kind::Three;
    }
    for series in &trend.series {
        let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
        let spark = bars::changes(&values[values.len().saturating_sub(SPARK)..]);
        let shown =
            |value: Option<&f64>| value.map_or_else(String::new, |value| number(trend.metric.unit, *value));
        let changes = if series.changes.is_empty() { "–".into() } else { series.changes.len().to_string() };
        let (first, last) = (shown(values.first()), shown(values.last()));
        table.line(&[&series.configuration, &spark, &first, &last, &changes]);
    }
    table
}

/// A value in the unit of its table.
fn number(unit: Unit, value: f64) -> String {
    units::significant(value * unit.column().2)
}

/// A change point in two lines: what changed, and what else did.
fn describe_change(trend: &Trend, configuration: &str, change: &Change) -> String {
    let [last, first] = [change.last, change.first].map(|at| &trend.runs[at]);
    let unit = trend.metric.unit;
    let size = change.ratio.map_or_else(String::new, |ratio| {
        let more = if ratio >= 1.0 { "more" } else { "less" };
        format!("{} {more}, ", units::percent((ratio - 1.0).abs()))
    });
    let judged = match change.is_worse {
        Some(true) => " (worse)",
        Some(false) => " (better)",
        None => "",
    };
    let (before, after) = (number(unit, change.before), number(unit, change.after));
    let with = change.with.iter().take(NAMED).map(|difference| {
        let side = |text: &Option<String>| text.as_deref().unwrap_or("none").to_owned();
        format!("{} {} → {}", difference.name, side(&difference.before), side(&difference.after))
    });
    let with: Vec<String> = with.collect();
    let more = change.with.len().saturating_sub(NAMED);
    let with = match (with.is_empty(), more) {
        (true, _) => "nothing that is recorded".into(),
        (false, 0) => with.join(", "),
        (false, more) => format!("{} and {more} more (--json)", with.join(", ")),
    };
    format!(
        "{configuration}\n  {size}{before} → {after}{judged} from {} on, {} (p = {})\n  changed since {}: {with}\n",
        first.name,
        day(&first.started),
        units::significant(change.p),
        last.name
    )
}

/// What it means that there is no change point.
fn nothing(trend: &Trend) -> String {
    let longest = trend.series.iter().map(|series| series.points.len()).max().unwrap_or_default();
    if longest < trend.runs_needed {
        let count = units::count(trend.series.len(), "configuration", "configurations");
        return format!(
            "Too few runs for change points: {count} need {} runs; --only keeps some of them.\n",
            trend.runs_needed
        );
    }
    format!("No change points ({} error level for the table).\n", units::percent(trend.level))
}

fn day(started: &str) -> &str {
    started.split('T').next().unwrap_or(started)
}
