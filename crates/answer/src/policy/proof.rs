//! Whether a policy does what it predicts: before and after, measured on the site's sample in the same rounds.

use std::collections::BTreeSet;

use weigh_model::advised::ADVISED;
use weigh_model::policy::{Amount, Change, Decision, Policy};
use weigh_model::site::{Accept, Kind, Site, Stratum, Today};
use weigh_model::units;
use weigh_model::way::CONFIG;

use super::coded::{response, way_of};
use super::content::{self, Item};
use super::document::interval;
use super::setup::{Exact, Setup, Sum};
use super::today::Answer;
use super::wait::{Weighted, alone};
use super::{Ground, amount, change, coverage, stored};
use crate::compare::gate::Judged;
use crate::document::Block;
use crate::estimate::Estimate;
use crate::exhibit::negotiation::Quirk;
use crate::first::distinct;
use crate::report::{FaultRow, Report};
use crate::row::Row;
use crate::subject::delivery::{BODY, CODING, CPU, SECONDS};
use crate::table::Grid;
use crate::text::clean;

/// What a proof compares.
pub(super) const METRICS: [&str; 5] = [CPU_TIME, TRAFFIC, WAIT, MEMORY, RESPONSE];
const CPU_TIME: &str = "cpu";
const TRAFFIC: &str = "traffic";
const WAIT: &str = "wait";
const MEMORY: &str = "memory";
const RESPONSE: &str = "response";
/// How far a prediction may be from what was measured, as a share of the amount before, where its interval is narrower.
const NEAR: f64 = 0.05;
/// What was measured for clients that accept the same codings.
pub struct Measured {
    /// The clients.
    pub accept: Accept,
    /// The run.
    pub report: Report,
}

/// One prediction and what was measured.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Line {
    /// The kind of content.
    pub kind: Kind,
    /// The metric's id, as gates name it: `cpu`, `traffic`, `wait`, `memory` or `response`.
    pub metric: &'static str,
    /// The amount in words: `visitors wait`, `traffic`, `CPU time`, `memory of the store`, `response over` a link.
    pub amount: String,
    /// The share by which the policy says that it changes.
    pub predicted: f64,
    /// The share by which it changed, with its interval.
    pub measured: Amount,
    /// Whether the prediction is in the interval, or within 5% of the amount before.
    pub held: bool,
}

/// What was proved.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Proof {
    /// Each prediction.
    pub lines: Vec<Line>,
    /// Decisions that were not measured, with the reason.
    pub open: Vec<String>,
    /// Requests of the negotiation matrix after the change, and those that broke a rule.
    pub negotiated: (usize, usize),
    /// The rules that were broken, once each.
    pub broken: Vec<String>,
    /// Whether something that the policy is for became worse, beyond its interval.
    pub worse: bool,
    /// What the gates came to.
    pub gates: Vec<Judged>,
}

impl Line {
    /// What it is about: `pages, CPU time`.
    pub fn name(&self) -> String {
        format!("{}, {}", self.kind.plural(), self.amount)
    }
}

/// Compares. `responses` are runs with the methods of before and after, one for each kind of client; `values` are runs of cached
/// values.
pub fn prove(
    policy: &Policy,
    site: &Site,
    links: &[Weighted],
    responses: &[Measured],
    values: &[Report],
) -> Proof {
    let mut proof = Proof::default();
    for decision in policy.decisions.iter().filter(|decision| !decision.keep) {
        let kind = decision.kind;
        if !is_predicted(&decision.change) {
            proof.open.push(format!(
                "{}: what the site does today was not measured for the policy, so nothing was predicted; a longer one may (weigh advise --budget).",
                kind.plural()
            ));
            continue;
        }
        let pair = match kind {
            Kind::Value => stored_pair(policy, site, links, values),
            _ => sent_pair(policy, site, links, responses, kind),
        };
        let Some((before, after)) = pair else {
            proof.open.push(format!("{}: before and after were not both measured.", kind.plural()));
            continue;
        };
        let measured = change(site, &before, &after);
        proof.lines.extend(lines(kind, &decision.change, &measured));
        proof.lines.extend(over_link(policy, site, links, responses, kind));
    }
    let reports = || responses.iter().map(|one| &one.report).chain(values);
    proof.open.extend(left(reports()));
    proof.open.extend(failed(reports()));
    let results = responses.iter().filter_map(|one| one.report.exhibits.negotiations.as_ref());
    let way = format!("server/{ADVISED}");
    for result in results.flat_map(|all| &all.0).filter(|result| result.way == way) {
        proof.negotiated.0 += result.exchanges.len();
        proof.negotiated.1 +=
            result.exchanges.iter().filter(|one| one.quirk.is_some_and(Quirk::is_wrong)).count();
        let words = result.wrong().map(|remark| remark.quirk.words().to_owned());
        proof.broken = distinct(std::mem::take(&mut proof.broken).into_iter().chain(words));
    }
    proof.worse = proof.lines.iter().any(is_worse);
    proof
}

