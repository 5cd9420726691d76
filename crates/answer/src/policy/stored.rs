//! Cached values: which serializer and codec, from which size on.
//!
//! A read takes the transfer from the store and the decoding, a write the encoding and the transfer. Below the smallest size the
//! serializer works alone.
//!
//! What the site does today is a setup of its method that keeps as many bytes in the store as were counted there; where none does, today
//! is not known, and no gain is computed. Strata that were not measured have no part in a setup, and its name says so.

use weigh_model::plan::Runtime;
use weigh_model::policy::{Encoder, Need, OtherPhp, Rule};
use weigh_model::site::{Kind, Site, Stratum};
use weigh_model::text::clean;
use weigh_model::transfer::{Connection, Path};
use weigh_model::units;

use super::Ground;
use super::content::{self, Item};
use super::setup::{Exact, FileAmounts, NS, Setup};
use crate::advice::codec::needed;
use crate::first::{distinct, grouped};
use crate::label;
use crate::metric::codec::{DECODE, ENCODE, IDENTITY, STORED};
use crate::row::Row;

/// How far the bytes of today's setup may be from those in the store.
const NEAR: f64 = 0.1;
/// The share of the values' bytes from which on a setup is one for all values.
const ALL: f64 = 0.995;

/// A serializer with a setting, as a row has it.
type Key = (String, String);

fn key(row: &Row) -> Key {
    (row.cell.serializer.clone().unwrap_or_default(), row.cell.setting.to_string())
}

/// The PHPs that values were measured with, that of the site first, with their versions.
fn runtimes<'a>(ground: &Ground<'a>) -> Vec<&'a Runtime> {
    let all = ground.reports.iter().flat_map(|report| &report.runtimes);
    let by_name = all.filter(|runtime| runtime.binary.is_some()).map(|runtime| (&runtime.name, runtime));
    grouped(by_name).into_iter().map(|(_, same)| same[0]).collect()
}

/// What each further PHP that was measured brings for values in this setup.
pub(crate) fn elsewhere(ground: &Ground, chosen: &Setup) -> Vec<OtherPhp> {
    let all = runtimes(ground);
    let Some((own, others)) = all.split_first() else { return Vec::new() };
    let in_other = |other: &&Runtime| {
        let same = in_php(ground, Some(&other.name)).into_iter().find(|one| one.rules == chosen.rules)?;
        let core_hours = super::change::core_hours(ground.site, chosen, &same);
        let (version, instead_of) = (other.version.clone(), own.version.clone());
        Some(OtherPhp { kind: Kind::Value, version, instead_of, core_hours })
    };
    others.iter().filter_map(in_other).collect()
}

/// Every serializer with every codec and every smallest size, in the site's own PHP.
pub(crate) fn setups(ground: &Ground) -> Vec<Setup> {
    let own = runtimes(ground).first().map(|runtime| runtime.name.as_str());
    in_php(ground, own)
}

/// The setups in a PHP; in any, where none is known.
fn in_php(ground: &Ground, php: Option<&str>) -> Vec<Setup> {
    let is_wanted = |row: &Row| php.is_none_or(|php| row.cell.runtime == php);
    let all_rows = content::measured(ground, Kind::Value, is_wanted);
    let items = || all_rows.iter().map(|(item, _)| item);
    let keys = distinct(all_rows.iter().flat_map(|(_, rows)| rows).map(|row| key(row)));
    let mut sizes: Vec<u64> = items().map(|item| item.stratum.from_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let store = &ground.site.store_link;
    let path = Path::shared(store.mbit.value, store.rtt_ms.value, 1.0);
    let mut all = Vec::new();
    for own in &keys {
        let is_alone = own.1 == IDENTITY;
        let least = if is_alone { sizes.get(..1).unwrap_or_default() } else { &sizes[..] };
        all.extend(least.iter().filter_map(|size| setup(&path, &all_rows, own, *size)));
    }
    let is_part = |stratum: &&Stratum| items().any(|item| std::ptr::eq(item.stratum, *stratum));
    let measured: Vec<&Stratum> = ground.site.of(Kind::Value).filter(is_part).collect();
    let scope = scope(ground.site, &measured);
    let content = items().map(|item| item.sample.bytes as f64 * item.files).sum();
    if let Some(today) = ground.site.today(Kind::Value)
        && let Some(at) = today_at(&today.method, &measured, &all, content)
    {
        (all[at].is_today, all[at].name) = (true, today.about.clone());
    }
    all.iter_mut().for_each(|setup| setup.name += &scope);
    all
}

/// Bytes in the store, or of the content where they were not counted.
fn store_bytes<'a>(strata: impl Iterator<Item = &'a Stratum>) -> f64 {
    strata.map(|stratum| stratum.sent_bytes.unwrap_or(stratum.bytes).value).sum()
}

