//! Judges gates: pass, fail, or undecided where the interval holds the limit. Undecided is not a pass, and says what would
//! decide it.
//!
//! A gate passes by 95% intervals without correction: to say that all configurations keep a limit, each is tested at the
//! full level (Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982)). It fails by
//! intervals with the correction of all comparisons: one of many misses a limit by chance.

use anyhow::{Result, bail, ensure};
use schemars::JsonSchema;
use serde::Serialize;
use weigh_model::gate::{Amount, Gate, Limit};
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean;
use weigh_model::units;
use weigh_stats::ROUNDS;

use super::{Compared, Comparison, Method, ratio_text};
use crate::estimate::Estimate;
use crate::metric::{Better, Metric, Unit};
use crate::report::Report;
use crate::report::shape::Shape;
use crate::row::Row;

/// What a gate came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename = "Outcome", rename_all = "kebab-case")]
pub enum GateOutcome {
    /// Beyond the limit with the whole interval.
    Fail,
    /// The interval holds the limit, or there is none.
    Undecided,
    /// Within the limit with the whole interval.
    Pass,
}

/// A gate at one configuration.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// The gate, in words.
    pub gate: String,
    /// The configuration; empty: the gate covers none.
    pub configuration: String,
    /// What it came to.
    pub outcome: GateOutcome,
    /// What was measured, in words.
    pub measured: String,
    /// Of an undecided one: what would decide it.
    pub remedy: Option<String>,
}

/// An interval beside a limit, both as larger-is-worse.
#[derive(Clone, Copy, Debug)]
pub struct LimitedInterval {
    /// Lower end; negative infinity if it has none.
    pub low: f64,
    /// Upper end; infinity if it has none.
    pub high: f64,
    pub limit: f64,
}

impl LimitedInterval {
    /// The only place that decides what a gate came to.
    pub fn outcome(self) -> GateOutcome {
        if self.high <= self.limit {
            GateOutcome::Pass
        } else if self.low > self.limit {
            GateOutcome::Fail
        } else {
            GateOutcome::Undecided
        }
    }

    /// By how much measuring must grow until an interval around `value` is narrow enough, if it narrows with the square
    /// root; none if `value` is at the limit, or this would be more than a thousandfold.
    pub fn factor(self, value: f64) -> Option<f64> {
        let end = if value > self.limit { self.low } else { self.high };
        let factor = ((end - value) / (self.limit - value)).powi(2);
        (factor.is_finite() && factor < 1e3).then(|| factor.max(1.1))
    }
}

/// Checks that a subject has every metric that gates name, in a unit that fits.
///
/// # Errors
/// The first that does not; one line.
pub fn check<'g>(gates: impl IntoIterator<Item = &'g Gate>, shape: &Shape) -> Result<()> {
    for gate in gates {
        let Some(metric) = shape.metrics().find(|metric| metric.id == gate.metric) else {
            let known = shape.metrics().filter(|m| m.better != Better::Neither).map(|m| m.id);
            bail!("gate: no metric `{}`{}", clean(&gate.metric), nearest_hint(&gate.metric, known));
        };
        ensure!(metric.better != Better::Neither, "gate: neither more nor less of {} is better", metric.id);
        match gate.limit()? {
            Limit::NoWorseThan(_) => {}
            Limit::AtMost(amount) => {
                ensure!(metric.better == Better::Less, "gate: more of {} is better; use at_least", metric.id);
                in_unit(metric, amount)?;
            }
            Limit::AtLeast(amount) => {
                ensure!(metric.better == Better::More, "gate: less of {} is better; use at_most", metric.id);
                in_unit(metric, amount)?;
            }
        }
    }
    Ok(())
}

fn in_unit(metric: &Metric, amount: Amount) -> Result<f64> {
    match (metric.unit, amount) {
        (Unit::Ns, Amount::Seconds(seconds)) => Ok(seconds * 1e9),
        (Unit::S, Amount::Seconds(seconds)) => Ok(seconds),
        (Unit::Bytes | Unit::BytesPerSecond, Amount::Bytes(bytes) | Amount::Number(bytes)) => Ok(bytes),
        (Unit::PerSecond | Unit::Count | Unit::Ratio, Amount::Number(number)) => Ok(number),
        (Unit::Share, Amount::Share(share)) => Ok(share),
        (Unit::Ns | Unit::S, _) => {
            bail!("gate: {} is a time; write it with its unit, such as 50ms", metric.id)
        }
        (Unit::Bytes | Unit::BytesPerSecond, _) => bail!("gate: {} is in bytes; write 20KB", metric.id),
        (Unit::Share, _) => bail!("gate: {} is a share; write 5%", metric.id),
        (_, _) => bail!("gate: {} is a number without a unit", metric.id),
    }
}

