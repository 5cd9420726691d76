//! Downloads: how handing one over to the server changes the rate, what it frees, and which downloads are buffered on
//! disk.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::{By, WayKind};

use crate::estimate::Estimate;
use crate::finding::delivery::label;
use crate::finding::delivery::sent::{Sent, Sentence, all, beside, details, first_leads, leads};
use crate::first::grouped;
use crate::metric::delivery::{CONTENT, PHP_CPU, RATE, SERVER_CPU, is_own_share};
use crate::report::finding::{Draft, Evidence};
use crate::verdict::{Confidence, Ratio, differ};

/// A smaller change in rate is not mentioned.
const SAME: f64 = 0.03;
/// Memory that differs by less than this counts as equal.
const MEMORY: f64 = 0.1;
/// A worker is freed if a download keeps it busy for less than this share of the time when PHP sends the file itself.
const FREED: f64 = 0.5;
/// A worker that is busy for less than this share of the response is free while the body is sent.
const FREE: f64 = 0.25;
/// A worker that is busy for more than this share of the response is busy until its end.
const KEPT: f64 = 0.75;
/// The least number of status readings for a mean.
const ENOUGH: f64 = 5.0;
/// Methods that a sentence names.
const NAMED: usize = 3;
/// A smaller part of the body on disk does not count as buffering.
const SPOOLED: f64 = 0.1;

/// The effect of handing over for the published content, otherwise the largest, by server; then other contents,
/// options, and what the server handles by itself.
pub fn hand_overs(evidence: &Evidence) -> Vec<Draft> {
    let all = offloads(evidence);
    let first = all.first().map(|c| c.row.cell.payload.as_str());
    let is_leading = |c: &&Sent| {
        c.delivery.kind == WayKind::Offload
            && c.is_plain_setting()
            && Some(c.row.cell.payload.as_str()) == first
    };
    let (lead, rest): (Vec<&Sent>, Vec<&Sent>) = all.iter().partition(is_leading);
    let said = |rows: Vec<&Sent>| {
        let sentence = |row: &Sent| sentence(evidence, row, &through_php(evidence, *row)?);
        rows.into_iter().filter_map(sentence).collect::<Vec<_>>()
    };
    let mut drafts = leads(said(lead));
    drafts.extend(details(said(rest)));
    drafts
}

/// Methods that hand over, the published content first, then the largest.
pub(crate) fn offloads<'a>(evidence: &Evidence<'a>) -> Vec<Sent<'a>> {
    let mut offloads = all(evidence, Subject::DOWNLOAD);
    offloads.retain(|c| matches!(c.delivery.kind, WayKind::Offload | WayKind::Transparent));
    let wanted = evidence.plan.study.published_table.as_ref().map(|table| table.payload.as_str());
    offloads.sort_by_key(|c| (Some(c.cell.payload.as_str()) != wanted, u64::MAX - c.count(CONTENT)));
    offloads
}

/// The same content sent by PHP itself from the same server: of the methods with the fewest options, that with the
/// least CPU time.
pub(crate) fn through_php<'a>(evidence: &Evidence<'a>, offload: Sent<'a>) -> Option<Sent<'a>> {
    let same = |other: &Sent| {
        other.delivery.by == By::Php
            && other.delivery.kind == WayKind::Plain
            && other.delivery.server == offload.delivery.server
            && other.delivery.transport == offload.delivery.transport
            && (other.cell.runtime == offload.cell.runtime || offload.delivery.kind == WayKind::Transparent)
            && other.cpu().is_some()
    };
    beside(evidence, offload, same).into_iter().min_by(|a, b| {
        let options = |c: &Sent| c.setting().options.len();
        options(a).cmp(&options(b)).then(a.cpu_or_0().total_cmp(&b.cpu_or_0()))
    })
}

/// Parts that fall or rise, a sentence each.
#[derive(Default)]
struct Changes(Vec<String>);

fn sentence(evidence: &Evidence, offload: &Sent, script: &Sent) -> Option<Sentence> {
    let rate = offload.ratio_to(script, RATE)?;
    let is_apart = differ(offload.get(RATE)?, script.get(RATE)?);
    let own = own_share(evidence, script).filter(|_| offload.get(PHP_CPU).is_some());
    let mut changes = Changes::default();
    changes.of_time(&format!("{}'s CPU time", label::server(offload)), SERVER_CPU, offload, script);
    match (offload.get(PHP_CPU), script.value(PHP_CPU)) {
        (None, Some(time)) => {
            changes.0.push(format!("All of PHP's CPU time is saved ({}).", units::ns(time)))
        }
        _ => changes.of_php(offload, script, own),
    }
    changes.of_memory("The server's memory", "server-pss", offload, script);
    changes.of_memory("PHP's memory", "php-pss", offload, script);
    let text = format!(
        "On {}{}, {} instead of {} for {} ({}): {}. {}",
        label::endpoint(&offload.delivery.into()),
        label::on_runtime(evidence, &script.cell.runtime),
        label::name(offload),
        label::name(script),
        label::content(evidence, &offload.cell.payload),
        units::bytes(offload.count(CONTENT)),
        in_rate(&rate, is_apart),
        changes.words()
    );
    Some((text, [*offload, *script].iter().chain(&own).map(Sent::own_id).collect()))
}

