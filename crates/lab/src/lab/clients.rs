//! What clients of stores can be measured on: each store is looked for, and each PHP describes its drivers once, in every variant.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Lab, Own};
use crate::interrupt::Interrupt;
use crate::rig::process::{Silence, Worker};
use crate::rig::service::FolderDefinition;
use crate::rig::store::{StoreDefinition, StoreUrl};
use crate::shelter::Shelter;
use crate::subject::client::worker;
use weigh_model::inventory::{ClientEntry, Inventory, RuntimeEntry, StoreEntry};
use weigh_model::protocol::client::{ClientDescription, ClientRequest, Refusal};
use weigh_model::study::{Study, Variants};
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean_bytes;

/// How long a PHP may take to describe its drivers.
const PATIENCE: Duration = Duration::from_secs(60);

impl Lab {
    /// Looks for stores, and asks the inventory's PHPs for their drivers.
    ///
    /// # Errors
    /// A store's definition is not valid, or the PHP side cannot be put in place.
    pub fn look_for_stores(&self, inventory: &mut Inventory, studies: &[Study]) -> Result<()> {
        let definitions = StoreDefinition::load(&self.definitions)?;
        inventory.known_stores = definitions.iter().map(|d| d.name.clone()).collect();
        inventory.stores = definitions.iter().map(entry).collect();
        let home = self.php_home()?;
        // Whatever drivers need is in force for all of them when they are asked.
        let needed: Vec<String> = definitions.iter().flat_map(|d| d.ini.clone()).collect();
        let mut clients = Vec::new();
        for runtime in inventory.runtimes.iter().filter(|r| r.binary.is_some()) {
            clients.push(described(runtime, None, &[], (&needed, &home)));
            for (name, variant) in wanted(studies) {
                let entry = match too_old(&runtime.description.version, variant.since.as_deref()) {
                    Some(missing) => {
                        ClientEntry { missing: Some(missing), ..bare(runtime, Some(name), &variant.ini) }
                    }
                    None => described(runtime, Some(name), &variant.ini, (&needed, &home)),
                };
                clients.push(entry);
            }
        }
        inventory.clients = clients;
        Ok(())
    }

    /// Leaves the stores that the user named, in the user's order.
    ///
    /// # Errors
    /// A name that no store has, a URL that cannot be read, or one on another machine that was not allowed.
    pub(super) fn choose_stores(&self, inventory: &mut Inventory, own: &Own) -> Result<()> {
        if own.stores.is_empty() {
            return Ok(());
        }
        let definitions = StoreDefinition::load(&self.definitions)?;
        let mut chosen: Vec<StoreEntry> = Vec::new();
        for word in &own.stores {
            let url = word.contains("://").then(|| StoreUrl::parse(word, &definitions)).transpose()?;
            let name = url.as_ref().map_or(word.as_str(), |url| url.store.as_str());
            let Some(entry) = inventory.stores.iter().find(|store| store.name == name) else {
                let known = inventory.known_stores.iter().map(String::as_str);
                bail!("--store {word}: no such store{}", nearest_hint(word, known));
            };
            if chosen.iter().any(|c| c.name == entry.name) {
                bail!("--store {word}: {name} is named twice; a run has one of each");
            }
            url.iter().try_for_each(|url| url.permit(&own.allow_remote))?;
            if let (None, Some(missing)) = (&url, &entry.missing) {
                let remedy = entry.remedy.as_ref().map_or(String::new(), |r| format!(": {r}"));
                bail!("--store {word}: {missing}{remedy}");
            }
            chosen.push(url.map_or_else(|| entry.clone(), |url| run_by_others(entry, &url)));
        }
        inventory.stores = chosen;
        Ok(())
    }
}

impl Own {
    /// The study as it is measured with the stores that the user named: its clients in place of its cells, on those stores.
    pub(super) fn of_stores(&self, mut study: Study) -> Study {
        if self.stores.is_empty() {
            return study;
        }
        study.cells.clear();
        study.published = None;
        for block in &mut study.clients {
            block.all_stores();
        }
        study
    }
}

