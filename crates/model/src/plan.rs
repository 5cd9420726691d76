//! A plan: the cells of a study, the seed, the excluded cells with reasons, and the expected time.

pub mod negotiation;
pub mod sides;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::advised::Advised;
use crate::cell::{Cell, NO_PHP};
use crate::payload::{Origin, Payload};
pub use sides::Side;

use crate::study::{Budget, Precision, StudyText};
use crate::way::OwnConfig;

/// Everything a run needs, written to `plan.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Plan {
    /// The question, and how to read the answer.
    pub study: StudyText,
    /// Seed of every random choice.
    pub seed: u64,
    /// Duration, rounds and precision.
    pub policy: Policy,
    /// The inputs.
    pub payloads: Vec<Payload>,
    /// The runtimes that cells use.
    pub runtimes: Vec<Runtime>,
    /// The web servers that cells use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// The stores that cells use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<Store>,
    /// The links that cells use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<crate::link::LinkSpec>,
    /// The sides of a paired run, whose cells are measured in the same rounds; empty: no run of sides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<Side>,
    /// The cells to measure.
    pub cells: Vec<Cell>,
    /// The cells that are not measured, with reasons.
    pub exclusions: Vec<Exclusion>,
}

/// The runtime of a cell's worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Runtime {
    /// `native`, `php8.2`, …: unique in the plan.
    pub name: String,
    /// The PHP binary; null for native.
    pub binary: Option<PathBuf>,
    /// Its version, as reported.
    pub version: String,
    /// Library and version of each codec and serializer that the cells use, as reported, by name.
    pub libraries: BTreeMap<String, String>,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// Settings of PHP's ini that are added to PHP's own, `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ini: Vec<String>,
}

/// A store that cells use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Store {
    /// `redis`, `memcached`, …: unique in the plan.
    pub name: String,
    /// Its program; null if no program is started.
    pub binary: Option<PathBuf>,
    /// Its version, as reported; empty if it reports none or the program does not start it.
    pub version: String,
    /// The URL of a store that the program does not start, without the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The drivers that cells use, with the library that each reports, by driver and runtime: `phpredis (php8.2)`.
    #[serde(default)]
    pub drivers: BTreeMap<String, String>,
}

/// A web server that sends the payloads of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Server {
    /// `nginx`, `apache`, …: unique in the plan.
    pub name: String,
    /// Its program.
    pub binary: Option<PathBuf>,
    /// Its version, as reported.
    pub version: String,
    /// Library or module and version of each of its methods that the cells use, as reported, by name.
    pub libraries: BTreeMap<String, String>,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// The user's configurations that are among the methods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<OwnConfig>,
    /// What a policy asks of it, if that is one of the methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advised: Option<Advised>,
}

/// Duration, rounds and precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Policy {
    /// Seconds of wall time for the whole run.
    pub budget_seconds: f64,
    /// The largest number of rounds.
    pub max_rounds: u32,
    /// Samples a cell needs before it can be settled.
    pub min_samples: u32,
    /// A phase is settled when the half-width of its 95% interval ÷ CPU time is at most this.
    pub half_width: f64,
    /// The most CPU seconds that one cell may take.
    pub cell_seconds: f64,
    /// Measure every cell in every round: no cell is settled, placed or dominated, and the budget does not end the run.
    pub exhaustive: bool,
    /// Measure every cell until the budget ends: no cell is settled, placed or dominated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub to_the_end: bool,
    /// Give every cell the same number of rounds until the budget ends, the first one to fill caches. Where the budget does not suffice for all,
    /// the contents that come first in the plan have theirs, and the others none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub even: bool,
    /// Where the budget does not suffice for all, the contents that come first in the plan have their rounds first, one of each subject in turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_order: bool,
}

/// The policy of a study that sets nothing.
impl Default for Policy {
    fn default() -> Policy {
        let (budget, precision) = (Budget::default(), Precision::default());
        Policy {
            budget_seconds: budget.seconds,
            max_rounds: precision.max_rounds,
            min_samples: precision.min_samples,
            half_width: precision.half_width,
            cell_seconds: budget.cell_seconds,
            exhaustive: false,
            to_the_end: false,
            even: false,
            in_order: false,
        }
    }
}

/// A cell that was left out of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exclusion {
    /// The id that the cell would have, or a part of an id for a whole group.
    pub cell: String,
    /// The reason.
    pub reason: String,
    /// How to include it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Plan {
    /// Whether all its cells use servers that the program does not start: nothing is started, and no CPU time is read.
    pub fn is_outside(&self) -> bool {
        !self.payloads.is_empty() && self.payloads.iter().all(|p| matches!(p.origin, Origin::Url { .. }))
    }

    /// Checks that the plan is consistent: ids are unique, and the plan has every payload and runtime that cells name.
    ///
    /// # Errors
    /// The first inconsistency.
    pub fn check(&self) -> Result<()> {
        let mut ids = BTreeSet::new();
        for cell in &self.cells {
            ensure!(ids.insert(&cell.id), "the plan has the cell {} twice", cell.id);
            let payload = self.payloads.iter().find(|p| p.name == cell.payload);
            ensure!(payload.is_some(), "the plan's cell {} has no payload {}", cell.id, cell.payload);
            let is_outside = payload.is_some_and(|p| matches!(p.origin, Origin::Url { .. }));
            let runtime = self.runtimes.iter().any(|r| r.name == cell.runtime);
            let is_static = cell.delivery.is_some() && cell.runtime == NO_PHP;
            ensure!(runtime || is_static, "the plan's cell {} has no runtime {}", cell.id, cell.runtime);
            if let Some(delivery) = &cell.delivery {
                let server = self.servers.iter().any(|s| s.name == delivery.server);
                ensure!(server, "the plan's cell {} has no server {}", cell.id, delivery.server);
                let is_alone = delivery.slow.is_none() && !is_outside;
                ensure!(
                    delivery.link.is_none() || is_alone,
                    "the plan's cell {} has a link together with slow clients or a URL, which have their own network",
                    cell.id
                );
            }
            if let Some(client) = &cell.client {
                let store = self.stores.iter().any(|s| s.name == client.store);
                ensure!(store, "the plan's cell {} has no store {}", cell.id, client.store);
            }
            let link = cell.link().is_none_or(|name| self.links.iter().any(|l| l.name == *name));
            ensure!(link, "the plan's cell {} has no link {:?}", cell.id, cell.link());
        }
        for payload in &self.payloads {
            let items = payload.items.iter().try_fold(0u64, |sum, &item| sum.checked_add(item));
            ensure!(
                items == Some(payload.bytes),
                "the plan's payload {} has items that do not add up to its {} bytes",
                payload.name,
                payload.bytes
            );
            let digest = payload.sha256.len() == 64 && payload.sha256.bytes().all(|b| b.is_ascii_hexdigit());
            ensure!(digest, "the plan's payload {} has no SHA-256", payload.name);
            let (mut items, mut bytes) = (payload.items.iter(), 0u64);
            for part in &payload.parts {
                let own: u64 = items.by_ref().take(part.items as usize).sum();
                let is_part = own == part.bytes && own > 0 && part.stands_for_bytes >= own;
                bytes += own * u64::from(is_part);
            }
            ensure!(
                payload.parts.is_empty() || bytes == payload.bytes && items.next().is_none(),
                "the plan's payload {} has parts that do not add up to its items",
                payload.name
            );
        }
        Ok(())
    }
}
