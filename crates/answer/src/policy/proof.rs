//! Whether a policy does what it predicts: before and after, measured on the site's sample in the same rounds. The first round, in which
//! caches are cold, does not count.

mod compared;
mod difference;
mod document;
mod loads;
mod page_cache;

use std::collections::BTreeSet;
use std::rc::Rc;

use weigh_model::advised::ADVISED;
use weigh_model::policy::{Amount, Change, Decision, Policy, Rule};
use weigh_model::site::{Accept, Kind, Site, Today};
use weigh_model::units;
use weigh_stats::ROUNDS;

use super::by_url::accepted;
use super::coded::{is_own, response, way_of};
use super::content::{self, Item};
use super::page_waits::PageWaits;
use super::rate::Rates;
use super::setup::{Exact, FileAmounts, Setup};
use super::today::Answer;
use super::wait::{Weighted, alone};
use super::{Ground, stored};
use crate::compare::Change as Difference;
use crate::compare::gate::Judged;
use crate::compare::page_loads::PairedLoads;
use crate::estimate::Estimate;
use crate::exhibit::negotiation::Quirk;
use crate::first::distinct;
use crate::gather::FaultRow;
use crate::load_view::LoadView;
use crate::metric::delivery::{BODY, CODING, CPU, SECONDS};
use crate::policy::change::change;
use crate::report::Report;
use crate::row::Row;
use crate::text::clean;

pub(super) use compared::Compared;
pub use difference::Verdict;
use difference::exactly;
pub(super) use difference::line;
pub use document::{proof_answer, proof_document, proof_page};
use loads::prove_loads;
use page_cache::ComparedAnswers;
pub use page_cache::MeasuredCache;

pub(super) const METRICS: [&str; 9] =
    [CPU_TIME, TRAFFIC, WAIT, MEMORY, RESPONSE, LCP, FCP, LOAD, PHP_REQUESTS];
const CPU_TIME: &str = "cpu";
const TRAFFIC: &str = "traffic";
const WAIT: &str = "wait";
const MEMORY: &str = "memory";
const RESPONSE: &str = "response";
const LCP: &str = "lcp";
const FCP: &str = "fcp";
const LOAD: &str = "load";
const PHP_REQUESTS: &str = "php_requests";

/// What was measured for clients that accept the same codings.
pub struct Measured {
    pub accept: Accept,
    pub report: Report,
}

