//! One job after the other, by all cores: read, encode, decode and compare, write.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::OFlags;
use weigh_codec::Coder;

use super::each::{Memory, each};
use super::manifest::{Journal, Variant};
use super::names::append_ending;
use super::plan::{CHANGING, Job, Pending, open_source};
use super::recipe::Recipe;
use super::run::{Done, Run};
use super::settings::Settings;
use super::source::FileStamp;
use super::sum::{Short, short, sum};
use super::write::{self, ExistingEntry, there};
use weigh_model::text::clean;
use weigh_os::open_folder::OpenFolder;
use weigh_os::regular::{plain_error, whole};

/// Memory that jobs use at the same time; one that needs more runs alone.
const MEMORY: u64 = 160 << 20;
/// Coders of files below this size are kept for the next.
const SMALL: u64 = 1 << 20;

/// What became of a variant of one file.
#[derive(Debug)]
enum Made {
    /// It was written, or stood there already.
    Written(Variant),
    /// There is none; see [`Variant::sum`] and [`Variant::is_theirs`].
    Without(Variant),
    Failed(String),
    /// Nothing more can be written.
    Full(io::Error),
}

/// A variant in memory, or its length if it saves too little.
enum Encoded {
    Bytes(Vec<u8>),
    Useless(u64),
}

/// What a thread keeps from job to job.
type Coders = HashMap<usize, Box<dyn Coder>>;

impl Run<'_> {
    /// Does the jobs, and notes in the manifest what came of them.
    ///
    /// # Errors
    /// The disk is full.
    pub fn work(
        &mut self,
        pending: &[Pending],
        jobs: &[Job],
        done: &mut Done,
        tell: &mut dyn FnMut(&Done),
    ) -> io::Result<()> {
        let (root, target) = (self.root.clone(), Arc::clone(&self.target));
        let file = Arc::clone(&self.file);
        let (memory, journal) = (Memory::new(MEMORY), Journal::of(&file));
        let settings = self.ask.settings;
        let shop =
            Shop { settings, root: &root, target: &target, pending, memory: &memory, journal: &journal };
        let (threads, interrupt) = (self.ask.jobs, self.interrupt);
        let mut full = None;
        let take = |job: &Job, made: Vec<(usize, Made)>| {
            for (file, made) in made {
                let one = &pending[file];
                done.variants += 1;
                if let Made::Written(variant) = &made {
                    done.from_bytes += one.source.seen.bytes;
                    done.to_bytes += variant.bytes;
                }
                if let Some(error) = self.note(one, job.known.is_some(), made) {
                    full.get_or_insert(error);
                }
            }
            tell(done);
            full.is_none() && !interrupt.is_set()
        };
        each(threads, jobs, Coders::new, |coders, job| shop.make(coders, job), take);
        full.map_or(Ok(()), Err)
    }

    /// Notes what became of one variant; gives the error back after which nothing more can be written.
    fn note(&mut self, one: &Pending, is_taken: bool, made: Made) -> Option<io::Error> {
        let path = &one.source.path;
        let mut put = |variant: Variant| {
            if let Some(entry) = self.manifest.entries.get_mut(path) {
                entry.put(variant);
            }
        };
        match made {
            Made::Written(variant) => {
                put(Variant { former: Vec::new(), ..variant });
                self.outcome.written += 1;
                self.outcome.taken += u64::from(is_taken);
            }
            Made::Without(variant) => {
                if variant.is_theirs {
                    self.outcome.kept.add(&append_ending(path, &variant.ending));
                }
                put(variant);
            }
            Made::Failed(why) => self.outcome.fail(path, why),
            Made::Full(error) => return Some(error),
        }
        None
    }
}

struct Shop<'a> {
    settings: &'a Settings,
    root: &'a Path,
    target: &'a OpenFolder,
    pending: &'a [Pending],
    memory: &'a Memory,
    journal: &'a Journal<'a>,
}

