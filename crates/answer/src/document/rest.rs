//! Cells without a number, and caveats.

use std::collections::BTreeMap;

use weigh_model::caveat::Caveat;
use weigh_model::units;

use crate::block::Block;
use crate::gather::FaultRow;
use crate::report::Report;
use crate::text::clean;
use crate::words::explain;

/// The title of what has no figures.
pub const FAILURES: &str = "Failures";
/// Names shown of a list before it is cut.
const NAMES: usize = 12;

/// Faulted cells with the same kind and message.
#[derive(Default)]
struct Alike<'a> {
    cells: Vec<&'a str>,
    remedy: Option<&'a str>,
}

/// The failures; those with the same kind and message are combined.
pub(super) fn faults(faults: &[FaultRow]) -> Vec<Block> {
    let mut groups: BTreeMap<String, Alike> = BTreeMap::new();
    for row in faults {
        let what = format!("{}: {}", kind(row.fault.kind), clean(&row.fault.message));
        let alike = groups.entry(what).or_default();
        alike.cells.push(&row.cell);
        alike.remedy = alike.remedy.or(row.fault.remedy.as_deref());
    }
    let point = |(what, alike): (String, Alike)| {
        (format!("{}: {what}", names(&alike.cells)), alike.remedy.map(clean))
    };
    section(FAILURES, groups.into_iter().map(point).collect())
}

/// Cells that were never planned, and those that budget or interruption left out, grouped by reason.
pub(super) fn not_measured(report: &Report) -> Vec<Block> {
    let Report { exclusions, unmeasured, .. } = report;
    let mut groups: BTreeMap<(String, Option<String>), Vec<&str>> = BTreeMap::new();
    for row in exclusions {
        groups.entry((clean(&row.reason), row.remedy.as_deref().map(clean))).or_default().push(&row.cell);
    }
    let mut points: Vec<_> = groups
        .into_iter()
        .map(|((reason, remedy), cells)| (format!("{reason}: {}", names(&cells)), remedy))
        .collect();
    if !unmeasured.is_empty() {
        let cells: Vec<_> = unmeasured.iter().map(String::as_str).collect();
        let (what, remedy) = match report.run.complete {
            true => ("the budget ended", "use a larger --budget"),
            false => ("the run was interrupted", "continue it with --resume"),
        };
        let text = format!("{what} first: {}", names(&cells));
        points.push((text, Some(remedy.into())));
    }
    section("Not measured", points)
}

/// Caveats of the run, then those of cells, counted by kind and remedy.
pub(super) fn caveats(report: &Report) -> Vec<Block> {
    let mut points: Vec<(String, Option<String>)> = Vec::new();
    for caveat in &report.caveats {
        let (what, remedy) = explain(caveat, None);
        points.push((what, Some(remedy)));
    }
    let mut kinds: BTreeMap<(&'static str, String), usize> = BTreeMap::new();
    for row in &report.rows {
        for caveat in &row.caveats {
            let remedy = explain(caveat, row.stop.as_ref()).1;
            *kinds.entry((cell_caveat(caveat), remedy)).or_insert(0) += 1;
        }
    }
    for ((what, remedy), count) in kinds {
        let text = format!("{} {what}.", units::count(count, "configuration", "configurations"));
        points.push((text, Some(remedy)));
    }
    points.dedup();
    section("Caveats", points)
}

fn section(title: &str, points: Vec<(String, Option<String>)>) -> Vec<Block> {
    if points.is_empty() {
        return Vec::new();
    }
    vec![Block::Heading(2, title.into()), Block::Points(points)]
}

/// The first few names, and the number of further ones; their common part is written once in front.
fn names(cells: &[&str]) -> String {
    let folder = cells[0].rfind('/').map_or("", |slash| &cells[0][..=slash]);
    let common = cells.len() > 1 && cells.iter().all(|cell| cell.starts_with(folder));
    let folder = if common { folder } else { "" };
    let mut names: Vec<_> = cells.iter().take(NAMES).map(|cell| clean(&cell[folder.len()..])).collect();
    if cells.len() > NAMES {
        names.push(format!("{} more", cells.len() - NAMES));
    }
    format!("{}{}{}", clean(folder), if folder.is_empty() { "" } else { " " }, units::list(&names))
}

pub(super) fn kind(kind: weigh_model::protocol::FaultKind) -> &'static str {
    use weigh_model::protocol::FaultKind;
    match kind {
        FaultKind::Missing => "missing",
        FaultKind::Parameter => "parameter refused",
        FaultKind::Payload => "payload",
        FaultKind::Codec => "codec failed",
        FaultKind::RoundTrip => "WRONG BYTES",
        FaultKind::Independent => "WRONG BYTES for an independent decoder",
        FaultKind::Crash => "worker crashed",
        FaultKind::Timeout => "timeout",
        FaultKind::Garbage => "invalid reply",
        FaultKind::Start => "did not start",
        FaultKind::Response => "wrong response",
    }
}

fn cell_caveat(caveat: &Caveat) -> &'static str {
    match caveat {
        Caveat::NoisyMachine { .. } => "with wall time well above CPU time",
        Caveat::FrequencyScaling { .. } => "measured with a varying clock frequency",
        Caveat::Steal { .. } => "measured while the hypervisor took CPU time",
        Caveat::StolenVisits { .. } => "with samples from which the hypervisor took CPU time",
        Caveat::Drift { .. } => "measured while the machine's speed varied",
        Caveat::Thinned { .. } => "of which some rounds are evaluated",
        Caveat::TwoClusters { .. } => "with rounds in two clusters",
        Caveat::Unconverged { .. } => "less precise than requested",
        Caveat::FewSamples { .. } => "with too few samples",
        Caveat::Synthetic { .. } => "on synthetic content",
        Caveat::Sampled { .. } => "on samples of the content",
        Caveat::Unpinned { .. } => "on content that differs from the pinned corpus",
        Caveat::Unstable { .. } => "whose encoded bytes differed between rounds",
        Caveat::Resumed { .. } => "measured across an interruption",
        Caveat::GeneratorLimit { .. } => "with a load generator that may be the bottleneck",
        Caveat::LittlesLaw { .. } => "whose rate and response times contradict each other",
        Caveat::SharedCores { .. } => "measured with client and server on the same cores",
        Caveat::DeepBuffers => "over a loopback whose buffers hide slow clients",
        Caveat::NotMetered => "measured from outside, without the server's CPU time",
        Caveat::Changing { .. } => "of a URL that changed during the run",
        Caveat::FaultyResponses { .. } => "with responses that failed verification",
        Caveat::Negotiation { .. } => "with content negotiation that breaks RFC 9110",
        Caveat::FailedTransactions { .. } => "with failed transactions",
        Caveat::Evicted { .. } => "whose store had evicted keys",
        Caveat::Dropped { .. } => "that did not reach the scheduled rate",
        Caveat::Staggered { .. } => "whose workers started late",
        Caveat::OwnOverhead { .. } => "with visible overhead of the benchmark loop",
    }
}
