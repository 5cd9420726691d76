//! Gates of a policy: limits on what it changes, judged by its proof.

use anyhow::{Result, bail};
use weigh_model::gate::{Gate, Limit};
use weigh_model::policy::Amount;
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean;
use weigh_model::units;

use super::document::interval;
use super::proof::{Line, METRICS, Proof};
use crate::compare::gate::{GateOutcome, Judged, LimitedInterval, sorted, uncovered};

/// Checks that a proof has what gates are about.
///
/// # Errors
/// The first that it has not; one line.
pub fn check(gates: &[Gate]) -> Result<()> {
    for gate in gates {
        let metric = &gate.metric;
        if !METRICS.contains(&metric.as_str()) {
            let hint = nearest_hint(metric, METRICS);
            bail!("gate: a proof has no metric `{}`{hint}; known: {}", clean(metric), METRICS.join(", "));
        }
        if !matches!(gate.limit()?, Limit::NoWorseThan(_)) {
            bail!("gate: a proof measures changes; write no_worse_than = \"5%\" for {metric}");
        }
    }
    Ok(())
}

/// Judges gates by what was measured before and after. They must be checked.
pub fn judge(gates: &[Gate], proof: &Proof) -> Vec<Judged> {
    sorted(gates.iter().flat_map(|gate| of_gate(gate, proof)).collect())
}

fn of_gate(gate: &Gate, proof: &Proof) -> Vec<Judged> {
    let Ok(Limit::NoWorseThan(limit)) = gate.limit() else { return Vec::new() };
    let covered = |line: &&Line| line.metric == gate.metric && gate.covers(&line.name());
    let all: Vec<Judged> = proof.lines.iter().filter(covered).map(|line| one(gate, limit, line)).collect();
    let remedy = "name an amount that the proof shows, or give a larger --budget";
    let nothing = || uncovered(gate, "nothing of this was measured before and after", remedy);
    if all.is_empty() { vec![nothing()] } else { all }
}

fn one(gate: &Gate, limit: f64, line: &Line) -> Judged {
    let share = line.measured.share().unwrap_or_default();
    let (low, high) = (line.measured.rounds_low, line.measured.rounds_high);
    let held =
        LimitedInterval { low: low.unwrap_or(f64::NEG_INFINITY), high: high.unwrap_or(f64::INFINITY), limit };
    let outcome = held.outcome();
    let remedy = (outcome == GateOutcome::Undecided).then(|| match held.factor(share) {
        Some(factor) => format!("about {} the budget would decide it: --budget", units::times(factor)),
        None => "a larger --budget, or another limit".into(),
    });
    Judged {
        gate: gate.words(),
        configuration: line.name(),
        outcome,
        measured: interval(share, &Amount { low, high, ..line.measured }),
        remedy,
    }
}

#[cfg(test)]
mod tests {
    use weigh_model::site::Kind;

    use super::super::proof::Verdict;
    use super::*;

    fn line(kind: Kind, (metric, amount): (&'static str, &str), share: f64, reach: f64) -> Line {
        let (rounds_low, rounds_high) = (Some(share - reach), Some(share + reach));
        let measured =
            Amount { before: 1.0, after: 1.0 + share, rounds_low, rounds_high, ..Amount::default() };
        let (predicted, verdict) = (Amount::default(), Verdict::Held);
        Line {
            kind,
            metric,
            amount: amount.into(),
            predicted,
            measured,
            modelled: false,
            verdict,
            remark: None,
        }
    }

    fn judged(gate: Gate) -> Vec<(GateOutcome, String)> {
        let lines = vec![
            line(Kind::Page, ("cpu", "CPU time"), 0.10, 0.02),
            line(Kind::Asset, ("cpu", "CPU time"), -0.30, 0.02),
            line(Kind::Page, ("traffic", "traffic"), -0.60, 0.0),
            line(Kind::Page, ("response", "response over cable"), -0.2, 0.1),
        ];
        let proof = Proof { lines, ..Proof::default() };
        check(std::slice::from_ref(&gate)).unwrap();
        judge(&[gate], &proof).into_iter().map(|judged| (judged.outcome, judged.configuration)).collect()
    }

    fn gate(metric: &str, share: &str, only: Option<&str>) -> Gate {
        Gate {
            metric: metric.into(),
            no_worse_than: Some(share.into()),
            only: only.map(str::to_owned),
            ..Gate::default()
        }
    }

    #[test]
    fn a_change_keeps_a_limit_misses_it_or_leaves_it_open() {
        let pages = || "pages, CPU time".to_owned();
        assert_eq!(
            judged(gate("cpu", "5%", None)),
            [(GateOutcome::Fail, pages()), (GateOutcome::Pass, "assets, CPU time".into())]
        );
        assert_eq!(
            judged(gate("cpu", "5%", Some("assets"))),
            [(GateOutcome::Pass, "assets, CPU time".into())]
        );
        assert_eq!(judged(gate("cpu", "11%", Some("pages"))), [(GateOutcome::Undecided, pages())]);
        assert_eq!(judged(gate("cpu", "15%", Some("pages"))), [(GateOutcome::Pass, pages())]);
        assert_eq!(judged(gate("response", "0%", None))[0].0, GateOutcome::Pass);
        // What was not measured is not a pass.
        assert_eq!(judged(gate("memory", "5%", None)), [(GateOutcome::Undecided, String::new())]);
    }

    #[test]
    fn what_a_proof_cannot_judge_is_refused() {
        let said = |gate: &Gate| check(std::slice::from_ref(gate)).unwrap_err().to_string();
        assert!(said(&gate("trafic", "5%", None)).contains("did you mean `traffic`?"));
        let absolute = Gate { metric: "cpu".into(), at_most: Some("5ms".into()), ..Gate::default() };
        assert!(said(&absolute).contains("no_worse_than"));
    }
}
