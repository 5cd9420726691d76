//! Decides by the runs of one machine.

use weigh_model::policy::{Change, Decision, Flip, Objective, Policy, SCHEMA};
use weigh_model::site::{Kind, Site, Stratum};
use weigh_model::units;
use weigh_stats::ROUNDS;

use crate::choose::{Choice, TOLERANCE};
use crate::money::Weights;
use crate::policy::change::{WAIT_HOURS, change, longer, parts};
use crate::policy::coded::Coded;
use crate::policy::ground::{Encoded, Ground};
use crate::policy::made::Made;
use crate::policy::setup::{Exact, NS, Setup, choose};
use crate::policy::wait::Weighted;
use crate::policy::{basis, coverage, flip, handed, page_cache, pool, stored};
use crate::report::Report;
use crate::verdict::Confidence;

/// The share of its cost by which a setup is cheaper than today's, for it to be worth a change that loads of pages do not show.
const CHEAPER: f64 = 0.05;
/// How often the value of a CPU second is raised until the cores suffice at peak.
const RAISES: u32 = 24;

/// What is said where the time of the application is not part of the figures.
const WITHOUT_MADE: &str = "What the application takes to make a page is not known (made_ms in site.toml): shares of CPU time and of waiting are of \
                            encoding and sending alone.";

/// The policy, with what the reader should know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    pub policy: Policy,
    /// One line each: what was not measured, and what limits the result.
    pub notes: Vec<String>,
}

/// Decides by runs of one machine; also everything together, with what is best. See `super::machines::decide`.
pub(super) fn decide_by(
    site: &Site,
    sha256: &str,
    links: &[Weighted],
    reports: &[Report],
    (objective, encoded): (Objective, Encoded),
) -> (Decided, Option<Setup>) {
    let ground = Ground { encoded, ..Ground::new(site, links, reports, objective.moment()) };
    let mut notes = Vec::new();
    let (made, raises) = make(&ground, objective);
    if raises > 0 {
        let cores = units::trimmed_number(site.limits.cores.value * site.limits.peak_share.value);
        notes.push(match fits(site, &made) {
            true => format!(
                "CPU time is short at peak: slower settings were left out to stay within {cores} cores."
            ),
            false => format!("Even the cheapest settings need more than {cores} cores at peak."),
        });
    }
    let left: usize = reports.iter().map(|report| report.unmeasured.len()).sum();
    if left > 0 {
        let count = units::count(left, "configuration was", "configurations were");
        notes.push(format!(
            "{count} not measured within the budget: a longer one may change the advice (--budget)."
        ));
    }
    let of_kind = |kind: Kind| made.iter().find(|one| one.kind == kind);
    let undecided = |kind: Kind| if of_kind(kind).is_none() { undecided(site, kind) } else { None };
    notes.extend(Kind::ALL.into_iter().filter_map(undecided));
    let few: Vec<&Made> = made.iter().filter(|one| !one.has_rounds).collect();
    let unsettled = if few.is_empty() { Vec::new() } else { vec![few_rounds(&few, reports)] };
    notes.extend(basis::asked_by(site));
    notes.extend(ground.rate.words(made.iter().map(|one| one.kind), site));
    let values = of_kind(Kind::Value);
    let unknown = values.filter(|one| one.today.is_none());
    notes.extend(unknown.and_then(|_| stored::unmeasured_today(site)));
    if site.of(Kind::Page).next().is_some() && !ground.knows_made {
        notes.push(WITHOUT_MADE.into());
    }
    notes.extend(ground.page_waits.as_ref().map(|waits| waits.words(site)));
    let mut flips = flip::flips(&ground, &made, objective);
    // Assets and pages are loaded together: what one of them changes is a share of the whole wait.
    let is_loaded = |kind: Kind| ground.page_waits.is_some() && matches!(kind, Kind::Asset | Kind::Page);
    let beside = |kind: Kind| -> f64 {
        let others = made.iter().filter(|one| one.kind != kind && is_loaded(one.kind));
        others.map(|one| wait_hours(&one.before().unwrap_or_else(|| one.after()))).sum()
    };
    let decision = |one: &Made| {
        let mut decision = one.decision(&ground, flips.remove(&one.kind).unwrap_or_default());
        if is_loaded(one.kind) && decision.change != Change::default() {
            decision.change.wait_hours = decision.change.wait_hours.beside(beside(one.kind));
        }
        decision
    };
    let mut decisions: Vec<Decision> = made.iter().map(decision).collect();
    let php = values.map(|one| stored::elsewhere(&ground, &one.chosen)).unwrap_or_default();
    let gain = |of: &Decision| of.change.wait_hours.before - of.change.wait_hours.after;
    decisions.sort_by(|a, b| a.keep.cmp(&b.keep).then(gain(b).total_cmp(&gain(a))));
    let coverage = Kind::ALL.into_iter().filter_map(|kind| coverage::of_kind(&ground, kind, of_kind(kind)));
    let policy = Policy {
        schema: SCHEMA,
        site: site.name.clone(),
        site_sha256: sha256.to_owned(),
        objective,
        server: site.sources.server.clone(),
        unsettled,
        machines: Vec::new(),
        decisions,
        pool: pool::pool(site),
        page_cache: page_cache::decide(site),
        php,
        total: total(&ground, &made),
        loads: Vec::new(),
        coverage: coverage.collect(),
        trial: None,
        gates: Vec::new(),
    };
    (Decided { policy, notes }, made.iter().map(Made::after).reduce(Setup::plus))
}

