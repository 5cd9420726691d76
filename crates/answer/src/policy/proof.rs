//! Whether a policy does what it predicts: before and after, measured on the site's sample in the same rounds. The first round, in which
//! caches are cold, does not count.

mod compared;
mod difference;
mod document;

use std::collections::BTreeSet;

use weigh_model::advised::ADVISED;
use weigh_model::policy::{Amount, Decision, Policy, Rule};
use weigh_model::site::{Accept, Kind, Site, Today};
use weigh_model::units;
use weigh_model::way::CONFIG;
use weigh_stats::ROUNDS;

use super::by_url::accepted;
use super::coded::{response, way_of};
use super::content::{self, Item};
use super::setup::{Exact, Part, Setup, Sum};
use super::today::Answer;
use super::wait::{Weighted, alone};
use super::{Ground, change, stored};
use crate::compare::gate::Judged;
use crate::estimate::Estimate;
use crate::exhibit::negotiation::Quirk;
use crate::first::distinct;
use crate::report::{FaultRow, Report};
use crate::row::Row;
use crate::subject::delivery::{BODY, CODING, CPU, SECONDS};
use crate::text::clean;
pub(super) use compared::Compared;
pub use difference::Verdict;
pub(super) use difference::line;
pub use document::proof_document;

/// What a proof compares.
pub(super) const METRICS: [&str; 5] = [CPU_TIME, TRAFFIC, WAIT, MEMORY, RESPONSE];
const CPU_TIME: &str = "cpu";
const TRAFFIC: &str = "traffic";
const WAIT: &str = "wait";
const MEMORY: &str = "memory";
const RESPONSE: &str = "response";
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
    /// What the policy says of the content that was measured.
    pub predicted: Amount,
    /// What was measured.
    pub measured: Amount,
    /// Whether the amount follows from measured bytes and CPU time by the links' model, and was not measured by itself. It is not counted.
    pub modelled: bool,
    /// What became of the prediction.
    pub verdict: Verdict,
    /// Why it did not hold, as far as that can be told, or what would decide it.
    pub remark: Option<String>,
}

/// What was measured for one class of clients.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct OfClients {
    /// The kind of content.
    pub kind: Kind,
    /// The content codings that they accept.
    pub accept: Vec<String>,
    /// Their share of the requests.
    pub share: f64,
    /// GB per month.
    pub traffic: Amount,
    /// Hours of CPU time per month.
    pub core_hours: Amount,
}

/// What was proved.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Proof {
    /// Each prediction.
    pub lines: Vec<Line>,
    /// What was measured for each class of clients.
    pub clients: Vec<OfClients>,
    /// Decisions that were not measured, with the reason.
    pub open: Vec<String>,
    /// Requests of the negotiation matrix after the change, and those that broke a rule.
    pub negotiated: (usize, usize),
    /// The rules that were broken, once each.
    pub broken: Vec<String>,
    /// Whether something that the policy is for became worse than it was, beyond its interval.
    pub worse: bool,
    /// Everything together: worse if one line is; else undecided if one line is, a decision was not measured, or there is none.
    pub verdict: Verdict,
    /// What the gates came to.
    pub gates: Vec<Judged>,
}

impl Line {
    /// What it is about: `pages, CPU time`.
    pub fn name(&self) -> String {
        format!("{}, {}", self.kind.plural(), self.amount)
    }
}

/// Compares. `responses` are runs with the methods of before and after, one for each kind of client, and over links; `values` are runs of
/// cached values.
pub fn prove(
    policy: &Policy,
    site: &Site,
    links: &[Weighted],
    responses: &[Measured],
    values: &[Report],
) -> Proof {
    let mut proof = Proof::default();
    let all = || responses.iter().map(|one| &one.report).chain(values);
    let seconds: f64 = all().map(|report| report.run.seconds).sum();
    let few: usize = all().map(too_few).sum();
    let is_over_link = |row: &Row| row.cell.delivery.as_ref().is_some_and(|sent| sent.link.is_some());
    let is_over_links = all().any(|report| report.rows.iter().any(is_over_link));
    let of_clients = |one: &Measured| Measured { accept: one.accept.clone(), report: warm(&one.report) };
    let (responses, values): (Vec<Measured>, Vec<Report>) =
        (responses.iter().map(of_clients).collect(), values.iter().map(warm).collect());
    let mut is_open = false;
    for decision in policy.decisions.iter().filter(|decision| !decision.keep) {
        let kind = decision.kind;
        let sides = Sides::new(site, links, &responses, decision);
        let (pair, by_class) = match kind {
            Kind::Value => (stored_pair(&decision.rules, &Ground::new(site, links, &values)), Vec::new()),
            _ => sides.all(),
        };
        let Some((before, after)) = pair else {
            proof.open.push(format!("{}: before and after were not both measured.", kind.plural()));
            is_open = true;
            continue;
        };
        proof.clients.extend(by_class);
        let compared = Compared { site, decision, before: &before, after: &after };
        let codings = sides.other_codings();
        let own = compared.lines(seconds, codings.first());
        proof.open.extend(compared.uncovered());
        proof.open.extend(codings.into_iter().take(3));
        let over = sides.over_links(seconds);
        if over.is_empty() && matches!(kind, Kind::Asset | Kind::Page) {
            let links: Vec<&str> = links.iter().map(|(link, _)| link.name.as_str()).collect();
            let why = if is_over_links { "too few rounds" } else { "only root can make links here" };
            proof.open.push(format!(
                "{}: response times over {} were not measured ({why}); how long visitors wait is modelled from bytes and CPU time.",
                kind.plural(),
                units::list(&links)
            ));
        }
        proof.lines.extend(own.into_iter().chain(over));
    }
    if few > 0 {
        let count = units::count(few, "configuration", "configurations");
        proof.open.push(format!(
            "{count} had fewer than {ROUNDS} rounds after the first, and are not compared; a larger budget gives them more (--budget)."
        ));
    }
    let reports = || responses.iter().map(|one| &one.report).chain(&values);
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
    proof.judge(is_open);
    proof
}

