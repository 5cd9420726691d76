//! What is to do: the tree beside the manifest. Files that look as they did are not read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use sha2::{Digest, Sha256};

use super::each::each;
use super::manifest::{Entry, Variant};
use super::names::{MAP_ENDING, append_ending};
use super::run::Run;
use super::source::{FileStamp, Source};
use super::sum::{Short, Sum};
use super::walk::{self, TreeEntry};
use super::write::{self, ExistingEntry, there};
use weigh_content::saving;
use weigh_load::verify::is_text;
use weigh_os::digest::BUFFER;
use weigh_os::regular::{open_below, plain_error};

/// What is said of a file that is not the same from one moment to the next.
pub const CHANGING: &str = "it changed while it was read; its variants are made by the next run";
const STOPPED: &str = "interrupted";
/// How often a file that changes while it is read is read again.
const READS: usize = 3;

/// A file that has something to do, with its content.
#[derive(Clone, Debug)]
pub struct Pending {
    pub source: Source,
    pub sum: Sum,
    /// The share that a trial saves of it, if there was one.
    pub saving: Option<f64>,
}

/// A variant to be made, for all files with the same content.
#[derive(Debug)]
pub struct Job {
    pub recipe: usize,
    pub by: Arc<str>,
    /// What is added to names.
    pub ending: Arc<str>,
    /// The files, by their places among those pending, each with what this program may have left at the variant's place.
    pub files: Vec<(usize, Vec<Short>)>,
    /// The same variant of the same content, where it was made before.
    pub known: Option<(PathBuf, Variant)>,
    /// The seconds that it takes, roughly.
    pub seconds: f64,
}

/// What was found when a file was read.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// Its content; zeros of a file that is not worth encoding, which is not read to its end.
    pub sum: Sum,
    /// What the file system says of it.
    pub seen: FileStamp,
    /// The share that a trial saves of it, if there was one: text is not tried.
    pub saving: Option<f64>,
}

/// Opens a file of the tree; a link may lead out of it to what everybody may read.
///
/// # Errors
/// As [`open_below`].
pub fn open_source(root: &Path, path: &Path) -> io::Result<File> {
    open_below((root, &[], true), &root.join(path))
}

/// Reads a file of the tree; one that a trial saves less than `least` of, if that is given, only as far as the trial needs. A file that changes
/// meanwhile is read again.
///
/// # Errors
/// It cannot be read, or does not stop to change.
pub fn content(root: &Path, path: &Path, least: Option<f64>) -> io::Result<Content> {
    for _ in 0..READS {
        let mut file = open_source(root, path)?;
        let before = FileStamp::of(&file.metadata()?);
        let head = saving::head(&mut file)?;
        let saving = least.filter(|_| !is_text(&head)).map(|_| saving::share(&head));
        let is_dense = saving.zip(least).is_some_and(|(saving, least)| saving < least);
        let sum = if is_dense { Sum::default() } else { digest_rest(head, &mut file, before.bytes)? };
        if FileStamp::of(&file.metadata()?) == before {
            return Ok(Content { sum, seen: before, saving });
        }
    }
    Err(io::Error::other(CHANGING))
}

/// The digest of a file of this length whose first bytes were read already.
fn digest_rest(head: Vec<u8>, file: &mut impl Read, bytes: u64) -> io::Result<Sum> {
    let (mut digest, mut buffer) = (Sha256::new_with_prefix(&head), head);
    buffer.resize(BUFFER.min(bytes as usize + 1), 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest.finalize().into()),
            got => digest.update(&buffer[..got]),
        }
    }
}

