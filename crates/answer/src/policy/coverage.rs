//! What the figures rest on: which strata were measured, and for which it is known what is sent today. Of the others, those whose sample was encoded
//! count with their bytes, and the rest counts the same before and after; all are named with the reason.

use weigh_model::policy::{Coverage, Difference, Encoder, Gap, Reason, Rule};
use weigh_model::site::{Kind, Sample, Stratum};

use super::coded::MeasuredStratum;
use super::setup::{Exact, FileAmounts};
use super::today::{failed, left, names_today};
use super::{Ground, content};
use crate::policy::made::Made;
use crate::policy::setup::Rest;
use crate::report::Report;

/// The most strata that are named of a gap, and the most differences of a kind.
const NAMED: usize = 3;
/// A share of a kind's requests and bytes below which a gap is none.
const LEAST: f64 = 0.0005;
/// How far what was computed may be from what was counted, as a share of it.
pub(super) const NEAR: f64 = 0.05;

struct Known<'a> {
    stratum: &'a Stratum,
    /// How many responses there are; of values, how many keys.
    count: f64,
    /// Bytes per month that the site sends of it today, and whether that is an upper bound.
    bytes: f64,
    at_most: bool,
    /// Why the rest is not covered.
    reason: Reason,
    /// The share of its requests whose response today is known.
    share: f64,
    /// Bytes of bodies per month of that share, as computed.
    sent: f64,
}

impl Known<'_> {
    /// Bytes per month that a log counted.
    fn counted(&self) -> f64 {
        self.stratum.sent_bytes.map_or(0.0, |sent| sent.value)
    }

    /// Bytes per month of a stratum that a log counted: what is not known of it is as counted.
    fn computed(&self) -> f64 {
        self.sent + (1.0 - self.share) * self.counted()
    }
}

/// Why it is not known what is sent today of strata that were measured.
fn unknown_today(ground: &Ground, strata: &[&Stratum]) -> Reason {
    let has = |ids: fn(&Report) -> Vec<&str>| {
        let mut samples = strata.iter().flat_map(|one| one.sample.iter().map(|sample| (one.kind, sample)));
        samples.any(|sample| names_today(ground, sample, ids))
    };
    match (has(failed), has(left)) {
        (true, _) => Reason::TodayFailed,
        (false, true) => Reason::TodayNotMeasured,
        (false, false) => Reason::TodayUnknown,
    }
}

/// What the strata of a kind take today and with rules that were not measured, as far as it is known: their bytes, and the time on the way. Where the site
/// was asked for the sample as every class of clients, the bytes with the rules follow from what each rule makes of it; all other strata take the same.
pub(super) fn unmeasured(
    ground: &Ground,
    kind: Kind,
    is_measured: &dyn Fn(&Stratum) -> bool,
    rules: &[Rule],
) -> [Rest; 2] {
    let mut found = [Rest::default(), Rest::default()];
    for stratum in ground.site.of(kind).filter(|stratum| !is_measured(stratum)) {
        let (bytes, _) = content::bytes_today(stratum, &ground.classes);
        let requests = stratum.requests.value;
        let Some(files) = bodies(ground, stratum, rules) else {
            let same = taken(ground, stratum, requests, bytes);
            found.iter_mut().for_each(|rest| rest.exact = rest.exact.plus(same));
            continue;
        };
        let asked: f64 = files.iter().map(|(sample, [today, _])| today * sample.share * requests).sum();
        let scale = if asked > 0.0 { bytes / asked } else { 1.0 };
        for (sample, bodies) in files {
            let own = requests * sample.share;
            for (rest, body) in found.iter_mut().zip(bodies) {
                let exact = taken(ground, stratum, own, body * scale * own);
                rest.exact = rest.exact.plus(exact);
                rest.parts.push(FileAmounts::encoded(stratum, sample, exact));
            }
        }
    }
    found
}

