//! Whether to hand a download over to the server or to send it from PHP, server by server.
//!
//! Handing over is recommended where it takes less CPU time, or where slow clients keep workers of the pool that sends the file itself and none of one
//! that hands over. Elsewhere PHP's method stands. A server that sends files alone asks no PHP, so that it takes files that need no permission: it is
//! no rival, and is named for those.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::WayKind;
use weigh_stats::ROUNDS;

use super::{PartialAdvice, groups_of, method, plain_setting};
use crate::finding::delivery::label;
use crate::finding::delivery::offload::{offloads, through_php};
use crate::finding::delivery::sent::{Sent, bytes_of};
use crate::first::{distinct, grouped};
use crate::metric::delivery::{CPU, PHP_CPU, is_own_share};
use crate::report::Report;
use crate::report::advice::{Case, Recommended, Sentence, StatementKind, ids};
use crate::report::exhibit::fairness::{FairnessResult, SlowClientEffect};
use crate::report::question::{Alternative, Groups, Question};
use crate::row::Row;
use crate::verdict::Confidence;

/// One question for each server: who sends a download.
pub(super) fn questions(all: &Groups) -> Vec<Question> {
    let groups = groups_of(all, &Subject::DOWNLOAD);
    let servers = grouped(groups.iter().map(|at| (all.report.groups[*at].factor("server"), *at)));
    let question = |(server, groups): (&str, Vec<usize>)| {
        let key = |row: &'_ Row| {
            let sent = plain_setting(row).filter(|sent| !is_own_share(sent.row))?;
            let is_handed = sent.delivery.kind == WayKind::Offload;
            let is_rival = is_handed || sent.delivery.kind == WayKind::Plain;
            // Of equal ones, PHP's own stays.
            is_rival.then(|| (method(&sent), label::name(&sent), usize::from(is_handed)))
        };
        let mut question = Question::of(all, 2, label::owned(server), groups, key)?;
        let is_handed = |one: &Alternative| one.rank > 0;
        let runtime = all.rows[question.groups[0]].iter().find(|row| row.cell.delivery.is_some())?;
        let slow = slow_clients(all.report, server, &runtime.cell.runtime);
        let frees = slow.is_some_and(|slow| slow.frees());
        let has_handed = question.alternatives.iter().any(is_handed);
        question.alternatives.iter_mut().for_each(|one| one.may_be_chosen = is_handed(one) || !frees);
        has_handed.then_some(question)
    };
    servers.into_iter().filter_map(question).collect()
}

/// One server with what was chosen there.
struct Server<'a> {
    name: &'a str,
    method: String,
    is_handed: bool,
    /// What was chosen, the largest content first; none where only slow clients were measured, which are not rows.
    rows: Vec<&'a Row>,
    slow: Option<SlowClients<'a>>,
}

/// What slow clients do where a download is handed over, and where PHP sends it.
struct SlowClients<'a> {
    offload: &'a FairnessResult,
    script: Option<&'a FairnessResult>,
}

/// What to do about downloads; none where no server was asked to take one over.
pub(super) fn advise(case: &Case) -> Option<PartialAdvice> {
    let report = case.report();
    let by_cost = by_cost(case);
    let is_by_slow = by_cost.is_empty();
    let mut servers = if is_by_slow { by_slow_clients(report) } else { by_cost };
    servers.sort_by_key(|server| report.servers.iter().position(|known| known.name == server.name));
    let place = |group: &crate::group::Group| label::content(case.evidence, group.payload());
    let of_slow_clients = |server: &Server| Recommended {
        scope: label::owned(server.name).to_owned(),
        name: server.method.clone(),
        cells: Vec::new(),
    };
    let recommended = match is_by_slow {
        true => servers.iter().map(of_slow_clients).collect(),
        false => case.recommended(place),
    };
    let mut sentences = vec![used(&servers)?];
    let handed = || servers.iter().filter(|server| server.is_handed);
    let apache = handed().find(|server| server.name == "apache");
    let needed = |of: &Server| Sentence::new(StatementKind::Needs, "Apache needs mod_xsendfile.", of.cell());
    sentences.extend(apache.map(needed));
    sentences.extend(handed().find_map(Server::freed));
    sentences.extend(handed().find_map(|server| server.gain(case)));
    sentences.extend(alone(case, &servers));
    sentences.extend(case.elsewhere(place));
    sentences.extend(limit(&servers));
    let few =
        |server: &Server| server.slow.as_ref().is_some_and(|slow| (slow.offload.rounds as usize) < ROUNDS);
    let confidence = (is_by_slow && servers.iter().any(few)).then_some(Confidence::TooFewRounds);
    Some(PartialAdvice { recommended, sentences, confidence })
}

fn by_cost<'a>(case: &'a Case) -> Vec<Server<'a>> {
    let server = |(answer, choice)| {
        let answer: &crate::report::ranking::Answer = answer;
        let mut rows = case.chosen(answer, choice);
        rows.sort_by_key(|row| std::cmp::Reverse(bytes_of(case.evidence, &row.cell.payload)));
        let first = Sent::of(rows.first()?)?;
        Some(Server {
            name: &first.delivery.server,
            method: answer.name(choice.chosen).to_owned(),
            is_handed: first.delivery.kind == WayKind::Offload,
            slow: slow_clients(case.report(), &first.delivery.server, &first.row.cell.runtime),
            rows,
        })
    };
    case.first().filter_map(server).collect()
}

