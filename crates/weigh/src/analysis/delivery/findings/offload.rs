//! What handing a download over to the server changes in rate, and what it frees.

use crate::analysis::cost::Cost;
use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use crate::cell::Subject;
use crate::units;
use crate::way::{By, WayKind};
use weigh_stats::Ratio;

/// A change in rate of less than this is none.
const SAME: f64 = 0.03;
/// Memory that differs by less than this is the same.
const MEMORY: f64 = 0.1;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut offloads: Vec<Candidate> = evidence.all(Subject::Download);
    offloads.retain(|c| matches!(c.delivery.kind, WayKind::Offload | WayKind::Transparent));
    let wanted = evidence.plan.study.published_delivery.as_ref().map(|table| table.payload.as_str());
    // The published content leads, then the largest.
    offloads
        .sort_by_key(|c| (Some(c.result.cell.payload.as_str()) != wanted, u64::MAX - c.result.decoded_bytes));
    let lead = offloads.first().map(|c| c.result.cell.payload.clone());
    let mut drafts = Vec::new();
    for offload in offloads {
        let Some((text, cells)) =
            through_php(evidence, offload).and_then(|by| sentence(evidence, offload, by))
        else {
            continue;
        };
        let is_lead = lead.as_ref() == Some(&offload.result.cell.payload);
        drafts.push(Draft { text, cells, lead: is_lead });
    }
    drafts
}

/// The same content sent by PHP itself from the same server: the least CPU time of those ways.
pub(super) fn through_php<'a>(evidence: &Evidence<'a>, offload: Candidate<'a>) -> Option<Candidate<'a>> {
    let same = |other: &Candidate| {
        other.delivery.by == By::Php
            && other.delivery.kind == WayKind::Plain
            && other.delivery.server == offload.delivery.server
            && other.delivery.transport == offload.delivery.transport
            && (other.result.cell.runtime == offload.result.cell.runtime
                || offload.delivery.kind == WayKind::Transparent)
            && other.costs.cpu.is_some()
    };
    let ways = evidence.beside(offload, same).into_iter();
    ways.min_by(|a, b| a.result.cpu_ns().unwrap_or(0.0).total_cmp(&b.result.cpu_ns().unwrap_or(0.0)))
}

fn sentence(evidence: &Evidence, offload: Candidate, script: Candidate) -> Option<(String, Vec<String>)> {
    let rate = offload.costs.rate.as_ref()?.ratio_to(script.costs.rate.as_ref()?)?;
    let mut freed: Vec<String> = Vec::new();
    let server = &offload.delivery.server;
    freed.extend(change(&format!("{server}'s CPU time"), &offload.costs.server, &script.costs.server));
    match (&offload.costs.php, &script.costs.php) {
        (None, Some(cost)) => freed.push(format!("all of PHP's CPU time ({})", units::ns(cost.time()))),
        (ours, theirs) => freed.extend(change("PHP's CPU time", ours, theirs)),
    }
    freed.extend(memory("the server's memory", offload.result.server_pss, script.result.server_pss));
    freed.extend(memory("PHP's memory", offload.result.php_pss, script.result.php_pss));
    let freed = if freed.is_empty() { "frees nothing that was measured".into() } else { freed.join(", ") };
    let text = format!(
        "{} on {} ({}, {}) {} beside {}: {freed}.",
        label::way(&offload),
        label::content(evidence, &offload.result.cell.payload),
        units::bytes(offload.result.decoded_bytes),
        units::count(offload.delivery.connections as usize, "connection", "connections"),
        in_rate(&rate),
        label::way(&script)
    );
    Some((text, vec![offload.id(), script.id()]))
}

fn in_rate(rate: &Ratio) -> String {
    let interval = units::times_interval(rate.value, rate.low, rate.high);
    if rate.low > 1.0 + SAME || rate.high < 1.0 - SAME {
        return format!("has {interval} the rate");
    }
    if rate.low > 1.0 - SAME && rate.high < 1.0 + SAME {
        return format!("changes nothing in rate ({interval})");
    }
    format!("has a rate that cannot be told apart ({interval})")
}

/// `nginx's CPU time 0.43 ms → 0.15 ms (−65%)`; nothing where the two cannot be told apart.
fn change(what: &str, ours: &Option<Cost>, theirs: &Option<Cost>) -> Option<String> {
    let (ours, theirs) = (ours.as_ref()?, theirs.as_ref()?);
    if !ours.clearly_below(theirs) && !theirs.clearly_below(ours) {
        return None;
    }
    let change = ours.time() / theirs.time() - 1.0;
    Some(format!(
        "{what} {} → {} ({:+.0}%)",
        units::ns(theirs.time()),
        units::ns(ours.time()),
        change * 100.0
    ))
}

fn memory(what: &str, ours: Option<u64>, theirs: Option<u64>) -> Option<String> {
    let (ours, theirs) = (ours?, theirs.filter(|bytes| *bytes > 0)?);
    let change = ours as f64 / theirs as f64 - 1.0;
    (change.abs() > MEMORY).then(|| {
        format!("{what} {} → {} ({:+.0}%)", units::bytes(theirs), units::bytes(ours), change * 100.0)
    })
}