/// One prediction and what was measured.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Line {
    /// The kind of content.
    pub kind: Kind,
    /// The metric's id, as gates name it: `cpu`, `traffic`, `wait`, `memory`, `response`, `lcp`, `fcp`, `load` or
    /// `php_requests`.
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
    /// For what load CPU time holds, in a line; empty: nothing was sent.
    pub load: String,
    /// What a cache of pages answers, beside what is answered without it; null: the policy has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<ComparedAnswers>,
    /// What the gates came to.
    pub gates: Vec<Judged>,
    /// Loads before and after, for a page.
    #[serde(skip)]
    pub loads: Vec<LoadView>,
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
    let all = || responses.iter().map(|one| &one.report).chain(values);
    let seconds: f64 = all().map(|report| report.run.seconds).sum();
    let few = all().flat_map(|report| &report.rows).filter(|row| !has_rounds(row)).count();
    let values: Vec<Report> = values.iter().map(warm).collect();
    let reports: Vec<Report> = responses.iter().map(|one| warm(&one.report)).collect();
    let page_waits = PageWaits::new(site, links, policy.objective.moment()).map(Rc::new);
    let ground = Ground::at(Rates::default(), page_waits.clone(), site, links, &values);
    // What the rate of the site adds is the policy's: it is not measured again.
    let rate = Rates::of_policy(policy);
    let of_class =
        |report| Ground::at(rate.clone(), page_waits.clone(), site, links, std::slice::from_ref(report));
    let grounds = reports.iter().map(of_class);
    let classes: Vec<Class> = responses.iter().map(|one| &one.accept).zip(grounds).collect();
    let mut proof = Proof::of(policy, "measured", |proof, decision| {
        let kind = decision.kind;
        let today = site.today(kind).map(Today::way);
        let sides =
            Sides { ground: &ground, classes: &classes, decision, today, items: content::items(site, kind) };
        let (pair, by_class) = match kind {
            Kind::Value => (stored_pair(&decision.rules, &ground), Vec::new()),
            _ => sides.all(),
        };
        let [before, after] = &pair?;
        proof.clients.extend(by_class);
        let compared = Compared { site, decision, before, after };
        let codings = sides.other_codings();
        proof.lines.extend(compared.lines(seconds, codings.first()));
        proof.open.extend(compared.uncovered());
        proof.open.extend(codings.into_iter().take(3));
        let over = sides.over_links(seconds);
        if over.is_empty() && matches!(kind, Kind::Asset | Kind::Page) {
            let names: Vec<&str> = links.iter().map(|(link, _)| link.name.as_str()).collect();
            let why = not_over(&names, all());
            let (kinds, links) = (kind.plural(), units::list(&names));
            proof.open.push(format!(
                "{kinds}: response times over {links} were not measured ({why}); how long visitors wait is modelled from bytes and CPU time."
            ));
        }
        proof.lines.extend(over);
        Some(())
    });
    let compared = proof.lines.iter().filter(|line| line.metric == CPU_TIME).map(|line| line.kind);
    proof.load = rate.words(compared, site).unwrap_or_default();
    if few > 0 {
        let count = units::count(few, "configuration", "configurations");
        proof.open.push(format!(
            "{count} had fewer than {ROUNDS} rounds after the first, and are not compared; a larger budget gives them more (--budget)."
        ));
    }
    proof.open.extend(left(reports.iter().chain(&values)));
    proof.open.extend(failed(reports.iter().chain(&values)));
    let results = reports.iter().filter_map(|report| report.exhibits.negotiations.as_ref());
    let way = format!("server/{ADVISED}");
    for result in results.flat_map(|all| &all.0).filter(|result| result.way == way) {
        proof.negotiated.0 += result.exchanges.len();
        proof.negotiated.1 +=
            result.exchanges.iter().filter(|one| one.quirk.is_some_and(Quirk::is_wrong)).count();
        let words = result.wrong().map(|remark| remark.quirk.words().to_owned());
        proof.broken = distinct(std::mem::take(&mut proof.broken).into_iter().chain(words));
    }
    proof
}

impl Proof {
    /// The decisions that change something, with what `add` adds of each; none: before and after were not both `measured`.
    pub(super) fn of(
        policy: &Policy,
        measured: &str,
        mut add: impl FnMut(&mut Proof, &Decision) -> Option<()>,
    ) -> Proof {
        let mut proof = Proof::default();
        let mut is_open = false;
        for decision in policy.decisions.iter().filter(|decision| !decision.keep) {
            if add(&mut proof, decision).is_none() {
                let kinds = decision.kind.plural();
                proof.open.push(format!("{kinds}: before and after were not both {measured}."));
                is_open = true;
            }
        }
        proof.worse = proof.lines.iter().any(is_worse);
        let worst = proof.lines.iter().filter(|line| !line.modelled).map(|line| line.verdict).min();
        proof.verdict = match worst {
            _ if proof.worse => Verdict::Worse,
            Some(verdict) if !is_open || verdict == Verdict::Worse => verdict,
            _ => Verdict::Undecided,
        };
        proof
    }

    /// Adds lines; the verdict becomes the worst of theirs and `own`.
    fn add_lines(&mut self, lines: Vec<Line>, own: Option<Verdict>) {
        self.worse |= lines.iter().any(is_worse);
        let worst = lines.iter().map(|line| line.verdict).chain(own).min();
        self.verdict = if self.worse { Verdict::Worse } else { worst.unwrap_or_default() };
        self.lines.extend(lines);
    }

