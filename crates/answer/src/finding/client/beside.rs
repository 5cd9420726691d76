//! Cells beside each other that differ in one thing: one sentence for each other runtime, driver, store or setting, on the work that the
//! study begins with, and the range over all others.

use super::*;
use crate::exhibit::comparison::{Comparison, Kind};
use crate::first::grouped;
use crate::subject::client::{CLIENT_CPU, COMBINED, GET_MIDDLE, PEAK_MIDDLE, PSS_MIDDLE, PUT_MIDDLE, over};
use crate::verdict::Ratio;

/// Other versions of PHP, and other ways to run one.
pub(super) fn runtimes(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = sentences(evidence, Kind::Runtime);
    drafts.extend(sentences(evidence, Kind::Variant));
    drafts
}

pub fn drivers(evidence: &Evidence) -> Vec<Draft> {
    sentences(evidence, Kind::Driver)
}

pub fn stores(evidence: &Evidence) -> Vec<Draft> {
    sentences(evidence, Kind::Store)
}

pub fn settings(evidence: &Evidence) -> Vec<Draft> {
    sentences(evidence, Kind::Setting)
}

fn sentences(evidence: &Evidence, kind: Kind) -> Vec<Draft> {
    let comparisons = evidence.report.exhibits.comparisons.iter().flat_map(|all| &all.0);
    let of_kind = comparisons.filter(|c| c.kind == kind);
    let families = grouped(of_kind.filter_map(|c| Some((names(evidence, c)?, c))));
    let sentences = families.iter().filter_map(|(names, family)| sentence(evidence, kind, names, family));
    let leads = if kind == Kind::Setting { 1 } else { SPOKEN_OF };
    sentences.enumerate().map(|(at, (text, cells))| Draft::new(at < leads, text, cells)).collect()
}

/// What the two are called.
fn names(evidence: &Evidence, comparison: &Comparison) -> Option<(String, String)> {
    let name = |id: &str| {
        let of = candidate(evidence, id)?;
        Some(match comparison.kind {
            Kind::Runtime | Kind::Variant => of.row.cell.runtime.clone(),
            Kind::Driver => label::place(&of),
            Kind::Store => of.client.store.clone(),
            // Over another link another order is right.
            Kind::Setting => {
                format!("{}{}", label::setting(&of.row.cell), over(of.client.link.as_deref()))
            }
        })
    };
    Some((name(&comparison.cell)?, name(&comparison.beside)?))
}

fn sentence(
    evidence: &Evidence,
    kind: Kind,
    (ours, theirs): &(String, String),
    family: &[&Comparison],
) -> Option<(String, Vec<String>)> {
    let first = family.iter().find(|c| c.ratio(COMBINED).is_some() && cpu(c).is_some())?;
    let (cell, beside) = (candidate(evidence, &first.cell)?, candidate(evidence, &first.beside)?);
    let place = place(evidence, kind, &cell, &beside);
    let (clear, open) = parts(first);
    let (is_open, is_clear) = (clear.is_empty(), open.is_empty());
    let (clear, open) = (units::list(&clear), units::list(&open));
    let mut text = if is_open {
        format!("{ours} and {theirs} cannot be told apart in {open}: {place}.")
    } else if is_clear {
        format!("{ours} has {clear} of {theirs}: {place}.")
    } else {
        format!("{ours} has {clear} of {theirs}, and cannot be told apart in {open}: {place}.")
    };
    let rest: Vec<&Comparison> = family.iter().filter(|c| c.cell != first.cell).copied().collect();
    if let Some(more) = ranges(&rest) {
        text.push_str(&more);
    }
    let cells = family.iter().flat_map(|c| [c.beside.clone(), c.cell.clone()]).collect();
    Some((text, cells))
}

/// The ratio of CPU times, and of whom: of PHP alone where the store's part of one of the two could not be read.
fn cpu(of: &Comparison) -> Option<(Ratio, &'static str)> {
    let whole = of.ratio(CPU).map(|ratio| (ratio, "CPU time a transaction"));
    whole.or_else(|| Some((of.ratio(CLIENT_CPU)?, "CPU time of PHP a transaction")))
}

/// What differs beyond doubt, and what does not: `1.31× [1.28, 1.34] the transactions a second`, `CPU time (1.02× [0.99, 1.05])`.
fn parts(of: &Comparison) -> (Vec<String>, Vec<String>) {
    let of_php = |metric: &str| of.ratio(metric).filter(|_| of.kind.is_runtime());
    let figures = [
        (of.ratio(COMBINED), "transactions a second"),
        cpu(of).map_or((None, ""), |(ratio, what)| (Some(ratio), what)),
        (of.ratio(GET_MIDDLE).or(of.ratio(PUT_MIDDLE)), "time inside a call"),
        (of_php(PEAK_MIDDLE), "peak memory of PHP"),
        (of_php(PSS_MIDDLE), "memory of a process"),
    ];
    let (mut clear, mut open) = (Vec::new(), Vec::new());
    for (ratio, what) in figures {
        let Some(ratio) = ratio else { continue };
        let text = label::interval(&ratio);
        match ratio.is_settled() {
            true => clear.push(format!("{text} the {what}")),
            false => open.push(format!("{what} ({text})")),
        }
    }
    (clear, open)
}

/// Where the two were measured.
fn place(evidence: &Evidence, kind: Kind, cell: &Candidate, beside: &Candidate) -> String {
    let work = label::work(evidence, cell);
    let runtime = &cell.row.cell.runtime;
    match kind {
        Kind::Runtime | Kind::Variant => format!("{work}, {}", label::place(cell)),
        Kind::Driver => format!("{work}, {runtime}"),
        Kind::Store => {
            format!("{work}, {} beside {}, {runtime}", cell.client.driver, beside.client.driver)
        }
        Kind::Setting => format!("{work}, {} by {}, {runtime}", cell.client.store, cell.client.driver),
    }
}

/// The others of a family: how far apart they are, and how many do not differ.
fn ranges(rest: &[&Comparison]) -> Option<String> {
    let range = |metric: &str| {
        let ratios: Vec<f64> = rest.iter().filter_map(|c| c.ratio(metric)).map(|r| r.value).collect();
        (!ratios.is_empty()).then(|| label::range(&ratios, units::times))
    };
    let rate = range(COMBINED)?;
    let cpu = range(CPU).map_or(String::new(), |cpu| format!(", {cpu} the CPU time"));
    let is_open = |c: &&&Comparison| c.ratio(COMBINED).is_none_or(|r| !r.is_settled());
    let open = match rest.iter().filter(is_open).count() {
        0 => String::new(),
        n => format!("; {n} of them cannot be told apart in transactions"),
    };
    let others = units::count(rest.len(), "other pair", "other pairs");
    Some(format!(" Over {others}: {rate} the transactions{cpu}{open}."))
}
