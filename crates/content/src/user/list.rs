//! Lists of files: one path per line, or a NUL after each. They are read in a stream, so that a list may be longer than memory.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::walk::{Found, Skipped};
use super::{Note, plain_error, special};
use weigh_model::text::{clean, clean_path};
use weigh_os::regular;

/// The longest path, in bytes; the kernel takes no longer ones.
const LONGEST: u64 = 4096;
/// The largest list in bytes.
const LARGEST: u64 = 1 << 30;
/// The most paths that are named one by one.
const MOST_NAMED: usize = 50;

/// Shows every file of a list, and gives what is left out. Paths are relative to the current folder. `each` takes a file, or says what the
/// files are that it leaves out.
///
/// # Errors
/// One line: the list cannot be read, or is not a list of paths.
pub fn visit(list: &Path, each: &mut dyn FnMut(Found) -> Option<&'static str>) -> Result<Vec<Note>> {
    let named = clean_path(list);
    let wrong =
        |error| anyhow::anyhow!("{named}: {}; give a file with one path per line", plain_error(&error));
    let file = regular::open(list).map_err(wrong)?;
    ensure!(file.metadata()?.len() <= LARGEST, "{named}: larger than 1 GB; give several lists");
    let end = separator(list)?;
    let mut input = BufReader::new(file);
    let (mut skipped, mut unreadable, mut path) = (Skipped::default(), Vec::new(), Vec::new());
    for number in 1u64.. {
        path.clear();
        let read =
            input.by_ref().take(LONGEST + 1).read_until(end, &mut path).with_context(|| named.clone())?;
        if read == 0 {
            break;
        }
        if path.last() == Some(&end) {
            path.pop();
        }
        if path.len() as u64 > LONGEST || end == b'\n' && path.contains(&0) {
            bail!("{named}: entry {number} is no path; write one path per line, or a NUL after each");
        }
        if path.is_empty() {
            continue;
        }
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&path));
        match fs::metadata(&path) {
            Ok(meta) if !meta.is_file() => skipped.add(special(&meta), &path),
            Ok(meta) if meta.len() == 0 => skipped.add("empty files", &path),
            Ok(meta) => {
                if let Some(what) = each(Found { path: path.clone(), bytes: meta.len() }) {
                    skipped.add(what, &path);
                }
            }
            Err(_) if unreadable.len() == MOST_NAMED => skipped.add("further unreadable files", &path),
            Err(error) => unreadable.push(Note::Unreadable { path, why: clean(&plain_error(&error)) }),
        }
    }
    let mut notes = skipped.notes();
    notes.append(&mut unreadable);
    Ok(notes)
}

/// What ends a path: NUL if the first one ends so, else a new line.
fn separator(list: &Path) -> Result<u8> {
    let mut head = Vec::new();
    regular::open(list)?.take(LONGEST + 1).read_to_end(&mut head)?;
    let first = head.iter().find(|byte| matches!(byte, 0 | b'\n'));
    Ok(*first.unwrap_or(&b'\n'))
}