impl Proof {
    /// Sums up. `is_open`: a decision was not measured.
    pub(super) fn judge(&mut self, is_open: bool) {
        self.worse = self.lines.iter().any(is_worse);
        let worst = self.lines.iter().filter(|line| !line.modelled).map(|line| line.verdict).min();
        let worst = if self.worse { Some(Verdict::Worse) } else { worst };
        self.verdict = match worst {
            Some(Verdict::Worse) => Verdict::Worse,
            Some(verdict) if !is_open => verdict,
            _ => Verdict::Undecided,
        };
    }
}

/// The rounds of a row.
fn rounds(row: &Row) -> BTreeSet<u32> {
    row.values.values().flat_map(|value| value.drawn_rounds()).map(|round| round.0).collect()
}

/// Rows with too few rounds after their first.
fn too_few(report: &Report) -> usize {
    report.rows.iter().filter(|row| !has_rounds(row)).count()
}

/// Whether a row can be compared; one that was not observed in rounds has none that could be cold.
fn has_rounds(row: &Row) -> bool {
    let rounds = rounds(row).len();
    rounds == 0 || rounds > ROUNDS
}

/// A run without the first round of each row, in which caches are cold, and without the rows that have too few other ones.
fn warm(report: &Report) -> Report {
    let mut report = report.clone();
    report.rows.retain(has_rounds);
    for row in &mut report.rows {
        let Some(first) = rounds(row).first().copied() else { continue };
        for value in row.values.values_mut() {
            let Some(drawn) = value.drawn.as_ref().filter(|drawn| !drawn.rounds.is_empty()) else { continue };
            let rounds = drawn.rounds.iter().copied().filter(|round| round.0 != first).collect();
            if let Some(own) = Estimate::over_rounds(rounds, drawn.quantile) {
                *value = own;
            }
        }
    }
    report
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

/// Whether an amount that was to fall rose, beyond its interval.
fn is_worse(line: &Line) -> bool {
    let was_to_fall = line.predicted.share().is_some_and(|share| share < 0.0);
    !line.modelled && was_to_fall && line.measured.rounds_low.is_some_and(|low| low > 0.0)
}

/// `app.js is sent with gzip to clients that accept br, gzip; the policy says br.` None: it is sent as these rules say.
pub(super) fn other_coding(rules: &[Rule], item: &Item, codings: &[String], row: &Row) -> Option<String> {
    let applies = |rule: &&Rule| {
        let is_large = item.sample.bytes >= rule.min_bytes;
        is_large && rule.is_for(&item.stratum.format) && codings.contains(&rule.coding)
    };
    let said = rules.iter().find(applies).map_or("no coding", |rule| rule.coding.as_str());
    let sent = row.fact(CODING).unwrap_or("no coding");
    let (path, to) = (clean(&item.sample.path), accepted(codings));
    (said != sent)
        .then(|| format!("{path} is sent with {sent} to clients that accept {to}; the policy says {said}."))
}

/// What was measured of the responses that a decision is for, with how before and after are told.
struct Sides<'a> {
    site: &'a Site,
    links: &'a [Weighted],
    responses: &'a [Measured],
    decision: &'a Decision,
    today: Option<&'a str>,
    items: Vec<Item<'a>>,
}