/// Bytes of the mean body of each sample file today and with rules; none: not all of them are known, or no rule is for them.
fn bodies<'s>(ground: &Ground, stratum: &'s Stratum, rules: &[Rule]) -> Option<Vec<(&'s Sample, [f64; 2])>> {
    let is_meant = |rule: &Rule| rule.is_for(&stratum.format) && stratum.is_worth_encoding();
    rules.iter().any(is_meant).then_some(())?;
    let of = |sample: &'s Sample| {
        let can_have = |rule: &Rule| rule.by != Encoder::Beforehand || !sample.is_made();
        let holds = |rule: &&Rule| is_meant(rule) && sample.bytes >= rule.min_bytes && can_have(rule);
        let mut bodies = [0.0; 2];
        for client in &ground.classes {
            let today = sample.sent_to(&client.codings)?.bytes;
            let rule = rules.iter().filter(holds).find(|rule| client.codings.contains(&rule.coding));
            let with = match rule {
                Some(rule) => (ground.encoded)(stratum.kind, sample, rule)?.min(sample.bytes),
                None if rules.iter().any(|rule| holds(&rule)) => sample.bytes,
                None => today,
            };
            bodies[0] += today as f64 * client.share;
            bodies[1] += with as f64 * client.share;
        }
        Some((sample, bodies))
    };
    stratum.sample.iter().map(of).collect::<Option<Vec<_>>>().filter(|files| !files.is_empty())
}

/// What this many responses of a stratum take with these bytes in all; of values, the bytes in the store.
fn taken(ground: &Ground, stratum: &Stratum, requests: f64, bytes: f64) -> Exact {
    if stratum.kind == Kind::Value {
        return Exact { stored: bytes, ..Exact::default() };
    }
    let workers = stratum.made_ms.map_or(0.0, |made| made.value / 1e3) * requests;
    let (body, whole) = (bytes / requests.max(1.0), stratum.bytes.value / stratum.files.value.max(1.0));
    let wait = ground.wait(stratum, body / whole.max(1.0), body) * requests + workers;
    let made = if ground.knows_made { workers } else { 0.0 };
    Exact { wait, made, sent: bytes, workers, ..Exact::default() }
}

/// What is known of content that is sent or stored as it is.
pub(super) fn as_it_is<'a>(ground: &Ground<'a>, kind: Kind, is_known: bool) -> Vec<MeasuredStratum<'a>> {
    let known = if is_known { 1.0 } else { 0.0 };
    let told = |stratum: &'a Stratum| {
        let mean: f64 = stratum.sample.iter().map(|one| one.share * one.bytes as f64).sum();
        MeasuredStratum { stratum, known, sent: known * mean * stratum.requests.value }
    };
    ground.site.of(kind).filter(|stratum| ground.has_rows(stratum)).map(told).collect()
}

fn known<'a>(ground: &Ground<'a>, kind: Kind, made: Option<&Made>) -> Vec<Known<'a>> {
    let of = |stratum: &'a Stratum| {
        let told = made.and_then(|made| made.told.iter().find(|told| std::ptr::eq(told.stratum, stratum)));
        let (share, sent) = told.map_or((0.0, 0.0), |told| (told.known, told.sent));
        // The bytes with the chosen rules are known all the same.
        let is_encoded = made.is_some_and(|one| one.unmeasured[1].parts.iter().any(|p| p.is_of(stratum)));
        let reason = match told {
            _ if stratum.sample.is_empty() => Reason::NoSample,
            Some(_) => unknown_today(ground, &[stratum]),
            None if is_encoded => Reason::EncodedOnly,
            None => Reason::NotMeasured,
        };
        let count = if kind == Kind::Value { stratum.files } else { stratum.requests }.value;
        let (bytes, at_most) = content::bytes_today(stratum, &ground.classes);
        Known { stratum, count, bytes, at_most, reason, share, sent }
    };
    ground.site.of(kind).map(of).collect()
}

