//! Gates of a load: response times, rate, failures.
//!
//! The slices of a run are clusters: a slow second has many slow requests. The interval of a percentile is made of the
//! percentiles at both ends of the interval of its share (Woodruff, "Confidence intervals for medians and other position
//! measures", Journal of the American Statistical Association 47 (1952)).

use anyhow::{Result, bail, ensure};
use weigh_load::result::{ClassResult, Slice};
use weigh_model::gate::{Amount, Gate, Limit};
use weigh_model::text::clean;
use weigh_stats::{Cluster, share_interval};

use super::Run;
use super::figures::add;
use crate::compare::gate::{Held, Judged, Outcome, more};
use crate::estimate::{CONFIDENCE, Estimate, MEDIAN};
use crate::metric::Unit;

/// What a gate of a load is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Quantity {
    /// A percentile of response times, 0 to 1.
    Response(f64),
    /// Completed responses per second.
    Rate,
    /// The share of requests that failed or were never sent.
    Errors,
}

/// A value with its interval.
struct Value {
    value: f64,
    low: f64,
    high: f64,
}

impl Quantity {
    fn named(metric: &str) -> Result<Quantity> {
        let percent = metric.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok());
        match (metric, percent.filter(|percent| (0.0..100.0).contains(percent) && *percent > 0.0)) {
            ("rate", _) => Ok(Quantity::Rate),
            ("errors", _) => Ok(Quantity::Errors),
            (_, Some(percent)) => Ok(Quantity::Response(percent / 100.0)),
            _ => bail!("gate: no metric `{}` of a load; known: p50, p99, p99.9, rate, errors", clean(metric)),
        }
    }

    fn shown(self, value: f64) -> String {
        match self {
            Quantity::Response(_) if value.is_infinite() => "no response".into(),
            Quantity::Response(_) => Unit::S.amount(value),
            Quantity::Rate => Unit::PerSecond.amount(value),
            Quantity::Errors => Unit::Share.amount(value),
        }
    }

    /// None with too few slices for an interval.
    fn of(self, run: &Run) -> Option<Value> {
        match self {
            Quantity::Response(q) => response(run, q),
            Quantity::Rate => rate(run),
            Quantity::Errors => errors(run),
        }
    }
}

/// The limit of a gate, larger is worse, with what it is about and its sign.
fn read(gate: &Gate) -> Result<(Quantity, f64, f64)> {
    let quantity = Quantity::named(&gate.metric)?;
    ensure!(gate.only.is_none(), "gate: a load has one configuration; leave out `only`");
    match (quantity, gate.limit()?) {
        (Quantity::Response(_), Limit::AtMost(Amount::Seconds(seconds))) => Ok((quantity, seconds, 1.0)),
        (Quantity::Rate, Limit::AtLeast(Amount::Number(rate))) => Ok((quantity, -rate, -1.0)),
        (Quantity::Errors, Limit::NoWorseThan(share) | Limit::AtMost(Amount::Share(share))) => {
            Ok((quantity, share, 1.0))
        }
        (Quantity::Response(_), _) => bail!("gate: {} is a time: write {0}<50ms", gate.metric),
        (Quantity::Rate, _) => bail!("gate: more requests per second are better: write rate>200"),
        (Quantity::Errors, _) => bail!("gate: errors is a share of requests: write errors<1%"),
    }
}

/// Checks that a load has what gates are about.
///
/// # Errors
/// The first that it has not; one line.
pub fn check(gates: &[Gate]) -> Result<()> {
    gates.iter().try_for_each(|gate| read(gate).map(drop))
}

/// Judges gates. They must be checked.
pub fn judge(gates: &[Gate], run: &Run) -> Vec<Judged> {
    let mut all: Vec<Judged> = gates
        .iter()
        .filter_map(|gate| Some((gate, read(gate).ok()?)))
        .map(|(gate, of)| one(gate, of, run))
        .collect();
    all.sort_by_key(|judged| judged.outcome);
    all
}