impl<'a> Sides<'a> {
    fn new(
        site: &'a Site,
        links: &'a [Weighted],
        responses: &'a [Measured],
        decision: &'a Decision,
    ) -> Sides<'a> {
        let (today, items) = (site.today(decision.kind).map(Today::way), content::items(site, decision.kind));
        Sides { site, links, responses, decision, today, items }
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
    fn pair_in<'m>(&self, of: &'m Measured, item: &Item, link: Option<&str>) -> Option<Pair<'m>> {
        let (reports, server) = (std::slice::from_ref(&of.report), self.site.sources.server.as_deref());
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

    /// What is sent in another coding than the policy says, one line each.
    fn other_codings(&self) -> Vec<String> {
        if self.decision.kind == Kind::Download {
            return Vec::new();
        }
        let of = |one: &'a Measured| {
            let found = self.items.iter().filter_map(|item| {
                let (_, is) = self.pair_in(one, item, None)?;
                other_coding(&self.decision.rules, item, &one.accept.codings, is)
            });
            found.collect::<Vec<_>>()
        };
        distinct(self.responses.iter().flat_map(of))
    }

    /// Before and after, of what servers and PHP send: of all clients together, and of each class.
    fn all(&self) -> (Option<(Setup, Setup)>, Vec<OfClients>) {
        let (site, kind) = (self.site, self.decision.kind);
        let (mut all, mut clients) = (Vec::new(), Vec::new());
        for one in self.responses {
            let reports = std::slice::from_ref(&one.report);
            let ground = Ground::new(site, self.links, reports);
            let pair_of = |item: &Item| self.pair_in(one, item, None);
            let of = |item: &Item, row: &Row| {
                let exact = response(&ground, kind, item, Answer { row, body: None }).exact;
                (row.get(CPU).map(|cpu| cpu.scaled(item.scale)), exact)
            };
            let mut sums = Sums::default();
            sums.add(&self.items, one.accept.share, &pair_of, &of);
            let Some((before, after)) = sums.setups() else { continue };
            let change = change(site, &before, &after);
            let Accept { codings, share, .. } = one.accept.clone();
            let (traffic, core_hours) = (change.gb_out, change.core_hours);
            clients.push(OfClients { kind, accept: codings, share, traffic, core_hours });
            all.push((before, after));
        }
        let (before, after): (Vec<Setup>, Vec<Setup>) = all.into_iter().unzip();
        (super::sum(before.into_iter()).zip(super::sum(after.into_iter())), clients)
    }

    /// Response times over the links that were made, beside those that their model says of the bytes and the CPU time that were measured
    /// without them.
    fn over_links(&self, seconds: f64) -> Vec<Line> {
        let paced = self.site.visitors.paced == Some(true);
        let over = |link: &Weighted| {
            let name = link.0.name.as_str();
            self.items.iter().find_map(|item| {
                let pair = self.responses.iter().find_map(|of| self.pair_in(of, item, Some(name)))?;
                let (was, is) = self.responses.iter().find_map(|of| self.pair_in(of, item, None))?;
                let modelled = |row: &Row| Some(alone(&link.0, row.value(BODY)?, paced) + row.value(CPU)?);
                let (before, after) = (modelled(was)?, modelled(is)?);
                let share = Some((after - before) / before);
                let predicted =
                    Amount { before, after, low: share, high: share, rounds_low: share, rounds_high: share };
                let mut sums = Sums::default();
                let time = |_: &Item, row: &Row| (row.get(SECONDS).cloned(), Exact::default());
                sums.add(std::slice::from_ref(item), 1.0, &|_| Some(pair), &time);
                let (before, after) = sums.setups()?;
                let measured = change(self.site, &before, &after).core_hours;
                let rounds = before.fewest_rounds().min(after.fewest_rounds());
                let name = (RESPONSE, format!("response over {name}"));
                let mut line = line(self.decision.kind, name, predicted, measured, (rounds, seconds))?;
                if matches!(line.verdict, Verdict::Worse | Verdict::Better) {
                    line.remark = Some(
                        "bytes and CPU time are those that were measured: the model of the link is off here"
                            .into(),
                    );
                }
                Some(line)
            })
        };
        self.links.iter().filter_map(over).collect()
    }
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
    is_any: bool,
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
        for item in content::weighed(items, |at| pair_of(&items[at]).is_some()) {
            let Some((was, is)) = pair_of(&item) else { continue };
            let requests = item.requests * share;
            for (sum, row) in [(&mut self.before, was), (&mut self.after, is)] {
                let (time, exact) = of(&item, row);
                let time = time.map(|time| time.scaled(requests));
                sum.add(Part::new(&item, row, time, exact.times(requests)));
            }
            self.is_any = true;
        }
    }

    /// Both; none if nothing was added.
    pub fn setups(self) -> Option<(Setup, Setup)> {
        self.is_any.then(|| (setup("before", self.before), setup("after", self.after)))
    }
}

fn setup(name: &str, sum: Sum) -> Setup {
    let (rules, needs, method) = (Vec::new(), Vec::new(), None);
    let (cpu, exact, parts) = sum.totals();
    Setup { name: name.to_owned(), rules, method, needs, is_today: false, cpu, exact, parts }
}

/// Before and after, of cached values.
fn stored_pair(rules: &[Rule], ground: &Ground) -> Option<(Setup, Setup)> {
    let setups = stored::setups(ground);
    let before = setups.iter().find(|setup| setup.is_today)?.clone();
    let after = setups.into_iter().find(|setup| setup.rules == rules)?;
    Some((Setup { name: "before".into(), ..before }, after))
}
