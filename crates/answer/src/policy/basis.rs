//! What a policy's figures rest on, in words: coverage, gaps, how what was computed compares with what was counted, and for whom they hold.

use weigh_model::policy::{Coverage, Difference, Gap, Policy, Reason};
use weigh_model::site::{Front, Kind, Site};
use weigh_model::units;

use super::coverage::NEAR;
use crate::text::clean;

/// A share of a kind's bytes or requests that is worth a line.
const VISIBLE: f64 = 0.005;

/// `1.2 GB`, of this many.
pub(super) fn gigabytes(value: f64) -> String {
    units::bytes((value * 1e9).round() as u64)
}

/// What responses are called; of values, keys.
fn counted_as(kind: Kind) -> &'static str {
    if kind == Kind::Value { "keys" } else { "requests" }
}

/// `Before any change: 445 MB a month computed; the log counted 677 MB (34% missing): …`; none where both are near.
pub(super) fn counted(policy: &Policy) -> Option<String> {
    let all = || policy.coverage.iter().filter_map(|one| Some((one, one.counted_gb?)));
    let counted: f64 = all().map(|(_, counted)| counted).sum();
    let computed: f64 = all().filter(|(one, _)| one.in_total).filter_map(|(one, _)| one.computed_gb).sum();
    let share = (counted - computed) / counted.max(f64::MIN_POSITIVE);
    (counted > 0.0 && share.abs() > NEAR).then_some(())?;
    let outside = all().filter(|(one, _)| !one.in_total).map(|(one, counted)| {
        let (bytes, kinds) = (gigabytes(counted), one.kind.plural());
        format!("{bytes} are {kinds}, of which it is not known what is sent today")
    });
    let inside = all().filter(|(one, _)| one.in_total).flat_map(|(one, _)| &one.differences).map(difference);
    let mut reasons: Vec<String> = outside.chain(inside).take(3).collect();
    if reasons.is_empty() {
        reasons.push("no type and size by itself differs by more than 5%".into());
    }
    let than = if share > 0.0 { "missing" } else { "too many" };
    let (computed, counted) = (gigabytes(computed), gigabytes(counted));
    let (share, reasons) = (units::percent(share.abs()), reasons.join("; "));
    Some(format!(
        "Before any change: {computed} a month computed; the log counted {counted} ({share} {than}): {reasons}."
    ))
}

/// `text/css, 10 KB to 50 KB: 12 KB a response computed, 20 KB counted`.
fn difference(one: &Difference) -> String {
    let mean = |gb: f64| units::bytes((gb * 1e9 / one.requests.max(1.0)).round() as u64);
    let ranges = if one.with_ranges { ", with those of ranges" } else { "" };
    let (computed, counted) = (mean(one.computed_gb), mean(one.counted_gb));
    format!("{}: {computed} a response computed, {counted} counted{ranges}", clean(&one.content))
}

/// Whether everything that the site has was decided on.
pub(super) fn is_whole(policy: &Policy) -> bool {
    let is_decided = |one: &Coverage| policy.decisions.iter().any(|decision| decision.kind == one.kind);
    policy.coverage.iter().all(|one| is_decided(one) && one.gaps.iter().all(|gap| !is_visible(gap)))
}

fn is_visible(gap: &Gap) -> bool {
    gap.bytes.max(gap.requests) >= VISIBLE
}

/// One line per gap in a kind with a decision.
pub(super) fn gaps(policy: &Policy) -> Vec<String> {
    let kinds = policy.decisions.iter().map(|decision| decision.kind);
    let decided =
        kinds.filter_map(|kind| policy.coverage.iter().find(|one| one.kind == kind && one.in_total));
    let gaps = decided.flat_map(|one| one.gaps.iter().map(|gap| (one.kind, gap)));
    gaps.filter(|(_, gap)| is_visible(gap)).map(|(kind, gap)| line(kind, gap)).collect()
}