/// Whether a policy says that anything changes: where today was not measured, it compares what is after with itself.
fn is_predicted(change: &Change) -> bool {
    let all = [change.wait_hours, change.core_hours, change.gb_out, change.gb_stored, change.cost];
    all.iter().any(|amount| amount.before != amount.after)
}

/// What did not fit into the budget.
pub(super) fn left<'r>(reports: impl Iterator<Item = &'r Report>) -> Option<String> {
    let left: usize = reports.map(|report| report.unmeasured.len()).sum();
    let count = units::count(left, "configuration", "configurations");
    let text = "did not fit into the budget; a longer one covers the whole sample (--budget).";
    (left > 0).then(|| format!("{count} {text}"))
}

/// What failed, of which there are no figures.
fn failed<'r>(reports: impl Iterator<Item = &'r Report>) -> Option<String> {
    let failed: Vec<&FaultRow> = reports.flat_map(|report| &report.faults).collect();
    let what = &failed.first()?.fault.message;
    let count = units::count(failed.len(), "failure", "failures");
    Some(format!("{count}, of which no figure is counted; the first: {what}"))
}

/// The amounts that a decision is judged by.
pub(super) fn lines(kind: Kind, predicted: &Change, measured: &Change) -> Vec<Line> {
    let pairs = match kind {
        Kind::Value => vec![
            (MEMORY, "memory of the store", predicted.gb_stored, measured.gb_stored),
            (CPU_TIME, "CPU time", predicted.core_hours, measured.core_hours),
        ],
        Kind::Download => vec![(CPU_TIME, "CPU time", predicted.core_hours, measured.core_hours)],
        Kind::Asset | Kind::Page => vec![
            (WAIT, "visitors wait", predicted.wait_hours, measured.wait_hours),
            (TRAFFIC, "traffic", predicted.gb_out, measured.gb_out),
            (CPU_TIME, "CPU time", predicted.core_hours, measured.core_hours),
        ],
    };
    let line = |(metric, name, said, seen): (_, &str, Amount, Amount)| {
        line(kind, (metric, name.to_owned()), said.share()?, seen)
    };
    pairs.into_iter().filter_map(line).collect()
}

/// A prediction beside what was measured.
fn line(
    kind: Kind,
    (metric, amount): (&'static str, String),
    predicted: f64,
    measured: Amount,
) -> Option<Line> {
    let seen = measured.share()?;
    let ends = measured.low.zip(measured.high);
    let is_inside = ends.is_some_and(|(low, high)| low <= predicted && predicted <= high);
    let held = is_inside || (predicted - seen).abs() <= NEAR;
    Some(Line { kind, metric, amount, predicted, measured, held })
}

/// Whether an amount that was to fall rose, beyond its interval.
pub(super) fn is_worse(line: &Line) -> bool {
    line.predicted < 0.0 && line.measured.low.is_some_and(|low| low > 0.0)
}

/// How the rows of a decision before and after are told.
struct Sides<'a> {
    decision: &'a Decision,
    today: Option<&'a str>,
}

