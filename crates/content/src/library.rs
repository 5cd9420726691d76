//! The library: the corpus's table and the cache together. What is there, and bringing it to where a run wants it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use weigh_model::payload::{Origin, Payload};

use super::cache::{Cache, Note};
use super::manifest::{Family, FilePin, Manifest, ValuePin};
use super::names::file_name;
use super::source::Source;
use super::values::form::Form;
use weigh_model::suggest::nearest;
use weigh_model::text::{clean, clean_path};
use weigh_os::digest::{self, Sum};
use weigh_os::regular;

/// The corpus and its cache.
#[derive(Clone, Debug)]
pub struct Library {
    pub(super) cache: Cache,
    pub(super) manifest: Manifest,
}

/// One thing of the corpus.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    File(&'a FilePin),
    Value(&'a ValuePin, &'a Family, Form),
}

/// One thing of the corpus, described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `corpus:jquery-3.7.1.min`, `value:tree-2.4m`, `value:tree-2.4m.igbinary`.
    pub id: String,
    /// `html`, `js`, `php-value`, …
    pub kind: String,
    pub licence: String,
    /// Where a registry has it, or what it is made from.
    pub source: String,
    /// Its length in bytes; `None` for a form of a value that the table does not pin.
    pub bytes: Option<u64>,
    pub sets: Vec<String>,
}

/// Whether something is in the cache, by its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The pinned bytes, or a form made from them.
    There,
    /// Real content, but not the pinned bytes: why.
    Unpinned(String),
    Absent,
}

impl Library {
    /// The built-in corpus with its cache at this folder, which need not be there.
    pub fn open(cache: &Path) -> Result<Library> {
        Ok(Library::with(Manifest::embedded()?, cache))
    }

    pub fn with(manifest: Manifest, cache: &Path) -> Library {
        Library { cache: Cache::at(cache), manifest }
    }

    pub fn folder(&self) -> &Path {
        self.cache.root()
    }

    /// Everything, with whether it is in the cache. Digests each file, which takes a moment.
    pub fn status(&self) -> Result<Vec<(Entry, Presence)>> {
        self.items().map(|item| Ok((item.entry(), self.presence(item)?))).collect()
    }

    pub fn sets(&self) -> Vec<(String, Vec<String>)> {
        let names: BTreeSet<String> = self.items().flat_map(|item| item.sets().to_vec()).collect();
        let members =
            |set: &String| self.items().filter(|i| i.sets().contains(set)).map(|i| i.id()).collect();
        names.iter().map(|set| (set.clone(), members(set))).collect()
    }

    /// Copies something from the cache into a folder as the payload `name`, checking its digest on the way; with `family` a small value
    /// together with the other instances of its shape. The payload's blob is a path in `into`, as given.
    pub fn stage(&self, id: &str, into: &Path, name: &str, family: bool) -> Result<Payload> {
        let Some(item) = self.find(id) else { bail!("the corpus has no `{id}`") };
        let unpinned = match self.presence(item)? {
            Presence::There => None,
            Presence::Unpinned(why) => Some(why),
            Presence::Absent => {
                bail!("`{id}` is not in the cache {}: fetch the corpus", clean_path(self.folder()))
            }
        };
        let all = self.instances(item).filter(|_| family);
        let from = all.clone().unwrap_or_else(|| self.path(item));
        let blob = into.join(file_name(name));
        let sum = copy_file(&from, &blob, into)?;
        let note = self.cache.noted(&from)?;
        let expected = match item.pin() {
            _ if all.is_some() => item.pin_of_instances().or_else(|| note.as_ref().map(Note::sum)),
            Some(pin) if unpinned.is_none() => Some(pin),
            _ => note.as_ref().map(Note::sum),
        };
        let items = match (&all, note) {
            (Some(_), note) => note.map(|note| note.items).unwrap_or_default(),
            (None, _) => vec![sum.bytes],
        };
        if expected.as_ref() != Some(&sum) || items.iter().sum::<u64>() != sum.bytes {
            bail!("`{id}` in the cache {} is damaged: fetch the corpus again", clean_path(self.folder()));
        }
        Ok(Payload {
            name: name.to_owned(),
            kind: item.kind().to_owned(),
            blob,
            sha256: sum.sha256,
            bytes: sum.bytes,
            items,
            family: all.is_some(),
            value: item.is_value().then(|| Form::Serialize.word().to_owned()),
            parts: Vec::new(),
            origin: Origin::Corpus {
                id: id.to_owned(),
                licence: item.licence().to_owned(),
                source: item.source().to_string(),
                unpinned,
            },
        })
    }

    /// Makes sure that the corpus has it.
    ///
    /// # Errors
    /// One line with the nearest name: there are too many to list.
    pub fn check(&self, id: &str) -> Result<()> {
        if self.find(id).is_some() {
            return Ok(());
        }
        let all: Vec<String> = self.items().map(|item| item.id()).collect();
        let bare = |name: &str| name.split_once(':').map_or(name, |(_, bare)| bare).to_owned();
        let begins = |name: &&str| bare(name).starts_with(&bare(id));
        let names = || all.iter().map(String::as_str);
        let hint = match nearest(id, names()).or_else(|| names().find(begins)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`weigh lab corpus list` shows what it has".into(),
        };
        bail!("the corpus has no `{}`; {hint}", clean(id))
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let files = self.manifest.files.iter().map(Item::File);
        let values = self.manifest.values.iter().flat_map(|value| {
            let family = self.manifest.family(&value.family);
            family.into_iter().flat_map(move |f| Form::ALL.map(|form| Item::Value(value, f, form)))
        });
        files.chain(values)
    }