/// `Values: 78% of the bytes (18% of the keys) not decided, because nothing of these was measured: lzf, from 10 KB.`
fn line(kind: Kind, gap: &Gap) -> String {
    let (what, why) = match gap.reason {
        Reason::NoSample => ("not decided", "there is no sample of these"),
        Reason::NotMeasured => ("not decided", "nothing of these was measured"),
        Reason::EncodedOnly => ("counted by their bytes alone", "these were encoded and not measured"),
        Reason::TodayFailed => ("not compared", "requests for what is sent today failed"),
        Reason::TodayNotMeasured => ("not compared", "what is sent today did not fit into the budget"),
        Reason::TodayUnknown => ("not compared", "it is not known what is sent today"),
    };
    let more = gap.strata.saturating_sub(gap.content.len());
    let names = gap.content.iter().map(|name| clean(name)).collect::<Vec<_>>().join("; ");
    let names = if more > 0 { format!("{names}; {more} more") } else { names };
    let most = if gap.at_most { "at most " } else { "" };
    let mut kind_name = kind.plural().to_owned();
    kind_name[..1].make_ascii_uppercase();
    let (bytes, requests) = (units::percent(gap.bytes), units::percent(gap.requests));
    let counted = counted_as(kind);
    format!(
        "{kind_name}: {most}{bytes} of the bytes ({requests} of the {counted}) {what}, because {why}: {names}."
    )
}

/// `The sums rest on 98% of the bytes of assets (99% of the requests); what is not covered counts the same before and after.`
pub(super) fn coverage(policy: &Policy) -> Option<String> {
    let of = |one: &Coverage| {
        let (bytes, requests) = (units::percent(one.bytes), units::percent(one.requests));
        format!("{bytes} of the bytes of {} ({requests} of the {})", one.kind.plural(), counted_as(one.kind))
    };
    let all: Vec<String> = policy.coverage.iter().filter(|one| one.in_total).map(of).collect();
    let out: Vec<String> =
        policy.coverage.iter().filter(|one| !one.in_total).map(|one| one.kind.plural().into()).collect();
    let without =
        if out.is_empty() { String::new() } else { format!(" Not in them: {}.", units::list(&out)) };
    let is_all = policy.coverage.iter().all(|one| one.bytes > 0.9995 && one.requests > 0.9995);
    let is_encoded =
        policy.coverage.iter().flat_map(|one| &one.gaps).any(|gap| gap.reason == Reason::EncodedOnly);
    let rest = match (is_all, is_encoded) {
        (true, _) => "",
        (false, false) => "; the rest counts the same before and after",
        (false, true) => {
            "; of the rest, bytes count where the sample was encoded, and all else the same before and after"
        }
    };
    (!all.is_empty()).then(|| format!("The sums rest on {}{rest}.{without}", units::list(&all)))
}

/// For whom the figures hold, one line each: what is in front of the server, and browsers over plain HTTP.
pub(super) fn asked_by(site: &Site) -> Vec<String> {
    let Some(front) = &site.sources.front else {
        let is_other = site.classes() != site.visitors.accept;
        let plain = "Visitors come over plain HTTP (visitors.tls = false in site.toml), where browsers accept neither br nor zstd; if they come over HTTPS, \
                     change that and decide again.";
        return is_other.then(|| plain.to_owned()).into_iter().collect();
    };
    let text = match Front::named(front) {
        Some(known) => {
            let codings: Vec<String> = site.classes().into_iter().flat_map(|one| one.codings).collect();
            let codings = crate::first::distinct(codings).join(", ");
            let visitors = match known.encodes {
                true => "it may encode answers again, so what visitors get and wait for is not told by them",
                false => "it keeps answers, so fewer requests may reach the server than visitors make",
            };
            format!(
                "{} is in front, and asks the server for {codings} ({}). The figures are the server's CPU time and traffic; {visitors}.",
                known.name, known.source
            )
        }
        None => format!(
            "In front: {}. What it does to answers is not known: the figures hold for what it asks of the server.",
            clean(front)
        ),
    };
    vec![text]
}