/// Judges the gates of a comparison. `report` is side B, for limits that need no other side. Gates must be checked.
pub fn judge(gates: &[Gate], comparison: &Comparison, report: &Report) -> Vec<Judged> {
    let of = |gate: &Gate| match gate.limit() {
        Ok(Limit::NoWorseThan(share)) => relative(gate, share, comparison),
        _ => absolute(gate, report),
    };
    sorted(gates.iter().flat_map(of).collect())
}

/// Judges gates that need both sides.
pub(crate) fn beside(gates: &[Gate], comparison: &Comparison) -> Vec<Judged> {
    let share = |gate: &Gate| match gate.limit() {
        Ok(Limit::NoWorseThan(share)) => Some(share),
        _ => None,
    };
    gates.iter().filter_map(|gate| Some(relative(gate, share(gate)?, comparison))).flatten().collect()
}

/// Judges the gates of a run that need no other run, and counts the others.
pub fn judge_alone(gates: &[Gate], report: &Report) -> (Vec<Judged>, usize) {
    let (relative, alone): (Vec<&Gate>, Vec<&Gate>) =
        gates.iter().partition(|gate| matches!(gate.limit(), Ok(Limit::NoWorseThan(_))));
    (sorted(alone.iter().flat_map(|gate| absolute(gate, report)).collect()), relative.len())
}

/// The most important first.
pub(crate) fn sorted(mut all: Vec<Judged>) -> Vec<Judged> {
    all.sort_by_key(|judged| judged.outcome);
    all
}

/// The worst outcome; none without gates.
pub fn worst(all: &[Judged]) -> Option<GateOutcome> {
    all.iter().map(|judged| judged.outcome).min()
}

fn nothing(gate: &Gate, why: &str) -> Judged {
    uncovered(gate, why, "name a metric and configurations that both sides have")
}

/// A gate that covers nothing.
pub(crate) fn uncovered(gate: &Gate, why: &str, remedy: &str) -> Judged {
    Judged {
        gate: gate.words(),
        configuration: String::new(),
        outcome: GateOutcome::Undecided,
        measured: why.to_owned(),
        remedy: Some(remedy.to_owned()),
    }
}

fn relative(gate: &Gate, share: f64, comparison: &Comparison) -> Vec<Judged> {
    let covered = |row: &&Compared| row.metric == gate.metric && gate.covers(&row.configuration);
    let rows: Vec<&Compared> = comparison.rows.iter().filter(covered).collect();
    if rows.is_empty() {
        return vec![nothing(gate, "no configuration of both sides has this metric")];
    }
    rows.into_iter().map(|row| beside_baseline(gate, share, row, comparison)).collect()
}

fn beside_baseline(gate: &Gate, share: f64, row: &Compared, comparison: &Comparison) -> Judged {
    let is_more = row.better == Better::More;
    let worse = |ratio: f64| if is_more { 1.0 / ratio } else { ratio };
    let limit = if is_more { 1.0 / (1.0 - share).max(1e-9) } else { 1.0 + share };
    let told = |outcome, measured: String, remedy| Judged {
        gate: gate.words(),
        configuration: row.configuration.clone(),
        outcome,
        measured,
        remedy,
    };
    let Some(ratio) = &row.ratio else {
        // Known exactly, or not observed in rounds.
        let quotient = worse(row.quotient());
        let is_exact = row.verdict != super::Verdict::Untested;
        let held = LimitedInterval { low: quotient, high: quotient, limit };
        return match is_exact {
            true => told(held.outcome(), format!("{} of the baseline", units::times(row.quotient())), None),
            false => told(
                GateOutcome::Undecided,
                format!("{} of the baseline, without an interval", units::times(row.quotient())),
                Some("gate on a metric that is observed in rounds".into()),
            ),
        };
    };
    let alone = row.alone.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
    // That all keep the limit needs no correction (an intersection-union test); that any of them misses it does.
    let held = |shift: f64| {
        let ends = |low: f64, high: f64| if is_more { (worse(high), worse(low)) } else { (low, high) };
        let (low, _) = ends(ratio.low * shift.min(1.0), ratio.high * shift.max(1.0));
        let (_, high) = ends(alone[0] * shift.min(1.0), alone[1] * shift.max(1.0));
        LimitedInterval { low, high, limit }
    };
    // What all configurations have in common is the machine's or the program's: the limit must hold for both readings.
    let shift = comparison.shift(&row.metric);
    let outcome = match (ratio.rounds as usize) < ROUNDS {
        true => GateOutcome::Undecided,
        false => held(shift).outcome(),
    };
    let (low, high) = (alone[0] * shift.min(1.0), alone[1] * shift.max(1.0));
    let measured = format!("{} of the baseline", ratio_text(row.quotient(), low, high));
    let remedy = (outcome == GateOutcome::Undecided)
        .then(|| remedy_beside(comparison, row, held(1.0), worse(ratio.value)));
    told(outcome, measured, remedy)
}

