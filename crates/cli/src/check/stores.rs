//! The stores of `weigh check`, with the drivers of each PHP.

use std::path::PathBuf;

use serde::Serialize;

use super::{Missing, bold};
use crate::terminal;
use weigh_answer::table::Grid;
use weigh_model::inventory::{Inventory, RuntimeEntry, StoreEntry};
use weigh_model::protocol::client::DriverDescription;
use weigh_model::text::clean_path;

/// A store and who can speak with it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct StoreFindings {
    /// `redis`.
    name: String,
    /// One line.
    about: String,
    /// The program; null when it was not found, or there is nothing to start.
    program: Option<PathBuf>,
    /// The version as queried.
    version: Option<String>,
    /// Every driver of every PHP, available or not.
    drivers: Vec<DriverFindings>,
    /// Null: it is available. Otherwise the reason.
    missing: Option<String>,
    /// What would fix it.
    remedy: Option<String>,
}

/// A driver on a PHP.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct DriverFindings {
    /// The runtime's name.
    runtime: String,
    /// `phpredis`.
    name: String,
    /// Name and version of what carries it out; null when it is not there.
    library: Option<String>,
    /// Null: can be used. Else why not.
    missing: Option<String>,
    /// What would fix it.
    remedy: Option<String>,
}

/// Every store that is defined.
pub fn find_stores(inventory: &Inventory) -> Vec<StoreFindings> {
    inventory.stores.iter().map(|store| findings(store, &inventory.clients)).collect()
}

fn findings(store: &StoreEntry, clients: &[RuntimeEntry]) -> StoreFindings {
    let of_store = |client: &RuntimeEntry| {
        let runtime = client.plan.name.clone();
        let drivers = client.drivers.iter().filter(|driver| driver.store == store.plan.name);
        drivers.map(|driver| driver_of(&runtime, driver)).collect::<Vec<_>>()
    };
    StoreFindings {
        name: store.plan.name.clone(),
        about: store.about.clone(),
        program: store.plan.binary.clone(),
        version: Some(store.plan.version.clone()).filter(|version| !version.is_empty()),
        drivers: clients.iter().flat_map(of_store).collect(),
        missing: store.missing.clone(),
        remedy: store.remedy.clone(),
    }
}

fn driver_of(runtime: &str, driver: &DriverDescription) -> DriverFindings {
    DriverFindings {
        runtime: runtime.to_owned(),
        name: driver.name.clone(),
        library: driver.library.clone(),
        missing: driver.missing.clone(),
        remedy: driver.remedy.clone(),
    }
}

/// What of them is missing: a whole store in one row, else each of its drivers.
pub fn missing(stores: &[StoreFindings]) -> Vec<Missing> {
    let mut rows = Vec::new();
    for store in stores {
        if let Some(reason) = &store.missing {
            rows.push(Missing::new(&store.name, "store", reason, store.remedy.as_deref()));
            continue;
        }
        rows.extend(store.drivers.iter().filter_map(|d| {
            let what = format!("{}/{}", store.name, d.name);
            Some(Missing::new(&d.runtime, &what, d.missing.as_ref()?, d.remedy.as_deref()))
        }));
    }
    rows
}

/// The stores that are there, with their drivers.
pub fn text(stores: &[StoreFindings]) -> String {
    stores.iter().filter(|store| store.missing.is_none()).map(store).collect()
}

fn store(found: &StoreFindings) -> String {
    let mut table = Grid::list(&["", ""]);
    let there = found.drivers.iter().filter(|driver| driver.missing.is_none());
    for driver in there {
        let library = driver.library.as_deref().unwrap_or_default();
        table.line(&[&format!("  {}", driver.name), &format!("{library} ({})", driver.runtime)]);
    }
    let version = found.version.as_deref().map_or(String::new(), |version| format!(" {version}"));
    let place = found.program.as_deref().map_or_else(|| found.about.clone(), clean_path);
    format!("\n{}{version}  {place}\n{}", bold(&found.name), terminal::lines(&table))
}
