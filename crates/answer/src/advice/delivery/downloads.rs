//! Whether to hand a download over to the server or to send it from PHP, server by server.
//!
//! Handing over is recommended where it takes less CPU time, as the verdict tells, or where slow clients keep workers of the pool that sends the file
//! itself and none of one that hands over. Elsewhere PHP's cheapest method stands. A server that sends files alone asks no PHP, so that it takes
//! files that need no permission: it is no rival, and is named for those.

use weigh_model::units;
use weigh_model::way::WayKind;
use weigh_stats::ROUNDS;

use super::{Said, ids};
use crate::advice::{Part, Recommended, Sentence};
use crate::exhibit::fairness::{FairnessResult, Outcome};
use crate::finding::Evidence;
use crate::finding::delivery::offload::{offloads, through_php};
use crate::finding::delivery::{Sent, bytes_of, label};
use crate::first::{distinct, grouped};
use crate::subject::delivery::{CPU, PHP_CPU};
use crate::verdict::is_told_less;

/// One server: handing over beside PHP's own method, on each content.
struct Server<'a> {
    name: &'a str,
    /// The published content first, then the largest; none where only slow clients were measured.
    pairs: Vec<(Sent<'a>, Sent<'a>)>,
    slow: Option<SlowClients<'a>>,
}

/// What slow clients do where a download is handed over, and where PHP sends it.
struct SlowClients<'a> {
    offload: &'a FairnessResult,
    script: Option<&'a FairnessResult>,
}

/// What to do about downloads; none where no server was asked to take one over.
pub(super) fn advise(evidence: &Evidence) -> Option<Said> {
    let servers = servers(evidence);
    let (handed, sent): (Vec<&Server>, Vec<&Server>) = servers.iter().partition(|server| server.is_better());
    let recommended = servers.iter().filter_map(|server| server.recommended(evidence));
    let mut said = Said { recommended: recommended.collect(), sentences: vec![used(&handed, &sent)?] };
    said.sentences.extend(needs(&handed));
    said.sentences.extend(handed.iter().find_map(|server| server.freed()));
    said.sentences.extend(handed.first().and_then(|server| server.gain(evidence)));
    said.sentences.extend(alone(evidence, &servers));
    said.sentences.extend(limit(&servers));
    Some(said)
}

fn servers<'a>(evidence: &Evidence<'a>) -> Vec<Server<'a>> {
    let mut servers = by_cost(evidence);
    if servers.is_empty() {
        servers = by_slow_clients(evidence);
    }
    servers.sort_by_key(|server| evidence.plan.servers.iter().position(|known| known.name == server.name));
    servers
}

fn by_cost<'a>(evidence: &Evidence<'a>) -> Vec<Server<'a>> {
    let mut offloads = offloads(evidence);
    offloads.retain(|row| row.delivery.kind == WayKind::Offload && row.is_plain_setting());
    let pair = |row: Sent<'a>| Some((row.delivery.server.as_str(), (row, through_php(evidence, row)?)));
    let server = |(name, pairs): (&'a str, Vec<(Sent<'a>, Sent<'a>)>)| {
        let slow =
            pairs.first().and_then(|(offload, _)| slow_clients(evidence, name, &offload.row.cell.runtime));
        Server { name, pairs, slow }
    };
    grouped(offloads.into_iter().filter_map(pair)).into_iter().map(server).collect()
}

/// Of a run that measured slow clients alone, which are no rows.
fn by_slow_clients<'a>(evidence: &Evidence<'a>) -> Vec<Server<'a>> {
    let all = evidence.report.exhibits.fairness.iter().flat_map(|fairness| &fairness.0);
    let places =
        all.filter_map(|of| Some((of.cell.delivery.as_ref()?.server.as_str(), of.cell.runtime.as_str())));
    let server = |(name, runtime): (&'a str, &str)| {
        let slow = slow_clients(evidence, name, runtime);
        slow.is_some().then_some(Server { name, pairs: Vec::new(), slow })
    };
    grouped(places).into_iter().filter_map(|(name, runtimes)| server((name, runtimes.first()?))).collect()
}

