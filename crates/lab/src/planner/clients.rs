//! The cells of a study's blocks of clients: every factor multiplied out, with a reason for each one left out.

mod value;

use std::collections::HashSet;

use anyhow::{Result, bail};

use crate::planner::build::{Ask, ContentSource, Gathered};
use crate::planner::forecast::{transacting_seconds, transaction_seconds};
use crate::planner::names::BYTES;
use crate::planner::policy::affordable;
pub use value::is_made;
use value::payload_of;
use weigh_model::cell::{Cell, Subject};
use weigh_model::client::{Client, Keys, Mix, ValueKind};
use weigh_model::inventory::{ClientEntry, Inventory, StoreEntry};
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Policy};
use weigh_model::protocol::client::DriverDescription;
use weigh_model::setting::{Request, Setting};
use weigh_model::study::ClientBlock;
use weigh_model::study::client::NO_LINK;
use weigh_model::suggest::nearest_hint;

/// The word for all, and that for the first driver that is an extension's.
const EVERY: &str = "*";
const EXTENSION: &str = "extension";
/// Drivers that speak with a store by themselves: they need no extension.
const BY_ITSELF: [&str; 2] = ["socket", "wire"];
/// The setting of a cell whose worker does not encode.
pub const PLAIN: &str = "none";

/// Gathers the cells of blocks.
pub(super) struct Clients<'a> {
    inventory: &'a Inventory,
    ask: &'a Ask,
    policy: &'a Policy,
    seen: HashSet<String>,
    pub(super) out: Gathered,
}

/// What a cell stands on, and what it stores.
#[derive(Clone, Copy)]
struct Stand<'a> {
    entry: &'a ClientEntry,
    store: &'a StoreEntry,
    driver: &'a DriverDescription,
    payload: &'a Payload,
    value: ValueKind,
    link: Option<&'a str>,
}

impl<'a> Clients<'a> {
    pub(super) fn new(inventory: &'a Inventory, ask: &'a Ask, policy: &'a Policy) -> Clients<'a> {
        Clients { inventory, ask, policy, seen: HashSet::new(), out: Gathered::default() }
    }

    pub(super) fn block(&mut self, block: &ClientBlock, contents: &mut ContentSource<'_>) -> Result<()> {
        let (stores, entries) = (self.stores(block)?, self.entries(block)?);
        for name in &block.values {
            for (payload, value) in payload_of(name, contents)? {
                for entry in &entries {
                    for store in &stores {
                        self.drivers(block, (entry, store), (&payload, value))?;
                    }
                }
                if !self.out.payloads.iter().any(|p| p.name == payload.name) {
                    self.out.payloads.push(payload);
                }
            }
        }
        Ok(())
    }

    fn stores(&mut self, block: &ClientBlock) -> Result<Vec<&'a StoreEntry>> {
        let mut found: Vec<&StoreEntry> = Vec::new();
        for word in &block.stores {
            let all = &self.inventory.stores;
            let named: Vec<_> = all.iter().filter(|s| word == EVERY || s.name == *word).collect();
            if named.is_empty() && !self.inventory.known_stores.contains(word) {
                let known = self.inventory.known_stores.iter().map(String::as_str).chain([EVERY]);
                bail!("no store `{word}`{}", nearest_hint(word, known));
            }
            for store in named {
                match &store.missing {
                    Some(reason) => {
                        let cell = format!("{}/{}", block.values.join(","), store.name);
                        self.exclude(cell, reason.clone(), store.remedy.clone());
                    }
                    None if found.iter().any(|f| f.name == store.name) => {}
                    None => found.push(store),
                }
            }
        }
        Ok(found)
    }

