//! Pairs of configurations that differ in one factor: each further runtime, driver, store or setting, on the first work
//! of the study, and the range over all other works.

use weigh_model::units;

use crate::finding::client::clients::{Candidate, SPOKEN_OF, candidate};
use crate::finding::client::label;
use crate::first::grouped;
use crate::metric::client::{CLIENT_CPU, COMBINED, CPU, GET_MIDDLE, PEAK_MIDDLE, PSS_MIDDLE, PUT_MIDDLE};
use crate::report::exhibit::comparison::{Comparison, Kind};
use crate::report::finding::{Draft, Evidence};
use crate::verdict::{Confidence, Ratio};

const PARTS: usize = 2;
/// The most figures without a significant difference that are named; the table has all, with intervals.
const OPEN: usize = 3;

/// Other versions of PHP, and variants.
pub fn runtimes(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = sentences(evidence, Kind::Runtime);
    drafts.extend(sentences(evidence, Kind::Variant));
    drafts
}

/// What differs in this one.
pub fn sentences(evidence: &Evidence, kind: Kind) -> Vec<Draft> {
    let comparisons = evidence.report.exhibits.comparisons.iter().flat_map(|all| &all.0);
    let of_kind = comparisons.filter(|c| c.kind == kind);
    // On another link, another order of settings may be right.
    let link = |c: &Comparison| match c.kind {
        Kind::Setting => candidate(evidence, &c.cell)?.client.link.clone(),
        _ => None,
    };
    let families = grouped(of_kind.filter_map(|c| Some(((names(evidence, c)?, link(c)), c))));
    let sentences =
        families.iter().filter_map(|((names, _), family)| sentence(evidence, kind, names, family));
    let leads = if kind == Kind::Setting { 1 } else { SPOKEN_OF };
    sentences.enumerate().map(|(at, (text, cells))| Draft::new(at < leads, text, cells)).collect()
}

/// What the two are called.
fn names(evidence: &Evidence, comparison: &Comparison) -> Option<(String, String)> {
    let name = |id: &str| {
        let of = candidate(evidence, id)?;
        Some(match comparison.kind {
            Kind::Runtime | Kind::Variant => label::runtime(&of.row.cell.runtime),
            Kind::Driver => label::describe_client(&of),
            Kind::Store => label::owned(&of.client.store).to_owned(),
            Kind::Setting => label::setting(&of.row.cell),
        })
    };
    Some((name(&comparison.cell)?, name(&comparison.beside)?))
}

/// The result for the first of a family, if measured, and the range over the others. Drivers and stores without any
/// significant difference are left to the answer.
fn sentence(
    evidence: &Evidence,
    kind: Kind,
    (ours, theirs): &(String, String),
    family: &[&Comparison],
) -> Option<(String, Vec<String>)> {
    let first = family.iter().find(|c| c.ratio(COMBINED).is_some() && cpu(c).is_some())?;
    let (cell, beside) = (candidate(evidence, &first.cell)?, candidate(evidence, &first.beside)?);
    let (clear, open) = parts(first);
    if clear.is_empty() && matches!(kind, Kind::Driver | Kind::Store) {
        return None;
    }
    let place = describe_comparison(evidence, kind, &cell, &beside);
    let mut text = match clear.chunks(PARTS).collect::<Vec<_>>().as_slice() {
        [] => format!("{ours} and {theirs}: {} {}.", open_in(first), any_of(&open)),
        [first, more @ ..] => {
            let more = more.iter().map(|some| format!(" It also has {}.", units::list(some)));
            format!("{ours} instead of {theirs}: {}.{}", units::list(first), more.collect::<String>())
        }
    };
    if !clear.is_empty() && !open.is_empty() {
        let open_in = open_in(first);
        let (first, rest) = open_in.split_at(1);
        text.push_str(&format!(" {}{rest} {}.", first.to_uppercase(), any_of(&open)));
    }
    text.push_str(&format!(" Measured with {place}."));
    let rest: Vec<&Comparison> = family.iter().filter(|c| c.cell != first.cell).copied().collect();
    text.push_str(&ranges(&rest).unwrap_or_default());
    let cells = family.iter().flat_map(|c| [c.beside.clone(), c.cell.clone()]).collect();
    Some((text, cells))
}