/// Why it is not known what is done today with a measured kind, and what would tell it.
pub(super) fn missing(ground: &Ground, kind: Kind) -> &'static str {
    let strata: Vec<&Stratum> = ground.site.of(kind).collect();
    match (unknown_today(ground, &strata), kind) {
        (Reason::TodayFailed, _) => "requests for what is sent today failed, as the run's report says",
        (Reason::TodayNotMeasured, _) => {
            "what is sent today was not measured within the budget (give more: --budget)"
        }
        (_, Kind::Value) => "what the store has today is of no form that was measured",
        (_, Kind::Download) => {
            "it is not known whether PHP or the server sends them ([[today]] in site.toml can say)"
        }
        _ => {
            "what is sent today is not known (to find out: weigh site --force with --server-config or --url)"
        }
    }
}

/// What the figures of a kind rest on; none: nothing of it is asked for, or there.
pub(super) fn of_kind(ground: &Ground, kind: Kind, made: Option<&Made>) -> Option<Coverage> {
    let all = known(ground, kind, made);
    let share = |of: fn(&Known) -> f64, part: &dyn Fn(&Known) -> f64| {
        let sum = all.iter().map(of).sum::<f64>();
        let parts = all.iter().map(|one| of(one) * part(one)).sum::<f64>();
        if sum > 0.0 { (parts / sum).clamp(0.0, 1.0) } else { 1.0 }
    };
    let requests = |part: &dyn Fn(&Known) -> f64| share(|one| one.count, part);
    let bytes = |part: &dyn Fn(&Known) -> f64| share(|one| one.bytes, part);
    let is_there = |one: &Known| one.count > 0.0 || one.bytes > 0.0;
    all.iter().any(is_there).then_some(())?;
    let gap = |reason: Reason| {
        let is_in = |one: &&Known| one.share < 1.0 && one.reason == reason && is_there(one);
        let mut own: Vec<&Known> = all.iter().filter(is_in).collect();
        own.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
        let part = |one: &Known| if is_in(&one) { 1.0 - one.share } else { 0.0 };
        let gap = Gap {
            reason,
            content: own.iter().take(NAMED).map(|one| one.stratum.name()).collect(),
            strata: own.len(),
            requests: requests(&part),
            bytes: bytes(&part),
            at_most: own.iter().any(|one| one.at_most),
        };
        (!own.is_empty() && gap.requests.max(gap.bytes) >= LEAST).then_some(gap)
    };
    let mut gaps: Vec<Gap> = Reason::ALL.into_iter().filter_map(gap).collect();
    gaps.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    let is_counted = |one: &&Known| kind != Kind::Value && one.stratum.sent_bytes.is_some();
    let counted: Vec<&Known> = all.iter().filter(is_counted).collect();
    let sum = |of: fn(&Known) -> f64| {
        (!counted.is_empty()).then(|| counted.iter().map(|one| of(one)).sum::<f64>() / 1e9)
    };
    Some(Coverage {
        kind,
        requests: requests(&|one| one.share),
        bytes: bytes(&|one| one.share),
        in_total: made.is_none_or(|one| one.today.is_some()),
        computed_gb: sum(|one| one.computed()),
        counted_gb: sum(|one| one.counted()),
        gaps,
        differences: differences(counted),
    })
}

/// Of strata that a log counted, those whose computed bytes differ most from that.
fn differences(mut found: Vec<&Known>) -> Vec<Difference> {
    let sum: f64 = found.iter().map(|one| one.counted()).sum();
    let far = |one: &Known| (one.computed() - one.counted()).abs();
    found.retain(|one| far(one) > NEAR * sum);
    found.sort_by(|a, b| far(b).total_cmp(&far(a)));
    let of = |one: &Known| Difference {
        content: one.stratum.name(),
        computed_gb: one.computed() / 1e9,
        counted_gb: one.counted() / 1e9,
        requests: one.stratum.requests.value,
        with_ranges: one.stratum.ranges.is_some_and(|ranges| ranges.value > 0.0),
    };
    found.into_iter().take(NAMED).map(of).collect()
}