/// What decides a limit that the interval holds.
fn remedy_beside(comparison: &Comparison, row: &Compared, held: LimitedInterval, value: f64) -> String {
    const PAIRED: &str = "measure both interleaved: weigh compare --paired";
    let rounds = row.ratio.map_or(0, |ratio| ratio.rounds);
    if (rounds as usize) < ROUNDS {
        return format!("it has {rounds} rounds and a test needs {ROUNDS}; give a larger budget");
    }
    if comparison.method == Method::Runs {
        if held.outcome() != GateOutcome::Undecided {
            let shift = units::times(comparison.shift(&row.metric));
            return format!("all configurations changed by {shift}: the machine or the program; {PAIRED}");
        }
        let spread = comparison.quantities.iter().find(|q| q.metric == row.metric).map_or(0.0, |q| q.spread);
        if 2.0 * spread >= (held.limit / value).ln().abs() {
            return format!(
                "runs differ by {} for no reason, more rounds don't help; {PAIRED}",
                units::percent(spread)
            );
        }
    }
    more(held, value, "rounds", rounds, comparison.b.seconds)
}

/// About how much longer to measure.
pub(crate) fn more(held: LimitedInterval, value: f64, what: &str, count: u32, seconds: f64) -> String {
    match held.factor(value) {
        Some(factor) => format!(
            "about {} more {what} would decide it ({} more)",
            (f64::from(count) * (factor - 1.0)).ceil(),
            units::ns(seconds * (factor - 1.0) * 1e9)
        ),
        None => "the result is at the limit: choose another limit".into(),
    }
}

fn absolute(gate: &Gate, report: &Report) -> Vec<Judged> {
    let Some(metric) = report.shape().metrics().find(|metric| metric.id == gate.metric) else {
        return vec![nothing(gate, "no such metric")];
    };
    let amount = match gate.limit() {
        Ok(Limit::AtMost(amount) | Limit::AtLeast(amount)) => in_unit(metric, amount).ok(),
        _ => None,
    };
    let Some(limit) = amount else { return vec![nothing(gate, "the limit does not fit the metric")] };
    let rows = report.rows.iter().filter(|row| gate.covers(row.id()));
    let judged = |row: &Row| Some(alone(gate, metric, limit, row, row.get(metric.id)?, report.run.seconds));
    let all: Vec<Judged> = rows.filter_map(judged).collect();
    if all.is_empty() { vec![nothing(gate, "no configuration has this metric")] } else { all }
}

fn alone(gate: &Gate, metric: &Metric, limit: f64, row: &Row, of: &Estimate, seconds: f64) -> Judged {
    let (low, high) = (of.low.unwrap_or(f64::NEG_INFINITY), of.high.unwrap_or(f64::INFINITY));
    let sign = if metric.better == Better::More { -1.0 } else { 1.0 };
    let (low, high) = if sign < 0.0 { (-high, -low) } else { (low, high) };
    // A statistic of the whole distribution has no interval: it decides by its value.
    let held = LimitedInterval { low, high, limit: sign * limit };
    let outcome = held.outcome();
    let remedy = (outcome == GateOutcome::Undecided).then(|| {
        if of.low.is_none() || of.high.is_none() {
            format!("its interval has one end with {} rounds; give a larger budget", of.rounds)
        } else {
            more(held, sign * of.value, "rounds", of.rounds, seconds)
        }
    });
    let measured = amount_with_interval(metric.unit, of);
    Judged { gate: gate.words(), configuration: row.id().to_owned(), outcome, measured, remedy }
}

/// A value with its interval in words.
fn amount_with_interval(unit: Unit, of: &Estimate) -> String {
    let shown = |value: f64| unit.amount(value);
    match (of.low, of.high) {
        (Some(low), Some(high)) if low == high => shown(of.value),
        (Some(low), Some(high)) => format!("{} ({} to {})", shown(of.value), shown(low), shown(high)),
        (None, Some(high)) => format!("{} (at most {})", shown(of.value), shown(high)),
        _ => shown(of.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_inside_the_interval_is_undecided() {
        let outcome = |low, high| LimitedInterval { low, high, limit: 1.05 }.outcome();
        assert_eq!(outcome(0.97, 1.05), GateOutcome::Pass);
        assert_eq!(outcome(1.06, 1.2), GateOutcome::Fail);
        assert_eq!(outcome(1.04, 1.2), GateOutcome::Undecided);
        assert_eq!(outcome(f64::NEG_INFINITY, f64::INFINITY), GateOutcome::Undecided);
    }

    #[test]
    fn four_times_as_long_halves_an_interval() {
        let held = LimitedInterval { low: 0.9, high: 1.1, limit: 1.05 };
        assert!((held.factor(1.0).unwrap() - 4.0).abs() < 1e-9);
        assert!(held.factor(1.05).is_none());
    }
}
