//! The user's own content: a file is a payload, a folder is a payload whose items are its files.
//!
//! Owns which parts of it are measured and which are left out, and says both. Copies in a stream, so that memory does not grow
//! with the content. Refuses to follow links inside a folder, and to open anything but regular files.

mod list;
mod pieces;
mod sample;
mod walk;

pub use walk::{Found, Links, visit};

use std::fs::{self, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use weigh_model::payload::{Origin, Payload, PayloadPart};

use super::kind;
use super::names::{Names, file_name};
use super::serialized::{self, Serialized};
use super::values::form::Form;
use pieces::{Piece, Selection};
use sample::{Frame, Group, deal};
use weigh_model::text::{clean, clean_path};
use weigh_os::digest::{self, BUFFER};
use weigh_os::regular::{self, plain_error, special};

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of one payload; of more, stated blocks are measured.
    pub max_bytes: u64,
    /// The length of those blocks.
    pub sample_block: u64,
    /// Cut every file into items of this length (the last may be shorter), as for dictionaries and small values.
    pub block: Option<u64>,
    /// The most items of one payload.
    pub max_items: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_bytes: 64 << 20, sample_block: 1 << 20, block: None, max_items: 8192 }
    }
}

/// What is taken of many files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Extent {
    /// All of them within the limits, else some at even distances.
    #[default]
    Even,
    /// All of them within the limits, else a sample whose totals are this exact, as far as the limits allow.
    Fitting(f64),
    /// A sample whose totals are this exact: half the width of their 95% interval, as a share of them.
    Within(f64),
    /// All of them, in parts where they do not fit.
    Every,
}

/// Content of the user's as it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// A file, a folder, or a list of files.
    pub path: PathBuf,
    /// It is a file with one path per line, or with a NUL after each.
    pub is_list: bool,
    /// What is taken of many files.
    pub extent: Extent,
    /// Many files are measured in parts even within the limits.
    pub is_parted: bool,
}

impl Wanted {
    /// A file or folder, within the limits.
    pub fn path(path: impl Into<PathBuf>) -> Wanted {
        Wanted { path: path.into(), is_list: false, extent: Extent::Even, is_parted: false }
    }
}

/// The most items of a part, and about the most bytes: a task for a worker.
const PART: (usize, u64) = (256, 16 << 20);
/// The most files where all of them are asked for: the plan has the length of each.
const MOST_EXACT: usize = 1_000_000;
/// The most bytes of a sample whose error was asked for.
const MOST_SAMPLED: u64 = 1 << 30;

/// A payload of the user's, with what the user should know.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The payload; its blob is a path in the folder asked for, as given.
    pub payload: Payload,
    pub notes: Vec<Note>,
}

/// Something that was left out, for a line on a terminal (its `Display` is that line).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    Skipped {
        count: u64,
        what: &'static str,
        example: PathBuf,
    },
    /// Measured as bytes, although PHP serialized it.
    Bytes {
        path: PathBuf,
        /// What is in it that a value may not have.
        what: String,
    },
    Unreadable {
        path: PathBuf,
        why: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Skipped { count, what, example } => {
                let one = singular(what).filter(|_| *count == 1);
                let what = one.as_deref().unwrap_or(what);
                write!(f, "left out {count} {what}, such as {}", clean_path(example))
            }
            Note::Bytes { path, what } => write!(
                f,
                "{} is measured as bytes: its value has {}; a PHP value may have arrays and stdClass only",
                clean_path(path),
                clean(what)
            ),
            Note::Unreadable { path, why } => write!(f, "left out {}: {why}", clean_path(path)),
        }
    }
}

/// `symbolic links out of the folder` of one; none of `hidden files and folders`.
fn singular(what: &str) -> Option<String> {
    let ends = [" of ", " out ", " to ", " beyond ", " that "].iter().filter_map(|word| what.find(word));
    let (noun, rest) = what.split_at(ends.min().unwrap_or(what.len()));
    (!what.contains(" and ")).then(|| Some(format!("{}{rest}", noun.strip_suffix('s')?))).flatten()
}

/// The regular files with content of a folder, with their lengths, and which part of it is left out; `output` is where this program
/// writes. Links are not followed.
pub fn files(folder: &Path, output: &Path) -> (Vec<Found>, Vec<Note>) {
    let many = Many { wanted: &Wanted::path(folder), output };
    // Only a list can fail as a whole.
    many.files(walk::MOST_FILES).unwrap_or_default()
}