/// That decisions rest on fewer rounds than a claim takes, and what would settle them.
fn few_rounds(made: &[&Made], reports: &[Report]) -> String {
    let setups = made.iter().flat_map(|one| one.today.iter().chain([&one.chosen]));
    let rounds = setups.map(Setup::fewest_rounds).min().unwrap_or_default();
    let seconds: f64 = reports.iter().map(|report| report.run.seconds).sum();
    let budget = (seconds * ROUNDS as f64 / rounds.max(1) as f64).ceil();
    let kinds: Vec<&str> = made.iter().map(|one| one.kind.plural()).collect();
    let (kinds, few) = (units::list(&kinds), Confidence::TooFewRounds.name());
    let have = match rounds {
        1..ROUNDS => format!("some settings have {rounds} of {ROUNDS} rounds"),
        _ => few.to_owned(),
    };
    format!(
        "Not settled for {kinds}: {have}. A larger budget gives them the rest: weigh advise --budget {budget}s."
    )
}

pub(super) fn setups(ground: &Ground, kind: Kind, coded: Option<&Coded>, weights: &Weights) -> Vec<Setup> {
    match kind {
        Kind::Asset | Kind::Page => coded.map(|coded| coded.setups(ground, weights)).unwrap_or_default(),
        Kind::Download => handed::setups(ground),
        Kind::Value => stored::setups(ground),
    }
}

/// The decisions for all kinds, and how often the value of a CPU second was raised until the cores suffice at peak.
pub(super) fn make<'a>(ground: &'a Ground<'a>, objective: Objective) -> (Vec<Made<'a>>, u32) {
    let (mut scarcity, mut raises) = (0.0, 0);
    loop {
        let made = make_at(ground, &Weights::new(ground.site, objective, scarcity));
        if raises == RAISES || fits(ground.site, &made) {
            return (made, raises);
        }
        scarcity = if scarcity == 0.0 { 0.01 } else { scarcity * 2.0 };
        raises += 1;
    }
}