/// Of a run that measured slow clients alone.
fn by_slow_clients(report: &Report) -> Vec<Server<'_>> {
    let all = report.exhibits.fairness.iter().flat_map(|fairness| &fairness.0);
    let places =
        all.filter_map(|of| Some((of.cell.delivery.as_ref()?.server.as_str(), of.cell.runtime.as_str())));
    let server = |(name, runtimes): (&'_ str, Vec<&str>)| {
        let slow = slow_clients(report, name, runtimes.first()?)?;
        let is_handed = slow.frees();
        let chosen = if is_handed { slow.offload } else { slow.script? };
        let delivery = slow.offload.cell.delivery.as_ref()?;
        let method = label::owned(&chosen.cell.setting.codec).to_owned();
        Some(Server { name: &delivery.server, method, is_handed, rows: Vec::new(), slow: Some(slow) })
    };
    grouped(places).into_iter().filter_map(server).collect()
}

/// Of the same server at the fewest slow clients that could keep every worker of the pool, else at the most.
fn slow_clients<'a>(report: &'a Report, server: &str, runtime: &str) -> Option<SlowClients<'a>> {
    let all = &report.exhibits.fairness.as_ref()?.0;
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
    /// The cell that sentences name; slow clients are none.
    fn cell(&self) -> Option<String> {
        self.rows.first().map(|row| row.id().to_owned())
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
            label::owned(self.name),
            busy(slow.offload)?,
            label::owned(&slow.offload.cell.setting.codec),
            busy(script)?,
            label::owned(&script.cell.setting.codec)
        );
        Some(Sentence::new(StatementKind::Known, text, self.cell()))
    }

    fn gain(&self, case: &Case) -> Option<Sentence> {
        let ours = Sent::of(self.rows.first()?)?;
        let theirs = through_php(case.evidence, ours)?;
        let content = label::content(case.evidence, &ours.row.cell.payload);
        let change = label::change(&ours.ratio_to(&theirs, CPU)?, "CPU time per download");
        let what = format!("{content} from {}", label::owned(self.name));
        Some(Sentence::gain(&what, &label::way(&theirs), &change, [ours.row, theirs.row]))
    }
}

impl SlowClients<'_> {
    /// Handing over leaves the workers free that PHP's own method keeps.
    fn frees(&self) -> bool {
        let is_free =
            |of: &FairnessResult| matches!(of.outcome, SlowClientEffect::Free | SlowClientEffect::Alone);
        is_free(self.offload) && self.script.is_some_and(|script| !is_free(script))
    }
}

/// `Hand downloads over with X-Sendfile on Apache and X-Accel-Redirect on nginx; on Caddy send them with readfile.`
fn used(servers: &[Server]) -> Option<Sentence> {
    let names = |is_handed: bool| {
        let own = servers.iter().filter(|server| server.is_handed == is_handed);
        let by_method =
            grouped(own.map(|server| (server.method.as_str(), label::owned(server.name)))).into_iter();
        by_method.map(|(method, all)| format!("{method} on {}", units::list(&all))).collect::<Vec<_>>()
    };
    let (over, from) = (names(true), names(false));
    let [handed, sent] = [&over, &from].map(|names| units::list(names));
    let text = match (over.is_empty(), from.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("Hand downloads over with {handed}."),
        (true, false) => format!("Send downloads from PHP with {sent}."),
        (false, false) => format!("Hand downloads over with {handed}; send them from PHP with {sent}."),
    };
    let cells = distinct(servers.iter().flat_map(|server| ids(server.rows.iter().copied())));
    Some(Sentence::new(StatementKind::Use, text, cells))
}

/// For files that need no permission: what the server saves by sending them alone.
fn alone(case: &Case, servers: &[Server]) -> Option<Sentence> {
    let is_alone = |row: &&Sent| row.delivery.kind == WayKind::Transparent;
    let rows = offloads(case.evidence);
    let first = rows.iter().filter(is_alone).find_map(|row| {
        let handed = servers.iter().filter(|server| server.is_handed).flat_map(|server| &server.rows);
        let mut alike = handed.filter_map(|row| Sent::of(row)).filter(|offload| {
            offload.delivery.server == row.delivery.server
                && offload.row.cell.payload == row.row.cell.payload
                && offload.delivery.connections == row.delivery.connections
        });
        Some((row, alike.find_map(|offload| Some((offload, offload.row.value(PHP_CPU)?)))?))
    });
    let (row, (offload, ns)) = first?;
    let (server, time) = (label::server(row), units::ns(ns));
    let text = format!(
        "For files that need no permission check, let {server} send them alone: that saves {time} of PHP's CPU time more."
    );
    Some(Sentence::new(StatementKind::Change, text, ids([row.row, offload.row])))
}

/// Where handing over frees no worker, and what was not measured.
fn limit(servers: &[Server]) -> Option<Sentence> {
    let kept =
        |outcome: SlowClientEffect| matches!(outcome, SlowClientEffect::Kept | SlowClientEffect::Starved);
    let slow = servers.iter().filter_map(|server| Some((label::owned(server.name), server.slow.as_ref()?)));
    let names: Vec<&str> =
        slow.filter(|(_, slow)| kept(slow.offload.outcome)).map(|(name, _)| name).collect();
    let rows: Vec<String> = servers.iter().filter_map(Server::cell).collect();
    let text = if !names.is_empty() {
        format!("Handing over frees no PHP worker on {}.", units::list(&names))
    } else if servers.iter().all(|server| server.slow.is_none()) {
        "Slow clients were not measured.".to_owned()
    } else if rows.is_empty() {
        "CPU time without slow clients was not measured.".to_owned()
    } else {
        return None;
    };
    Some(Sentence::new(StatementKind::Limit, text, rows))
}
