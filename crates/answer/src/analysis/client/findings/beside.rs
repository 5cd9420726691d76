//! Cells beside each other that differ in one thing: one sentence for each other runtime, driver, store or setting, on the work that the
//! study begins with, and the range over all others.

use crate::analysis::client::findings::{Candidate, Evidence, SPOKEN_OF, label};
use crate::analysis::client::model::{Comparison, Kind, is_settled};
use crate::analysis::findings::Draft;
use crate::analysis::model::Relative;
use weigh_model::units;

/// A figure of a comparison.
type Figure = fn(&Comparison) -> Option<Relative>;

pub(super) fn find(evidence: &Evidence, kind: Kind) -> Vec<Draft> {
    let mut families: Vec<((String, String), Vec<&Comparison>)> = Vec::new();
    for comparison in evidence.comparisons.iter().filter(|c| c.kind == kind) {
        let Some(names) = names(evidence, comparison) else { continue };
        match families.iter_mut().find(|(known, _)| *known == names) {
            Some((_, family)) => family.push(comparison),
            None => families.push((names, vec![comparison])),
        }
    }
    let sentences = families.iter().filter_map(|(names, family)| sentence(evidence, kind, names, family));
    let mut drafts: Vec<Draft> = Vec::new();
    for (text, cells) in sentences {
        let lead = drafts.len() < if kind == Kind::Setting { 1 } else { SPOKEN_OF };
        drafts.push(Draft { text, cells, lead });
    }
    drafts
}

/// What the two are called.
fn names(evidence: &Evidence, comparison: &Comparison) -> Option<(String, String)> {
    let (ours, theirs) = (evidence.cell(&comparison.cell)?, evidence.cell(&comparison.beside)?);
    let name = |of: &Candidate| match comparison.kind {
        Kind::Runtime | Kind::Variant => of.result.cell.runtime.clone(),
        Kind::Driver => label::place(of),
        Kind::Store => of.client.store.clone(),
        // Over another link another order is right.
        Kind::Setting => format!("{}{}", label::setting(&of.result.cell), label::over(of.client)),
    };
    Some((name(&ours), name(&theirs)))
}

fn sentence(
    evidence: &Evidence,
    kind: Kind,
    (ours, theirs): &(String, String),
    family: &[&Comparison],
) -> Option<(String, Vec<String>)> {
    let first = family.iter().find(|c| c.combined.is_some() && c.cpu.is_some())?;
    let (cell, beside) = (evidence.cell(&first.cell)?, evidence.cell(&first.beside)?);
    let place = place(evidence, kind, &cell, &beside);
    let mut text = match parts(first) {
        (clear, open) if clear.is_empty() => {
            format!("{ours} and {theirs} cannot be told apart in {}: {place}.", units::list(&open))
        }
        (clear, open) if open.is_empty() => {
            format!("{ours} has {} of {theirs}: {place}.", units::list(&clear))
        }
        (clear, open) => format!(
            "{ours} has {} of {theirs}, and cannot be told apart in {}: {place}.",
            units::list(&clear),
            units::list(&open)
        ),
    };
    let rest: Vec<&Comparison> = family.iter().filter(|c| c.cell != first.cell).copied().collect();
    if let Some(more) = ranges(&rest) {
        text.push_str(&more);
    }
    let cells = family.iter().flat_map(|c| [c.beside.clone(), c.cell.clone()]).collect();
    Some((text, cells))
}

/// What differs beyond doubt, and what does not: `1.31× [1.28, 1.34] the transactions a second`, `CPU time (1.02× [0.99, 1.05])`.
fn parts(of: &Comparison) -> (Vec<String>, Vec<String>) {
    // The same allocations are made each time, so that memory needs no more rounds than it has.
    let exact = u32::MAX;
    let figures = [
        (of.combined, of.rounds, "transactions a second"),
        (of.cpu, of.rounds, "CPU time a transaction"),
        (of.get.or(of.put), of.rounds, "time inside a call"),
        (of.memory.filter(|_| is_runtime(of.kind)), exact, "peak memory of PHP"),
        (of.pss.filter(|_| is_runtime(of.kind)), of.rounds, "memory of a process"),
    ];
    let (mut clear, mut open) = (Vec::new(), Vec::new());
    for (relative, rounds, what) in figures {
        let Some(relative) = relative else { continue };
        let ratio = units::times_interval(relative.ratio, relative.low, relative.high);
        match is_settled(&relative, rounds) {
            true => clear.push(format!("{ratio} the {what}")),
            false => open.push(format!("{what} ({ratio})")),
        }
    }
    (clear, open)
}

fn is_runtime(kind: Kind) -> bool {
    matches!(kind, Kind::Runtime | Kind::Variant)
}

/// Where the two were measured.
fn place(evidence: &Evidence, kind: Kind, cell: &Candidate, beside: &Candidate) -> String {
    let work = label::work(evidence, cell);
    let runtime = &cell.result.cell.runtime;
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
    let range = |of: Figure| {
        let ratios: Vec<f64> = rest.iter().filter_map(|c| of(c)).map(|r| r.ratio).collect();
        (!ratios.is_empty()).then(|| label::range(&ratios, units::times))
    };
    let (rate, cpu) = (range(|c| c.combined)?, range(|c| c.cpu)?);
    let is_open = |c: &&&Comparison| c.combined.is_none_or(|r| !is_settled(&r, c.rounds));
    let open = match rest.iter().filter(is_open).count() {
        0 => String::new(),
        n => format!("; {n} of them cannot be told apart in transactions"),
    };
    let others = units::count(rest.len(), "other pair", "other pairs");
    Some(format!(" Over {others}: {rate} the transactions, {cpu} the CPU time{open}."))
}
