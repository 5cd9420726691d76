//! Fetching: from what is asked for to what is missing, through the package clients, into the cache.
//!
//! Archives are verified before they are opened and files before they get their names. What fails is an outcome with
//! a reason, and the rest goes on. Whatever is there and verified is not fetched again, so that a second call needs
//! no network, no client and no PHP.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};

use anyhow::{Context, Result};

use super::archive::{Next, visit};
use super::cache::Note;
use super::client::{Archive, Clients};
use super::digest::{self, Sum};
use super::library::{Item, Library, Presence};
use super::manifest::ArchivePin;
use super::source::Registry;
use super::values;

/// Downloads at the same time: a client mostly waits.
const AT_ONCE: usize = 3;
/// The most bytes of one file that is not the pinned one.
const MOST_UNPINNED: u64 = 64 << 20;

/// What fetching works with.
#[derive(Clone, Debug, Default)]
pub struct FetchOptions {
    /// The package clients.
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
        /// Archives.
        archives: usize,
        /// Their bytes in all.
        bytes: u64,
    },
    /// A download begins.
    Started {
        /// The package.
        package: String,
        /// Its archive's length in bytes.
        bytes: u64,
    },
    /// A download is there and verified.
    Arrived {
        /// The package.
        package: String,
        /// Its archive's length in bytes.
        bytes: u64,
    },
    /// A download failed.
    Failed {
        /// The package.
        package: String,
        /// One line.
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
    /// The entry's id.
    pub id: String,
    /// Its state now.
    pub state: State,
}

/// The state of an entry after a fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It was there before.
    Ready,
    /// It is there now.
    Fetched,
    /// Real content is there, but not the pinned bytes.
    Unpinned {
        /// Why.
        why: String,
    },
    /// It is not there.
    Failed {
        /// One line.
        why: String,
        /// What would mend it.
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
        for id in ids {
            self.find(id).with_context(|| format!("the corpus has no `{id}`"))?;
        }
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

    /// Brings the archives that these items need.
    fn archives(
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
        let unreachable = Mutex::new(BTreeMap::<Registry, String>::new());
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                let tell = tell.clone();
                scope.spawn(|| {
                    let tell = tell;
                    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    while let Some(pin) = next() {
                        let _ = tell.send((pin, None));
                        let result = self.download(pin, &options.clients, &unreachable);
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
        unreachable: &Mutex<BTreeMap<Registry, String>>,
    ) -> Result<Held, Reason> {
        let registry = pin.source.registry;
        let known = || unreachable.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = known().get(&registry) {
            let remedy = Some("fetch again when it can be reached".into());
            return Err(Reason { why: format!("not tried, because {why}"), remedy });
        }
        let broken = |error: anyhow::Error| Reason { why: format!("{error:#}"), remedy: None };
        let work = self.cache.scratch().map_err(broken)?;
        let archive = clients.download(&pin.source, work.path()).map_err(|error| {
            if error.unreachable {
                known().entry(registry).or_insert_with(|| error.reason.clone());
            }
            Reason { why: error.reason, remedy: error.remedy }
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
            anyhow::bail!("the archive is not the pinned one: {seen}, pinned are {} bytes", pin.bytes);
        }
        let about = format!("the registry now has {} {}", pin.source.name, archive.version);
        let note = Note { bytes: sum.bytes, sha256: sum.sha256, about: about.clone() };
        self.cache.install(&archive.path, &place, Some(&note))?;
        Ok(Held { superseded: Some(about) })
    }

    /// Takes files out of archives; gives the reason for each that could not be.
    fn files(
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
        visit(&archive, package.registry, &options.clients.dpkg_deb, &mut |path, read| {
            let found = files.iter().position(|item| item.source().path == path);
            if let Some(item) = found.map(|at| files.swap_remove(at))
                && let Err(error) = self.take(item, read, have, scratch)
            {
                failed.insert(item.id(), Reason { why: format!("{error:#}"), remedy: None });
            }
            Ok(if files.is_empty() { Next::Done } else { Next::More })
        })
    }

    fn take(&self, item: Item<'_>, read: &mut dyn std::io::Read, have: &Held, scratch: &Path) -> Result<()> {
        let Some(pin) = item.pin() else { anyhow::bail!("it is not pinned") };
        let limit = if have.superseded.is_some() { MOST_UNPINNED } else { pin.bytes };
        let fresh = scratch.join("member");
        let mut out = std::fs::File::create(&fresh).context("cannot write in the cache")?;
        let sum = digest::copy(read, &mut out, limit).context("taking it out of the archive")?;
        let note = match &have.superseded {
            _ if sum == pin => None,
            Some(why) => {
                let about = format!("{why}, where this file is not the pinned one");
                Some(Note { bytes: sum.bytes, sha256: sum.sha256, about })
            }
            None => anyhow::bail!("it is not the pinned file: SHA-256 {}…", &sum.sha256[..12]),
        };
        self.cache.install(&fresh, &self.path(item), note.as_ref())
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