    pub(super) fn find(&self, id: &str) -> Option<Item<'_>> {
        self.items().find(|item| item.id() == id)
    }

    pub(super) fn path(&self, item: Item<'_>) -> PathBuf {
        match item {
            Item::File(pin) => self.cache.file(&pin.id),
            // With the digest in its name, a form of an earlier table is never taken for one of this.
            Item::Value(pin, _, form) => {
                self.cache.value(&format!("{}-{}", pin.id, &pin.sha256[..12]), form.word())
            }
        }
    }

    /// Where the instances of a small value are.
    pub(super) fn instances(&self, item: Item<'_>) -> Option<PathBuf> {
        let Item::Value(pin, _, form) = item else { return None };
        let all = pin.instances.as_ref()?;
        Some(self.cache.instances(&format!("{}-{}", pin.id, &all.sha256[..12]), form.word()))
    }

    /// Whether the instances of a small value are there, each with its length.
    fn has_instances(&self, item: Item<'_>) -> Result<bool> {
        let Some(path) = self.instances(item) else { return Ok(true) };
        let Some(note) = self.cache.noted(&path)? else { return Ok(false) };
        Ok(item.pin_of_instances().is_none_or(|pin| pin == note.sum()))
    }

    pub(super) fn presence(&self, item: Item<'_>) -> Result<Presence> {
        let path = self.path(item);
        if !self.has_instances(item)? {
            return Ok(Presence::Absent);
        }
        if let Some(pin) = item.pin()
            && self.cache.has(&path, &pin)?
        {
            return Ok(Presence::There);
        }
        Ok(match (self.cache.noted(&path)?, item) {
            (None, _) => Presence::Absent,
            (Some(_), Item::Value(..)) => Presence::There,
            (Some(note), Item::File(_)) => Presence::Unpinned(note.about),
        })
    }
}

impl<'a> Item<'a> {
    pub(super) fn id(self) -> String {
        match self {
            Item::File(pin) => format!("corpus:{}", pin.id),
            Item::Value(pin, _, Form::Serialize) => format!("value:{}", pin.id),
            Item::Value(pin, _, form) => format!("value:{}.{}", pin.id, form.word()),
        }
    }

    /// What the table pins of it.
    pub(super) fn pin(self) -> Option<Sum> {
        match self {
            Item::File(pin) => Some(Sum { bytes: pin.bytes, sha256: pin.sha256.clone() }),
            Item::Value(pin, _, Form::Serialize) => {
                Some(Sum { bytes: pin.bytes, sha256: pin.sha256.clone() })
            }
            Item::Value(..) => None,
        }
    }

    /// What the table pins of the instances of a small value.
    pub(super) fn pin_of_instances(self) -> Option<Sum> {
        let Item::Value(pin, _, Form::Serialize) = self else { return None };
        pin.instances.as_ref().map(|all| Sum { bytes: all.bytes, sha256: all.sha256.clone() })
    }

    pub(super) fn source(self) -> &'a Source {
        match self {
            Item::File(pin) => &pin.source,
            Item::Value(_, family, _) => &family.source,
        }
    }

    pub(super) fn kind(self) -> &'a str {
        match self {
            Item::File(pin) => &pin.kind,
            Item::Value(_, _, form) => form.kind(),
        }
    }

    /// The length that the table gives; for an unpinned form that of the serialization, which is near it.
    pub(super) fn about_bytes(self) -> u64 {
        match self {
            Item::File(pin) => pin.bytes,
            Item::Value(pin, ..) => pin.bytes,
        }
    }

    pub(super) fn is_value(self) -> bool {
        matches!(self, Item::Value(_, _, Form::Serialize))
    }

    /// Only the `serialize` form is in the sets: the others are the same value again.
    pub(super) fn sets(self) -> &'a [String] {
        match self {
            Item::File(pin) => &pin.sets,
            Item::Value(pin, _, Form::Serialize) => &pin.sets,
            Item::Value(..) => &[],
        }
    }

    fn licence(self) -> &'a str {
        match self {
            Item::File(pin) => &pin.licence,
            Item::Value(_, family, _) => &family.licence,
        }
    }

    fn entry(self) -> Entry {
        Entry {
            id: self.id(),
            kind: self.kind().to_owned(),
            licence: self.licence().to_owned(),
            source: self.source().to_string(),
            bytes: self.pin().map(|pin| pin.bytes),
            sets: self.sets().to_vec(),
        }
    }
}

/// Copies a file through a temporary one in `into`, which is made if it is missing.
fn copy_file(from: &Path, to: &Path, into: &Path) -> Result<Sum> {
    let fail = || format!("cannot write in {}", clean_path(into));
    fs::create_dir_all(into).with_context(fail)?;
    let mut fresh = tempfile::NamedTempFile::new_in(into).with_context(fail)?;
    let mut source = regular::open(from).with_context(|| format!("cannot read {}", clean_path(from)))?;
    let sum = digest::copy(&mut source, &mut fresh, u64::MAX).with_context(fail)?;
    fresh.persist(to).with_context(fail)?;
    Ok(sum)
}
