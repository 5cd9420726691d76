//! The cells of a study's blocks of clients: every factor multiplied out, with a reason for each one left out.

use anyhow::{Context, Result, bail, ensure};

use super::study::ClientBlock;
use crate::draft::{ContentSource, Draft, EVERY, unknown};
use crate::study::block::NO_LINK;
use crate::subject::codec::plan::{BYTES, no_php};
use weigh_model::cell::{Cell, Subject};
use weigh_model::client::{Client, Keys, Mix, ValueKind};
use weigh_model::inventory::{PHP, RuntimeEntry, StoreEntry};
use weigh_model::payload::Payload;
use weigh_model::protocol::client::DriverDescription;
use weigh_model::setting::{Request, Setting};
use weigh_model::suggest::nearest_hint;

/// The word for the first driver that is an extension's.
const EXTENSION: &str = "extension";
/// The word for the same where a PHP has such an extension, else for the first driver that it can use.
const FIRST: &str = "first";
/// PHP's own serializer: it stands in where a PHP has none of those that a block names.
const SERIALIZE: &str = "serialize";
/// The setting of a cell whose worker does not encode.
const PLAIN: &str = "none";
/// A number that belongs to its key, and a record of this many bins: what workers make by themselves.
const INTEGER: &str = "integer";
const RECORD: &str = "record:";
/// Bins of a record at most.
const MOST_BINS: u32 = 1000;

/// What a cell stands on, and what it stores.
#[derive(Clone, Copy)]
struct ClientFactors<'a> {
    entry: &'a RuntimeEntry,
    store: &'a StoreEntry,
    driver: &'a DriverDescription,
    payload: &'a Payload,
    value: ValueKind,
    link: Option<&'a str>,
}

/// Takes the cells of a block in.
///
/// # Errors
/// A name that nothing answers to, a level or an option that a codec does not take.
pub fn block(draft: &mut Draft<'_>, block: &ClientBlock, contents: &mut ContentSource<'_>) -> Result<()> {
    let inventory = draft.inventory;
    let values = block.values.join(",");
    let is_meant = |store: &StoreEntry, word: &str| word == EVERY || store.plan.name == word;
    let stores = draft.select(&block.stores, &inventory.stores, is_meant, &values, |_, word| {
        // One that the user left out is not a typing error.
        let mut known = inventory.known_stores.iter().map(String::as_str);
        if known.clone().any(|known| known == word) {
            Ok(())
        } else {
            unknown("store", word, known.by_ref().chain([EVERY]))
        }
    })?;
    let all = &inventory.clients;
    let place = format!("{values}/*/*");
    let entries = draft.select(&block.runtimes, all, RuntimeEntry::is_meant_by, &place, |draft, word| {
        if word.starts_with(PHP) && all.is_empty() {
            no_php(draft, format!("{place}/{word}"));
            return Ok(());
        }
        unknown("runtime", word, all.iter().map(|c| c.plan.name.as_str()).chain([PHP]))
    })?;
    for name in &block.values {
        let made = kind_of(name)?;
        for payload in contents(name, None)? {
            let of_payload = if payload.value.is_some() { ValueKind::Value } else { ValueKind::Text };
            let value = made.unwrap_or(of_payload);
            for entry in &entries {
                for store in &stores {
                    drivers(draft, block, (entry, store), (&payload, value))?;
                }
            }
            draft.keep(payload);
        }
    }
    Ok(())
}

/// Whether workers make what this name stands for by themselves: their payload is the name.
pub fn is_made(name: &str) -> bool {
    name == INTEGER || name.starts_with(RECORD)
}

/// What a name is to a worker that makes it by itself; none for a content.
fn kind_of(name: &str) -> Result<Option<ValueKind>> {
    if name == INTEGER {
        return Ok(Some(ValueKind::Integer));
    }
    let Some(bins) = name.strip_prefix(RECORD) else { return Ok(None) };
    let bins: u32 = bins.parse().ok().with_context(|| format!("`{name}`: `{bins}` is no number of bins"))?;
    ensure!((1..=MOST_BINS).contains(&bins), "`{name}`: a record has 1 to {MOST_BINS} bins");
    Ok(Some(ValueKind::Record { bins }))
}

/// The drivers of a store on a PHP that the block names.
fn drivers(
    draft: &mut Draft<'_>,
    block: &ClientBlock,
    (entry, store): (&RuntimeEntry, &StoreEntry),
    (payload, value): (&Payload, ValueKind),
) -> Result<()> {
    let of_store: Vec<_> = entry.drivers.iter().filter(|d| d.store == store.plan.name).collect();
    let mut chosen: Vec<&DriverDescription> = Vec::new();
    for word in &block.drivers {
        let named: Vec<&DriverDescription> = match word.as_str() {
            EVERY => of_store.clone(),
            EXTENSION => {
                let there = of_store.iter().find(|d| d.extension && d.missing.is_none());
                there.or_else(|| of_store.first()).copied().into_iter().collect()
            }
            FIRST => first_usable(&of_store),
            name => of_store.iter().filter(|d| d.name == name).copied().collect(),
        };
        let is_new = |d: &&DriverDescription| chosen.iter().all(|c| c.name != d.name);
        let new: Vec<_> = named.into_iter().filter(is_new).collect();
        chosen.extend(new);
    }
    for driver in chosen {
        let place = format!("{}/{}/{}/{}", payload.name, store.plan.name, driver.name, entry.plan.name);
        if !draft.has(driver, || place.clone()) {
            continue;
        }
        for link in &block.links {
            let link = (link != NO_LINK).then_some(link.as_str());
            let why = match link {
                Some(_) if store.within => Some("no link leads to it: it is on PHP's own machine"),
                Some(_) if store.plan.url.is_some() => Some("others run it: its link is its own"),
                _ => None,
            };
            if let Some(why) = why {
                draft.exclude(format!("{place}@{}", link.unwrap_or_default()), why, None);
                continue;
            }
            add_cells(draft, block, ClientFactors { entry, store, driver, payload, value, link })?;
        }
    }
    Ok(())
}