/// Of the same server at the fewest slow clients that could keep every worker of the pool, else at the most.
fn slow_clients<'a>(evidence: &Evidence<'a>, server: &str, runtime: &str) -> Option<SlowClients<'a>> {
    let all = &evidence.report.exhibits.fairness.as_ref()?.0;
    let here = || {
        all.iter().filter(|of| {
            of.cell.delivery.as_ref().is_some_and(|d| d.server == server)
                && of.cell.setting.options.is_empty()
                && of.cell.runtime == runtime
        })
    };
    let clients = |of: &FairnessResult| of.slow().map_or(0, |slow| slow.clients);
    let enough = here().filter(|of| of.slow().is_some_and(|slow| slow.clients >= slow.workers)).map(clients);
    let number = enough.min().or_else(|| here().map(clients).max())?;
    let of_kind = |wanted: WayKind| {
        let is_kind = |of: &&FairnessResult| of.cell.delivery.as_ref().is_some_and(|d| d.kind == wanted);
        here().filter(|of| clients(of) == number).find(is_kind)
    };
    Some(SlowClients { offload: of_kind(WayKind::Offload)?, script: of_kind(WayKind::Plain) })
}

impl Server<'_> {
    /// Handing over is better here.
    fn is_better(&self) -> bool {
        let frees = self.slow.as_ref().is_some_and(SlowClients::frees);
        let is_less = |(ours, theirs): &(Sent, Sent)| is_told_less(ours.cpu(), theirs.cpu());
        frees || self.pairs.first().is_some_and(is_less)
    }

    fn name(&self) -> &str {
        label::owned(self.name)
    }

    /// The method that is recommended here, as sentences name it.
    fn method(&self) -> Option<String> {
        let is_better = self.is_better();
        if let Some((ours, theirs)) = self.pairs.first() {
            return Some(label::name(if is_better { ours } else { theirs }));
        }
        let slow = self.slow.as_ref()?;
        let of = if is_better { slow.offload } else { slow.script? };
        Some(label::owned(&of.cell.setting.codec).to_owned())
    }

    fn recommended(&self, evidence: &Evidence) -> Option<Recommended> {
        let is_better = self.is_better();
        let mut rows: Vec<Sent> =
            self.pairs.iter().map(|(ours, theirs)| if is_better { *ours } else { *theirs }).collect();
        rows.sort_by_key(|row| bytes_of(evidence, &row.row.cell.payload));
        let name = self.method()?;
        // PHP's cheapest method may be another one on another content.
        rows.retain(|row| label::name(row) == name);
        Some(Recommended { scope: self.name().to_owned(), name, cells: distinct(ids(&rows)) })
    }

    /// `8 slow clients on Apache: 0 of 8 workers stay busy with X-Sendfile, 8 with readfile.`
    fn freed(&self) -> Option<Sentence> {
        let slow = self.slow.as_ref().filter(|slow| slow.frees())?;
        let script = slow.script?;
        let (number, all) = slow.offload.slow().map(|of| (of.clients, of.workers))?;
        let busy = |of: &FairnessResult| of.busy.map(|busy| format!("{busy:.0}"));
        let text = format!(
            "{} on {}: {} of {all} PHP workers stay busy with {}, {} with {}.",
            units::count(number as usize, "slow client", "slow clients"),
            self.name(),
            busy(slow.offload)?,
            label::owned(&slow.offload.cell.setting.codec),
            busy(script)?,
            label::owned(&script.cell.setting.codec)
        );
        // They are no rows.
        Some(Sentence::new(Part::Gain, text, self.pairs.first().map(|(ours, _)| ours.own_id())))
    }

    fn gain(&self, evidence: &Evidence) -> Option<Sentence> {
        let (ours, theirs) = self.pairs.first()?;
        let text = format!(
            "{} from {}, beside {}: {}.",
            label::content(evidence, &ours.row.cell.payload),
            self.name(),
            label::way(theirs),
            label::change(&ours.ratio_to(theirs, CPU)?, "CPU time per download")
        );
        Some(Sentence::new(Part::Gain, text, ids(&[*ours, *theirs])))
    }
}