    fn entries(&mut self, block: &ClientBlock) -> Result<Vec<&'a ClientEntry>> {
        let mut found: Vec<&ClientEntry> = Vec::new();
        for word in &block.runtimes {
            let named: Vec<_> = self.inventory.clients.iter().filter(|c| c.is_meant_by(word)).collect();
            if named.is_empty() && word.starts_with("php") && self.inventory.clients.is_empty() {
                let remedy = Some("apt install php-cli, or name a binary with --php BINARY".to_owned());
                self.exclude(
                    format!("{}/*/*/{word}", block.values.join(",")),
                    "no PHP was found".into(),
                    remedy,
                );
            } else if named.is_empty() {
                let known = self.inventory.clients.iter().map(|c| c.name.as_str()).chain(["php"]);
                bail!("no runtime `{word}`{}", nearest_hint(word, known));
            }
            for entry in named {
                match &entry.missing {
                    Some(reason) => {
                        let cell = format!("{}/*/*/{}", block.values.join(","), entry.name);
                        self.exclude(cell, reason.clone(), entry.remedy.clone());
                    }
                    None if found.iter().any(|f| f.name == entry.name) => {}
                    None => found.push(entry),
                }
            }
        }
        Ok(found)
    }

    /// The drivers of a store on a PHP that the block names.
    fn drivers(
        &mut self,
        block: &ClientBlock,
        (entry, store): (&'a ClientEntry, &'a StoreEntry),
        (payload, value): (&Payload, ValueKind),
    ) -> Result<()> {
        let of_store: Vec<_> = entry.drivers.iter().filter(|d| d.store == store.name).collect();
        let mut chosen: Vec<&DriverDescription> = Vec::new();
        for word in &block.drivers {
            let is_extension = |d: &&&DriverDescription| !BY_ITSELF.contains(&d.name.as_str());
            let named: Vec<&DriverDescription> = match word.as_str() {
                EVERY => of_store.clone(),
                EXTENSION => {
                    let there = of_store.iter().filter(is_extension).find(|d| d.missing.is_none());
                    there.or_else(|| of_store.first()).copied().into_iter().collect()
                }
                name => of_store.iter().filter(|d| d.name == name).copied().collect(),
            };
            chosen.extend(
                named.into_iter().filter(|d| !chosen.iter().any(|c| c.name == d.name)).collect::<Vec<_>>(),
            );
        }
        for driver in chosen {
            let place = format!("{}/{}/{}/{}", payload.name, store.name, driver.name, entry.name);
            if let Some(reason) = &driver.missing {
                self.exclude(place, reason.clone(), driver.remedy.clone());
                continue;
            }
            for link in &block.links {
                let link = (link != NO_LINK).then_some(link.as_str());
                if link.is_some() && (store.within || store.url.is_some()) {
                    let why = if store.within {
                        "no link leads to it: it is on PHP's own machine"
                    } else {
                        "others run it: its link is its own"
                    };
                    self.exclude(format!("{place}@{}", link.unwrap_or_default()), why.into(), None);
                    continue;
                }
                self.stand(block, Stand { entry, store, driver, payload, value, link })?;
            }
        }
        Ok(())
    }

    /// The cells of a stand.
    fn stand(&mut self, block: &ClientBlock, stand: Stand<'_>) -> Result<()> {
        for (mix, keys) in block.mixes.iter().flat_map(|m| block.keys.iter().map(move |k| (m, k))) {
            let (mix, keys) = (Mix::parse(mix)?, Keys::parse(keys)?);
            let rates = if block.rates.is_empty() {
                vec![None]
            } else {
                block.rates.iter().map(|r| Some(*r)).collect()
            };
            for (workers, rate) in block.workers.iter().flat_map(|w| rates.iter().map(move |r| (*w, *r))) {
                let client = Client {
                    store: stand.store.name.clone(),
                    driver: stand.driver.name.clone(),
                    value: stand.value,
                    mix,
                    keys,
                    workers,
                    transactions: block.transactions,
                    rate,
                    link: stand
                        .link
                        .map(|link| self.inventory.links.get(link).map_or(link, |l| &l.name).to_owned()),
                    encoded: !block.codecs.is_empty(),
                };
                if client.encoded {
                    self.encoded(block, stand, &client)?;
                } else {
                    self.cell(stand, client, None, Setting::bare(PLAIN));
                }
            }
        }
        Ok(())
    }

    /// The cells whose workers encode.
    fn encoded(&mut self, block: &ClientBlock, stand: Stand<'_>, client: &Client) -> Result<()> {
        if stand.value != ValueKind::Value {
            let reason = format!("{} is not a PHP value", stand.payload.name);
            self.exclude(format!("{}/{}", stand.payload.name, client.place()), reason, None);
            return Ok(());
        }
        for (serializer, text) in
            block.serializers.iter().flat_map(|s| block.codecs.iter().map(move |c| (s, c)))
        {
            let request = Request::parse(text)?;
            let place =
                format!("{}/{}/{}/{serializer}/{text}", stand.payload.name, client.place(), stand.entry.name);
            let known = stand.entry.serializer(serializer);
            let lacks = match known {
                None => bail!("{} has no serializer `{serializer}`", stand.entry.name),
                Some(s) => s.missing.clone().map(|why| (why, s.remedy.clone())),
            };
            let Some(codec) = stand.entry.codecs.iter().find(|c| c.name == request.name) else {
                let names = stand.entry.codecs.iter().map(|c| c.name.as_str());
                bail!("no codec `{}`{}", request.name, nearest_hint(&request.name, names));
            };
            if let Some((why, remedy)) =
                lacks.or_else(|| codec.missing.clone().map(|why| (why, codec.remedy.clone())))
            {
                self.exclude(place, why, remedy);
                continue;
            }
            // A marshaller serializes by itself.
            let serializer = (serializer != BYTES && !codec.takes_value).then(|| serializer.clone());
            for setting in request.expand(codec, &self.ask.levels)? {
                self.cell(stand, client.clone(), serializer.clone(), setting);
            }
        }
        Ok(())
    }

    fn cell(&mut self, stand: Stand<'_>, client: Client, serializer: Option<String>, setting: Setting) {
        let runtime = &stand.entry.name;
        let id = Cell::make_client_id(&stand.payload.name, runtime, serializer.as_deref(), &setting, &client);
        let expected_seconds = transaction_seconds(stand.payload.bytes, &client);
        let block = transacting_seconds(expected_seconds, &client);
        if let Err(exclusion) = affordable(&id, block, self.policy, "block") {
            self.out.exclusions.push(exclusion);
            return;
        }
        if !self.seen.insert(id.clone()) {
            return;
        }
        self.out.cells.push(Cell {
            id,
            subject: Subject::Client,
            payload: stand.payload.name.clone(),
            runtime: runtime.clone(),
            serializer,
            setting,
            keep: true,
            expected_seconds,
            delivery: None,
            client: Some(client),
        });
    }

    fn exclude(&mut self, cell: String, reason: String, remedy: Option<String>) {
        self.out.exclusions.push(Exclusion { cell, reason, remedy });
    }
}

#[cfg(test)]
mod tests;