    /// Adds loads of pages in a browser, before and after everything that the policy changes. The whole proof took this many seconds.
    pub fn add_loads(&mut self, policy: &Policy, loads: &[PairedLoads], seconds: f64) {
        let (lines, changes) = prove_loads(policy, loads, seconds);
        self.add_lines(lines, Some(self.verdict));
        self.loads.extend(loads.iter().filter_map(|one| one.view(["before", "after"])));
        let is_loaded = |link: &str| loads.iter().any(|one| one.link == link);
        let left = policy.loads.iter().map(|load| load.link.as_str()).filter(|link| !is_loaded(link));
        let left = units::list(&distinct(left));
        if !left.is_empty() {
            self.open
                .push(clean(&format!("pages: loads over {left}: no time was left for them (--budget).")));
        }
        self.open.extend(changes.iter().map(|Difference { what, a, b, .. }| {
            clean(&format!("pages: {what} is not the same: {a} before, {b} after."))
        }));
    }
}

fn rounds(row: &Row) -> BTreeSet<u32> {
    row.values.values().flat_map(|value| value.drawn_rounds()).map(|round| round.0).collect()
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

/// Why nothing is known of responses over these links, as the runs tell it.
fn not_over<'r>(links: &[&str], reports: impl Iterator<Item = &'r Report>) -> String {
    let is_over = |id: &str| links.iter().any(|link| id.contains(&format!("@{link}/")));
    let (mut failed, mut left, mut few) = (None, false, false);
    for report in reports {
        failed = failed.or_else(|| report.faults.iter().find(|row| is_over(&row.cell)));
        left |= report.unmeasured.iter().any(|id| is_over(id));
        few |= report.rows.iter().any(|row| is_over(&row.cell.id));
    }
    match failed {
        Some(row) => row.fault.message.clone(),
        None if few => "too few rounds; a larger budget gives them more: --budget".to_owned(),
        None if left => "no time was left for them: --budget".to_owned(),
        None => "no file of the sample was sent over one".to_owned(),
    }
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
    /// The site, and its visitors' links.
    ground: &'a Ground<'a>,
    /// What was measured for each class of clients.
    classes: &'a [Class<'a>],
    decision: &'a Decision,
    today: Option<&'a str>,
    items: Vec<Item<'a>>,
}

/// What was measured for a class of clients.
type Class<'a> = (&'a Accept, Ground<'a>);

