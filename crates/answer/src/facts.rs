//! What a run was measured with, by name: versions and contents; and what differs between two runs.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use weigh_model::payload::Payload;
use weigh_model::plan::{Runtime, Server, Store};

pub type Facts = BTreeMap<String, String>;

/// Something that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// Its name: `kernel`, `php8.2`, `zlib (nginx)`.
    pub name: String,
    /// In the run before; null where there was none.
    pub before: Option<String>,
    /// In the run after.
    pub after: Option<String>,
}

pub fn differences(before: &Facts, after: &Facts) -> Vec<Difference> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let difference = |name: &String| {
        let (before, after) = (before.get(name).cloned(), after.get(name).cloned());
        (before != after).then(|| Difference { name: name.clone(), before, after })
    };
    names.into_iter().filter_map(difference).collect()
}

/// Versions of runtimes, servers and stores, with their libraries and settings; `named` gives a runtime another name.
pub fn versions(
    runtimes: &[Runtime],
    servers: &[Server],
    stores: &[Store],
    named: impl Fn(&str) -> String,
) -> Facts {
    let mut facts = Facts::new();
    runtimes.iter().for_each(|one| facts.extend(of_runtime(one, &named(&one.name))));
    for server in servers {
        facts.insert(server.name.clone(), server.version.clone());
        facts.extend(under(&server.name, &server.libraries));
        facts.extend(under(&server.name, &server.facts));
    }
    for store in stores {
        facts.insert(store.name.clone(), store.version.clone());
        facts.extend(under(&store.name, &store.drivers));
    }
    facts.retain(|_, value| !value.is_empty());
    facts
}

/// Version, libraries and settings of a runtime, under a name.
pub fn of_runtime(runtime: &Runtime, name: &str) -> Facts {
    let mut facts = Facts::from([(name.to_owned(), runtime.version.clone())]);
    facts.extend(under(name, &runtime.libraries));
    // What was measured of a runtime is never the same twice.
    facts.extend(under(name, &runtime.facts).filter(|(what, _)| !what.starts_with("clock_cost_ns")));
    if !runtime.ini.is_empty() {
        facts.insert(format!("ini ({name})"), runtime.ini.join(", "));
    }
    facts
}

/// A content: its length and the first digits of its digest.
pub fn content(payload: &Payload) -> (String, String) {
    let digits = payload.sha256.get(..12).unwrap_or(&payload.sha256);
    (format!("content of {}", payload.name), format!("{} bytes, sha256 {digits}", payload.bytes))
}

fn under(name: &str, facts: &Facts) -> impl Iterator<Item = (String, String)> {
    facts.iter().map(move |(what, value)| (format!("{what} ({name})"), value.clone()))
}
