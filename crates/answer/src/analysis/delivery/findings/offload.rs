//! What handing a download over to the server changes in rate, and what it frees.

use crate::analysis::cost::Cost;
use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::{By, WayKind};
use weigh_stats::Ratio;

/// A change in rate of less than this is none.
const SAME: f64 = 0.03;
/// Memory that differs by less than this is the same.
const MEMORY: f64 = 0.1;

/// What handing over does with the content that was published, else with the largest: one sentence a server.
pub(super) fn leads(evidence: &Evidence) -> Vec<Draft> {
    let all = offloads(evidence);
    let lead = all.first().map(|c| c.result.cell.payload.as_str());
    let is_lead = |c: &&Candidate| is_leading(c, lead);
    drafts(evidence, all.iter().filter(is_lead).copied()).map(|(t, c)| Draft::lead(t, c)).collect()
}

/// The other contents, options, and what the server takes by itself.
pub(super) fn details(evidence: &Evidence) -> Vec<Draft> {
    let all = offloads(evidence);
    let lead = all.first().map(|c| c.result.cell.payload.as_str());
    let is_left = |c: &&Candidate| !is_leading(c, lead);
    drafts(evidence, all.iter().filter(is_left).copied()).map(|(t, c)| Draft::detail(t, c)).collect()
}

fn is_leading(of: &Candidate, payload: Option<&str>) -> bool {
    of.delivery.kind == WayKind::Offload
        && of.is_plain_setting()
        && Some(of.result.cell.payload.as_str()) == payload
}

/// Ways that hand over, the published content first, then the largest.
fn offloads<'a>(evidence: &Evidence<'a>) -> Vec<Candidate<'a>> {
    let mut offloads: Vec<Candidate> = evidence.all(Subject::Download);
    offloads.retain(|c| matches!(c.delivery.kind, WayKind::Offload | WayKind::Transparent));
    let wanted = evidence.plan.study.published_delivery.as_ref().map(|table| table.payload.as_str());
    offloads
        .sort_by_key(|c| (Some(c.result.cell.payload.as_str()) != wanted, u64::MAX - c.result.decoded_bytes));
    offloads
}

fn drafts<'a>(
    evidence: &Evidence<'a>,
    offloads: impl Iterator<Item = Candidate<'a>>,
) -> impl Iterator<Item = (String, Vec<String>)> {
    offloads.filter_map(|offload| {
        through_php(evidence, offload).and_then(|script| sentence(evidence, offload, script))
    })
}

/// The same content sent by PHP itself from the same server: of the ways with the fewest options, that with the least CPU
/// time.
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
    ways.min_by(|a, b| {
        let cpu = |c: &Candidate| c.result.cpu_ns().unwrap_or(0.0);
        let options = |c: &Candidate| c.setting().options.len();
        options(a).cmp(&options(b)).then(cpu(a).total_cmp(&cpu(b)))
    })
}

/// Parts that fall, and parts that rise.
#[derive(Default)]
struct Changes {
    freed: Vec<String>,
    taken: Vec<String>,
}

fn sentence(evidence: &Evidence, offload: Candidate, script: Candidate) -> Option<(String, Vec<String>)> {
    let (ours, theirs) = (offload.costs.rate.as_ref()?, script.costs.rate.as_ref()?);
    let rate = ours.ratio_to(theirs)?;
    let mut changes = Changes::default();
    let server = &offload.delivery.server;
    changes.of_time(&format!("{server}'s CPU time"), &offload.costs.server, &script.costs.server);
    match (&offload.costs.php, &script.costs.php) {
        (None, Some(cost)) => {
            changes.freed.push(format!("all of PHP's CPU time ({})", units::ns(cost.time())));
        }
        (ours, theirs) => changes.of_time("PHP's CPU time", ours, theirs),
    }
    changes.of_memory("the server's memory", offload.result.server_pss, script.result.server_pss);
    changes.of_memory("PHP's memory", offload.result.php_pss, script.result.php_pss);
    let runtimes = evidence.plan.runtimes.len() > 1;
    let runtime = if runtimes { format!(" ({})", script.result.cell.runtime) } else { String::new() };
    let text = format!(
        "On {}{runtime}, {} instead of {} for {} ({}) {}; {}.",
        label::stand(
            server,
            offload.delivery.transport,
            offload.delivery.connections,
            offload.delivery.link.as_deref()
        ),
        label::name(&offload),
        label::name(&script),
        label::content(evidence, &offload.result.cell.payload),
        units::bytes(offload.result.decoded_bytes),
        in_rate(&rate, ours.clearly_apart(theirs)),
        changes.words()
    );
    Some((text, vec![offload.id(), script.id()]))
}

fn in_rate(rate: &Ratio, is_apart: bool) -> String {
    let interval = units::times_interval(rate.value, rate.low, rate.high);
    if is_apart && (rate.low > 1.0 + SAME || rate.high < 1.0 - SAME) {
        return format!("has {interval} the rate");
    }
    if rate.low > 1.0 - SAME && rate.high < 1.0 + SAME {
        return format!("changes nothing in rate ({interval})");
    }
    format!("has a rate that cannot be told apart ({interval})")
}

impl Changes {
    /// `nginx's CPU time 0.43 ms → 0.15 ms (-65%)`; nothing where the two cannot be told apart.
    fn of_time(&mut self, what: &str, ours: &Option<Cost>, theirs: &Option<Cost>) {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
        if ours.clearly_apart(theirs) {
            self.add(what, (theirs.time(), ours.time()), units::ns);
        }
    }

    fn of_memory(&mut self, what: &str, ours: Option<u64>, theirs: Option<u64>) {
        let (Some(ours), Some(theirs)) = (ours, theirs.filter(|bytes| *bytes > 0)) else { return };
        if (ours as f64 / theirs as f64 - 1.0).abs() > MEMORY {
            self.add(what, (theirs as f64, ours as f64), |bytes| units::bytes(bytes as u64));
        }
    }

    fn add(&mut self, what: &str, (from, to): (f64, f64), show: fn(f64) -> String) {
        let change = (to / from - 1.0) * 100.0;
        let text = format!("{what} {} → {} ({change:+.0}%)", show(from), show(to));
        if to < from { self.freed.push(text) } else { self.taken.push(text) }
    }

    fn words(&self) -> String {
        match (self.freed.is_empty(), self.taken.is_empty()) {
            (true, true) => "it frees nothing that was measured".to_string(),
            (false, true) => format!("it frees {}", self.freed.join(", ")),
            (true, false) => format!("it takes more: {}", self.taken.join(", ")),
            (false, false) => {
                format!("it frees {}, and takes more: {}", self.freed.join(", "), self.taken.join(", "))
            }
        }
    }
}
