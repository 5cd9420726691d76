//! The stores that the user named, in place of every one that is here.

use anyhow::{Result, bail};

use super::UserOverrides;
use weigh_model::inventory::{Inventory, StoreEntry};
use weigh_model::plan::Store;
use weigh_model::suggest::nearest_hint;
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::{StoreDefinition, StoreUrl};
use weigh_run::lab::Home;
use weigh_run::study::Study;
use weigh_run::subject::client::study::ClientBlock;

/// Leaves the stores that the user named, in the user's order.
pub(super) fn choose_stores(home: &Home, inventory: &mut Inventory, own: &UserOverrides) -> Result<()> {
    if own.stores.is_empty() {
        return Ok(());
    }
    let definitions = StoreDefinition::load(&home.definitions)?;
    let mut chosen: Vec<StoreEntry> = Vec::new();
    for word in &own.stores {
        let url = word.contains("://").then(|| StoreUrl::parse(word, &definitions)).transpose()?;
        let name = url.as_ref().map_or(word.as_str(), |url| url.store.as_str());
        let Some(entry) = inventory.stores.iter().find(|store| store.plan.name == name) else {
            let known = inventory.known_stores.iter().map(String::as_str);
            bail!("--store {word}: no such store{}", nearest_hint(word, known));
        };
        if chosen.iter().any(|c| c.plan.name == entry.plan.name) {
            bail!("--store {word}: {name} is named twice; a run has one of each");
        }
        url.iter().try_for_each(|url| url.permit(&own.allow_remote).and_then(|()| url.reach()))?;
        if let (None, Some(missing)) = (&url, &entry.missing) {
            let remedy = entry.remedy.as_ref().map_or(String::new(), |r| format!(": {r}"));
            bail!("--store {word}: {missing}{remedy}");
        }
        chosen.push(url.map_or_else(|| entry.clone(), |url| run_by_others(entry, &url)));
    }
    inventory.stores = chosen;
    Ok(())
}

impl UserOverrides {
    /// The study as it is measured with the stores that the user named: its clients in place of its cells, on those stores.
    pub(super) fn of_stores(&self, study: Study) -> Study {
        if self.stores.is_empty() {
            return study;
        }
        let mut study = Study { cells: Vec::new(), ..study };
        study.clients.iter_mut().for_each(ClientBlock::all_stores);
        study
    }
}

/// The store where others run it.
fn run_by_others(entry: &StoreEntry, url: &StoreUrl) -> StoreEntry {
    let plan = Store { name: entry.plan.name.clone(), url: Some(url.to_string()), ..Store::default() };
    StoreEntry { plan, missing: None, remedy: None, ..entry.clone() }
}
