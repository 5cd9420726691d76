//! What a plan's cells stand on: the runtimes and servers that they name, with the libraries that they use.

use weigh_model::cell::Cell;
use weigh_model::inventory::{Inventory, RuntimeEntry, ServerEntry, StoreEntry};
use weigh_model::link::LinkSpec;
use weigh_model::plan::{Runtime, Server, Store};
use weigh_model::way::{By, WayDescription};

/// The runtimes that cells use, in the order of their first use: a study's main runtime comes first in reports.
pub fn runtimes(cells: &[Cell], all: &[RuntimeEntry]) -> Vec<Runtime> {
    by_first_use(
        all,
        cells,
        |c, r| c.runtime == r.plan.name,
        |r, own| {
            let libraries = of_codecs(r, own).chain(of_ways(&r.ways, own, By::Php)).collect();
            Runtime { libraries, ..r.plan.clone() }
        },
    )
}

/// The stores that cells use, likewise.
pub fn stores(cells: &[Cell], inventory: &Inventory) -> Vec<Store> {
    let is_of =
        |c: &Cell, s: &StoreEntry| c.client.as_ref().is_some_and(|client| client.store == s.plan.name);
    by_first_use(&inventory.stores, cells, is_of, |s, own| {
        let drivers = of_drivers(own, &inventory.clients).collect();
        Store { drivers, ..s.plan.clone() }
    })
}

/// The links that cells use, likewise.
pub fn links(cells: &[Cell], inventory: &Inventory) -> Vec<LinkSpec> {
    let all: Vec<LinkSpec> = inventory.links.values().cloned().collect();
    by_first_use(&all, cells, |c, l| c.link() == Some(l.name.as_str()), |link, _| link.clone())
}

/// The servers that cells use, likewise.
pub fn servers(cells: &[Cell], inventory: &Inventory) -> Vec<Server> {
    let is_of = |c: &Cell, s: &ServerEntry| c.delivery.as_ref().is_some_and(|d| d.server == s.plan.name);
    by_first_use(&inventory.servers, cells, is_of, |s, own| {
        let libraries = of_ways(&s.ways, own, By::Server).collect();
        Server { libraries, ..s.plan.clone() }
    })
}

/// Those of `all` that cells use, made into what a plan says of them and their cells.
fn by_first_use<T, U>(
    all: &[T],
    cells: &[Cell],
    is_of: impl Fn(&Cell, &T) -> bool,
    say: impl Fn(&T, &[&Cell]) -> U,
) -> Vec<U> {
    let first_use = |one: &T| cells.iter().position(|cell| is_of(cell, one));
    let mut used: Vec<_> = all.iter().filter_map(|one| Some((first_use(one)?, one))).collect();
    used.sort_by_key(|(first, _)| *first);
    let own = |one: &T| cells.iter().filter(|cell| is_of(cell, one)).collect::<Vec<_>>();
    used.into_iter().map(|(_, one)| say(one, &own(one))).collect()
}

/// The libraries of the codecs and serializers that these cells name.
fn of_codecs<'c>(entry: &'c RuntimeEntry, own: &'c [&Cell]) -> impl Iterator<Item = (String, String)> + 'c {
    let codecs = entry.codecs.iter().map(|c| (&c.name, &c.library));
    let all = codecs.chain(entry.serializers.iter().map(|s| (&s.name, &s.library)));
    let is_used =
        |name: &String| own.iter().any(|c| c.setting.codec == *name || c.serializer.as_ref() == Some(name));
    all.filter(move |(name, _)| is_used(name))
        .filter_map(|(name, library)| Some((name.clone(), library.clone()?)))
}

/// The drivers of a store that cells name, with the library of each on each PHP.
fn of_drivers<'c>(
    own: &'c [&Cell],
    clients: &'c [RuntimeEntry],
) -> impl Iterator<Item = (String, String)> + 'c {
    own.iter().filter_map(|cell| {
        let (client, runtime) = (cell.client.as_ref()?, &cell.runtime);
        let entry = clients.iter().find(|c| c.plan.name == *runtime)?;
        let driver = entry.drivers.iter().find(|d| d.store == client.store && d.name == client.driver)?;
        Some((format!("{} ({runtime})", driver.name), driver.library.clone()?))
    })
}

/// The libraries of the ways that these cells name.
fn of_ways<'c>(
    ways: &'c [WayDescription],
    own: &'c [&Cell],
    by: By,
) -> impl Iterator<Item = (String, String)> + 'c {
    let own = own.iter().filter(move |c| c.delivery.as_ref().is_some_and(|d| d.by == by));
    let way = |c: &Cell| ways.iter().find(|w| w.name == c.setting.codec);
    own.filter_map(move |c| Some((c.setting.codec.clone(), way(c)?.library.clone()?)))
}