/// The first driver of an extension that a PHP can use; where there is none, that of an extension that it lacks, so that what would
/// bring it is said, and the first that it can use, so that a PHP without extensions is measured as well.
fn first_usable<'a>(of_store: &[&'a DriverDescription]) -> Vec<&'a DriverDescription> {
    let is_there = |d: &&&DriverDescription| d.missing.is_none();
    if let Some(there) = of_store.iter().find(|d| d.extension && is_there(d)) {
        return vec![there];
    }
    let lacking = of_store.iter().find(|d| d.extension);
    lacking.into_iter().chain(of_store.iter().find(is_there)).copied().collect()
}

fn add_cells(draft: &mut Draft<'_>, block: &ClientBlock, factors: ClientFactors<'_>) -> Result<()> {
    let link = factors.link.map(|link| draft.inventory.links.get(link).map_or(link, |l| &l.name).to_owned());
    let rates = match block.rates.as_slice() {
        [] => vec![None],
        rates => rates.iter().copied().map(Some).collect(),
    };
    for (mix, keys) in block.mixes.iter().flat_map(|m| block.keys.iter().map(move |k| (m, k))) {
        let (mix, keys) = (Mix::parse(mix)?, Keys::parse(keys)?);
        for (workers, rate) in block.workers.iter().flat_map(|w| rates.iter().map(move |r| (*w, *r))) {
            let client = Client {
                store: factors.store.plan.name.clone(),
                driver: factors.driver.name.clone(),
                value: factors.value,
                mix,
                keys,
                workers,
                transactions: block.transactions,
                rate,
                link: link.clone(),
                encoded: !block.codecs.is_empty(),
            };
            if client.encoded {
                encoded(draft, block, factors, &client)?;
            } else {
                cell(draft, factors, client, None, Setting::bare(PLAIN));
            }
        }
    }
    Ok(())
}

/// The cells whose workers encode.
fn encoded(
    draft: &mut Draft<'_>,
    block: &ClientBlock,
    factors: ClientFactors<'_>,
    client: &Client,
) -> Result<()> {
    let (payload, entry) = (&factors.payload.name, factors.entry);
    if factors.value != ValueKind::Value {
        let reason = format!("{payload} is not a PHP value");
        draft.exclude(format!("{payload}/{}", client.place()), reason, None);
        return Ok(());
    }
    let is_lacking = |name: &String| entry.serializer(name).is_some_and(|s| s.missing.is_some());
    let stand_in = block.serializers.iter().all(is_lacking).then(|| SERIALIZE.to_owned());
    let serializers: Vec<&String> = block.serializers.iter().chain(&stand_in).collect();
    for (name, text) in serializers.into_iter().flat_map(|s| block.codecs.iter().map(move |c| (s, c))) {
        let request = Request::parse(text)?;
        let Some(serializer) = entry.serializer(name) else {
            bail!("{} has no serializer `{name}`", entry.plan.name);
        };
        let Some(codec) = entry.codec(&request.name) else {
            let names = entry.codecs.iter().map(|c| c.name.as_str());
            bail!("no codec `{}`{}", request.name, nearest_hint(&request.name, names));
        };
        let place = || format!("{payload}/{}/{}/{name}/{text}", client.place(), entry.plan.name);
        if !draft.has(serializer, place) || !draft.has(codec, place) {
            continue;
        }
        // A marshaller serializes by itself.
        let serializer = (name != BYTES && !codec.takes_value).then(|| name.clone());
        for setting in request.expand(codec, &draft.options.levels)? {
            cell(draft, factors, client.clone(), serializer.clone(), setting);
        }
    }
    Ok(())
}

fn cell(
    draft: &mut Draft<'_>,
    factors: ClientFactors<'_>,
    client: Client,
    serializer: Option<String>,
    setting: Setting,
) {
    let (payload, runtime) = (&factors.payload.name, &factors.entry.plan.name);
    let expected_seconds = super::transaction_seconds(factors.payload.size(), &client);
    let block = super::block_seconds(expected_seconds, &client);
    let cell = Cell {
        id: Cell::make_client_id(payload, runtime, serializer.as_deref(), &setting, &client),
        subject: Subject::CLIENT,
        payload: payload.clone(),
        runtime: runtime.clone(),
        serializer,
        setting,
        keep: true,
        expected_seconds,
        client: Some(client),
        ..Cell::default()
    };
    draft.add(cell, block, "block");
}

#[cfg(test)]
mod tests;
