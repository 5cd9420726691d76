//! Decides what a site should send and store: from its description and from what was measured of its sample files.
//!
//! Each kind of content has setups: `coded` (assets, pages), `handed` (downloads) and `stored` (values) make them from rows.
//! `choose` takes the best one by the objective, or a simpler one that is equal to it. No I/O and no clock: the same
//! site and the same reports give the same policy.

mod basis;
mod by_url;
mod choose;
mod coded;
mod content;
mod coverage;
mod document;
mod flip;
pub mod gate;
mod handed;
mod machines;
mod made;
mod pool;
mod proof;
mod regret;
mod setup;
mod stored;
#[cfg(test)]
mod tests;
mod today;
mod wait;
mod weights;

use weigh_model::policy::{Amount, Change, Decision, Objective, OtherPhp, Policy, SCHEMA};
use weigh_model::site::{Accept, Kind, Sample, Site, Stratum};
use weigh_model::units;

use crate::estimate::Estimate;
use crate::report::Report;
use crate::subject::codec::{DECODE, DECODED};
use crate::verdict::ratio_of_totals;
pub use by_url::{ByUrl, accepted, prove_urls};
use choose::{TOLERANCE, choose};
use coded::Coded;
pub use document::document;
pub use machines::decide;
pub use proof::{Line, Measured, Proof, proof_document, prove};
pub use regret::{Valued, valued};
use setup::{Exact, NS, Setup};
use wait::Readers;
pub use wait::Weighted;
pub(crate) use weights::{GB, HOUR, Weights};

/// How often the value of a CPU second is raised until the cores suffice at peak.
const RAISES: u32 = 24;

/// What decisions rest on.
pub(crate) struct Ground<'a> {
    /// The site.
    pub site: &'a Site,
    /// The links of its visitors.
    pub links: &'a [Weighted],
    /// What was measured of its sample files.
    pub reports: &'a [Report],
    /// Its visitors.
    pub readers: Readers,
    /// The classes of clients that ask its server.
    pub classes: Vec<Accept>,
}

impl<'a> Ground<'a> {
    fn new(site: &'a Site, links: &'a [Weighted], reports: &'a [Report]) -> Ground<'a> {
        Ground { site, links, reports, readers: Readers::new(site, links), classes: site.classes() }
    }

    /// Nanoseconds that decoding a file from a content coding takes on this machine; 0 if no native codec of the coding was
    /// measured on it.
    pub fn decode_ns(&self, coding: &str, sample: &Sample) -> f64 {
        let codecs: &[&str] = match coding {
            "gzip" => &["zlib", "zlib-ng", "libdeflate"],
            "br" => &["brotli"],
            "zstd" => &["zstd"],
            _ => &[],
        };
        let rows = self.reports.iter().flat_map(|report| {
            let same = report.payloads.iter().filter(|payload| payload.sha256 == sample.sha256);
            same.flat_map(|payload| report.rows.iter().filter(|row| row.cell.payload == payload.name))
        });
        let native = rows.filter(|row| row.cell.delivery.is_none() && row.cell.serializer.is_none());
        let known = native.filter(|row| codecs.contains(&row.cell.setting.codec.as_str()));
        let per_byte = known.filter_map(|row| Some(row.value(DECODE)? / row.value(DECODED)?.max(1.0)));
        per_byte.reduce(f64::max).unwrap_or(0.0) * sample.bytes as f64
    }
}

/// The policy, with what the reader should know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The policy.
    pub policy: Policy,
    /// One line each: what was not measured, and what limits the result.
    pub notes: Vec<String>,
}

/// Decides by runs of one machine; also everything together, with what is best. See [`decide`].
fn decide_by(
    site: &Site,
    sha256: &str,
    links: &[Weighted],
    reports: &[Report],
    objective: Objective,
) -> (Decided, Option<Setup>) {
    let ground = Ground::new(site, links, reports);
    let mut notes = Vec::new();
    let mut scarcity = 0.0;
    let mut made = make(&ground, objective, scarcity);
    let mut raises = 0;
    while !fits(site, &made) && raises < RAISES {
        scarcity = if scarcity == 0.0 { 0.01 } else { scarcity * 2.0 };
        made = make(&ground, objective, scarcity);
        raises += 1;
    }
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
    notes.extend(Kind::ALL.into_iter().filter_map(|kind| undecided(site, kind, &made)));
    notes.extend(basis::asked_by(site));
    let coverage = |kind| coverage::of_kind(&ground, kind, made.iter().find(|one| one.kind == kind));
    let coverage = Kind::ALL.into_iter().filter_map(coverage).collect();
    let is_unknown = |one: &Made| one.kind == Kind::Value && one.today.is_none();
    notes.extend(made.iter().find(|one| is_unknown(one)).and_then(|_| stored::unmeasured_today(site)));
    let flips = |one: &Made| flip::flips(&ground, one.kind, objective, scarcity, &one.chosen.name);
    let mut decisions: Vec<Decision> = made.iter().map(|one| one.decision(site, flips(one))).collect();
    let gain = |of: &Decision| of.change.wait_hours.before - of.change.wait_hours.after;
    decisions.sort_by(|a, b| a.keep.cmp(&b.keep).then(gain(b).total_cmp(&gain(a))));
    let policy = Policy {
        schema: SCHEMA,
        site: site.name.clone(),
        site_sha256: sha256.to_owned(),
        objective,
        server: site.sources.server.clone(),
        machines: Vec::new(),
        decisions,
        pool: pool::pool(site, &made),
        php: others(&ground, &made),
        total: total(&ground, &made),
        coverage,
        trial: None,
        gates: Vec::new(),
    };
    (Decided { policy, notes }, sum(made.iter().map(Made::after)))
}

