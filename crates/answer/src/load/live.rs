//! Two sides of a load in alternating blocks, as a comparison like any other. Limits that need no other side are judged as those of a
//! load are.

use anyhow::{Result, bail};
use weigh_load::compare::{Line, Quantity};
use weigh_load::fault::HttpFaultKind;
use weigh_model::gate::{Gate, Limit};
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean;

use crate::compare::{Change, Compared, Comparison, Names, Side, gate};
use crate::load;
use crate::load::document::Run;
use crate::metric::{Better, Unit};
use crate::verdict::RatioWithUncorrected;

const SUBJECT: &str = "load";

/// Whether it is judged beside the other side. A share of errors is a limit by itself.
fn is_beside(limit: &Gate) -> bool {
    matches!(limit.limit(), Ok(Limit::NoWorseThan(_))) && limit.metric != "errors"
}

/// Checks that two sides of a load have what gates are about.
///
/// # Errors
/// The first that they have not; one line.
pub fn check(gates: &[Gate]) -> Result<()> {
    for one in gates {
        let mut known = Quantity::ALL.into_iter().map(Quantity::id);
        if !is_beside(one) {
            load::gate::check(std::slice::from_ref(one))?;
        } else if known.all(|id| id != one.metric) {
            let hint = nearest_hint(&one.metric, Quantity::ALL.into_iter().map(Quantity::id));
            bail!("gate: no metric `{}` of two loads{hint}", clean(&one.metric));
        }
    }
    Ok(())
}

/// The comparison of two sides of a load. Gates must be checked.
pub fn comparison(
    of: &load::Compared,
    names: Names,
    started: &str,
    machine: &str,
    gates: &[Gate],
) -> Comparison {
    let side = |name: String, run: &Run| Side {
        name,
        study: SUBJECT.to_owned(),
        started: started.to_owned(),
        rounds: of.comparison.blocks,
        seconds: run.result.seconds,
        machine: machine.to_owned(),
    };
    let configuration = load::gate::requests(&of.b);
    let rows = of.comparison.lines.iter().filter_map(|line| compared(line, &configuration)).collect();
    let sides = (side(names.a, &of.a), side(names.b, &of.b));
    let mut all = Comparison::of_rows(SUBJECT, sides, rows, changes(of));
    let (beside, alone): (Vec<Gate>, Vec<Gate>) = gates.iter().cloned().partition(is_beside);
    let judged = [gate::beside(&beside, &all), load::gate::judge(&alone, &of.b)];
    all.gates = gate::sorted(judged.concat());
    all
}

fn compared(line: &Line, configuration: &str) -> Option<Compared> {
    let (unit, better) = match line.quantity {
        Quantity::Rate => (Unit::PerSecond, Better::More),
        Quantity::BodyBytes | Quantity::WireBytes => (Unit::Bytes, Better::Less),
        _ => (Unit::S, Better::Less),
    };
    let is_value = |value: &f64| value.is_finite();
    let (a, b) = (line.a.filter(is_value)?, line.b.filter(is_value)?);
    let told = line.told.map(RatioWithUncorrected::from);
    Some(Compared::of(configuration, (line.quantity.id(), unit, better), (a, b), told))
}

/// What was not the same on both sides: responses, and failures by kind.
fn changes(of: &load::Compared) -> Vec<Change> {
    let differences = of.comparison.differences.iter();
    let mut all: Vec<Change> = differences
        .map(|one| Change {
            what: format!("response to {}", one.request),
            a: one.a.clone(),
            b: one.b.clone(),
            forbids: false,
        })
        .collect();
    let (a, b) = (&of.comparison.faults_a, &of.comparison.faults_b);
    let mut kinds: Vec<HttpFaultKind> = a.iter().chain(b).map(|fault| fault.kind).collect();
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        let count = |faults: &[weigh_load::result::FaultCount]| {
            faults.iter().filter(|fault| fault.kind == kind).map(|fault| fault.count).sum::<u64>().to_string()
        };
        let what = format!("failures: {}", kind.name());
        all.push(Change { what, a: count(a), b: count(b), forbids: false });
    }
    all
}
