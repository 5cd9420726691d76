//! Cached values: which serializer and codec, from which size on.
//!
//! A read takes the transfer from the store and the decoding, a write the encoding and the transfer. Below the smallest size the
//! serializer works alone.

use weigh_model::plan::Runtime;
use weigh_model::policy::{Encoder, Need, OtherPhp, Rule};
use weigh_model::site::Kind;
use weigh_model::transfer::{Connection, Path};

use super::Ground;
use super::content::{self, Item};
use super::setup::{Exact, NS, Setup, Sum};
use crate::finding::label;
use crate::first::distinct;
use crate::row::Row;
use crate::subject::codec::{DECODE, ENCODE, IDENTITY, STORED};

/// The link between PHP and store: 1 Gbit/s with a round trip of 0.5 ms, as in a data centre.
const STORE: (f64, f64) = (1000.0, 0.5);

/// A serializer with a setting, as a row has it.
type Key = (String, String);

fn key(row: &Row) -> Key {
    (row.cell.serializer.clone().unwrap_or_default(), row.cell.setting.to_string())
}

/// The PHPs that values were measured with, that of the site first, with their versions.
fn runtimes<'a>(ground: &Ground<'a>) -> Vec<&'a Runtime> {
    let all = ground.reports.iter().flat_map(|report| &report.runtimes);
    let mut found: Vec<&Runtime> = Vec::new();
    for runtime in all.filter(|runtime| runtime.binary.is_some()) {
        if found.iter().all(|known| known.name != runtime.name) {
            found.push(runtime);
        }
    }
    found
}

/// What each further PHP that was measured brings for values in this setup.
pub(crate) fn elsewhere(ground: &Ground, chosen: &Setup) -> Vec<OtherPhp> {
    let all = runtimes(ground);
    let Some((own, others)) = all.split_first() else { return Vec::new() };
    let in_other = |other: &&&Runtime| {
        let setups = in_php(ground, Some(&other.name));
        let same = setups.iter().find(|setup| setup.rules == chosen.rules)?;
        let core_hours = super::core_hours(chosen, same);
        Some(OtherPhp {
            kind: Kind::Value,
            version: other.version.clone(),
            instead_of: own.version.clone(),
            core_hours,
        })
    };
    others.iter().filter_map(|other| in_other(&other)).collect()
}

/// Every serializer with every codec and every smallest size, in the site's own PHP.
pub(crate) fn setups(ground: &Ground) -> Vec<Setup> {
    let own = runtimes(ground).first().map(|runtime| runtime.name.as_str());
    in_php(ground, own)
}

/// The setups in a PHP; in any, where none is known.
fn in_php(ground: &Ground, php: Option<&str>) -> Vec<Setup> {
    let items = content::items(ground.site, Kind::Value);
    let rows_of = |item: &Item| {
        let mut rows = content::rows(ground.reports, Kind::Value, &item.sample.sha256, None);
        rows.retain(|row| php.is_none_or(|php| row.cell.runtime == php));
        rows
    };
    let items = content::weighed(&items, |at| !rows_of(&items[at]).is_empty());
    let rows: Vec<Vec<&Row>> = items.iter().map(rows_of).collect();
    let keys = distinct(rows.iter().flatten().map(|row| key(row)));
    let mut sizes: Vec<u64> = items.iter().map(|item| item.stratum.from_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut all = Vec::new();
    for own in &keys {
        let is_alone = own.1 == IDENTITY;
        let least = if is_alone { sizes.get(..1).unwrap_or_default() } else { &sizes[..] };
        all.extend(least.iter().filter_map(|size| setup(ground, &items, &rows, own, *size)));
    }
    all
}

/// A serializer and codec from a size on, the serializer alone below it; none if one was not measured.
fn setup(ground: &Ground, items: &[Item], rows: &[Vec<&Row>], own: &Key, min_bytes: u64) -> Option<Setup> {
    let alone = (own.0.clone(), IDENTITY.to_owned());
    let mut sum = Sum::default();
    let mut first = None;
    for (item, rows) in items.iter().zip(rows) {
        let is_encoded = item.stratum.from_bytes >= min_bytes;
        let wanted = if is_encoded { own } else { &alone };
        let row = rows.iter().copied().find(|row| key(row) == *wanted)?;
        if is_encoded {
            first.get_or_insert(row);
        }
        let (bytes, path) = (row.value(STORED)?, Path::shared(STORE.0, STORE.1, 1.0));
        let call = path.call_ns(bytes, Connection::Warm, false) / NS;
        let wait = call * (item.requests + item.writes);
        let exact = Exact { wait, stored: bytes * item.files, ..Exact::default() };
        let cpu = row.get(DECODE)?.scaled(item.requests).plus(&row.get(ENCODE)?.scaled(item.writes));
        sum.add(Some(cpu), exact);
    }
    let first = first?;
    let setting = &first.cell.setting;
    let is_plain = setting.codec == IDENTITY;
    let today = ground.site.today(Kind::Value);
    let method = if is_plain { own.0.clone() } else { format!("{}+{}", own.0, own.1) };
    let is_today = today.is_some_and(|today| today.method == method && (is_plain || min_bytes == 0));
    let name = match today.filter(|_| is_today) {
        Some(today) => today.about.clone(),
        None => format!("Cache values with {}", label::cell(Some(own.0.as_str()), setting)),
    };
    let coding = if is_plain { "" } else { &setting.codec };
    let (serializer, level) = (Some(own.0.clone()), setting.level);
    let rule = Rule { serializer, level, min_bytes, ..Rule::new(coding, Encoder::Php, &own.1) };
    let needs = needs(&own.0, first);
    let (cpu, exact) = sum.parts();
    Some(Setup { name, rules: vec![rule], method: None, needs, is_today, cpu, exact })
}

/// Extensions that PHP does not bring.
fn needs(serializer: &str, row: &Row) -> Vec<Need> {
    let own = (serializer != "serialize").then(|| format!("ext-{serializer}"));
    let codec = crate::advice::codec::extension(&row.cell.setting.codec);
    own.into_iter().chain(codec.map(str::to_owned)).map(|what| Need { what, how: String::new() }).collect()
}
