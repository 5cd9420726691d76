//! A plan: the cells of a study with a seed, what was excluded and why, and the expected time.

pub mod negotiation;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

use crate::cell::{Cell, NO_PHP};
use crate::payload::{Origin, Payload};
use crate::study::{Budget, Precision, StudyText};
use crate::way::OwnConfig;

/// Everything a run needs, written to `plan.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Plan {
    /// What is asked, and how to read the answer.
    pub study: StudyText,
    /// Seed of every random choice.
    pub seed: u64,
    /// How long, how often, how exact.
    pub policy: Policy,
    /// The inputs.
    pub payloads: Vec<Payload>,
    /// The runtimes that the cells name.
    pub runtimes: Vec<Runtime>,
    /// The web servers that the cells name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// The stores that the cells name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<Store>,
    /// The links that the cells name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<crate::link::LinkSpec>,
    /// What is measured.
    pub cells: Vec<Cell>,
    /// What is not, and why.
    pub exclusions: Vec<Exclusion>,
}

/// What a cell's worker runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Runtime {
    /// `native`, `php8.2`, …: unique in the plan.
    pub name: String,
    /// The PHP binary; null for native.
    pub binary: Option<PathBuf>,
    /// The version as queried.
    pub version: String,
    /// Library and version of each codec and serializer that the cells use, as queried, by name.
    pub libraries: BTreeMap<String, String>,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// Settings of PHP's ini that it is run with beside its own, `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ini: Vec<String>,
}

/// A store that cells write to and read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Store {
    /// `redis`, `memcached`, …: unique in the plan.
    pub name: String,
    /// Its program; null where there is none to start.
    pub binary: Option<PathBuf>,
    /// Its version as queried; empty where there is none to ask, or others run it.
    pub version: String,
    /// Others run it: its URL, without a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The drivers that cells use, with the library of each and runtime as queried: `phpredis (php8.2)`.
    #[serde(default)]
    pub drivers: BTreeMap<String, String>,
}

/// A web server that cells are sent by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Server {
    /// `nginx`, `apache`, …: unique in the plan.
    pub name: String,
    /// Its program.
    pub binary: Option<PathBuf>,
    /// Its version as queried.
    pub version: String,
    /// Library or module and version of each way of its own that the cells use, as queried, by name.
    pub libraries: BTreeMap<String, String>,
    /// Settings that change results, by name.
    pub facts: BTreeMap<String, String>,
    /// The user's configuration, where one is among its ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnConfig>,
}

/// How long, how often, how exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Policy {
    /// Seconds of wall time for the whole run.
    pub budget_seconds: f64,
    /// Rounds at most.
    pub max_rounds: u32,
    /// Samples a cell needs before it can be settled.
    pub min_samples: u32,
    /// Half-width of the 95% interval ÷ CPU time that settles a phase.
    pub half_width: f64,
    /// Seconds of CPU time one cell may take in all.
    pub cell_seconds: f64,
    /// Measure everything to the last round: no cell is settled, placed or dominated, and the budget does not end it.
    pub exhaustive: bool,
}

/// As for a study that says nothing of it.
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
        }
    }
}

/// A cell that is not in the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exclusion {
    /// The id the cell would have had, or a part of one for a whole group.
    pub cell: String,
    /// Why.
    pub reason: String,
    /// What would mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Plan {
    /// Its cells are deliveries.
    pub fn is_delivery(&self) -> bool {
        self.cells.iter().any(|c| c.delivery.is_some())
    }

    /// Its cells are clients of stores.
    pub fn is_client(&self) -> bool {
        self.cells.iter().any(|c| c.client.is_some())
    }

    /// Others run the servers of all its cells: nothing is started or metered.
    pub fn is_outside(&self) -> bool {
        !self.payloads.is_empty() && self.payloads.iter().all(|p| matches!(p.origin, Origin::Url { .. }))
    }

    /// Makes sure that the plan holds together: ids are unique, and cells name payloads and runtimes that it has.
    ///
    /// # Errors
    /// The first thing that does not.
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
                    "the plan's cell {} has a link beside slow clients, or to a URL: what leads there is its own",
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
        }
        Ok(())
    }
}
