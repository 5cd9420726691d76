//! Archives: downloaded a few at a time, verified, and put into the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError, mpsc};

use anyhow::{Context, Result, bail};

use super::types::{FetchOptions, Held, Progress, Reason};
use crate::cache::Note;
use crate::client::{Archive, Clients};
use crate::library::{Item, Library};
use crate::manifest::ArchivePin;
use crate::source::Registry;
use weigh_os::digest::{self, Sum};

/// Downloads at the same time: a client mostly waits.
const AT_ONCE: usize = 3;

/// The registries that are out of reach: no further package is asked of them.
#[derive(Default)]
struct Unreachable(Mutex<BTreeMap<Registry, Reason>>);

impl Unreachable {
    fn note(&self, registry: Registry, reason: &Reason) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(registry).or_insert_with(|| reason.clone());
    }

    fn check(&self, registry: Registry) -> Result<(), Reason> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&registry).map_or(Ok(()), |reason| {
            let why = format!("not tried, because {}", reason.why);
            Err(Reason { why, remedy: reason.remedy.clone() })
        })
    }
}

impl Library {
    /// Brings the archives that these items need.
    pub(super) fn archives(
        &self,
        items: &[Item<'_>],
        options: &FetchOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<BTreeMap<String, Result<Held, Reason>>> {
        let packages: BTreeSet<_> = items.iter().map(|item| item.source().package.clone()).collect();
        let pins = packages.iter().filter_map(|package| self.manifest.archive(package));
        let mut held = BTreeMap::new();
        let mut wanted = Vec::new();
        for pin in pins {
            match self.held(pin)? {
                Some(have) => drop(held.insert(pin.source.to_string(), Ok(have))),
                None => wanted.push(pin),
            }
        }
        if wanted.is_empty() {
            return Ok(held);
        }
        progress(Progress::Need { archives: wanted.len(), bytes: wanted.iter().map(|pin| pin.bytes).sum() });
        let queue = Mutex::new(wanted.into_iter());
        let unreachable = Unreachable::default();
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                let tell = tell.clone();
                scope.spawn(|| {
                    let tell = tell;
                    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    while let Some(pin) = next() {
                        let result = unreachable.check(pin.source.registry).and_then(|()| {
                            let _ = tell.send((pin, None));
                            self.download(pin, &options.clients, &unreachable)
                        });
                        let _ = tell.send((pin, Some(result)));
                    }
                });
            }
            drop(tell);
            for (pin, result) in told {
                let (package, bytes) = (pin.source.to_string(), pin.bytes);
                progress(match &result {
                    None => Progress::Started { package: package.clone(), bytes },
                    Some(Ok(_)) => Progress::Arrived { package: package.clone(), bytes },
                    Some(Err(reason)) => {
                        Progress::Failed { package: package.clone(), why: reason.why.clone() }
                    }
                });
                if let Some(result) = result {
                    held.insert(package, result);
                }
            }
        });
        Ok(held)
    }

    /// The archive as it is in the cache, if it is.
    fn held(&self, pin: &ArchivePin) -> Result<Option<Held>> {
        let path = self.cache.archive(&pin.source);
        if self.cache.has(&path, &Sum { bytes: pin.bytes, sha256: pin.sha256.clone() })? {
            return Ok(Some(Held { superseded: None }));
        }
        Ok(self.cache.noted(&path)?.map(|note| Held { superseded: Some(note.about) }))
    }

    fn download(
        &self,
        pin: &ArchivePin,
        clients: &Clients,
        unreachable: &Unreachable,
    ) -> Result<Held, Reason> {
        let broken = |error: anyhow::Error| Reason { why: format!("{error:#}"), remedy: None };
        let work = self.cache.scratch().map_err(broken)?;
        let archive = clients.download(&pin.source, work.path()).map_err(|error| {
            let reason = Reason { why: error.reason, remedy: error.remedy };
            if error.unreachable {
                unreachable.note(pin.source.registry, &reason);
            }
            reason
        })?;
        self.admit(pin, &archive).map_err(broken)
    }

    /// Checks an archive and gives it its place.
    fn admit(&self, pin: &ArchivePin, archive: &Archive) -> Result<Held> {
        let place = self.cache.archive(&pin.source);
        let sum = digest::of_file(&archive.path)?.context("the client's archive vanished")?;
        if (sum.bytes, &sum.sha256) == (pin.bytes, &pin.sha256) {
            self.cache.install(&archive.path, &place, None)?;
            return Ok(Held { superseded: None });
        }
        let seen = format!("{} bytes with SHA-256 {}…", sum.bytes, &sum.sha256[..12]);
        if pin.source.registry.is_stable() {
            bail!("the archive is not the pinned one: {seen}, pinned are {} bytes", pin.bytes);
        }
        let about = format!("the registry now has {} {}", pin.source.name, archive.version);
        let note = Note { bytes: sum.bytes, sha256: sum.sha256, about: about.clone(), items: Vec::new() };
        self.cache.install(&archive.path, &place, Some(&note))?;
        Ok(Held { superseded: Some(about) })
    }
}