impl<'a> Sides<'a> {
    fn new(policy: &'a Policy, site: &'a Site, kind: Kind) -> Option<Sides<'a>> {
        let decision = policy.decisions.iter().find(|decision| decision.kind == kind)?;
        Some(Sides { decision, today: site.today(kind).map(Today::way) })
    }

    fn is_before(&self, row: &Row) -> bool {
        let is_own = row.cell.setting.codec == CONFIG;
        let is_by_php = self.today.is_some_and(|today| today.starts_with("php/"));
        Some(way_of(row).as_str()) == self.today
            || (is_own && self.decision.kind != Kind::Download && !is_by_php)
    }

    /// The method that PHP or the lab's configuration carries out; none: it is on top of the site's own.
    fn method(&self, client: &Accept) -> Option<&str> {
        self.decision.method.as_deref().or_else(|| self.decision.by_php(&client.codings))
    }

    fn is_after(&self, row: &Row, client: &Accept) -> bool {
        match self.method(client) {
            Some(method) => way_of(row) == method,
            None => row.cell.setting.codec == ADVISED,
        }
    }

    /// Before and after of a file in a run, over a link if it has a name.
    fn pair_in<'m>(
        &self,
        of: &'m Measured,
        item: &Item,
        server: Option<&str>,
        link: Option<&str>,
    ) -> Option<Pair<'m>> {
        let reports = std::slice::from_ref(&of.report);
        let rows = content::rows_over(reports, self.decision.kind, &item.sample.sha256, server, link);
        self.pair(&rows, &of.accept)
    }

    /// Before and after among the rows of a file.
    fn pair<'r>(&self, rows: &[&'r Row], client: &Accept) -> Option<Pair<'r>> {
        let rows = || rows.iter().copied();
        let own = rows().find(|row| row.cell.setting.codec == CONFIG && self.is_before(row));
        // What PHP does is measured in the lab's configuration: so is what it is compared with, if that sends the same.
        let named = rows().find(|row| Some(way_of(row).as_str()) == self.today);
        let in_lab = self.method(client).is_some();
        let was = match (own, named) {
            (Some(own), Some(named)) if in_lab && named.fact(CODING) == own.fact(CODING) => Some(named),
            (Some(own), _) => Some(own),
            (None, _) => rows().find(|row| self.is_before(row)),
        };
        Some((was?, rows().find(|row| self.is_after(row, client))?))
    }
}

/// Before and after, of what servers and PHP send.
fn sent_pair(
    policy: &Policy,
    site: &Site,
    links: &[Weighted],
    responses: &[Measured],
    kind: Kind,
) -> Option<(Setup, Setup)> {
    let sides = Sides::new(policy, site, kind)?;
    let items = content::items(site, kind);
    let mut sums = Sums::default();
    for one in responses {
        let reports = std::slice::from_ref(&one.report);
        let ground = Ground::new(site, links, reports);
        let pair_of = |item: &Item| sides.pair_in(one, item, site.sources.server.as_deref(), None);
        let of = |item: &Item, row: &Row| {
            let exact = response(&ground, kind, item, Answer { row, body: None }).exact;
            (row.get(CPU).map(|cpu| cpu.scaled(item.scale)), exact)
        };
        sums.add(&items, one.accept.share, &pair_of, &of);
    }
    let ground = Ground::new(site, links, &[]);
    sums.setups(&ground, kind)
}

/// The rows of a file before and after.
pub(super) type Pair<'r> = (&'r Row, &'r Row);

/// The time of one response, as far as it was measured, and its other amounts.
type Taken = (Option<Estimate>, Exact);

/// What all responses take before and after.
#[derive(Default)]
pub(super) struct Sums {
    before: Sum,
    after: Sum,
    /// The contents that were measured, by their digests.
    measured: BTreeSet<String>,
    /// The share of the requests of the clients that were.
    share: f64,
}

impl Sums {
    /// Adds a share of the requests for the files of which both rows are known; `of` says what one response takes.
    pub fn add<'r>(
        &mut self,
        items: &[Item],
        share: f64,
        pair_of: &dyn Fn(&Item) -> Option<Pair<'r>>,
        of: &dyn Fn(&Item, &Row) -> Taken,
    ) {
        let weighed = content::weighed(items, |at| pair_of(&items[at]).is_some());
        self.share += if weighed.is_empty() { 0.0 } else { share };
        for item in weighed {
            let Some((was, is)) = pair_of(&item) else { continue };
            let requests = item.requests * share;
            for (sum, row) in [(&mut self.before, was), (&mut self.after, is)] {
                let (time, exact) = of(&item, row);
                sum.add(time.map(|time| time.scaled(requests)), exact.times(requests));
            }
            self.measured.insert(item.sample.sha256.clone());
        }
    }

    /// Both, with what the strata of the kind take of which nothing was measured; none if nothing was added.
    pub fn setups(self, ground: &Ground, kind: Kind) -> Option<(Setup, Setup)> {
        let is_measured =
            |stratum: &Stratum| stratum.sample.iter().any(|one| self.measured.contains(&one.sha256));
        let rest = coverage::unmeasured(ground, kind, &is_measured).times(self.share);
        (!self.measured.is_empty()).then(|| (setup(self.before).with(rest), setup(self.after).with(rest)))
    }
}