/// Whether a pair has too few rounds to compare.
fn is_few(of: &Comparison) -> bool {
    of.ratio(COMBINED).is_none_or(|ratio| ratio.confidence() == Confidence::TooFewRounds)
}

/// What is said of metrics without a clear difference.
fn open_in(of: &Comparison) -> &'static str {
    if is_few(of) { "too few rounds to compare" } else { "no significant difference in" }
}

/// As many as fit into a sentence.
fn any_of(open: &[String]) -> String {
    units::list(&open[..open.len().min(OPEN)])
}

/// The ratio of CPU times, and whose; only PHP's if the store's part of one of the two could not be read.
fn cpu(of: &Comparison) -> Option<(Ratio, &'static str)> {
    let whole = of.ratio(CPU).map(|ratio| (ratio, "CPU time per transaction"));
    whole.or_else(|| Some((of.ratio(CLIENT_CPU)?, "CPU time of PHP per transaction")))
}

/// What differs, and what does not, the first of these with its interval: `31% more throughput (28–34%)`, `CPU time per
/// transaction (1.02×, 0.99–1.05)`.
fn parts(of: &Comparison) -> (Vec<String>, Vec<String>) {
    let of_php = |metric: &str| of.ratio(metric).filter(|_| of.kind.is_runtime());
    let figures = [
        (of.ratio(COMBINED), "throughput"),
        cpu(of).map_or((None, ""), |(ratio, what)| (Some(ratio), what)),
        (of.ratio(GET_MIDDLE).or(of.ratio(PUT_MIDDLE)), "time per call"),
        (of_php(PEAK_MIDDLE), "peak memory of PHP"),
        (of_php(PSS_MIDDLE), "memory per process"),
    ];
    let (mut clear, mut open) = (Vec::new(), Vec::new());
    for (ratio, what) in figures {
        let Some(ratio) = ratio else { continue };
        match ratio.is_settled() {
            true => clear.push(label::change(&ratio, what)),
            false if open.is_empty() => {
                let range = units::range(ratio.low, ratio.high);
                open.push(format!("{what} ({}, {range})", units::times(ratio.value)));
            }
            false => open.push(what.to_owned()),
        }
    }
    (clear, open)
}

/// Where the two were measured.
fn describe_comparison(evidence: &Evidence, kind: Kind, cell: &Candidate, beside: &Candidate) -> String {
    let work = label::work(evidence, cell);
    let runtime = label::runtime(&cell.row.cell.runtime);
    match kind {
        Kind::Runtime | Kind::Variant => format!("{}: {work}", label::describe_client(cell)),
        Kind::Driver => format!("{runtime}: {work}"),
        Kind::Store => {
            format!("{runtime}, {} compared with {}: {work}", cell.client.driver, beside.client.driver)
        }
        Kind::Setting => format!("{}, {runtime}: {work}", label::describe_client(cell)),
    }
}

/// The others of a family: the range of their differences, and how many are not significant.
fn ranges(rest: &[&Comparison]) -> Option<String> {
    let range = |metric: &str| {
        let ratios: Vec<f64> = rest.iter().filter_map(|c| c.ratio(metric)).map(|r| r.value).collect();
        (!ratios.is_empty()).then(|| label::range(&ratios, units::times))
    };
    let rate = range(COMBINED)?;
    let cpu = range(CPU).map_or(String::new(), |cpu| format!(", CPU time {cpu}"));
    let is_open = |c: &&&Comparison| c.ratio(COMBINED).is_none_or(|r| !r.is_settled());
    let open = match rest.iter().filter(is_open).count() {
        0 => String::new(),
        n if rest.iter().any(|c| is_few(c)) => format!(" ({n} with too few rounds)"),
        1 if rest.len() == 1 => " (no significant difference)".to_owned(),
        n => format!(" ({n} without significant difference)"),
    };
    let others = units::count(rest.len(), "other pair", "other pairs");
    Some(format!(" {others}: throughput {rate}{cpu}{open}."))
}