fn one(gate: &Gate, (quantity, limit, sign): (Quantity, f64, f64), run: &Run) -> Judged {
    let told = |outcome, measured: String, remedy| Judged {
        gate: words(gate, quantity),
        configuration: requests(run),
        outcome,
        measured,
        remedy,
    };
    let Some(Value { value, low, high }) = quantity.of(run) else {
        let measured = "fewer than five slices with requests".to_owned();
        return told(Outcome::Undecided, measured, Some("load it for longer: -d 30s".into()));
    };
    let (worse, better) = if sign < 0.0 { (-low, -high) } else { (high, low) };
    let held = Held { low: better, high: worse, limit };
    let outcome = held.outcome();
    let measured = format!("{} ({} to {})", quantity.shown(value), quantity.shown(low), quantity.shown(high));
    let slices = run.result.slices.len() as u32;
    let remedy = (outcome == Outcome::Undecided)
        .then(|| more(held, sign * value, "slices", slices, run.result.seconds));
    told(outcome, measured, remedy)
}

/// The requests by name.
/// Its requests, by the name of the first.
pub(crate) fn requests(run: &Run) -> String {
    match run.plan.requests.as_slice() {
        [] => String::new(),
        [one] => clean(&one.name),
        [first, others @ ..] => clean(&format!("{} and {} more", first.name, others.len())),
    }
}

/// A percentage of a load is no change beside a baseline.
fn words(gate: &Gate, quantity: Quantity) -> String {
    match (quantity, &gate.no_worse_than) {
        (Quantity::Errors, Some(share)) => clean(&format!("errors at most {share}")),
        _ => gate.words(),
    }
}

fn total(run: &Run) -> ClassResult {
    run.result.classes.iter().fold(ClassResult::default(), add)
}

fn clusters(run: &Run, of: impl Fn(&Slice) -> Option<Cluster>) -> Vec<Cluster> {
    run.result.slices.iter().filter_map(of).collect()
}

fn response(run: &Run, q: f64) -> Option<Value> {
    let total = total(run);
    let unanswered = total.counts.unanswered();
    let at = |q: f64| match total.times.response.count() + unanswered {
        0 => None,
        _ => Some(total.times.response.quantile_with(q, unanswered).unwrap_or(f64::INFINITY)),
    };
    let value = at(q)?;
    let slower = |slice: &Slice| {
        let hist = slice.response.unpack().ok()?;
        Some(Cluster { all: hist.count() + slice.faulted, counted: hist.above(value) + slice.faulted })
    };
    let (share, least, most) = share_interval(&clusters(run, slower), CONFIDENCE)?;
    // Bins of slices are coarse: only the distances from the share are taken from them.
    let (low, high) = (at((q - (most - share)).max(0.0))?, at((q + (share - least)).min(1.0))?);
    Some(Value { value, low: low.min(value), high: high.max(value) })
}

fn errors(run: &Run) -> Option<Value> {
    let failed =
        |slice: &Slice| Some(Cluster { all: slice.completed + slice.faulted, counted: slice.faulted });
    let (share, low, high) = share_interval(&clusters(run, failed), CONFIDENCE)?;
    let counts = total(run).counts;
    // Requests that were never sent are in no slice.
    let value = counts.unanswered() as f64 / (counts.completed + counts.unanswered()).max(1) as f64;
    Some(Value { value, low: value + low - share, high: (value + high - share).min(1.0) })
}

fn rate(run: &Run) -> Option<Value> {
    let whole = |slice: &&Slice| slice.seconds > 0.0;
    let rates = run.result.slices.iter().filter(whole).map(|slice| slice.completed as f64 / slice.seconds);
    let estimate = Estimate::over_rounds((1..).zip(rates).collect(), MEDIAN)?;
    Some(Value { value: estimate.value, low: estimate.low?, high: estimate.high? })
}
