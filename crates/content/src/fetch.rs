//! Fetching: from what is asked for to what is missing, through the package clients, into the cache.
//!
//! Archives are verified before they are opened and files before they get their names. What fails is an outcome with
//! a reason, and the rest goes on. Whatever is there and verified is not fetched again, so that a second call needs
//! no network, no client and no PHP.

mod archives;
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use anyhow::Result;

use super::client::Clients;
use super::library::{Item, Library, Presence};
use super::values;

#[derive(Clone, Debug, Default)]
pub struct FetchOptions {
    pub clients: Clients,
    /// The PHP that makes values.
    pub php: Option<PathBuf>,
}

/// What is going on, for a line on a terminal (its `Display` is that line).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another run is fetching into the same cache.
    Waiting,
    /// So much is to be downloaded.
    Need {
        archives: usize,
        /// Their bytes in all.
        bytes: u64,
    },
    /// A download begins.
    Started {
        package: String,
        /// Its archive's length in bytes.
        bytes: u64,
    },
    /// A download is there and verified.
    Arrived {
        package: String,
        /// Its archive's length in bytes.
        bytes: u64,
    },
    Failed {
        package: String,
        why: String,
    },
    /// PHP values are being made.
    Making {
        /// How many, counting each form.
        values: usize,
    },
}

/// What became of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchOutcome {
    pub id: String,
    pub state: State,
}

/// The state of an entry after a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Ready,
    Fetched,
    /// Real content is there, but not the pinned bytes.
    Unpinned {
        why: String,
    },
    Failed {
        why: String,
        remedy: Option<String>,
    },
}

/// Why something did not come.
#[derive(Clone, Debug)]
pub(super) struct Reason {
    pub why: String,
    pub remedy: Option<String>,
}

/// An archive in the cache.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Set when it is not the pinned archive: why.
    superseded: Option<String>,
}

impl Library {
    /// Brings entries into the cache: those with these ids, or all when there are none. Gives one outcome for each,
    /// in the table's order. An error means that the cache itself cannot be used, or that an id is unknown.
    pub fn fetch(
        &self,
        ids: &[String],
        options: &FetchOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<FetchOutcome>> {
        ids.iter().try_for_each(|id| self.check(id))?;
        let asked: Vec<Item<'_>> =
            self.items().filter(|item| ids.is_empty() || ids.contains(&item.id())).collect();
        let before = self.absent(&asked)?;
        let mut failed = BTreeMap::new();
        if !before.is_empty() {
            self.cache.prepare()?;
            let _lock = self.cache.lock(&mut || progress(Progress::Waiting))?;
            // Another run may have fetched them while this one waited.
            let absent = self.absent(&asked)?;
            let held = self.archives(&absent, options, progress)?;
            failed = self.files(&absent, &held, options)?;
            let values: Vec<Item<'_>> =
                absent.iter().copied().filter(|item| matches!(item, Item::Value(..))).collect();
            if !values.is_empty() {
                progress(Progress::Making { values: values.len() });
                failed.append(&mut values::make(self, &values, &held, options));
            }
        }
        let missed: BTreeSet<String> = before.iter().map(|item| item.id()).collect();
        asked.into_iter().map(|item| self.outcome(item, &missed, &failed)).collect()
    }

    fn absent<'a>(&self, items: &[Item<'a>]) -> Result<Vec<Item<'a>>> {
        let mut absent = Vec::new();
        for item in items {
            if self.presence(*item)? == Presence::Absent {
                absent.push(*item);
            }
        }
        Ok(absent)
    }

    fn outcome(
        &self,
        item: Item<'_>,
        missed: &BTreeSet<String>,
        failed: &BTreeMap<String, Reason>,
    ) -> Result<FetchOutcome> {
        let id = item.id();
        let state = match (failed.get(&id), self.presence(item)?) {
            (Some(reason), _) => State::Failed { why: reason.why.clone(), remedy: reason.remedy.clone() },
            (None, Presence::Unpinned(why)) => State::Unpinned { why },
            (None, Presence::There) if missed.contains(&id) => State::Fetched,
            (None, Presence::There) => State::Ready,
            (None, Presence::Absent) => {
                State::Failed { why: "it vanished from the cache again".into(), remedy: None }
            }
        };
        Ok(FetchOutcome { id, state })
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = |bytes: &u64| *bytes as f64 / 1e6;
        match self {
            Progress::Waiting => f.write_str("waiting for another run that fetches into the same cache"),
            Progress::Need { archives, bytes } => {
                write!(f, "{archives} archives to download, {:.1} MB", mb(bytes))
            }
            Progress::Started { package, bytes } => write!(f, "fetching {package} ({:.1} MB)", mb(bytes)),
            Progress::Arrived { package, .. } => write!(f, "fetched and verified {package}"),
            Progress::Failed { package, why } => write!(f, "{package}: {why}"),
            Progress::Making { values } => write!(f, "making {values} PHP values"),
        }
    }
}

#[cfg(test)]
mod tests;