/// Copies a file, a folder or the files of a list into `into` as one payload. Errors are one line that says what to do.
pub fn stage(wanted: &Wanted, into: &Path, limits: &Limits, names: &mut Names) -> Result<Staged> {
    let path = &wanted.path;
    let named = clean_path(path);
    if limits.block == Some(0) || limits.sample_block == 0 || limits.max_bytes == 0 || limits.max_items == 0 {
        bail!("limits of 0 leave nothing to measure");
    }
    let meta = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!("{named}: no such file or folder; check the path"),
        _ => anyhow::anyhow!("{named}: {}", plain_error(&error)),
    })?;
    // Of `.` and `..` the name is that of the folder they are.
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = full.file_name().map_or("root".into(), |name| name.to_string_lossy().into_owned());
    let many = Many { wanted, output: into };
    if wanted.is_list || meta.is_dir() {
        let name = names.give(&format!("{stem}/"));
        return match wanted.extent {
            Extent::Even => {
                let (files, notes) = many.files(walk::MOST_FILES)?;
                stage_whole(path, files, notes, into, limits, &name)
            }
            _ => stage_many(&many, limits, &name),
        };
    }
    if !meta.is_file() {
        bail!("{named} is {}: give a regular file or a folder", special(&meta));
    }
    if meta.len() == 0 {
        bail!("{named} is empty: there is nothing to measure");
    }
    let name = names.give(&stem);
    let file = Found { path: path.to_owned(), bytes: meta.len() };
    stage_whole(path, vec![file], Vec::new(), into, limits, &name)
}

struct Many<'a> {
    wanted: &'a Wanted,
    output: &'a Path,
}

impl Many<'_> {
    /// Shows every file; what is left out comes back.
    fn visit(&self, each: &mut dyn FnMut(Found) -> Option<&'static str>) -> Result<Vec<Note>> {
        match self.wanted.is_list {
            true => list::visit(&self.wanted.path, each),
            false => Ok(visit(&self.wanted.path, self.output, Links::LeaveOut, each)),
        }
    }

    /// The first files, at most this many.
    fn files(&self, most: usize) -> Result<(Vec<Found>, Vec<Note>)> {
        let mut files = Vec::new();
        let notes = self.visit(&mut |file| {
            let is_full = files.len() == most;
            if !is_full {
                files.push(file);
            }
            is_full.then_some(walk::BEYOND)
        })?;
        Ok((files, notes))
    }
}

fn stage_whole(
    given: &Path,
    files: Vec<Found>,
    notes: Vec<Note>,
    into: &Path,
    limits: &Limits,
    name: &str,
) -> Result<Staged> {
    let Selection { chosen, sampled } = pieces::select(files, limits);
    let draft = Draft { given, notes, into, name, sampled, is_whole: limits.block.is_none() };
    draft.write(vec![Group::of(chosen)], false)
}

/// A payload of many files, in parts where it is a sample or does not fit.
fn stage_many(many: &Many<'_>, limits: &Limits, name: &str) -> Result<Staged> {
    let (given, into, extent) = (many.wanted.path.as_path(), many.output, many.wanted.extent);
    let mut frame = Frame::default();
    let mut files = Vec::new();
    let is_sample = matches!(extent, Extent::Within(_));
    let most = if extent == Extent::Every { MOST_EXACT } else { limits.max_items };
    let mut notes = many.visit(&mut |file| {
        let key = file.path.strip_prefix(given).unwrap_or(&file.path);
        frame.add(&file, key.as_os_str().as_encoded_bytes());
        if !is_sample && files.len() <= most {
            files.push(file);
        }
        None
    })?;
    let (count, bytes) = (frame.files, frame.bytes);
    let fits = count <= limits.max_items as u64 && bytes <= limits.max_bytes;
    let within = match extent {
        Extent::Fitting(_) | Extent::Every if fits && !many.wanted.is_parted => {
            return stage_whole(given, files, notes, into, limits, name);
        }
        Extent::Every if files.len() > most => {
            bail!(
                "{} has more than {MOST_EXACT} files; measure a sample with --sample 1%",
                clean_path(given)
            );
        }
        Extent::Fitting(within) if !fits => Some((within, limits.max_bytes)),
        Extent::Within(within) => Some((within, MOST_SAMPLED)),
        _ => None,
    };
    let (groups, sampled) = match within {
        None => (vec![sample::whole(&files)], None),
        Some((within, most)) => {
            drop(files);
            let (groups, reached) = frame.sample(within, most, &mut notes)?;
            let taken: usize = groups.iter().map(|group| group.units.len()).sum();
            let is_all = groups.iter().all(|group| group.stands_for.is_none());
            (groups, (!is_all).then(|| sample::describe_sample(taken, count, reached)))
        }
    };
    let groups = groups.into_iter().flat_map(|group| deal(group, PART.0, PART.1)).collect();
    Draft { given, notes, into, name, sampled, is_whole: true }.write(groups, true)
}

