//! Fetching: from what is asked for to what is missing, through the package clients, into the cache.
//!
//! Archives are verified before they are opened and files before they get their names. What fails is an outcome with
//! a reason, and the rest goes on. Whatever is there and verified is not fetched again, so that a second call needs
//! no network, no client and no PHP.

mod archives;
mod files;
pub mod types;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::library::{Item, Library, Presence};
use super::values;
use types::{FetchOptions, FetchOutcome, Progress, Reason, State};

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

#[cfg(test)]
mod tests;