impl SlowClients<'_> {
    /// Handing over leaves the workers free that PHP's own method keeps.
    fn frees(&self) -> bool {
        let is_free = |of: &FairnessResult| matches!(of.outcome, Outcome::Free | Outcome::Alone);
        is_free(self.offload) && self.script.is_some_and(|script| !is_free(script))
    }
}

/// `Hand downloads over with X-Sendfile on Apache and X-Accel-Redirect on nginx; on Caddy send them with readfile.`
fn used(handed: &[&Server], sent: &[&Server]) -> Option<Sentence> {
    let names = |servers: &[&Server]| {
        let methods = servers.iter().filter_map(|server| Some((server.method()?, server.name())));
        let by_method = grouped(methods).into_iter();
        by_method.map(|(method, all)| format!("{method} on {}", units::list(&all))).collect::<Vec<_>>()
    };
    let (over, from) = (names(handed), names(sent));
    let text = match (over.is_empty(), from.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("Hand downloads over with {}.", units::list(&over)),
        (true, false) => format!("Send downloads from PHP with {}.", units::list(&from)),
        (false, false) => format!(
            "Hand downloads over with {}; send them from PHP with {}.",
            units::list(&over),
            units::list(&from)
        ),
    };
    let rows = handed.iter().flat_map(|s| s.pairs.iter().map(|pair| pair.0));
    let rows = rows.chain(sent.iter().flat_map(|s| s.pairs.iter().map(|pair| pair.1)));
    Some(Sentence::new(Part::Use, text, distinct(ids(&rows.collect::<Vec<_>>()))))
}

fn needs(handed: &[&Server]) -> Option<Sentence> {
    let apache = handed.iter().find(|server| server.name == "apache")?;
    Some(Sentence::new(
        Part::Needs,
        "Apache needs mod_xsendfile.",
        apache.pairs.first().map(|p| p.0.own_id()),
    ))
}

/// For files that need no permission: what the server saves by sending them alone.
fn alone(evidence: &Evidence, servers: &[Server]) -> Option<Sentence> {
    let is_alone = |row: &&Sent| row.delivery.kind == WayKind::Transparent;
    let rows = offloads(evidence);
    let first = rows.iter().filter(is_alone).find_map(|row| {
        let script = servers.iter().flat_map(|server| &server.pairs).map(|pair| pair.0);
        let mut alike = script.filter(|offload| {
            offload.delivery.server == row.delivery.server
                && offload.row.cell.payload == row.row.cell.payload
                && offload.delivery.connections == row.delivery.connections
        });
        Some((row, alike.find_map(|offload| Some((offload, offload.row.value(PHP_CPU)?)))?))
    });
    let (row, (offload, ns)) = first?;
    let text = format!(
        "For files that need no permission check, let {} send them alone: that saves {} of PHP's CPU time more.",
        label::server(row),
        units::ns(ns)
    );
    Some(Sentence::new(Part::Change, text, ids(&[*row, offload])))
}

/// Where handing over frees no worker, and how sure it is.
fn limit(servers: &[Server]) -> Option<Sentence> {
    let rows: Vec<Sent> = servers.iter().filter_map(|server| Some(server.pairs.first()?.0)).collect();
    let kept = |outcome: Outcome| matches!(outcome, Outcome::Kept | Outcome::Starved);
    let slow = servers.iter().filter_map(|server| Some((server.name(), server.slow.as_ref()?)));
    let names: Vec<&str> =
        slow.filter(|(_, slow)| kept(slow.offload.outcome)).map(|(name, _)| name).collect();
    let text = if !names.is_empty() {
        format!("Handing over frees no PHP worker on {}.", units::list(&names))
    } else if servers.iter().all(|server| server.slow.is_none()) {
        "Slow clients were not measured.".to_owned()
    } else if rows.is_empty() {
        "CPU time without slow clients was not measured.".to_owned()
    } else {
        match super::fewest_rounds(&rows) as usize {
            few if few < ROUNDS => format!("By figures of {} only.", units::count(few, "round", "rounds")),
            _ => return None,
        }
    };
    Some(Sentence::new(Part::Limit, text, ids(&rows)))
}