/// The variants that studies have; of two of one name the first counts.
fn wanted(studies: &[Study]) -> Vec<(&str, &weigh_model::study::Variant)> {
    let all = studies.iter().filter(|study| study.is_client()).map(|study| &study.variants);
    let mut found: Vec<(&str, &weigh_model::study::Variant)> = Vec::new();
    for (name, variant) in all.flat_map(Variants::iter) {
        if !found.iter().any(|(known, _)| known == name) {
            found.push((name, variant));
        }
    }
    found
}

/// A store, found or not.
fn entry(definition: &StoreDefinition) -> StoreEntry {
    let found = definition.find();
    StoreEntry {
        name: definition.name.clone(),
        about: definition.about.clone(),
        binary: found.program,
        version: found.version.unwrap_or_default(),
        within: definition.within.is_some(),
        url: None,
        missing: found.missing,
        remedy: found.remedy,
    }
}

/// The store where others run it.
fn run_by_others(entry: &StoreEntry, url: &StoreUrl) -> StoreEntry {
    StoreEntry {
        binary: None,
        version: String::new(),
        url: Some(url.to_string()),
        missing: None,
        remedy: None,
        ..entry.clone()
    }
}

fn bare(runtime: &RuntimeEntry, variant: Option<&str>, ini: &[String]) -> ClientEntry {
    ClientEntry {
        name: variant.map_or_else(|| runtime.name.clone(), |variant| format!("{}+{variant}", runtime.name)),
        runtime: runtime.name.clone(),
        variant: variant.map(str::to_owned),
        binary: runtime.binary.clone(),
        ini: ini.to_vec(),
        version: runtime.description.version.clone(),
        ..ClientEntry::default()
    }
}

fn described(
    runtime: &RuntimeEntry,
    variant: Option<&str>,
    ini: &[String],
    (needed, home): (&[String], &Path),
) -> ClientEntry {
    let entry = bare(runtime, variant, ini);
    match describe(&entry, needed, home) {
        Ok(said) => ClientEntry {
            drivers: said.drivers,
            codecs: said.codecs,
            serializers: said.serializers,
            facts: said.facts,
            ..entry
        },
        Err(why) => ClientEntry { missing: Some(format!("{why:#}")), ..entry },
    }
}

/// Starts one worker and asks it.
fn describe(entry: &ClientEntry, needed: &[String], home: &Path) -> Result<ClientDescription> {
    let room = Shelter::new().context("no temporary folder")?;
    let binary = entry.binary.as_ref().context("it has no binary")?;
    let ini: Vec<String> = entry.ini.iter().chain(needed).cloned().collect();
    let spec = worker(&entry.name, binary, &ini, home, room.path().join("log"));
    let mut worker = Worker::start(&spec).context("it cannot be started")?;
    let line = serde_json::to_vec(&ClientRequest::Describe { id: 1 })?;
    let line = worker.ask(line, PATIENCE, &Interrupt::new()).map_err(|silence| match silence {
        Silence::Ended(how) => anyhow::anyhow!("its client worker ended: {how}"),
        _ => anyhow::anyhow!("its client worker does not answer"),
    })?;
    worker.end(Duration::from_millis(500));
    if let Ok(refusal) = serde_json::from_slice::<Refusal>(&line) {
        bail!("its client worker says: {}", refusal.fault.message);
    }
    let begin = &line[..line.len().min(100)];
    serde_json::from_slice(&line).with_context(|| format!("its client worker says `{}`", clean_bytes(begin)))
}

/// Why a PHP does not have a variant.
fn too_old(version: &str, since: Option<&str>) -> Option<String> {
    let numbers = |text: &str| -> Vec<u32> { text.split('.').map_while(|n| n.parse().ok()).collect() };
    let since = since?;
    (numbers(version) < numbers(since)).then(|| format!("PHP {version} does not have it, {since} does"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_for_newer_versions_alone() {
        assert_eq!(too_old("7.4.33", Some("8.0")).as_deref(), Some("PHP 7.4.33 does not have it, 8.0 does"));
        assert_eq!(too_old("8.0.0", Some("8.0")), None);
        assert_eq!(too_old("5.5.38", None), None);
    }
}
