//! Decides what a site should send and store: from its description and from what was measured of its sample files.
//!
//! Each kind of content has setups: `coded` (assets, pages), `handed` (downloads) and `stored` (values) make them from rows.
//! `crate::choose` takes the best one by the objective, or a simpler one that is equal to it. No I/O and no clock: the same
//! site and the same reports give the same policy.

mod basis;
mod by_url;
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
mod uncertainty;
mod wait;
mod weights;

use weigh_model::policy::{Amount, Change, Decision, Objective, OtherPhp, Part, Policy, Rule, SCHEMA};
use weigh_model::site::{Accept, Kind, Sample, Site, Stratum};
use weigh_model::units;
use weigh_stats::ROUNDS;

use crate::choose::TOLERANCE;
use crate::report::Report;
use crate::subject::codec::{DECODE, DECODED};
use crate::verdict::Confidence;
pub use by_url::{ByUrl, accepted, prove_urls};
use coded::Coded;
use coverage::Rest;
pub use document::document;
pub use machines::decide;
pub use proof::{Line, Measured, Proof, Verdict, proof_document, prove};
pub use regret::{Valued, valued};
use setup::{Exact, NS, Setup, choose};
use uncertainty::{Quantity, Uncertainty};
use wait::Readers;
pub use wait::Weighted;
pub(crate) use weights::{GB, HOUR, Weights};

/// How often the value of a CPU second is raised until the cores suffice at peak.
const RAISES: u32 = 24;
/// The share by which responses of a kind are longer where that is said.
const LONGER: f64 = 0.005;
/// What is said where the time of the application is no part of the figures.
const WITHOUT_MADE: &str = "What the application takes to make a page is not known (made_ms in site.toml): shares of CPU time and of waiting are of \
                            encoding and sending alone.";

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
    /// Whether it is known of all pages what the application takes to make them.
    pub knows_made: bool,
    /// What rules make of sample files.
    pub encoded: Encoded<'a>,
}

/// Bytes that a rule makes of a sample file of a kind; none: not known.
pub type Encoded<'e> = &'e dyn Fn(Kind, &Sample, &Rule) -> Option<u64>;

/// Knows of no file what a rule makes of it.
pub const NOT_ENCODED: Encoded<'static> = &|_, _, _| None;