impl Run<'_> {
    /// Walks the tree: the files that look different. What a killed run left goes.
    pub fn look(&mut self) -> Result<Vec<Source>> {
        let (root, target) = (self.root.clone(), self.target.path().to_owned());
        let (mut changed, mut unreadable, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        let skip = (root != target).then_some(target.as_path());
        walk::walk(&root, skip, &mut |met| {
            anyhow::ensure!(!self.interrupt.is_set(), STOPPED);
            match met {
                TreeEntry::Source(source) => changed.extend(self.looks_changed(source)),
                TreeEntry::Draft(path) if root == target => self.sweep(&path),
                TreeEntry::Folder(folder) if root != target => {
                    let folder = folder.strip_prefix(&root).unwrap_or(&folder);
                    walk::drafts(&target, folder).iter().for_each(|path| self.sweep(path));
                }
                TreeEntry::Draft(_) | TreeEntry::Folder(_) => {}
                TreeEntry::LeftOut(path, why) => self.outcome.leave(&path, why),
                TreeEntry::Variant(path) => beside.push(path),
                TreeEntry::Link(path) => self.outcome.links.add(&path),
                TreeEntry::Failed(path, error) => {
                    self.outcome.fail(&path, plain_error(&error));
                    unreadable.push(path);
                }
            }
            Ok(())
        })?;
        // Of what cannot be looked at nothing is known: what was written for it stays.
        for path in unreadable {
            let below = self.manifest.entries.iter_mut().filter(|(own, _)| own.starts_with(&path));
            below.for_each(|(_, entry)| entry.is_there = true);
        }
        self.beside = beside;
        Ok(changed)
    }

    fn sweep(&mut self, draft: &Path) {
        if !self.ask.dry_run {
            let _ = write::remove(&self.target, draft);
        }
    }

    /// Gives the file back if there may be something to do.
    fn looks_changed(&mut self, mut source: Source) -> Option<Source> {
        let settings = self.ask.settings;
        let entry = self.manifest.entries.get_mut(&source.path);
        let known = entry.as_ref().filter(|entry| entry.seen == source.seen);
        source.is_worth = settings.is_worth(&source, known.map(|entry| entry.saving));
        let has_wanted = settings.wanted(&source).next().is_some();
        if !has_wanted {
            self.outcome.leave(&source.path, settings.refusal(&source));
        }
        if let Some(entry) = entry {
            entry.is_there = true;
        } else if !has_wanted {
            return None;
        }
        self.outcome.files += u64::from(has_wanted);
        let entry = self.manifest.entries.get(&source.path);
        if entry.is_some_and(|entry| entry.seen == source.seen && self.is_whole(&source, entry)) {
            self.outcome.unchanged += u64::from(has_wanted);
            entry.into_iter().flat_map(|entry| &entry.variants).filter(|one| one.is_theirs).for_each(|one| {
                self.outcome.kept.add(&append_ending(&source.path, &one.ending));
            });
            return None;
        }
        Some(source)
    }

    /// Whether a file's variants look as they were written, and are those that are wanted.
    fn is_whole(&self, source: &Source, entry: &Entry) -> bool {
        let settings = self.ask.settings;
        let mut wanted = 0;
        for at in settings.wanted(source) {
            wanted += 1;
            let recipe = &settings.recipes[at];
            let Some(variant) = entry.variant(&recipe.ending(&source.path)) else { return false };
            let is_written = variant.sum.is_some();
            let is_right = *variant.by == *recipe.by(&source.path)
                && (variant.is_theirs || is_written == settings.saves(source.seen.bytes, variant.bytes));
            if !is_right || !self.looks_whole(source, variant) {
                return false;
            }
        }
        let maps = entry.variant(MAP_ENDING);
        let needs_map = settings.type_map.is_some() && entry.variants.iter().any(|one| one.sum.is_some());
        let has_right_map =
            maps.is_some() == needs_map && maps.is_none_or(|map| self.looks_whole(source, map));
        has_right_map && entry.variants.len() == wanted + usize::from(maps.is_some())
    }

    fn looks_whole(&self, source: &Source, variant: &Variant) -> bool {
        let path = self.target.path().join(append_ending(&source.path, &variant.ending));
        let meta = path.symlink_metadata().ok();
        match (variant.sum, meta) {
            (None, meta) => !variant.is_theirs || meta.is_some(),
            (Some(_), Some(meta)) => {
                let seen = FileStamp::of(&meta);
                meta.is_file()
                    && (seen.bytes, seen.mtime) == (variant.bytes, source.seen.mtime)
                    && variant.former.is_empty()
            }
            (Some(_), None) => false,
        }
    }

    pub fn read(&mut self, sources: &[Source]) -> Vec<Pending> {
        let (root, interrupt) = (self.root.clone(), self.interrupt);
        let (settings, mut read) = (self.ask.settings, HashMap::<Arc<Path>, Content>::new());
        each(
            self.ask.jobs,
            sources,
            || (),
            |(), source| content(&root, &source.path, settings.trial(source)),
            |source, found| {
                match found {
                    Ok(found) => drop(read.insert(Arc::clone(&source.path), found)),
                    Err(error) => self.outcome.fail(&source.path, plain_error(&error)),
                }
                !interrupt.is_set()
            },
        );
        let mut pending = Vec::new();
        for source in sources {
            let Some(Content { sum, seen, saving }) = read.get(&source.path).copied() else { continue };
            let had_wanted = settings.wanted(source).next().is_some();
            let mut source = Source { seen, ..source.clone() };
            source.is_worth = settings.is_worth(&source, Some(saving));
            if had_wanted && settings.wanted(&source).next().is_none() {
                self.outcome.files -= 1;
                self.outcome.leave(&source.path, settings.refusal(&source));
            }
            pending.push(Pending { source, sum, saving });
        }
        pending
    }

    /// The jobs, the longest first. What is stale goes at once, so that no server sends it.
    pub fn jobs(&mut self, pending: &[Pending]) -> Vec<Job> {
        let known = self.known(pending);
        let mut jobs: Vec<Job> = Vec::new();
        let mut by_content: HashMap<(Sum, usize, Arc<str>), usize> = HashMap::new();
        for (file, one) in pending.iter().enumerate() {
            for (recipe, by, own) in self.lacks(one) {
                let at = *by_content.entry((one.sum, recipe, Arc::clone(&by))).or_insert_with(|| {
                    let ending =
                        self.manifest.word(&self.ask.settings.recipes[recipe].ending(&one.source.path));
                    let known = known.get(&one.sum).and_then(|path| {
                        let entry = self.manifest.entries.get(path)?;
                        let variant = entry.variant(&ending)?;
                        let is_same = entry.sum == one.sum && variant.by == by && !variant.is_theirs;
                        is_same.then(|| (append_ending(path, &ending), variant.clone()))
                    });
                    let encodes = f64::from(u8::from(known.is_none()));
                    let seconds = encodes * self.ask.settings.recipes[recipe].seconds(one.source.seen.bytes);
                    jobs.push(Job { recipe, by, ending, files: Vec::new(), known, seconds });
                    jobs.len() - 1
                });
                jobs[at].files.push((file, own));
            }
        }
        jobs.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        jobs
    }

    /// Files of the manifest that have the content of one that is pending.
    fn known(&self, pending: &[Pending]) -> HashMap<Sum, Arc<Path>> {
        let sums: HashSet<Sum> = pending.iter().map(|one| one.sum).collect();
        let entries = self.manifest.entries.iter().filter(|(_, entry)| sums.contains(&entry.sum));
        entries.map(|(path, entry)| (entry.sum, Arc::clone(path))).collect()
    }

    /// The variants that a file lacks, each with what this program may have left at its place. The manifest has the file afterwards:
    /// as long as it lacks some, every run looks at it again.
    fn lacks(&mut self, one: &Pending) -> Vec<(usize, Arc<str>, Vec<Short>)> {
        let settings = self.ask.settings;
        let path = &one.source.path;
        let former = self.manifest.entries.remove(path).unwrap_or_default();
        let (seen, saving) = (one.source.seen, one.saving);
        let mut entry = Entry { sum: one.sum, seen, saving, variants: Vec::new(), is_there: true };
        let mut lacks = Vec::new();
        let mut wanted: HashSet<Cow<'static, str>> = HashSet::new();
        for at in settings.wanted(&one.source) {
            let recipe = &settings.recipes[at];
            let ending = recipe.ending(path);
            let by = self.manifest.word(&recipe.by(path));
            let variant = former.variant(&ending).filter(|_| former.sum == one.sum);
            wanted.insert(ending);
            match variant {
                Some(variant) if variant.by == by && self.stays(one, variant) => {
                    entry.variants.push(Variant { former: Vec::new(), ..variant.clone() });
                }
                Some(variant) if variant.by == by && variant.sum.is_some() && !self.saves(one, variant) => {
                    self.remove(path, variant);
                    entry.variants.push(Variant { sum: None, former: Vec::new(), ..variant.clone() });
                }
                Some(variant) => {
                    lacks.push((at, by, variant.sum.iter().chain(&variant.former).copied().collect()))
                }
                None => lacks.push((at, by, Vec::new())),
            }
        }
        let is_map = |variant: &Variant| &*variant.ending == MAP_ENDING && settings.type_map.is_some();
        for variant in former.variants {
            match former.sum == one.sum && wanted.contains(&*variant.ending) {
                // A map is written anew when its variants are.
                _ if is_map(&variant) => entry.variants.push(variant),
                true => {}
                false => self.remove(path, &variant),
            }
        }
        self.manifest.is_changed = true;
        if !entry.variants.is_empty() || !lacks.is_empty() || saving.is_some() {
            entry.variants.reserve_exact(lacks.len());
            self.manifest.entries.insert(Arc::clone(path), entry);
        }
        lacks
    }

    fn saves(&self, one: &Pending, variant: &Variant) -> bool {
        self.ask.settings.saves(one.source.seen.bytes, variant.bytes)
    }

    /// Whether a variant of the same content by the same encoder is fine as it is; its attributes are made those of the source.
    fn stays(&mut self, one: &Pending, variant: &Variant) -> bool {
        let path = append_ending(&one.source.path, &variant.ending);
        let saves = self.saves(one, variant);
        match (variant.sum, there(&self.target, &path)) {
            (None, ExistingEntry::Nothing) => !variant.is_theirs && !saves,
            (None, _) if variant.is_theirs => {
                self.outcome.kept.add(&path);
                true
            }
            (None, _) => !saves,
            (Some(sum), ExistingEntry::File(found)) if saves && sum == found => {
                let like = open_source(&self.root, &one.source.path).and_then(|source| source.metadata());
                self.ask.dry_run || like.and_then(|like| write::refresh(&self.target, &path, &like)).is_ok()
            }
            (Some(_), _) => false,
        }
    }

    /// Removes a variant, if it is the program's own.
    pub fn remove(&mut self, path: &Path, variant: &Variant) {
        let below = append_ending(path, &variant.ending);
        match there(&self.target, &below) {
            ExistingEntry::Nothing => {}
            _ if variant.sum.is_none() => {}
            ExistingEntry::File(sum) if variant.is_own(&sum) => {
                let removed = if self.ask.dry_run { Ok(()) } else { write::remove(&self.target, &below) };
                match removed {
                    Ok(()) => self.outcome.removed += 1,
                    Err(error) => self.outcome.fail(&below, format!("cannot be removed: {error}")),
                }
            }
            ExistingEntry::File(_) | ExistingEntry::Other => self.outcome.kept.add(&below),
        }
    }

    /// Removes the variants of files that are gone, and folders of a mirrored tree that are empty then.
    pub fn prune(&mut self) {
        let gone: Vec<Arc<Path>> = self
            .manifest
            .entries
            .iter()
            .filter(|(_, entry)| !entry.is_there)
            .map(|(path, _)| Arc::clone(path))
            .collect();
        for path in gone {
            let Some(entry) = self.manifest.entries.remove(&path) else { continue };
            self.manifest.is_changed = true;
            entry.variants.iter().for_each(|variant| self.remove(&path, variant));
            if self.root != self.target.path() && !self.ask.dry_run {
                let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
                // One that is not empty stays.
                let _ = folders
                    .map(|folder| {
                        self.target.of_file(folder).and_then(|(above, name)| above.remove(name, true))
                    })
                    .take_while(Result::is_ok)
                    .count();
            }
        }
    }
}