/// The same script with a file of one byte: PHP's cost before sending, for the start and end of a request, loading and
/// authorising. An application has its own cost for this.
fn own_share<'a>(evidence: &Evidence<'a>, script: &Sent) -> Option<Sent<'a>> {
    let is_it = |c: &Sent| {
        is_own_share(c.row)
            && c.is_beside(script)
            && c.delivery.connections == script.delivery.connections
            && c.delivery.link == script.delivery.link
            && c.get(PHP_CPU).is_some()
    };
    all(evidence, Subject::DOWNLOAD).into_iter().find(is_it)
}

fn in_rate(rate: &Ratio, is_apart: bool) -> String {
    let interval = units::range(rate.low, rate.high);
    if rate.confidence() == Confidence::TooFewRounds {
        return label::change(rate, "throughput");
    }
    if is_apart && (rate.low > 1.0 + SAME || rate.high < 1.0 - SAME) {
        return label::change(rate, "throughput");
    }
    if rate.low > 1.0 - SAME && rate.high < 1.0 + SAME {
        return format!("the same throughput ({}×)", interval);
    }
    format!("no significant difference in throughput ({interval}×)")
}

impl Changes {
    /// `nginx's CPU time falls from 0.43 ms to 0.15 ms (-65%).`; nothing without a significant difference.
    fn of_time(&mut self, what: &str, metric: &str, ours: &Sent, theirs: &Sent) {
        let (Some(ours), Some(theirs)) = (ours.get(metric), theirs.get(metric)) else { return };
        if differ(ours, theirs) {
            self.add(what, (theirs.value, ours.value), units::ns);
        }
    }

    /// PHP's part, without the script's own share on both sides where that was measured.
    fn of_php(&mut self, ours: &Sent, theirs: &Sent, own: Option<Sent>) {
        let Some(own) = own else { return self.of_time("PHP's CPU time", PHP_CPU, ours, theirs) };
        let estimates = ours.get(PHP_CPU).zip(theirs.get(PHP_CPU)).zip(own.get(PHP_CPU));
        let Some(((ours, theirs), own)) = estimates.filter(|((a, b), _)| differ(a, b)) else { return };
        // If it does not differ significantly from the script's own cost, it is not counted as sending.
        let sending = |of: &Estimate| if differ(of, own) { (of.value - own.value).max(0.0) } else { 0.0 };
        let what = format!("PHP's CPU time beyond the script's own {}", units::ns(own.value));
        self.add(&what, (sending(theirs), sending(ours)), units::ns);
    }

    fn of_memory(&mut self, what: &str, metric: &str, ours: &Sent, theirs: &Sent) {
        let theirs = theirs.value(metric).filter(|bytes| *bytes > 0.0);
        let (Some(ours), Some(theirs)) = (ours.value(metric), theirs) else { return };
        if (ours / theirs - 1.0).abs() > MEMORY {
            self.add(what, (theirs, ours), |bytes| units::bytes(bytes as u64));
        }
    }

    fn add(&mut self, what: &str, (from, to): (f64, f64), show: fn(f64) -> String) {
        let change =
            if from > 0.0 { format!(" ({:+.0}%)", (to / from - 1.0) * 100.0) } else { String::new() };
        let verb = if to < from { "falls" } else { "rises" };
        self.0.push(match to > 0.0 {
            true => format!("{what} {verb} from {} to {}{change}.", show(from), show(to)),
            false => format!("{what} falls from {} to nothing significant.", show(from)),
        });
    }

    fn words(&self) -> String {
        if self.0.is_empty() {
            return "No other cost changes significantly.".to_owned();
        }
        self.0.join(" ")
    }
}