fn make_at<'a>(ground: &'a Ground<'a>, weights: &Weights) -> Vec<Made<'a>> {
    let made = |kind| {
        let coded = Coded::new(ground, kind);
        let setups = setups(ground, kind, coded.as_ref(), weights);
        let mut choice = choose(&setups, weights, TOLERANCE)?;
        if ground.page_waits.is_some() && matches!(kind, Kind::Asset | Kind::Page) {
            choice.chosen = cheaper(ground.site, &setups, &choice, weights);
            if !choice.tied.contains(&choice.chosen) {
                choice.tied.push(choice.chosen);
            }
        }
        let chosen = setups[choice.chosen].clone();
        let equal = choice.tied.iter().map(|at| setups[*at].name.clone()).collect();
        let today = match &coded {
            Some(coded) if !chosen.is_today => coded.before(ground, &chosen.rules),
            _ => setups.iter().find(|setup| setup.is_today).cloned(),
        };
        let told = match &coded {
            Some(coded) => coded.strata(),
            None => coverage::as_it_is(ground, kind, today.is_some()),
        };
        let is_measured = |one: &Stratum| told.iter().any(|told| std::ptr::eq(told.stratum, one));
        let unmeasured = coverage::unmeasured(ground, kind, &is_measured, &chosen.rules);
        let plain = coded.as_ref().filter(|_| kind == Kind::Page).and_then(|coded| coded.of(ground, &[]));
        let beside = plain.and_then(|plain| beside(ground, &plain, &chosen));
        // Where nothing else fitted into the budget, nothing was compared.
        let is_alone = setups.iter().all(|setup| setup.is_today);
        let is_left = ground.reports.iter().any(|report| !report.unmeasured.is_empty());
        let has_rounds = choice.confidence != Confidence::TooFewRounds && !(is_alone && is_left);
        Some(Made { kind, today, chosen, equal, has_rounds, beside, told, unmeasured })
    };
    Kind::ALL.into_iter().filter_map(made).collect()
}

/// Where today's setup was chosen because loads take as long with others: of these, the one that costs less by so much at the site's prices. Most of a
/// load's time is the browser's own and the links', and a small share of it may be most of the traffic.
pub(super) fn cheaper(site: &Site, setups: &[Setup], choice: &Choice, weights: &Weights) -> usize {
    let today = &setups[choice.chosen];
    if !today.is_today || choice.confidence == Confidence::TooFewRounds {
        return choice.chosen;
    }
    let prices = Weights::prices(site);
    let cost = |at: usize| setups[at].cost(&prices);
    // What is no worse as far as the rounds tell may still be slower; and what they tell to be slower, by so little that no load shows it.
    let is_known = |at: &usize| choice.tied.contains(at) || setups[*at].fewest_rounds() >= ROUNDS;
    let is_as_fast = |at: &usize| setups[*at].cost(weights) <= today.cost(weights) * (1.0 + TOLERANCE);
    let is_cheaper = |at: &usize| cost(*at) < today.cost(&prices) * (1.0 - CHEAPER);
    let able: Vec<usize> =
        (0..setups.len()).filter(|at| is_known(at) && is_as_fast(at) && is_cheaper(at)).collect();
    let least = able.iter().map(|at| cost(*at)).fold(f64::INFINITY, f64::min);
    // Of those that cost about as little, the one that asks least of the site.
    let about = able.into_iter().filter(|at| cost(*at) <= least + today.cost(&prices) * CHEAPER);
    let asks = |at: usize| (setups[at].needs.len(), setups[at].rules.len());
    let simplest = about.min_by(|a, b| asks(*a).cmp(&asks(*b)).then(cost(*a).total_cmp(&cost(*b))));
    simplest.unwrap_or(choice.chosen)
}

/// `The application takes 12 ms per page; encoding adds 0.6 ms.` None where the site's file does not say what a page takes, or nothing
/// was measured without encoding.
fn beside(ground: &Ground, plain: &Setup, chosen: &Setup) -> Option<String> {
    let pages = ground.site.of(Kind::Page).filter(|stratum| ground.has_rows(stratum));
    let (made, requests) = pool::made(pages)?;
    let added = (chosen.cpu.value - plain.cpu.value) / requests / NS * 1e3;
    let ms = |value: f64| format!("{} ms", units::trimmed_number(value));
    let adds = if added > 0.0 { format!("adds {}", ms(added)) } else { "adds nothing".into() };
    Some(format!("The application takes {} per page; encoding {adds}.", ms(made)))
}

