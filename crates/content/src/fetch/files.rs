//! Files: taken out of verified archives, verified themselves, and put into the cache.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::types::{FetchOptions, Held, Reason};
use crate::archive::{Next, visit};
use crate::cache::Note;
use crate::library::{Item, Library};
use weigh_os::digest;

/// The most bytes of one file that is not the pinned one.
const MOST_UNPINNED: u64 = 64 << 20;

impl Library {
    /// Takes files out of archives; gives the reason for each that could not be.
    pub(super) fn files(
        &self,
        items: &[Item<'_>],
        held: &BTreeMap<String, Result<Held, Reason>>,
        options: &FetchOptions,
    ) -> Result<BTreeMap<String, Reason>> {
        let mut failed = BTreeMap::new();
        let mut by_package: BTreeMap<String, Vec<Item<'_>>> = BTreeMap::new();
        for item in items.iter().filter(|item| matches!(item, Item::File(_))) {
            by_package.entry(item.source().package.to_string()).or_default().push(*item);
        }
        let scratch = self.cache.scratch()?;
        for (package, mut files) in by_package {
            match held.get(&package) {
                Some(Ok(have)) => {
                    let taken = self.unpack(&mut files, have, scratch.path(), options, &mut failed);
                    let why = taken.err().map_or("it is not in the archive".into(), |e| format!("{e:#}"));
                    for item in files {
                        let reason = Reason { why: why.clone(), remedy: None };
                        failed.entry(item.id()).or_insert(reason);
                    }
                }
                Some(Err(reason)) => failed.extend(files.iter().map(|item| (item.id(), reason.clone()))),
                None => {}
            }
        }
        Ok(failed)
    }

    /// Takes files out of one archive; those that were found leave `files`.
    fn unpack(
        &self,
        files: &mut Vec<Item<'_>>,
        have: &Held,
        scratch: &Path,
        options: &FetchOptions,
        failed: &mut BTreeMap<String, Reason>,
    ) -> Result<()> {
        let Some(package) = files.first().map(|item| &item.source().package) else { return Ok(()) };
        let archive = self.cache.archive(package);
        visit(&archive, package.registry, &options.clients, &mut |path, read| {
            let found = files.iter().position(|item| item.source().path == path);
            if let Some(item) = found.map(|at| files.swap_remove(at))
                && let Err(error) = self.take(item, read, have, scratch)
            {
                failed.insert(item.id(), Reason { why: format!("{error:#}"), remedy: None });
            }
            Ok(if files.is_empty() { Next::Done } else { Next::More })
        })
    }

    fn take(&self, item: Item<'_>, read: &mut dyn Read, have: &Held, scratch: &Path) -> Result<()> {
        let Some(pin) = item.pin() else { bail!("it is not pinned") };
        let limit = if have.superseded.is_some() { MOST_UNPINNED } else { pin.bytes };
        let fresh = scratch.join("member");
        let mut out = File::create(&fresh).context("cannot write in the cache")?;
        let sum = digest::copy(read, &mut out, limit).context("taking it out of the archive")?;
        let note = match &have.superseded {
            _ if sum == pin => None,
            Some(why) => {
                let about = format!("{why}, where this file is not the pinned one");
                Some(Note { bytes: sum.bytes, sha256: sum.sha256, about, items: Vec::new() })
            }
            None => bail!("it is not the pinned file: SHA-256 {}…", &sum.sha256[..12]),
        };
        self.cache.install(&fresh, &self.path(item), note.as_ref())
    }
}