/// What other PHPs would bring.
fn others(ground: &Ground, made: &[Made]) -> Vec<OtherPhp> {
    let values = made.iter().find(|one| one.kind == Kind::Value);
    values.map(|one| stored::elsewhere(ground, &one.chosen)).unwrap_or_default()
}

/// A decision with its setups.
struct Made {
    kind: Kind,
    today: Option<Setup>,
    chosen: Setup,
    /// What a page takes to be made.
    beside: Option<String>,
    /// What the content takes that was not measured: the same before and after.
    unmeasured: Exact,
}

/// The setups of a kind.
fn setups(ground: &Ground, kind: Kind, weights: &Weights) -> Vec<Setup> {
    match kind {
        Kind::Asset | Kind::Page => {
            Coded::new(ground, kind).map(|coded| coded.setups(ground, weights)).unwrap_or_default()
        }
        Kind::Download => handed::setups(ground),
        Kind::Value => stored::setups(ground),
    }
}

fn make(ground: &Ground, objective: Objective, scarcity: f64) -> Vec<Made> {
    let weights = Weights::new(ground.site, objective, scarcity);
    let made = |kind| {
        let setups = setups(ground, kind, &weights);
        let choice = choose(&setups, &weights, TOLERANCE)?;
        let chosen = setups[choice.chosen].clone();
        let coded = matches!(kind, Kind::Asset | Kind::Page).then(|| Coded::new(ground, kind)).flatten();
        let today = match &coded {
            Some(coded) if !chosen.is_today => coded.before(ground, &chosen.rules),
            _ => setups.iter().find(|setup| setup.is_today).cloned(),
        };
        let told = coded.as_ref().map(Coded::strata);
        let is_measured = |stratum: &Stratum| match &told {
            Some(told) => told.iter().any(|one| std::ptr::eq(one.stratum, stratum)),
            None => coverage::has_rows(ground, stratum),
        };
        let unmeasured = coverage::unmeasured(ground, kind, &is_measured);
        let beside = (kind == Kind::Page).then(|| made::beside(ground, &setups, &chosen)).flatten();
        Some(Made { kind, today, chosen, beside, unmeasured })
    };
    Kind::ALL.into_iter().filter_map(made).collect()
}

/// Whether the cores suffice at peak, as far as the peak is known.
fn fits(site: &Site, made: &[Made]) -> bool {
    let cpu = made.iter().map(|one| one.chosen.cpu.value / NS).sum();
    let limit = site.limits.cores.value * site.limits.peak_share.value;
    per_peak_second(site, cpu).is_none_or(|busy| busy <= limit)
}

/// What of an amount per month falls on a second of the busiest hour; none if the peak is not known.
fn per_peak_second(site: &Site, amount: f64) -> Option<f64> {
    let sent = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Value).flat_map(|kind| site.of(kind));
    let requests: f64 = sent.map(|stratum| stratum.requests.value).sum();
    site.visitors.peak.filter(|_| requests > 0.0).map(|peak| amount / requests * peak.value)
}

/// Why there is no decision for a kind that is asked for, or nothing to compare one with.
fn undecided(site: &Site, kind: Kind, made: &[Made]) -> Option<String> {
    let is_there = site.of(kind).next().is_some();
    let is_sampled = site.of(kind).any(|stratum| !stratum.sample.is_empty());
    let kinds = kind.plural();
    match made.iter().find(|one| one.kind == kind) {
        None if is_there && is_sampled => {
            Some(format!("No decision for {kinds}: nothing was measured of their sample."))
        }
        None if is_there => Some(format!("No decision for {kinds}: there is no sample of them.")),
        Some(one) if one.today.is_none() => Some(format!(
            "What the site does today with {kinds} is not known: neither is what a change brings, and they are not in the sums."
        )),
        _ => None,
    }
}