/// A payload before its files are copied.
struct Draft<'a> {
    given: &'a Path,
    notes: Vec<Note>,
    into: &'a Path,
    name: &'a str,
    sampled: Option<String>,
    /// Its items are files, not blocks of them.
    is_whole: bool,
}

impl Draft<'_> {
    /// Copies the files of groups, each group a part if they are to be measured apart.
    fn write(mut self, groups: Vec<Group>, in_parts: bool) -> Result<Staged> {
        let (given, into) = (self.given, self.into);
        let is_folder = self.name.ends_with('/');
        let fail = || format!("cannot write in {}", clean_path(into));
        fs::create_dir_all(into).with_context(fail)?;
        let mut blob = Blob::new(into).with_context(fail)?;
        let mut parts = Vec::new();
        for Group { units, stands_for } in groups {
            for units in units.chunk_by(|a, b| a.path == b.path) {
                let pieces: Vec<Piece> = units.iter().map(|unit| unit.piece).collect();
                match blob.append(&units[0].path, &pieces, is_folder) {
                    Ok(()) => {}
                    Err(Trouble::Source(why)) if is_folder => {
                        self.notes.push(Note::Unreadable { path: units[0].path.clone(), why });
                    }
                    Err(Trouble::Source(why)) => bail!("{}: {why}", clean_path(given)),
                    Err(Trouble::Sink(error)) => return Err(error).with_context(fail),
                }
            }
            parts.extend(blob.end_part(stands_for));
        }
        if blob.items.is_empty() {
            let said: Vec<String> = self.notes.iter().map(Note::to_string).collect();
            let rest = if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) };
            bail!("{} has no file to measure{rest}", clean_path(given));
        }
        let target = into.join(file_name(self.name));
        let Blob { out, digest, bytes, items, kinds, .. } = blob;
        out.persist(&target).with_context(fail)?;
        let is_value = self.is_whole
            && (in_parts || self.sampled.is_none())
            && values(&target, &items, given, &mut self.notes).with_context(fail)?;
        let kind = if is_value { Form::Serialize.kind() } else { main_kind(&kinds) };
        let payload = Payload {
            name: self.name.to_owned(),
            kind: kind.to_owned(),
            blob: target,
            sha256: digest::finish(digest),
            bytes,
            items,
            family: false,
            value: is_value.then(|| Form::Serialize.word().to_owned()),
            parts: if in_parts { parts } else { Vec::new() },
            // Plans and records are text; a path that is none is named as near as can be.
            origin: Origin::User {
                path: PathBuf::from(given.to_string_lossy().into_owned()),
                sampled: self.sampled,
            },
        };
        Ok(Staged { payload, notes: self.notes })
    }
}

/// Whether each item is a value that PHP serialized. One that a worker would not read back is bytes, and a note says why.
fn values(blob: &Path, items: &[u64], given: &Path, notes: &mut Vec<Note>) -> io::Result<bool> {
    let mut file = regular::open(blob)?;
    for length in items {
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(*length).read_to_end(&mut bytes)?;
        match serialized::detect_serialized(&bytes) {
            Serialized::Value => {}
            Serialized::Foreign(what) => {
                notes.push(Note::Bytes { path: given.to_owned(), what });
                return Ok(false);
            }
            Serialized::Other => return Ok(false),
        }
    }
    Ok(true)
}

