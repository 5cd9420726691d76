//! What clients of stores can be measured on: each store is looked for, and each PHP describes its drivers once, in every variant.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::study::Variant;
use crate::lab::Home;
use crate::study::Study;
use weigh_model::inventory::{Inventory, RuntimeEntry, StoreEntry};
use weigh_model::plan::{Runtime, Store};
use weigh_model::protocol::client::{ClientDescription, ClientRequest, Refusal};
use weigh_model::text::clean_bytes;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{Silence, Worker};
use weigh_os::shelter::Shelter;
use weigh_rig::runtime;
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::StoreDefinition;

/// How long a PHP may take to describe its drivers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks for stores, and asks the inventory's PHPs for their drivers.
pub fn stores(home: &Home, inventory: &mut Inventory, studies: &[&Study]) -> Result<()> {
    let definitions = StoreDefinition::load(&home.definitions)?;
    inventory.known_stores = definitions.iter().map(|d| d.name.clone()).collect();
    inventory.stores = definitions.iter().map(entry).collect();
    let php_home = home.php_home()?;
    // Whatever drivers need is in force for all of them when they are asked.
    let needed: Vec<String> = definitions.iter().flat_map(|d| d.ini.clone()).collect();
    let mut clients = Vec::new();
    for runtime in inventory.runtimes.iter().filter(|r| r.plan.binary.is_some()) {
        clients.push(described(runtime.clone(), (&needed, &php_home)));
        for (name, variant) in wanted(studies) {
            let mut entry = runtime.clone();
            entry.plan.name = format!("{}+{name}", runtime.plan.name);
            entry.plan.ini.clone_from(&variant.ini);
            clients.push(match too_old(&runtime.plan.version, variant.since.as_deref()) {
                Some(missing) => RuntimeEntry { missing: Some(missing), ..entry },
                None => described(entry, (&needed, &php_home)),
            });
        }
    }
    inventory.clients = clients;
    Ok(())
}

/// The variants that studies have; of two of one name the first counts.
fn wanted(studies: &[&Study]) -> Vec<(String, Variant)> {
    let mut found: Vec<(String, Variant)> = Vec::new();
    for (name, variant) in studies.iter().flat_map(|study| study.variants.clone()) {
        if !found.iter().any(|(known, _)| *known == name) {
            found.push((name, variant));
        }
    }
    found
}

fn entry(definition: &StoreDefinition) -> StoreEntry {
    let found = definition.find();
    StoreEntry {
        plan: Store {
            name: definition.name.clone(),
            binary: found.program,
            version: found.version.unwrap_or_default(),
            ..Store::default()
        },
        about: definition.about.clone(),
        within: definition.within.is_some(),
        missing: found.missing,
        remedy: found.remedy,
    }
}

/// A PHP with what its client worker says.
fn described(entry: RuntimeEntry, (needed, home): (&[String], &Path)) -> RuntimeEntry {
    match describe(&entry, needed, home) {
        Ok(said) => RuntimeEntry {
            drivers: said.drivers,
            codecs: said.codecs,
            serializers: said.serializers,
            plan: Runtime { facts: said.facts, ..entry.plan },
            ..entry
        },
        Err(why) => RuntimeEntry { missing: Some(format!("{why:#}")), ..entry },
    }
}

/// Starts one worker and asks it.
fn describe(entry: &RuntimeEntry, needed: &[String], home: &Path) -> Result<ClientDescription> {
    let room = Shelter::new().context("no temporary folder")?;
    let binary = entry.plan.binary.as_ref().context("it has no binary")?;
    let ini: Vec<String> = entry.plan.ini.iter().chain(needed).cloned().collect();
    let spec =
        runtime::worker(&entry.plan.name, binary, &ini, &home.join("client.php"), room.path().join("log"));
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