impl Shop<'_> {
    /// A variant for each of the job's files.
    fn make(&self, coders: &mut Coders, job: &Job) -> Vec<(usize, Made)> {
        let bytes = job.files.first().map_or(0, |(file, _)| self.pending[*file].source.seen.bytes);
        let _memory = self.memory.share(self.recipe(job).memory(bytes));
        let mut made = Vec::new();
        for (at, (file, _)) in job.files.iter().enumerate() {
            match self.encoded(coders, job, &self.pending[*file]) {
                Ok(encoded) => {
                    let rest = &job.files[at..];
                    made.extend(
                        rest.iter().map(|(file, own)| (*file, self.place(job, *file, own, &encoded))),
                    );
                    break;
                }
                // Another file may still have the content.
                Err(why) => made.push((*file, Made::Failed(why))),
            }
        }
        made
    }

    fn recipe(&self, job: &Job) -> &dyn Recipe {
        &*self.settings.recipes[job.recipe]
    }

    /// The variant of a content, decoded and compared.
    fn encoded(&self, coders: &mut Coders, job: &Job, one: &Pending) -> Result<Encoded, String> {
        let settings = self.settings;
        let useful = |bytes: Vec<u8>| match settings.saves(one.source.seen.bytes, bytes.len() as u64) {
            true => Encoded::Bytes(bytes),
            false => Encoded::Useless(bytes.len() as u64),
        };
        match &job.known {
            Some((_, variant))
                if variant.sum.is_none() && !settings.saves(one.source.seen.bytes, variant.bytes) =>
            {
                return Ok(Encoded::Useless(variant.bytes));
            }
            Some((path, variant)) => {
                let known =
                    self.target.of_file(path).and_then(|(folder, name)| folder.file(name, OFlags::RDONLY));
                let known = known.and_then(|file| whole(file, variant.bytes)).ok();
                if let Some(bytes) = known.filter(|bytes| variant.sum == Some(short(&sum(bytes)))) {
                    return Ok(useful(bytes));
                }
            }
            None => {}
        }
        let source = read(self.root, one)?;
        let recipe = self.recipe(job);
        let encoded = match useful(encode(recipe, coders, job.recipe, one, source)?) {
            Encoded::Bytes(encoded) => encoded,
            useless => return Ok(useless),
        };
        let expected = usize::try_from(one.source.seen.bytes).map_err(|_| "it is too long".to_owned())?;
        let decoded = recipe.decode(&one.source.path, &encoded, expected);
        let decoded =
            decoded.map_err(|error| format!("its variant is not right: {}", clean(&format!("{error:#}"))))?;
        match sum(&decoded) == one.sum {
            true => Ok(Encoded::Bytes(encoded)),
            false => Err(format!("its variant by {} decodes to something else", job.by)),
        }
    }

    /// Puts a variant in its place, unless something of the user's stands there.
    fn place(&self, job: &Job, file: usize, own: &[Short], encoded: &Encoded) -> Made {
        let one = &self.pending[file];
        let ending = &job.ending;
        let variant = |bytes, sum: Option<Short>, is_theirs| Variant {
            ending: Arc::clone(ending),
            by: Arc::clone(&job.by),
            bytes,
            sum,
            former: own.to_vec(),
            is_theirs,
        };
        let path = append_ending(&one.source.path, ending);
        let (bytes, found) = match encoded {
            Encoded::Bytes(bytes) => (bytes, there(self.target, &path)),
            Encoded::Useless(bytes) => {
                return match there(self.target, &path) {
                    ExistingEntry::File(found) if own.contains(&found) => {
                        match write::remove(self.target, &path) {
                            Ok(()) => Made::Without(variant(*bytes, None, false)),
                            Err(error) => Made::Failed(plain_error(&error)),
                        }
                    }
                    _ => Made::Without(variant(*bytes, None, false)),
                };
            }
        };
        let (length, new) = (bytes.len() as u64, short(&sum(bytes)));
        match found {
            ExistingEntry::Other => return Made::Without(variant(length, None, true)),
            ExistingEntry::File(found) if found != new && !own.contains(&found) => {
                return Made::Without(variant(length, None, true));
            }
            _ => {}
        }
        let written = variant(length, Some(new), false);
        match self.put(&path, one, bytes, &written, found) {
            Ok(true) => Made::Written(written),
            Ok(false) => Made::Failed(CHANGING.to_owned()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Made::Without(variant(length, None, true))
            }
            Err(error) if is_full(&error) => Made::Full(error),
            Err(error) => Made::Failed(format!("its variant cannot be written: {error}")),
        }
    }

    /// Whether it was written; not if the source has changed meanwhile.
    fn put(
        &self,
        path: &Path,
        one: &Pending,
        bytes: &[u8],
        variant: &Variant,
        found: ExistingEntry,
    ) -> io::Result<bool> {
        let like = open_source(self.root, &one.source.path)?.metadata()?;
        if FileStamp::of(&like) != one.source.seen {
            return Ok(false);
        }
        write::folders(self.root, self.target, &one.source.path)?;
        self.journal.append(&one.source.path, &one.sum, variant)?;
        match found == ExistingEntry::File(variant.sum.unwrap_or_default()) {
            true => write::refresh(self.target, path, &like)?,
            false => write::put(self.target, path, bytes, &like, found != ExistingEntry::Nothing)?,
        }
        Ok(true)
    }
}

/// Whether no other file could be written either.
pub fn is_full(error: &io::Error) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem)
}

/// The content of a file, if it is still the one that was found.
fn read(root: &Path, one: &Pending) -> Result<Vec<u8>, String> {
    let plain = |error: io::Error| plain_error(&error);
    let file = open_source(root, &one.source.path).map_err(plain)?;
    let mut bytes = Vec::new();
    let length = usize::try_from(one.source.seen.bytes).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(length.saturating_add(1))
        .map_err(|_| format!("there is no memory for its {length} bytes"))?;
    file.take(one.source.seen.bytes + 1).read_to_end(&mut bytes).map_err(plain)?;
    if sum(&bytes) == one.sum { Ok(bytes) } else { Err(CHANGING.to_owned()) }
}

/// Encodes; the source is freed before the variant is decoded again.
fn encode(
    recipe: &dyn Recipe,
    coders: &mut Coders,
    at: usize,
    one: &Pending,
    source: Vec<u8>,
) -> Result<Vec<u8>, String> {
    let bytes = one.source.seen.bytes;
    let failed = |error: anyhow::Error| clean(&format!("{error:#}"));
    let keeps = recipe.keeps_coders() && bytes < SMALL;
    let mut coder = match coders.remove(&at).filter(|_| keeps) {
        Some(coder) => coder,
        None => recipe.coder(&one.source.path, bytes).map_err(failed)?,
    };
    let mut encoded = Vec::new();
    coder.encode(&source, &mut encoded).map_err(|error| failed(error.into()))?;
    if keeps {
        coders.insert(at, coder);
    }
    // The room that the encoder was offered is larger by far.
    encoded.shrink_to_fit();
    Ok(encoded)
}