/// Whether handing a download over frees PHP's workers, by the pool's status: one sentence per server, on the largest
/// content, which takes longest to send.
///
/// The number of busy workers alone says little: a pool that answers many requests is as busy as one that answers few
/// slowly. What counts is how long a download keeps a worker busy, and whether that is as long as the response takes.
pub fn freed_workers(evidence: &Evidence) -> Vec<Draft> {
    let mut offloads = all(evidence, Subject::DOWNLOAD);
    offloads.retain(|c| c.delivery.kind == WayKind::Offload);
    offloads.sort_by_key(|c| (u64::MAX - c.count(CONTENT), u32::MAX - c.delivery.connections));
    let mut said: Vec<(&str, &str)> = Vec::new();
    let mut sentences = Vec::new();
    for offload in offloads {
        let key = (offload.delivery.server.as_str(), offload.row.cell.runtime.as_str());
        if said.contains(&key) {
            continue;
        }
        let script = through_php(evidence, offload);
        let Some(sentence) = script.and_then(|script| kept_workers(evidence, &offload, &script)) else {
            continue;
        };
        said.push(key);
        sentences.push(sentence);
    }
    first_leads(sentences)
}

/// How long a response keeps a worker busy, in seconds, and its share of the available time: of one worker per
/// connection, but no more than the pool has.
#[derive(Clone, Copy)]
struct WorkerOccupancy {
    seconds: f64,
    share: f64,
}

impl WorkerOccupancy {
    fn of(row: &Sent) -> Option<WorkerOccupancy> {
        row.value("pool-readings").filter(|readings| *readings >= ENOUGH)?;
        let most = row.value("workers")?.min(row.delivery.connections.into()).max(1.0);
        let share = row.value("busy-mean")? / most;
        Some(WorkerOccupancy { seconds: row.value("worker-seconds")?, share: share.min(1.0) })
    }

    /// `3.49 ms, 96% of the time`.
    fn words(&self) -> String {
        format!("{}, {:.0}% of the time", label::seconds(self.seconds), self.share * 100.0)
    }
}

fn kept_workers(evidence: &Evidence, offload: &Sent, script: &Sent) -> Option<Sentence> {
    let (ours, theirs) = (WorkerOccupancy::of(offload)?, WorkerOccupancy::of(script)?);
    let text = format!(
        "On {}, {} keeps a PHP worker for {} ({}, {}). {} keeps it for {}. {}.",
        label::endpoint(&offload.delivery.into()),
        label::name(script),
        theirs.words(),
        label::content(evidence, &offload.cell.payload),
        units::bytes(offload.count(CONTENT)),
        label::name(offload),
        ours.words(),
        verdict(label::server(offload), ours, theirs)
    );
    Some((text, vec![script.own_id(), offload.own_id()]))
}

fn verdict(server: &str, ours: WorkerOccupancy, theirs: WorkerOccupancy) -> String {
    if theirs.share < FREE {
        return format!("{server} buffers the response, so that PHP is free in either case");
    }
    let is_shorter = ours.seconds <= theirs.seconds * FREED;
    match (ours.share > KEPT, is_shorter) {
        (true, false) => format!("Handing over does not free the worker on {server}"),
        (true, true) => "The response ends sooner, but keeps the worker for most of its time".to_string(),
        (false, true) => "Handing over frees the worker".to_string(),
        (false, false) => "Handing over changes little for the worker".to_string(),
    }
}

/// Responses that a server writes to temporary files while it sends them, which frees the worker: one sentence per
/// server, on the largest content, with every such method.
pub fn spooled(evidence: &Evidence) -> Vec<Draft> {
    let written = |c: &Sent| c.value("written-bytes").unwrap_or(0.0);
    let mut rows = all(evidence, Subject::DOWNLOAD);
    rows.extend(all(evidence, Subject::PAGE));
    rows.retain(|c| c.bytes() > 0.0 && written(c) >= c.bytes() * SPOOLED);
    rows.sort_by_key(|c| u64::MAX - c.count(CONTENT));
    let sentence = |(server, rows): (&str, Vec<&Sent>)| {
        let row = rows[0];
        let alike: Vec<&Sent> = rows.into_iter().filter(|c| c.cell.payload == row.cell.payload).collect();
        let mut ways: Vec<String> = alike.iter().map(|c| label::name(c)).collect();
        ways.sort();
        ways.dedup();
        let text = format!(
            "{} writes {} per response to disk with {} on {} ({}). This spooling frees PHP early.",
            label::owned(server),
            units::bytes(written(row).round() as u64),
            label::some(&ways, NAMED),
            label::content(evidence, &row.cell.payload),
            units::bytes(row.count(CONTENT)),
        );
        (text, alike.iter().map(|c| c.own_id()).collect())
    };
    let servers = grouped(rows.iter().map(|row| (row.delivery.server.as_str(), row)));
    details(servers.into_iter().map(sentence))
}
