//! What a plan's cells stand on: the runtimes and servers that they name, with the libraries that they use.

use std::collections::BTreeMap;

use crate::cell::Cell;
use crate::inventory::{Inventory, PoolEntry, RuntimeEntry, ServerEntry};
use crate::plan::{Runtime, Server};
use crate::way::{By, WayDescription};

/// The runtimes that cells use, in the order of their first use: a study's main runtime comes first in reports.
pub fn runtimes(cells: &[Cell], inventory: &Inventory) -> Vec<Runtime> {
    let runtime = |r: &RuntimeEntry| Runtime {
        name: r.name.clone(),
        binary: r.binary.clone(),
        version: r.description.version.clone(),
        libraries: of_codecs(r, cells),
        facts: r.description.facts.clone(),
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
    };
    let used = by_first_use(&inventory.pools, |p| cells.iter().position(|c| c.runtime == p.name));
    used.into_iter().map(runtime).collect()
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