impl Sides<'_> {
    /// Before and after of a file, over a link if it has a name.
    fn pair_in<'m>(&self, (client, ground): &Class<'m>, item: &Item, link: Option<&str>) -> Option<Pair<'m>> {
        let Sides { decision, today, .. } = self;
        let rows = ground.rows_over(decision.kind, item.sample, link);
        let find = |is_it: &dyn Fn(&Row) -> bool| rows.iter().copied().find(|row| is_it(row));
        // The method that PHP or the lab's configuration carries out; none: it is on top of the site's own.
        let method = decision.method.as_deref().or_else(|| decision.by_php(&client.codings));
        // What PHP sends as it is, the server's configuration may be asked for.
        let is_by_php = today.is_some_and(|today| today.starts_with("php/") && today != "php/none");
        let is_configured = decision.kind != Kind::Download && !is_by_php;
        let is_today = |row: &Row| Some(way_of(row).as_str()) == *today;
        let own = find(&|row| is_own(row) && (is_configured || is_today(row)));
        // What PHP does is measured in the lab's configuration: so is what it is compared with, if that sends the same.
        let is_alike = |row: &&Row| own.is_none_or(|own| row.fact(CODING) == own.fact(CODING));
        let named = find(&is_today).filter(|row| (own.is_none() || method.is_some()) && is_alike(row));
        let after = find(&|row| match method {
            Some(method) => way_of(row) == method,
            None => row.cell.setting.codec == ADVISED,
        });
        Some((named.or(own)?, after?))
    }

    /// What is sent in another coding than the policy says, one line each.
    fn other_codings(&self) -> Vec<String> {
        if self.decision.kind == Kind::Download {
            return Vec::new();
        }
        let of = |class: &Class| {
            let found = self.items.iter().filter_map(|item| {
                let (_, is) = self.pair_in(class, item, None)?;
                other_coding(&self.decision.rules, item, &class.0.codings, is)
            });
            found.collect::<Vec<_>>()
        };
        distinct(self.classes.iter().flat_map(of))
    }

    /// Before and after, of what servers and PHP send: of all clients together, and of each class.
    fn all(&self) -> (Option<[Setup; 2]>, Vec<OfClients>) {
        let kind = self.decision.kind;
        let (mut all, mut clients) = (None::<[Setup; 2]>, Vec::new());
        for class @ (accept, ground) in self.classes {
            let pair_of = |item: &Item| self.pair_in(class, item, None);
            let of = |item: &Item, row: &Row| {
                let exact = response(ground, item, Answer::of(row));
                (ground.cpu(row, item.scale), exact)
            };
            let mut sums = Sums::default();
            sums.add(&self.items, accept.share, &pair_of, &of);
            let Some(own) = sums.setups() else { continue };
            let Change { gb_out: traffic, core_hours, .. } = change(ground.site, &own[0], &own[1]);
            let Accept { codings: accept, share, .. } = Accept::clone(accept);
            clients.push(OfClients { kind, accept, share, traffic, core_hours });
            all = match (all, own) {
                (Some([before, after]), [was, is]) => Some([before.plus(was), after.plus(is)]),
                (None, own) => Some(own),
            };
        }
        (all, clients)
    }

    /// Response times over the links that were made, beside those that their model says of the bytes and the CPU time that were measured
    /// without them.
    fn over_links(&self, seconds: f64) -> Vec<Line> {
        let paced = self.ground.site.visitors.paced == Some(true);
        let over = |link: &Weighted| {
            let name = link.0.name.as_str();
            self.items.iter().find_map(|item| {
                let pair_in = |link: Option<&str>| {
                    self.classes.iter().find_map(|class| self.pair_in(class, item, link))
                };
                let (pair, (was, is)) = (pair_in(Some(name))?, pair_in(None)?);
                let modelled = |row: &Row| Some(alone(&link.0, row.value(BODY)?, paced) + row.value(CPU)?);
                let predicted = exactly([modelled(was)?, modelled(is)?]);
                let mut sums = Sums::default();
                let time = |_: &Item, row: &Row| (row.get(SECONDS).cloned(), Exact::default());
                sums.add(std::slice::from_ref(item), 1.0, &|_| Some(pair), &time);
                let [before, after] = &sums.setups()?;
                let measured = change(self.ground.site, before, after).core_hours;
                let rounds = before.fewest_rounds().min(after.fewest_rounds());
                let name = (self.decision.kind, RESPONSE, format!("response over {name}"));
                let cause =
                    "bytes and CPU time are those that were measured: the model of the link is off here";
                line(name, predicted, measured, (rounds, seconds), |_| Some(cause.to_owned()))
            })
        };
        self.ground.links.iter().filter_map(over).collect()
    }
}

/// The rows of a file before and after.
pub(super) type Pair<'r> = (&'r Row, &'r Row);

/// The time of one response, as far as it was measured, and its other amounts.
type Taken = (Option<Estimate>, Exact);

/// What all responses take before and after.
#[derive(Default)]
pub(super) struct Sums([Vec<FileAmounts>; 2]);

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
            for (parts, row) in self.0.iter_mut().zip([was, is]) {
                let (time, exact) = of(&item, row);
                let time = time.map(|time| time.scaled(requests));
                parts.push(FileAmounts::new(&item, row, time, exact.times(requests)));
            }
        }
    }

    /// Both; none if nothing was added.
    pub fn setups(self) -> Option<[Setup; 2]> {
        let [before, after] = self.0;
        let setup = |name: &str, parts| Setup { name: name.to_owned(), ..Setup::of(parts) };
        (!before.is_empty()).then(|| [setup("before", before), setup("after", after)])
    }
}

/// Before and after, of cached values.
fn stored_pair(rules: &[Rule], ground: &Ground) -> Option<[Setup; 2]> {
    let setups = stored::setups(ground);
    let before = setups.iter().find(|setup| setup.is_today)?.clone();
    let after = setups.into_iter().find(|setup| setup.rules == rules)?;
    Some([Setup { name: "before".into(), ..before }, after])
}
