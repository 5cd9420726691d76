//! What is not the same on both sides beside the results: the machine, versions, contents, links.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use weigh_model::payload::Origin;
use weigh_model::plan::Runtime;

use super::matched::{Names, Pairs};
use crate::report::Report;

/// Something that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// What: `processor`, `PHP (php8.2)`, `content of index.html`.
    pub what: String,
    /// On side A; empty: nothing there.
    pub a: String,
    /// On side B.
    pub b: String,
    /// Whether figures of the two sides cannot be compared.
    pub forbids: bool,
}

/// Facts of one side by name.
type Facts = BTreeMap<String, String>;

/// Machine properties without which figures of two runs have nothing in common.
const SAME_MACHINE: [&str; 2] = ["processor", "cores"];

/// What changed from run A to run B; what forbids a comparison comes first.
pub fn changes(a: &Report, b: &Report, pairs: &Pairs) -> Vec<Change> {
    let mut all = Vec::new();
    let one = |what: &str, a: &str, b: &str| differing(&fact(what, a), &fact(what, b), |_| false);
    all.extend(differing(&fact("subject", &a.subject), &fact("subject", &b.subject), |_| true));
    all.extend(differing(&a.run.environment, &b.run.environment, |what| SAME_MACHINE.contains(&what)));
    if a.run.environment.is_empty() && b.run.environment.is_empty() {
        all.extend(differing(&fact("machine", &a.run.machine), &fact("machine", &b.run.machine), |_| true));
    }
    all.extend(differing(&contents(a, b), &contents(b, a), |_| true));
    all.extend(differing(&pages(a), &pages(b), |_| false));
    all.extend(differing(&links(a), &links(b), |_| true));
    all.extend(one("weigh", &a.run.version, &b.run.version));
    all.extend(differing(&versions(a, pairs), &versions(b, pairs), |_| false));
    all.extend(one("study", &a.study.name, &b.study.name));
    all.sort_by_key(|change| !change.forbids);
    all
}

/// What sets the two runtimes of a paired run apart.
pub fn runtimes(report: &Report, names: &Names) -> Vec<Change> {
    let of = |name: &str| report.runtimes.iter().find(|runtime| runtime.name == name);
    match (of(&names.a), of(&names.b)) {
        (Some(a), Some(b)) => differing(&of_runtime(a, "PHP"), &of_runtime(b, "PHP"), |_| false),
        _ => Vec::new(),
    }
}

fn fact(what: &str, value: &str) -> Facts {
    BTreeMap::from([(what.to_owned(), value.to_owned())])
}

fn differing(a: &Facts, b: &Facts, forbids: impl Fn(&str) -> bool) -> Vec<Change> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let value = |facts: &Facts, name: &String| facts.get(name).cloned().unwrap_or_default();
    let change = |name: &String| {
        let (a, b) = (value(a, name), value(b, name));
        (a != b).then(|| Change { forbids: forbids(name), what: name.clone(), a, b })
    };
    names.into_iter().filter_map(change).collect()
}

/// Digests of the contents that both have: a content that only one has shows by its configurations.
fn contents(of: &Report, other: &Report) -> Facts {
    let is_page = |origin: &Origin| matches!(origin, Origin::Url { .. });
    let of_both = of.payloads.iter().filter(|p| other.payload(&p.name).is_some() && !is_page(&p.origin));
    of_both.map(|p| (format!("content of {}", p.name), digest(&p.sha256, p.bytes))).collect()
}

/// Responses of URLs: an application that changed sends other pages, which is no obstacle.
fn pages(of: &Report) -> Facts {
    let pages = of.payloads.iter().filter(|p| matches!(p.origin, Origin::Url { .. }));
    pages.map(|p| (format!("response of {}", p.name), digest(&p.sha256, p.bytes))).collect()
}

fn digest(sha256: &str, bytes: u64) -> String {
    format!("{} bytes, sha256 {}", bytes, sha256.get(..12).unwrap_or(sha256))
}

fn links(of: &Report) -> Facts {
    let spec = |link: &crate::report::OverLink| {
        let asked = &link.asked;
        let kbps =
            |speed: Option<f64>| speed.map_or("unlimited".to_owned(), |speed| format!("{speed} kbit/s"));
        format!(
            "{} down, {} up, round trip {} ms, loss {}",
            kbps(asked.down_kbps),
            kbps(asked.up_kbps),
            asked.rtt_ms,
            asked.loss
        )
    };
    of.links.iter().map(|link| (format!("link {}", link.asked.name), spec(link))).collect()
}

/// Versions of runtimes, servers, stores and their libraries.
fn versions(of: &Report, pairs: &Pairs) -> Facts {
    let mut facts = Facts::new();
    for runtime in &of.runtimes {
        // One that takes another's place stands under both names.
        let name = match &pairs.replaced {
            Some((a, b)) if *a == runtime.name || *b == runtime.name => format!("{a} → {b}"),
            _ => runtime.name.clone(),
        };
        facts.extend(of_runtime(runtime, &name));
    }
    for server in &of.servers {
        facts.insert(server.name.clone(), server.version.clone());
        facts.extend(under(&server.name, &server.libraries));
        facts.extend(under(&server.name, &server.facts));
    }
    for store in &of.stores {
        facts.insert(store.name.clone(), store.version.clone());
        facts.extend(under(&store.name, &store.drivers));
    }
    facts
}

fn of_runtime(runtime: &Runtime, name: &str) -> Facts {
    let mut facts = fact(name, &runtime.version);
    facts.extend(under(name, &runtime.libraries));
    // What was measured of a runtime is never the same twice.
    facts.extend(under(name, &runtime.facts).filter(|(what, _)| !what.starts_with("clock_cost_ns")));
    if !runtime.ini.is_empty() {
        facts.insert(format!("ini ({name})"), runtime.ini.join(", "));
    }
    facts
}

fn under(name: &str, facts: &Facts) -> impl Iterator<Item = (String, String)> {
    facts.iter().map(move |(what, value)| (format!("{what} ({name})"), value.clone()))
}