/// The kind of at least nine tenths of the bytes, else `mixed`.
fn main_kind(kinds: &[(&'static str, u64)]) -> &'static str {
    let total: u64 = kinds.iter().map(|(_, bytes)| bytes).sum();
    let of = |kind: &str| -> u64 { kinds.iter().filter(|(k, _)| *k == kind).map(|(_, bytes)| bytes).sum() };
    kinds.iter().map(|(kind, _)| *kind).find(|kind| of(kind) * 10 >= total * 9).unwrap_or("mixed")
}

fn read(path: &Path, piece: &Piece, buffer: &mut Vec<u8>) -> Result<(), String> {
    let mut read = || {
        let file = regular::open(path)?;
        buffer.resize(piece.bytes as usize, 0);
        file.read_exact_at(buffer, piece.at)
    };
    read().map_err(|error| plain_error(&error))
}

/// What went wrong while copying.
enum Trouble {
    /// The user's file: the rest can go on.
    Source(String),
    /// Our own output: nothing can.
    Sink(io::Error),
}

/// A blob while it is written.
struct Blob {
    out: tempfile::NamedTempFile,
    digest: Sha256,
    /// Of the part that is written, with where it began: bytes and items.
    part: (Sha256, u64, usize),
    bytes: u64,
    items: Vec<u64>,
    kinds: Vec<(&'static str, u64)>,
    buffer: Vec<u8>,
}

impl Blob {
    fn new(into: &Path) -> io::Result<Blob> {
        let out = tempfile::NamedTempFile::new_in(into)?;
        let (digest, buffer) = (Sha256::new(), vec![0; BUFFER]);
        let part = (Sha256::new(), 0, 0);
        Ok(Blob { out, digest, part, bytes: 0, items: Vec::new(), kinds: Vec::new(), buffer })
    }

    /// What was appended since the last part ended, as a part; none: nothing was. `stands_for` are the items and bytes that it stands for.
    fn end_part(&mut self, stands_for: Option<(u64, u64)>) -> Option<PayloadPart> {
        let (digest, bytes, items) =
            std::mem::replace(&mut self.part, (Sha256::new(), self.bytes, self.items.len()));
        let (bytes, items) = (self.bytes - bytes, self.items.len() - items);
        let (stands_for_items, stands_for_bytes) = stands_for.unwrap_or((items as u64, bytes));
        let sha256 = digest::finish(digest);
        let part = PayloadPart { items: items as u32, bytes, sha256, stands_for_items, stands_for_bytes };
        (items > 0).then_some(part)
    }

    /// Appends pieces of a file, all of them or none.
    fn append(&mut self, path: &Path, pieces: &[Piece], in_folder: bool) -> Result<(), Trouble> {
        let before = (self.digest.clone(), self.bytes, self.items.len(), self.kinds.len());
        let part = self.part.0.clone();
        let done = self.copy(path, pieces, in_folder);
        if done.is_err() {
            let file = self.out.as_file();
            file.set_len(before.1).map_err(Trouble::Sink)?;
            io::Seek::seek(&mut self.out, io::SeekFrom::Start(before.1)).map_err(Trouble::Sink)?;
            (self.digest, self.bytes, self.part.0) = (before.0, before.1, part);
            self.items.truncate(before.2);
            self.kinds.truncate(before.3);
        }
        done
    }

    fn copy(&mut self, path: &Path, pieces: &[Piece], in_folder: bool) -> Result<(), Trouble> {
        let source = |error: io::Error| Trouble::Source(plain_error(&error));
        // Inside a folder no link is followed that was put there since.
        let file =
            if in_folder { regular::open_itself(path) } else { regular::open(path) }.map_err(source)?;
        let before = file.metadata().map_err(source)?;
        let changed = || Trouble::Source("it changed while it was read; measure it again".into());
        for piece in pieces {
            let (mut at, end) = (piece.at, piece.at + piece.bytes);
            while at < end {
                let room = self.buffer.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
                let got = match file.read_at(&mut self.buffer[..room], at) {
                    Ok(0) => return Err(changed()),
                    Ok(got) => got,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => return Err(source(error)),
                };
                let bytes = &self.buffer[..got];
                if at == piece.at {
                    self.kinds.push((kind::detect_kind(path, &bytes[..got.min(512)]), piece.bytes));
                }
                self.digest.update(bytes);
                self.part.0.update(bytes);
                self.out.write_all(bytes).map_err(Trouble::Sink)?;
                at += got as u64;
            }
            self.bytes += piece.bytes;
            self.items.push(piece.bytes);
        }
        let after = file.metadata().map_err(source)?;
        let state = |meta: &Metadata| (meta.len(), meta.mtime(), meta.mtime_nsec());
        if state(&before) != state(&after) || before.len() != pieces.first().map_or(0, |p| p.of) {
            return Err(changed());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
