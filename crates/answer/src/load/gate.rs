//! Gates of a load: response times, rate, failures.
//!
//! Values and intervals are those of `load::slices`.

use anyhow::{Result, bail, ensure};
use weigh_model::gate::{Amount, Gate, Limit};
use weigh_model::text::clean;

use super::slices;
use crate::compare::gate::{GateOutcome, Judged, LimitedInterval, more, sorted};
use crate::estimate::Estimate;
use crate::load::document::Run;
use crate::metric::Unit;
use crate::metric::load::{ERRORS, RATE};

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

impl Quantity {
    fn named(metric: &str) -> Result<Quantity> {
        let percent = metric.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok());
        match (metric, percent.filter(|percent| (0.0..100.0).contains(percent) && *percent > 0.0)) {
            (RATE, _) => Ok(Quantity::Rate),
            (ERRORS, _) => Ok(Quantity::Errors),
            (_, Some(percent)) => Ok(Quantity::Response(percent / 100.0)),
            _ => bail!("gate: no metric `{}` of a load; known: p50, p99, p99.9, rate, errors", clean(metric)),
        }
    }

    fn unit(self) -> Unit {
        match self {
            Quantity::Response(_) => Unit::S,
            Quantity::Rate => Unit::PerSecond,
            Quantity::Errors => Unit::Share,
        }
    }

    /// None with too few slices for an interval.
    fn of(self, run: &Run) -> Option<Estimate> {
        match self {
            Quantity::Response(q) => slices::response(&run.result, q),
            Quantity::Rate => slices::rate(&run.result),
            Quantity::Errors => slices::errors(&run.result),
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

/// Gates as they are meant between two loads: a percentage of failures is a limit on their share, not on its change.
pub fn between(gates: Vec<Gate>) -> Vec<Gate> {
    let meant = |gate: Gate| match gate.metric.as_str() {
        ERRORS => Gate { at_most: gate.no_worse_than.or(gate.at_most), no_worse_than: None, ..gate },
        _ => gate,
    };
    gates.into_iter().map(meant).collect()
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
    sorted(gates.iter().filter_map(|gate| Some(one(gate, read(gate).ok()?, run))).collect())
}

fn one(gate: &Gate, (quantity, limit, sign): (Quantity, f64, f64), run: &Run) -> Judged {
    let told = |outcome, measured: String, remedy| Judged {
        gate: describe_gate(gate, quantity),
        configuration: requests(run),
        outcome,
        measured,
        remedy,
    };
    let Some(Estimate { value, low: Some(low), high: Some(high), .. }) = quantity.of(run) else {
        let measured = "fewer than five slices with requests".to_owned();
        return told(GateOutcome::Undecided, measured, Some("load it for longer: -d 30s".into()));
    };
    let (worse, better) = if sign < 0.0 { (-low, -high) } else { (high, low) };
    let held = LimitedInterval { low: better, high: worse, limit };
    let outcome = held.outcome();
    let shown = |value| quantity.unit().amount(value);
    let measured = format!("{} ({} to {})", shown(value), shown(low), shown(high));
    let slices = run.result.slices.len() as u32;
    let remedy = (outcome == GateOutcome::Undecided)
        .then(|| more(held, sign * value, "slices", slices, run.result.seconds));
    told(outcome, measured, remedy)
}

/// The requests of a load, by the name of the first.
pub(crate) fn requests(run: &Run) -> String {
    match run.plan.requests.as_slice() {
        [] => String::new(),
        [one] => clean(&one.name),
        [first, others @ ..] => clean(&format!("{} and {} more", first.name, others.len())),
    }
}

/// A percentage of a load is not a change beside a baseline.
fn describe_gate(gate: &Gate, quantity: Quantity) -> String {
    match (quantity, &gate.no_worse_than) {
        (Quantity::Errors, Some(share)) => clean(&format!("errors at most {share}")),
        _ => gate.words(),
    }
}
