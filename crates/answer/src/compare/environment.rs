//! What is not the same on both sides beside the results: the machine, versions, contents, links.

use schemars::JsonSchema;
use serde::Serialize;
use weigh_model::payload::{Origin, Payload};

use super::matched::Pairs;
use crate::facts::{self, Difference, Facts, differences};
use crate::metric::load::ARRIVALS;
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

/// What must be the same, or figures of two runs have nothing in common: of the machine, and what a load sends when.
const SAME: [&str; 3] = ["processor", "cores", ARRIVALS];

/// What changed from run A to run B; what forbids a comparison comes first.
pub fn changes(a: &Report, b: &Report, pairs: &Pairs) -> Vec<Change> {
    let mut all = Vec::new();
    let one = |what: &str, a: &str, b: &str| differing(&fact(what, a), &fact(what, b), |_| false);
    all.extend(differing(&fact("subject", a.shape.name), &fact("subject", b.shape.name), |_| true));
    if a.run.environment.is_empty() == b.run.environment.is_empty() {
        all.extend(differing(&a.run.environment, &b.run.environment, |what| SAME.contains(&what)));
    }
    if a.run.environment.is_empty() || b.run.environment.is_empty() {
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

fn fact(what: &str, value: &str) -> Facts {
    Facts::from([(what.to_owned(), value.to_owned())])
}

fn differing(a: &Facts, b: &Facts, forbids: impl Fn(&str) -> bool) -> Vec<Change> {
    let change = |Difference { name, before, after }: Difference| Change {
        forbids: forbids(&name),
        what: name,
        a: before.unwrap_or_default(),
        b: after.unwrap_or_default(),
    };
    differences(a, b).into_iter().map(change).collect()
}

fn is_page(payload: &Payload) -> bool {
    matches!(payload.origin, Origin::Url { .. })
}

/// The contents that both have: a content that only one has shows by its configurations.
fn contents(of: &Report, other: &Report) -> Facts {
    let of_both = of.payloads.iter().filter(|p| other.payload(&p.name).is_some() && !is_page(p));
    of_both.map(facts::content).collect()
}

/// Responses of URLs: an application that changed sends other pages, which is no obstacle.
fn pages(of: &Report) -> Facts {
    of.payloads.iter().filter(|p| is_page(p)).map(facts::content).collect()
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

/// Versions; a runtime that takes another's place stands under both names.
fn versions(of: &Report, pairs: &Pairs) -> Facts {
    let named = |name: &str| match &pairs.replaced {
        Some((a, b)) if a == name || b == name => format!("{a} → {b}"),
        _ => name.to_owned(),
    };
    facts::versions(&of.runtimes, &of.servers, &of.stores, named)
}