/// Whether the cores suffice at peak, as far as the peak is known. Of its requests, those for PHP are as counted, whatever visitors ask for.
fn fits(site: &Site, made: &[Made]) -> bool {
    let Some(peak) = site.visitors.peak else { return true };
    // Cached values are asked for by pages.
    let is_made = |kind: Kind| matches!(kind, Kind::Page | Kind::Value);
    let requests = |is_in: bool| -> f64 {
        let sent = site.strata.iter().filter(|one| one.kind != Kind::Value && is_made(one.kind) == is_in);
        sent.map(|one| one.requests.value).sum()
    };
    let cpu = |is_in: bool| -> f64 {
        made.iter().filter(|one| is_made(one.kind) == is_in).map(|one| one.chosen.cpu.value / NS).sum()
    };
    let (pages, files) = (requests(true), requests(false));
    let by_mix = peak.value * pages / (pages + files).max(f64::MIN_POSITIVE);
    let by_php = site.visitors.php_peak.map_or(by_mix, |php| php.value);
    let per_second = [(true, pages, by_php), (false, files, (peak.value - by_php).max(0.0))];
    let busy = per_second.map(|(is_in, all, rate)| if all > 0.0 { cpu(is_in) / all * rate } else { 0.0 });
    busy.iter().sum::<f64>() <= site.limits.cores.value * site.limits.peak_share.value
}

/// Why there is no decision for a kind; none: it is not asked for.
fn undecided(site: &Site, kind: Kind) -> Option<String> {
    site.of(kind).next()?;
    let why = match site.of(kind).any(|stratum| !stratum.sample.is_empty()) {
        true => "nothing was measured of their sample",
        false => "there is no sample of them",
    };
    Some(format!("No decision for {}: {why}.", kind.plural()))
}

impl Made<'_> {
    /// What to do. Where it is not known what is done today, that stays: a change could make it worse.
    fn decision(&self, ground: &Ground, flips: Vec<Flip>) -> Decision {
        let (site, kinds, chosen) = (ground.site, self.kind.plural(), &self.chosen);
        let stays = |text: String| Decision {
            kind: self.kind,
            keep: true,
            text,
            today: site.today(self.kind).map_or_else(|| "not known".to_owned(), |today| today.about.clone()),
            rules: Vec::new(),
            method: None,
            needs: Vec::new(),
            change: Change::default(),
            parts: Vec::new(),
            at_rate: ground.rate.of_kind(self.kind).cloned(),
            flips: Vec::new(),
        };
        let Some((today, before)) = self.today.as_ref().zip(self.before()) else {
            let missing = coverage::missing(ground, self.kind);
            let best = &chosen.name;
            return stays(format!(
                "Leave {kinds} as they are: {missing}. Best of what was measured: {best}."
            ));
        };
        let keep = chosen.is_today;
        let text = match chosen.rules.first() {
            _ if keep => format!("Leave {kinds} as they are: {}.", chosen.name),
            Some(rule) if rule.min_bytes > 0 => {
                format!("{}, from {} up.", chosen.name, units::bytes(rule.min_bytes))
            }
            _ => format!("{}.", chosen.name),
        };
        let parts = if keep { Vec::new() } else { parts(site, today, chosen) };
        let beside = self.beside.iter().map(|beside| format!(" {beside}"));
        let text = text + &beside.chain(longer(&parts)).collect::<String>();
        Decision {
            keep,
            rules: chosen.rules.clone(),
            method: chosen.method.clone(),
            needs: chosen.needs.clone(),
            change: change(site, &before, &self.after()),
            parts,
            flips,
            ..stays(text)
        }
    }
}

/// Hours per month that visitors wait with a setup.
fn wait_hours(setup: &Setup) -> f64 {
    let (cpu, known) = WAIT_HOURS(setup.cpu.value, &setup.exact);
    cpu + known
}

/// All kinds for which today's method is known, together; and those without a decision, which stay as they are.
fn total(ground: &Ground, made: &[Made]) -> Change {
    let rest = Kind::ALL.into_iter().filter(|kind| made.iter().all(|one| one.kind != *kind));
    let rest = rest.map(|kind| coverage::unmeasured(ground, kind, &|_| false, &[])[0].exact);
    let rest = rest.fold(Exact::default(), Exact::plus);
    let sum = |setups: Vec<Setup>| {
        let sum = setups.into_iter().reduce(Setup::plus)?;
        Some(Setup { exact: sum.exact.plus(rest), ..sum })
    };
    let known = made.iter().filter_map(|one| Some((one.before()?, one.after())));
    let (before, after): (Vec<Setup>, Vec<Setup>) = known.unzip();
    // The sums have the names of their first kind; only the amounts matter.
    let after = sum(after).map(|after| Setup { name: String::new(), ..after });
    let Some((before, after)) = sum(before).zip(after) else { return Change::default() };
    change(ground.site, &before, &after)
}
