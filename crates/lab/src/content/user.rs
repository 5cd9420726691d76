//! The user's own content: a file is a payload, a folder is a payload whose items are its files.
//!
//! Owns what of it is measured and what is left out, and says both. Copies in a stream, so that memory does not grow
//! with the content. Refuses to follow links inside a folder, and to open anything but regular files.

mod pieces;
mod walk;

pub use walk::{Found, Links, visit};

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use weigh_model::payload::{Origin, Payload};

use super::kind;
use super::names::{Names, file_name};
use super::regular::{open, plain_error, special};
use super::serialized::{self, Serialized};
use super::values::Form;
use crate::digest::{self, BUFFER};
use pieces::{Piece, Selection};
use weigh_model::text::{clean, clean_path};

/// How much is measured.
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

/// A payload of the user's, with what the user should know.
#[derive(Clone, Debug)]
pub struct Staged {
    /// The payload; its blob is a path in the folder asked for, as given.
    pub payload: Payload,
    /// What was left out.
    pub notes: Vec<Note>,
}

/// Something that was left out, for a line on a terminal (its `Display` is that line).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Left out on purpose.
    Skipped {
        /// How many.
        count: u64,
        /// What they are.
        what: &'static str,
        /// The first of them.
        example: PathBuf,
    },
    /// Measured as bytes, although PHP serialized it.
    Bytes {
        /// Which file or folder.
        path: PathBuf,
        /// What is in it that a value may not have.
        what: String,
    },
    /// Could not be read.
    Unreadable {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
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

/// The regular files with content of a folder, with their lengths, and what of it is left out; `output` is where this program
/// writes. Links are not followed.
pub fn files(folder: &Path, output: &Path) -> (Vec<Found>, Vec<Note>) {
    let found = walk::list(folder, output);
    (found.files, found.notes)
}

/// Copies a file or folder into `into` as one payload. Errors are one line that says what to do.
pub fn stage(path: &Path, into: &Path, limits: &Limits, names: &mut Names) -> Result<Staged> {
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
    if meta.is_dir() {
        let name = names.give(&format!("{stem}/"));
        let found = walk::list(path, into);
        return stage_files(path, found.files, found.notes, into, limits, &name);
    }
    if !meta.is_file() {
        bail!("{named} is {}: give a regular file or a folder", special(&meta));
    }
    if meta.len() == 0 {
        bail!("{named} is empty: there is nothing to measure");
    }
    let name = names.give(&stem);
    let file = Found { path: path.to_owned(), bytes: meta.len() };
    stage_files(path, vec![file], Vec::new(), into, limits, &name)
}

fn stage_files(
    given: &Path,
    files: Vec<Found>,
    mut notes: Vec<Note>,
    into: &Path,
    limits: &Limits,
    name: &str,
) -> Result<Staged> {
    let is_folder = name.ends_with('/');
    let Selection { chosen, sampled } = pieces::select(files, limits);
    let is_whole = sampled.is_none();
    let fail = || format!("cannot write in {}", clean_path(into));
    fs::create_dir_all(into).with_context(fail)?;
    let mut blob = Blob::new(into).with_context(fail)?;
    for (file, pieces) in &chosen {
        match blob.append(&file.path, pieces, is_folder) {
            Ok(()) => {}
            Err(Trouble::Source(why)) if is_folder => {
                notes.push(Note::Unreadable { path: file.path.clone(), why });
            }
            Err(Trouble::Source(why)) => bail!("{}: {why}", clean_path(given)),
            Err(Trouble::Sink(error)) => return Err(error).with_context(fail),
        }
    }
    if blob.items.is_empty() {
        let said: Vec<String> = notes.iter().map(Note::to_string).collect();
        let rest = if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) };
        bail!("{} has no file to measure{rest}", clean_path(given));
    }
    let target = into.join(file_name(name));
    let Blob { out, digest, bytes, items, kinds, .. } = blob;
    out.persist(&target).with_context(fail)?;
    let is_value = is_whole
        && limits.block.is_none()
        && values(&target, &items, given, &mut notes).with_context(fail)?;
    let kind = if is_value { Form::Serialize.kind() } else { main_kind(&kinds) };
    let payload = Payload {
        name: name.to_owned(),
        kind: kind.to_owned(),
        blob: target,
        sha256: digest::finish(digest),
        bytes,
        items,
        family: false,
        value: is_value.then(|| Form::Serialize.word().to_owned()),
        // Plans and records are text; a path that is none is named as near as can be.
        origin: Origin::User { path: PathBuf::from(given.to_string_lossy().into_owned()), sampled },
    };
    Ok(Staged { payload, notes })
}

/// Whether each item is a value that PHP serialized. One that a worker would not read back is bytes, and a note says why.
fn values(blob: &Path, items: &[u64], given: &Path, notes: &mut Vec<Note>) -> io::Result<bool> {
    let mut file = File::open(blob)?;
    for length in items {
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(*length).read_to_end(&mut bytes)?;
        match serialized::look(&bytes) {
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
    bytes: u64,
    items: Vec<u64>,
    kinds: Vec<(&'static str, u64)>,
    buffer: Vec<u8>,
}

impl Blob {
    fn new(into: &Path) -> io::Result<Blob> {
        let out = tempfile::NamedTempFile::new_in(into)?;
        let (digest, buffer) = (Sha256::new(), vec![0; BUFFER]);
        Ok(Blob { out, digest, bytes: 0, items: Vec::new(), kinds: Vec::new(), buffer })
    }

    /// Appends pieces of a file, all of them or none.
    fn append(&mut self, path: &Path, pieces: &[Piece], in_folder: bool) -> Result<(), Trouble> {
        let before = (self.digest.clone(), self.bytes, self.items.len(), self.kinds.len());
        let done = self.copy(path, pieces, in_folder);
        if done.is_err() {
            let file = self.out.as_file();
            file.set_len(before.1).map_err(Trouble::Sink)?;
            io::Seek::seek(&mut self.out, io::SeekFrom::Start(before.1)).map_err(Trouble::Sink)?;
            (self.digest, self.bytes) = (before.0, before.1);
            self.items.truncate(before.2);
            self.kinds.truncate(before.3);
        }
        done
    }

    fn copy(&mut self, path: &Path, pieces: &[Piece], in_folder: bool) -> Result<(), Trouble> {
        let source = |error: io::Error| Trouble::Source(plain_error(&error));
        let file = open(path, in_folder).map_err(source)?;
        let before = file.metadata().map_err(source)?;
        if !before.is_file() {
            return Err(Trouble::Source(format!("it is {}", special(&before))));
        }
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
                    self.kinds.push((kind::of(path, &bytes[..got.min(512)]), piece.bytes));
                }
                self.digest.update(bytes);
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
