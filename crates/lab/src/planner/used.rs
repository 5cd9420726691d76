//! What a plan's cells stand on: the runtimes and servers that they name, with the libraries that they use.

use std::collections::BTreeMap;

use weigh_model::cell::Cell;
use weigh_model::inventory::{ClientEntry, Inventory, PoolEntry, RuntimeEntry, ServerEntry, StoreEntry};
use weigh_model::link::LinkSpec;
use weigh_model::plan::{Runtime, Server, Store};
use weigh_model::way::{By, WayDescription};

/// The runtimes that cells use, in the order of their first use: a study's main runtime comes first in reports.
pub fn runtimes(cells: &[Cell], inventory: &Inventory) -> Vec<Runtime> {
    let runtime = |r: &RuntimeEntry| Runtime {
        name: r.name.clone(),
        binary: r.binary.clone(),
        version: r.description.version.clone(),
        libraries: of_codecs(r, cells),
        facts: r.description.facts.clone(),
        ini: Vec::new(),
    };
    let used = by_first_use(&inventory.runtimes, |r| cells.iter().position(|c| c.runtime == r.name));
    used.into_iter().map(runtime).collect()
}

/// The PHP pools that cells use, likewise.
pub fn pools(cells: &[Cell], inventory: &Inventory) -> Vec<Runtime> {
    let runtime = |p: &PoolEntry| Runtime {
        name: p.name.clone(),
        binary: p.binary.clone(),
        version: p.version.clone(),
        libraries: of_ways(&p.ways, cells.iter().filter(|c| c.runtime == p.name), By::Php),
        facts: p.facts.clone(),
        ini: Vec::new(),
    };
    let used = by_first_use(&inventory.pools, |p| cells.iter().position(|c| c.runtime == p.name));
    used.into_iter().map(runtime).collect()
}

/// The PHPs whose workers are clients, likewise.
pub fn clients(cells: &[Cell], inventory: &Inventory) -> Vec<Runtime> {
    let runtime = |c: &ClientEntry| Runtime {
        name: c.name.clone(),
        binary: c.binary.clone(),
        version: c.version.clone(),
        libraries: of_encoders(c, cells),
        facts: c.facts.clone(),
        ini: c.ini.clone(),
    };
    let used = by_first_use(&inventory.clients, |c| cells.iter().position(|cell| cell.runtime == c.name));
    used.into_iter().map(runtime).collect()
}

/// The stores that cells use, likewise.
pub fn stores(cells: &[Cell], inventory: &Inventory) -> Vec<Store> {
    let is_of = |c: &Cell, s: &StoreEntry| c.client.as_ref().is_some_and(|client| client.store == s.name);
    let store = |s: &StoreEntry| Store {
        name: s.name.clone(),
        binary: s.binary.clone(),
        version: s.version.clone(),
        url: s.url.clone(),
        drivers: of_drivers(s, cells, inventory),
    };
    let used = by_first_use(&inventory.stores, |s| cells.iter().position(|c| is_of(c, s)));
    used.into_iter().map(store).collect()
}

/// The links that cells use, likewise.
pub fn links(cells: &[Cell], inventory: &Inventory) -> Vec<LinkSpec> {
    let is_of = |c: &Cell, l: &LinkSpec| {
        let of_client = c.client.as_ref().and_then(|client| client.link.as_ref());
        let of_delivery = c.delivery.as_ref().and_then(|delivery| delivery.link.as_ref());
        of_client.or(of_delivery) == Some(&l.name)
    };
    let all: Vec<LinkSpec> = inventory.links.values().cloned().collect();
    by_first_use(&all, |l| cells.iter().position(|c| is_of(c, l))).into_iter().cloned().collect()
}

/// The servers that cells use, likewise.
pub fn servers(cells: &[Cell], inventory: &Inventory) -> Vec<Server> {
    let is_of = |c: &Cell, s: &ServerEntry| c.delivery.as_ref().is_some_and(|d| d.server == s.name);
    let server = |s: &ServerEntry| Server {
        name: s.name.clone(),
        binary: s.binary.clone(),
        version: s.version.clone(),
        libraries: of_ways(&s.ways, cells.iter().filter(|c| is_of(c, s)), By::Server),
        facts: s.facts.clone(),
        own: s.own.clone(),
    };
    let used = by_first_use(&inventory.servers, |s| cells.iter().position(|c| is_of(c, s)));
    used.into_iter().map(server).collect()
}

fn by_first_use<T>(all: &[T], first_use: impl Fn(&T) -> Option<usize>) -> Vec<&T> {
    let mut used: Vec<_> = all.iter().filter_map(|one| Some((first_use(one)?, one))).collect();
    used.sort_by_key(|(first, _)| *first);
    used.into_iter().map(|(_, one)| one).collect()
}

/// The libraries of the codecs and serializers that cells of this runtime name.
fn of_codecs(runtime: &RuntimeEntry, cells: &[Cell]) -> BTreeMap<String, String> {
    let own = || cells.iter().filter(|c| c.runtime == runtime.name);
    let mut libraries = runtime.libraries();
    libraries
        .retain(|name, _| own().any(|c| c.setting.codec == *name || c.serializer.as_ref() == Some(name)));
    libraries
}

/// The libraries of the codecs and serializers that workers of this PHP encode with.
fn of_encoders(entry: &ClientEntry, cells: &[Cell]) -> BTreeMap<String, String> {
    let is_used = |name: &String| {
        let mut own = cells.iter().filter(|c| c.runtime == entry.name);
        own.any(|c| c.setting.codec == *name || c.serializer.as_ref() == Some(name))
    };
    let codecs = entry.codecs.iter().map(|c| (&c.name, &c.library));
    let all = codecs.chain(entry.serializers.iter().map(|s| (&s.name, &s.library)));
    all.filter(|(name, _)| is_used(name)).filter_map(|(n, l)| Some((n.clone(), l.clone()?))).collect()
}

/// The drivers of a store that cells name, with the library of each on each PHP.
fn of_drivers(store: &StoreEntry, cells: &[Cell], inventory: &Inventory) -> BTreeMap<String, String> {
    let named = cells.iter().filter_map(|c| Some((c.client.as_ref()?, &c.runtime)));
    let library = |(client, runtime): (&weigh_model::client::Client, &String)| {
        let entry = inventory.clients.iter().find(|c| c.name == *runtime)?;
        let driver = entry.drivers.iter().find(|d| d.store == client.store && d.name == client.driver)?;
        Some((format!("{} ({runtime})", driver.name), driver.library.clone()?))
    };
    named.filter(|(client, _)| client.store == store.name).filter_map(library).collect()
}

/// The libraries of the ways that these cells name.
fn of_ways<'c>(
    ways: &[WayDescription],
    cells: impl Iterator<Item = &'c Cell>,
    by: By,
) -> BTreeMap<String, String> {
    let own = cells.filter(|c| c.delivery.as_ref().is_some_and(|d| d.by == by));
    let way = |c: &Cell| ways.iter().find(|w| w.name == c.setting.codec);
    own.filter_map(|c| Some((c.setting.codec.clone(), way(c)?.library.clone()?))).collect()
}