impl Made {
    /// Everything as it is today; none: that is not known.
    fn before(&self) -> Option<Setup> {
        self.today.clone().map(|today| today.with(self.unmeasured))
    }

    /// Everything as it was chosen.
    fn after(&self) -> Setup {
        self.chosen.clone().with(self.unmeasured)
    }

    fn decision(&self, site: &Site, flips: Vec<weigh_model::policy::Flip>) -> Decision {
        let keep = self.chosen.is_today;
        let text = match (keep, &self.chosen.rules[..]) {
            (true, _) => format!("Leave {} as they are: {}.", self.kind.plural(), self.chosen.name),
            (false, [first, ..]) if first.min_bytes > 0 => {
                format!("{}, from {} up.", self.chosen.name, units::bytes(first.min_bytes))
            }
            (false, _) => format!("{}.", self.chosen.name),
        };
        let beside = self.beside.iter().map(|beside| format!(" {beside}"));
        let text = text + &beside.collect::<String>();
        let unknown = || "not known".to_owned();
        Decision {
            kind: self.kind,
            keep,
            text,
            today: site.today(self.kind).map_or_else(unknown, |today| today.about.clone()),
            rules: self.chosen.rules.clone(),
            method: self.chosen.method.clone(),
            needs: self.chosen.needs.clone(),
            change: change(site, &self.before().unwrap_or_else(|| self.after()), &self.after()),
            flips,
        }
    }
}

/// An amount before and after, of the part with an interval and the part without.
fn amount(before: (Estimate, f64), after: (Estimate, f64), is_same: bool) -> Amount {
    let ((a, more_a), (b, more_b)) = (after, before);
    let (now, then) = (b.value + more_b, a.value + more_a);
    let share = if now > 0.0 { Some((then - now) / now) } else { None };
    let ratio = ratio_of_totals((&a, more_a), (&b, more_b)).filter(|_| !is_same);
    // Without CPU time in it, an amount is exact.
    let is_exact = is_same || (a.value == 0.0 && b.value == 0.0);
    let end = |end: Option<f64>| if is_exact { share } else { end.map(|end| end - 1.0) };
    Amount { before: now, after: then, low: end(ratio.map(|r| r.low)), high: end(ratio.map(|r| r.high)) }
}

/// Hours of CPU time, and of nothing else.
const CORE_HOURS: Weights = Weights { wait: 0.0, core: 1.0 / HOUR, sent: 0.0, stored: 0.0 };

/// The hours of CPU time before and after.
fn core_hours(before: &Setup, after: &Setup) -> Amount {
    amount(before.total(&CORE_HOURS), after.total(&CORE_HOURS), false)
}

/// The amounts before and after, with intervals.
fn change(site: &Site, before: &Setup, after: &Setup) -> Change {
    let is_same = before.name == after.name && before.exact == after.exact;
    let amount = |of: &dyn Fn(&Setup) -> (Estimate, f64)| amount(of(before), of(after), is_same);
    let weighted = |weights: Weights| move |setup: &Setup| setup.total(&weights);
    let exact = |value: f64| (Estimate::default(), value);
    Change {
        wait_hours: amount(&weighted(Weights { wait: 1.0 / HOUR, core: 0.0, ..CORE_HOURS })),
        core_hours: amount(&weighted(CORE_HOURS)),
        worker_hours: amount(&|setup| exact(setup.exact.workers / HOUR)),
        gb_out: amount(&|setup| exact(setup.exact.sent / GB)),
        gb_stored: amount(&|setup| exact(setup.exact.stored / GB)),
        cost: amount(&weighted(Weights::prices(site))),
    }
}

/// All kinds of which it is known what is done today, together; and those without a decision, which stay as they are.
fn total(ground: &Ground, made: &[Made]) -> Change {
    let is_made = |kind: &Kind| made.iter().any(|one| one.kind == *kind);
    let rest = Kind::ALL.into_iter().filter(|kind| !is_made(kind));
    let rest =
        rest.map(|kind| coverage::unmeasured(ground, kind, &|_| false)).fold(Exact::default(), Exact::plus);
    let told = || made.iter().filter_map(|one| Some((one.before()?, one.after())));
    let before = sum(told().map(|(before, _)| before));
    let after = sum(told().map(|(_, after)| after));
    match (before, after) {
        (Some(before), Some(after)) => {
            // The sums have the names of their first kind; only the amounts matter.
            let after = Setup { name: String::new(), ..after };
            change(ground.site, &before.with(rest), &after.with(rest))
        }
        _ => Change::default(),
    }
}

/// The amounts of all kinds.
fn sum(setups: impl Iterator<Item = Setup>) -> Option<Setup> {
    setups.reduce(|a, b| Setup { cpu: a.cpu.plus(&b.cpu), exact: a.exact.plus(b.exact), ..a })
}