/// Which values a setup is for, if it is not for all: ` (for serialize, 22% of the bytes)`.
fn scope(site: &Site, measured: &[&Stratum]) -> String {
    let measured_bytes: f64 = measured.iter().map(|stratum| stratum.bytes.value).sum();
    let share =
        measured_bytes / site.of(Kind::Value).map(|stratum| stratum.bytes.value).sum::<f64>().max(1.0);
    if share >= ALL {
        return String::new();
    }
    let formats = distinct(measured.iter().map(|stratum| clean(&stratum.format)));
    format!(" (for {}, {} of the bytes)", units::list(&formats), units::percent(share))
}

/// The setup that is what the site does today: that of today's method whose share of the content's bytes is nearest to what is in the store, if it is
/// near.
fn today_at(today: &str, measured: &[&Stratum], all: &[Setup], content: f64) -> Option<usize> {
    let mut own = all.iter().enumerate().filter(|(_, setup)| method(&setup.rules[0]) == today);
    if measured.iter().any(|stratum| stratum.sent_bytes.is_none()) {
        // The first is that from the smallest size on.
        return own.next().map(|(at, _)| at);
    }
    let bytes: f64 = measured.iter().map(|stratum| stratum.bytes.value).sum();
    let stored = store_bytes(measured.iter().copied()) / bytes.max(1.0);
    let far = |setup: &Setup| (setup.exact.stored / content.max(1.0) / stored.max(f64::EPSILON)).ln().abs();
    let nearest = own.map(|(at, setup)| (at, far(setup))).min_by(|a, b| a.1.total_cmp(&b.1));
    nearest.filter(|(_, far)| *far <= NEAR.ln_1p()).map(|(at, _)| at)
}

/// The method of a rule, as `site.toml` names that of today.
fn method(rule: &Rule) -> String {
    let serializer = rule.serializer.clone().unwrap_or_default();
    if rule.coding.is_empty() { serializer } else { format!("{serializer}+{}", rule.method) }
}

/// What is known of today where its method was not measured.
pub(crate) fn unmeasured_today(site: &Site) -> Option<String> {
    let today = site.today(Kind::Value)?;
    let bytes = units::bytes(store_bytes(site.of(Kind::Value)).round() as u64);
    Some(format!(
        "Values take {bytes} in the store today ({}); what that costs in CPU time was not measured.",
        clean(&today.about)
    ))
}

/// A serializer and codec from a size on, the serializer alone below it; none if one was not measured.
fn setup(path: &Path, all: &[(Item, Vec<&Row>)], own: &Key, min_bytes: u64) -> Option<Setup> {
    let alone = (own.0.clone(), IDENTITY.to_owned());
    let (mut parts, mut first) = (Vec::new(), None);
    for (item, rows) in all {
        let is_encoded = item.stratum.from_bytes >= min_bytes;
        let wanted = if is_encoded { own } else { &alone };
        let row = rows.iter().copied().find(|row| key(row) == *wanted)?;
        if is_encoded {
            first.get_or_insert(row);
        }
        let bytes = row.value(STORED)?;
        let calls = |bytes| path.call_ns(bytes, Connection::Warm, false) / NS * (item.requests + item.writes);
        let (wait, fixed) = (calls(bytes), calls(0.0));
        let exact = Exact { wait, fixed, stored: bytes * item.files, ..Exact::default() };
        let cpu = row.get(DECODE)?.scaled(item.requests).plus(&row.get(ENCODE)?.scaled(item.writes));
        parts.push(FileAmounts::new(item, row, Some(cpu), exact));
    }
    let first = first?;
    let setting = &first.cell.setting;
    let is_plain = setting.codec == IDENTITY;
    let name = format!("Cache values with {}", label::cell(Some(own.0.as_str()), setting));
    let coding = if is_plain { "" } else { &setting.codec };
    let (serializer, level) = (Some(own.0.clone()), setting.level);
    let rule = Rule { serializer, level, min_bytes, ..Rule::new(coding, Encoder::Php, &own.1) };
    // Extensions that PHP does not bring.
    let needs = needed(first).into_iter().map(|what| Need { what: what.to_owned(), how: String::new() });
    Some(Setup { name, rules: vec![rule], needs: needs.collect(), ..Setup::of(parts) })
}
