//! The stores that client cells stand on: private ones, started when they are needed first and kept for the next visit, and those
//! that others run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::executor::Version;
use crate::subject::ground::Ground;
use weigh_model::client::Client;
use weigh_model::link::Measured;
use weigh_model::plan::Plan;
use weigh_model::protocol::client::Address;
use weigh_os::group::Group;
use weigh_rig::store::definition::Within;
use weigh_rig::store::instance::StoreFolder;
use weigh_rig::store::local::process_at;
use weigh_rig::store::{Found, StoreDefinition, StoreInstance, StoreUrl};

#[derive(Debug)]
pub struct StoreInstances {
    stores: Vec<Found>,
    urls: Vec<StoreUrl>,
    /// What the programs of stores are called.
    programs: Vec<String>,
    /// What every key begins with, which nobody else's do.
    prefix: String,
    instances: BTreeMap<String, StoreInstance>,
    folders: BTreeMap<String, StoreFolder>,
    /// After all that stands on it.
    pub ground: Ground,
}

/// Where a cell's workers find their store.
#[derive(Clone, Debug)]
pub struct StoreHandle {
    pub address: Address,
    /// The meter of its processes; none without processes of its own, or when others run it and it may not be read.
    pub group: Option<Group>,
    /// Others run it: what was written is removed again.
    pub is_others: bool,
    /// For how long its first requests may fail.
    pub settle: Duration,
    /// The network that workers run in; none: the lab's own.
    pub network: Option<PathBuf>,
    pub link: Option<Measured>,
}

impl StoreHandle {
    fn of(address: Address, group: Option<Group>, is_others: bool, settle: Duration) -> StoreHandle {
        StoreHandle { address, group, is_others, settle, network: None, link: None }
    }
}

impl StoreInstances {
    /// Nothing is started yet; what stores say goes to `logs`.
    pub fn new(
        definitions: &[StoreDefinition],
        plan: &Plan,
        urls: Vec<StoreUrl>,
        logs: &Path,
    ) -> Result<StoreInstances> {
        let is_used = |d: &&StoreDefinition| plan.stores.iter().any(|s| s.name == d.name);
        let found = definitions.iter().filter(is_used).map(|d| {
            let planned = plan.stores.iter().find(|s| s.name == d.name);
            planned.and_then(|s| s.binary.clone()).map_or_else(|| d.find(), |program| d.at(Some(program)))
        });
        let stores: Vec<Found> = found.collect();
        let programs = stores.iter().filter_map(|store| store.program.as_deref());
        let ground = Ground::new(plan, programs, "stores", logs)?;
        Ok(StoreInstances {
            stores,
            urls,
            programs: definitions.iter().flat_map(|d| d.programs.clone()).collect(),
            prefix: format!("weigh:{:016x}:", rand::random::<u64>()),
            instances: BTreeMap::new(),
            folders: BTreeMap::new(),
            ground,
        })
    }

    /// What every key begins with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The versions of the stores that are started here.
    pub fn versions(&self) -> Vec<Version> {
        let told = |found: &Found| Some(Version::of(&found.definition.name, found.version.clone()?));
        self.stores.iter().filter_map(told).collect()
    }

    /// The store of a cell, running.
    pub fn handle(&mut self, client: &Client) -> Result<StoreHandle> {
        let name = &client.store;
        if let Some(url) = self.urls.iter().find(|url| url.store == *name) {
            let group = process_at(&url.address, &self.programs).map(Group::of);
            return Ok(StoreHandle::of(url.address.clone(), group, true, Duration::ZERO));
        }
        let found = self.stores.iter().find(|f| f.definition.name == *name);
        let found = found.with_context(|| format!("no store {name}"))?.clone();
        let place = self.ground.place(name);
        let inside = |address| StoreHandle::of(address, None, false, Duration::ZERO);
        match found.definition.within {
            Some(Within::Process) => return Ok(inside(Address::default())),
            Some(Within::Folder) => {
                let folder = match self.folders.remove(name) {
                    Some(folder) => folder,
                    None => StoreFolder::new(name, &place)?,
                };
                let path = self.folders.entry(name.clone()).or_insert(folder).path();
                return Ok(inside(Address { folder: Some(path), ..Address::default() }));
            }
            None => {}
        }
        let key = key(client);
        let kept =
            self.instances.remove(&key).and_then(|mut instance| instance.is_alive().then_some(instance));
        let settle =
            if kept.is_none() { Duration::from_secs(found.definition.settle) } else { Duration::ZERO };
        let cpus = self.ground.cores.server.clone();
        let Some(name) = &client.link else {
            let instance = kept.map_or_else(|| StoreInstance::start(&found, None, &cpus, &place), Ok)?;
            let stand = StoreHandle::of(instance.address().clone(), Some(instance.group()), false, settle);
            self.instances.insert(key, instance);
            return Ok(stand);
        };
        let link = self.ground.links.stand(name)?;
        let instance = match kept {
            Some(instance) => instance,
            None => {
                let host = link.far_address();
                link.far().within(|| StoreInstance::start(&found, Some(host), &cpus, &place))??
            }
        };
        let port = instance.address().port.context("it listens on no port")?;
        let reach = link.reach(port)?;
        let address = Address {
            host: Some(reach.ip().to_string()),
            port: Some(reach.port()),
            ..instance.address().clone()
        };
        let stand = StoreHandle {
            network: Some(link.near().path()),
            link: Some(link.measured().clone()),
            ..StoreHandle::of(address, Some(instance.group()), false, settle)
        };
        self.instances.insert(key, instance);
        Ok(stand)
    }

    /// Settings of PHP's ini that the drivers of a store need.
    pub fn ini(&self, client: &Client) -> Vec<String> {
        let found = self.stores.iter().find(|f| f.definition.name == client.store);
        found.map_or_else(Vec::new, |found| found.definition.ini.clone())
    }

    /// How the store of a cell ended, where it did and nobody asked it to.
    pub fn ended(&mut self, client: &Client) -> Option<String> {
        let how = self.instances.get_mut(&key(client))?.ended()?;
        Some(format!("{} ended: {how}", client.store))
    }

    /// Ends the store of a cell: the next visit has a fresh one.
    pub fn discard(&mut self, client: &Client) {
        self.instances.remove(&key(client));
        self.folders.remove(&client.store);
    }

    pub fn end(&mut self) {
        while let Some((_, instance)) = self.instances.pop_first() {
            instance.stop();
        }
        self.folders.clear();
        self.ground.links.end();
    }
}

fn key(client: &Client) -> String {
    client.link.as_ref().map_or_else(|| client.store.clone(), |link| format!("{}@{link}", client.store))
}