/// Response times over a link that was made, beside those that its model says of the bytes and the CPU time that were measured without it.
fn over_link(
    policy: &Policy,
    site: &Site,
    links: &[Weighted],
    responses: &[Measured],
    kind: Kind,
) -> Option<Line> {
    let (sides, one) = (Sides::new(policy, site, kind)?, responses.first()?);
    let server = site.sources.server.as_deref();
    let (link, _) = links.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    content::items(site, kind).iter().find_map(|item| {
        let over = Some(link.name.as_str());
        let (was, is) = responses.iter().find_map(|of| sides.pair_in(of, item, server, over))?;
        let (own_was, own_is) = sides.pair_in(one, item, server, None)?;
        let modelled = |row: &Row| Some(alone(link, row.value(BODY)?) + row.value(CPU)?);
        let (before, after) = (modelled(own_was)?, modelled(own_is)?);
        let time = |row: &Row| Some((row.get(SECONDS)?.clone(), 0.0));
        let measured = amount(time(was)?, time(is)?, false);
        line(kind, (RESPONSE, format!("response over {}", link.name)), (after - before) / before, measured)
    })
}

fn setup(sum: Sum) -> Setup {
    let (rules, needs, method) = (Vec::new(), Vec::new(), None);
    let (cpu, exact) = sum.parts();
    Setup { name: String::new(), rules, method, needs, is_today: false, cpu, exact }
}

/// Before and after, of cached values.
fn stored_pair(
    policy: &Policy,
    site: &Site,
    links: &[Weighted],
    values: &[Report],
) -> Option<(Setup, Setup)> {
    let rules = &policy.decisions.iter().find(|decision| decision.kind == Kind::Value)?.rules;
    let ground = Ground::new(site, links, values);
    let setups = stored::setups(&ground);
    let before = setups.iter().find(|setup| setup.is_today)?.clone();
    let after = setups.into_iter().find(|setup| setup.rules == *rules)?;
    let rest = coverage::unmeasured(&ground, Kind::Value, &|stratum| coverage::has_rows(&ground, stratum));
    Some((Setup { name: "before".into(), ..before }.with(rest), after.with(rest)))
}

/// The proof as blocks of text.
pub fn proof_document(proof: &Proof) -> Vec<Block> {
    let mut table = Grid::list(&["", "predicted", "measured", ""]);
    for line in &proof.lines {
        let measured =
            line.measured.share().map_or_else(|| "–".to_owned(), |share| interval(share, &line.measured));
        let predicted = interval(line.predicted, &Amount::default());
        table.line(&[
            line.name(),
            predicted,
            measured,
            if line.held { "held" } else { "did not hold" }.to_owned(),
        ]);
    }
    let mut blocks = Vec::new();
    if proof.lines.is_empty() {
        blocks.push(Block::Text("Nothing was proved: no decision was measured before and after.".into()));
    } else {
        blocks.push(Block::Table(table));
        let held = proof.lines.iter().filter(|line| line.held).count();
        let all = units::count(proof.lines.len(), "prediction", "predictions");
        let verdict = match proof.worse {
            true => format!("Worse than before: do not use this policy as it is. {held} of {all} held."),
            false => format!("{held} of {all} held: in the interval that was measured, or within 5%."),
        };
        blocks.push(Block::Answer(vec![verdict]));
    }
    let (asked, broken) = proof.negotiated;
    if asked > 0 {
        let kept = asked - broken.min(asked);
        let but = if proof.broken.is_empty() {
            String::new()
        } else {
            format!(" In others, {}.", units::list(&proof.broken))
        };
        blocks.push(Block::Text(format!("Negotiation: RFC 9110 in {kept} of {asked} requests.{but}")));
    }
    blocks.extend(proof.open.iter().map(|open| Block::Remark(format!("Not proved: {}", clean(open)))));
    blocks
}