impl<'a> Ground<'a> {
    fn new(site: &'a Site, links: &'a [Weighted], reports: &'a [Report]) -> Ground<'a> {
        let (readers, classes, knows_made) = (Readers::new(site, links), site.classes(), site.knows_made());
        Ground { site, links, reports, readers, classes, knows_made, encoded: NOT_ENCODED }
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
    /// Whether there were enough rounds to compare the settings of each kind.
    pub is_settled: bool,
}

/// Decides by runs of one machine; also everything together, with what is best. See [`decide`].
fn decide_by(
    site: &Site,
    sha256: &str,
    links: &[Weighted],
    reports: &[Report],
    (objective, encoded): (Objective, Encoded),
) -> (Decided, Option<Setup>) {
    let ground = Ground { encoded, ..Ground::new(site, links, reports) };
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
    notes.extend(Kind::ALL.into_iter().filter_map(|kind| undecided(site, kind, &made)));
    let few: Vec<&Made> = made.iter().filter(|one| !one.has_rounds).collect();
    notes.extend(few.iter().map(|one| few_rounds(one, reports)));
    notes.extend(basis::asked_by(site));
    let coverage = |kind| coverage::of_kind(&ground, kind, made.iter().find(|one| one.kind == kind));
    let coverage = Kind::ALL.into_iter().filter_map(coverage).collect();
    let is_unknown = |one: &Made| one.kind == Kind::Value && one.today.is_none();
    notes.extend(made.iter().find(|one| is_unknown(one)).and_then(|_| stored::unmeasured_today(site)));
    if site.of(Kind::Page).next().is_some() && !ground.knows_made {
        notes.push(WITHOUT_MADE.into());
    }
    let mut flips = flip::flips(&ground, &made, objective);
    let decision = |one: &Made| one.decision(&ground, flips.remove(&one.kind).unwrap_or_default());
    let mut decisions: Vec<Decision> = made.iter().map(decision).collect();
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
        pool: pool::pool(site),
        php: others(&ground, &made),
        total: total(&ground, &made),
        coverage,
        trial: None,
        gates: Vec::new(),
    };
    (Decided { policy, notes, is_settled: few.is_empty() }, sum(made.iter().map(Made::after)))
}

/// That a decision rests on fewer rounds than a claim takes, and what would settle it.
fn few_rounds(made: &Made, reports: &[Report]) -> String {
    let rounds = made.today.iter().chain([&made.chosen]).map(Setup::fewest_rounds).min().unwrap_or_default();
    let seconds: f64 = reports.iter().map(|report| report.run.seconds).sum();
    let budget = (seconds * ROUNDS as f64 / rounds.max(1) as f64).ceil();
    let (kinds, few) = (made.kind.plural(), Confidence::TooFewRounds.name());
    let have = match rounds {
        1..ROUNDS => format!("some settings have {rounds} of {ROUNDS} rounds"),
        _ => few.to_owned(),
    };
    format!(
        "Not settled for {kinds}: {have}. A larger budget gives them the rest: weigh advise --budget {budget}s."
    )
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
    /// The names of those that are equal to it, itself among them.
    equal: Vec<String>,
    /// Whether there were enough rounds to compare the setups.
    has_rounds: bool,
    /// What a page takes to be made.
    beside: Option<String>,
    /// What the content takes that was not measured, before and after.
    unmeasured: [Rest; 2],
}

/// What was measured of a kind that is encoded; none of other kinds.
fn coded<'g>(ground: &'g Ground<'g>, kind: Kind) -> Option<Coded<'g>> {
    matches!(kind, Kind::Asset | Kind::Page).then(|| Coded::new(ground, kind)).flatten()
}

/// The setups of a kind.
fn setups(ground: &Ground, kind: Kind, coded: Option<&Coded>, weights: &Weights) -> Vec<Setup> {
    match kind {
        Kind::Asset | Kind::Page => coded.map(|coded| coded.setups(ground, weights)).unwrap_or_default(),
        Kind::Download => handed::setups(ground),
        Kind::Value => stored::setups(ground),
    }
}

/// The decisions for all kinds, and how often the value of a CPU second was raised until the cores suffice at peak.
fn make(ground: &Ground, objective: Objective) -> (Vec<Made>, u32) {
    let mut scarcity = 0.0;
    let mut made = make_at(ground, &Weights::new(ground.site, objective, scarcity));
    let mut raises = 0;
    while !fits(ground.site, &made) && raises < RAISES {
        scarcity = if scarcity == 0.0 { 0.01 } else { scarcity * 2.0 };
        made = make_at(ground, &Weights::new(ground.site, objective, scarcity));
        raises += 1;
    }
    (made, raises)
}

fn make_at(ground: &Ground, weights: &Weights) -> Vec<Made> {
    let made = |kind| {
        let coded = coded(ground, kind);
        let setups = setups(ground, kind, coded.as_ref(), weights);
        let choice = choose(&setups, weights, TOLERANCE)?;
        let chosen = setups[choice.chosen].clone();
        let equal = choice.tied.iter().map(|at| setups[*at].name.clone()).collect();
        let today = match &coded {
            Some(coded) if !chosen.is_today => coded.before(ground, &chosen.rules),
            _ => setups.iter().find(|setup| setup.is_today).cloned(),
        };
        let told = coded.as_ref().map(Coded::strata);
        let is_measured = |stratum: &Stratum| match &told {
            Some(told) => told.iter().any(|one| std::ptr::eq(one.stratum, stratum)),
            None => coverage::has_rows(ground, stratum),
        };
        let unmeasured = coverage::recoded(ground, kind, &is_measured, (&chosen.rules, ground.encoded));
        let plain = coded.as_ref().filter(|_| kind == Kind::Page).and_then(|coded| coded.of(ground, &[]));
        let beside = plain.and_then(|plain| made::beside(ground, &plain, &chosen));
        // Where nothing else fitted into the budget, nothing was compared.
        let is_alone = setups.iter().all(|setup| setup.is_today);
        let is_left = ground.reports.iter().any(|report| !report.unmeasured.is_empty());
        let has_rounds = choice.confidence != Confidence::TooFewRounds && !(is_alone && is_left);
        Some(Made { kind, today, chosen, equal, has_rounds, beside, unmeasured })
    };
    Kind::ALL.into_iter().filter_map(made).collect()
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

/// Why there is no decision for a kind that is asked for.
fn undecided(site: &Site, kind: Kind, made: &[Made]) -> Option<String> {
    site.of(kind).next().filter(|_| made.iter().all(|one| one.kind != kind))?;
    let why = match site.of(kind).any(|stratum| !stratum.sample.is_empty()) {
        true => "nothing was measured of their sample",
        false => "there is no sample of them",
    };
    Some(format!("No decision for {}: {why}.", kind.plural()))
}

impl Made {
    /// Everything as it is today; none: that is not known.
    fn before(&self) -> Option<Setup> {
        self.today.clone().map(|today| today.with_rest(&self.unmeasured[0]))
    }

    /// Everything as it was chosen.
    fn after(&self) -> Setup {
        self.chosen.clone().with_rest(&self.unmeasured[1])
    }

    /// The amounts of what was measured by itself.
    fn parts(&self, site: &Site) -> Vec<Part> {
        self.today.as_ref().map(|today| parts(site, today, &self.chosen)).unwrap_or_default()
    }

    /// Whether the bytes of a stratum are known, though it was not measured.
    fn has_encoded(&self, stratum: &Stratum) -> bool {
        let address = std::ptr::from_ref(stratum).addr();
        self.unmeasured[1].parts.iter().any(|part| part.stratum == address)
    }

    /// What to do. Where it is not known what is done today, that stays: a change could make it worse.
    fn decision(&self, ground: &Ground, flips: Vec<weigh_model::policy::Flip>) -> Decision {
        let site = ground.site;
        let is_known = self.today.is_some();
        let keep = self.chosen.is_today || !is_known;
        let kinds = self.kind.plural();
        let text = match (is_known, keep, &self.chosen.rules[..]) {
            (false, ..) => {
                let missing = coverage::missing(ground, self.kind);
                format!(
                    "Leave {kinds} as they are: {missing}. Best of what was measured: {}.",
                    self.chosen.name
                )
            }
            (_, true, _) => format!("Leave {kinds} as they are: {}.", self.chosen.name),
            (_, false, [first, ..]) if first.min_bytes > 0 => {
                format!("{}, from {} up.", self.chosen.name, units::bytes(first.min_bytes))
            }
            (_, false, _) => format!("{}.", self.chosen.name),
        };
        let beside = self.beside.iter().filter(|_| is_known).map(|beside| format!(" {beside}"));
        let unknown = || "not known".to_owned();
        let after = self.after();
        let before = self.before();
        let parts = if keep { Vec::new() } else { self.parts(site) };
        let text = text + &beside.chain(longer(&parts)).collect::<String>();
        Decision {
            kind: self.kind,
            keep,
            text,
            today: site.today(self.kind).map_or_else(unknown, |today| today.about.clone()),
            rules: if is_known { self.chosen.rules.clone() } else { Vec::new() },
            method: self.chosen.method.clone().filter(|_| is_known),
            needs: if is_known { self.chosen.needs.clone() } else { Vec::new() },
            change: before.as_ref().map_or_else(Change::default, |before| change(site, before, &after)),
            parts,
            flips: if is_known { flips } else { Vec::new() },
        }
    }
}

/// Hours of CPU time, with the application's where that is known.
const CORE_HOURS: Quantity = &|cpu, exact| (cpu / NS / HOUR, exact.made / HOUR);

/// The hours of CPU time before and after.
fn core_hours(site: &Site, before: &Setup, after: &Setup) -> Amount {
    Uncertainty::new(site, before, after).amount(CORE_HOURS, false)
}

/// The amounts before and after, with intervals.
fn change(site: &Site, before: &Setup, after: &Setup) -> Change {
    let is_same = before.name == after.name && before.exact == after.exact;
    let uncertainty = Uncertainty::new(site, before, after);
    let amount = |of: Quantity| uncertainty.amount(of, is_same);
    let prices = Weights::prices(site);
    Change {
        wait_hours: amount(&|cpu, exact| (cpu / NS / HOUR, exact.wait / HOUR)),
        core_hours: amount(CORE_HOURS),
        worker_hours: amount(&|_, exact| (0.0, exact.workers / HOUR)),
        gb_out: amount(&|_, exact| (0.0, exact.sent / GB)),
        gb_stored: amount(&|_, exact| (0.0, exact.stored / GB)),
        cost: amount(&|cpu, exact| ((prices.wait + prices.core) * cpu / NS, exact.cost(&prices))),
    }
}

/// The amounts before and after of each stratum that was measured.
fn parts(site: &Site, before: &Setup, after: &Setup) -> Vec<Part> {
    let of = |stratum: &Stratum| {
        let address = std::ptr::from_ref(stratum).addr();
        let sum = |of: &dyn Fn(f64, &Exact) -> f64| {
            [before, after].map(|setup| {
                let own = setup.parts.iter().filter(|part| part.stratum == address);
                own.map(|part| of(part.cpu.as_ref().map_or(0.0, |cpu| cpu.value / NS), &part.exact)).sum()
            })
        };
        let part = Part {
            content: stratum.name(),
            wait_hours: sum(&|cpu, exact| (cpu + exact.wait) / HOUR),
            core_hours: sum(&|cpu, exact| (cpu + exact.made) / HOUR),
            gb_out: sum(&|_, exact| exact.sent / GB),
            gb_stored: sum(&|_, exact| exact.stored / GB),
        };
        before.parts.iter().any(|part| part.stratum == address).then_some(part)
    };
    Kind::ALL.into_iter().flat_map(|kind| site.of(kind)).filter_map(of).collect()
}

/// ` Responses are 3% to 6% longer than today.`, where those of every type and size are; none where some are not.
fn longer(parts: &[Part]) -> Option<String> {
    let shares: Vec<f64> = parts
        .iter()
        .filter(|part| part.gb_out[0] > 0.0)
        .map(|part| part.gb_out[1] / part.gb_out[0] - 1.0)
        .collect();
    let (least, most) = (shares.iter().copied().reduce(f64::min)?, shares.iter().copied().reduce(f64::max)?);
    let (low, high) = (units::percent(least), units::percent(most));
    let range = if low == high { low } else { format!("{low} to {high}") };
    (least >= LONGER).then(|| format!(" Responses are {range} longer than today."))
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
    setups.reduce(|a, b| Setup {
        cpu: a.cpu.plus(&b.cpu),
        exact: a.exact.plus(b.exact),
        parts: [a.parts, b.parts].concat(),
        ..a
    })
}
