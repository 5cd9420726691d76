//! Cached values: what they are, told by decoding them, and those of a folder.
//!
//! Codecs and wrappings are taken off until something of a known form is there. What stays unknown is told as that: never as
//! uncompressed.

pub mod coding;
pub mod form;
mod lz;
mod packed;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Result, bail};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use coding::{Candidate, Codec, Coding};
use form::{Form, Inside};
use weigh_content::user::{self, Links};
use weigh_model::text::clean_path;
use weigh_run::lab::Progress;

/// The longest value in bytes, stored and decompressed.
pub const LONGEST: usize = 8 << 20;
/// Codecs and wrappings that are taken off one after the other.
const DEEPEST: usize = 3;
/// Folders below `/` in which no cache keeps its values directly.
const SYSTEM: [&str; 14] =
    ["bin", "boot", "dev", "etc", "home", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var"];
/// The shortest text that may be base64.
const SHORTEST_BASE64: usize = 24;

/// A value as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is without its codec.
    pub inside: Inside,
    /// What compressed it; none: nothing, or it is not known.
    pub coding: Option<Coding>,
    /// Its bytes as stored.
    pub stored: u64,
}

impl Value {
    /// What the bytes of a store or a file are. `flags` are those of Memcached.
    pub fn read(stored: &[u8], flags: Option<u32>) -> Value {
        let unknown = || {
            let own = Form::of_unknown(stored);
            let form = if coding::is_flagged(flags) { Form::Incompressible } else { own };
            (Inside::new(form, None, stored), None)
        };
        let (inside, coding) = detect_value(stored, flags, 0).unwrap_or_else(unknown);
        Value { inside, coding, stored: stored.len() as u64 }
    }
}

/// The codec of stored bytes with its level, as studies name it; none if studies have none that makes as many bytes.
pub fn setting(stored: &[u8], flags: Option<u32>) -> Option<String> {
    let bytes = without_tags(stored).unwrap_or(stored);
    let candidates = Candidate::of(bytes, flags);
    let told = |candidate: &&Candidate| {
        let decoded = candidate.decode();
        decoded.is_some_and(|decoded| candidate.is_marked || detect_value(&decoded, None, 1).is_some())
    };
    candidates.iter().find(told)?.setting()
}

/// What bytes are, below this many codecs and wrappings; none if it is not known.
fn detect_value(bytes: &[u8], flags: Option<u32>, depth: usize) -> Option<(Inside, Option<Coding>)> {
    if let Some(plain) = Inside::of_plain(bytes) {
        let is_text = plain.form == Form::Text && depth < DEEPEST;
        return match is_text.then(|| of_base64(bytes)).flatten() {
            Some(decoded) => Some(match detect_value(&decoded, None, depth + 1) {
                Some((inside, None)) if inside.form != Form::Encrypted => {
                    (inside, Some(Coding { codec: Codec::Base64, client: None }))
                }
                Some(found) => found,
                None if Form::of_unknown(&decoded) == Form::Incompressible => {
                    (Inside::new(Form::Incompressible, None, bytes), None)
                }
                None => (plain, None),
            }),
            None => Some((plain, None)),
        };
    }
    if depth < DEEPEST {
        for candidate in Candidate::of(bytes, flags) {
            let Some(decoded) = candidate.decode() else { continue };
            let own = Some(candidate.coding);
            match detect_value(&decoded, None, depth + 1) {
                Some((inside, _)) => return Some((inside, own)),
                None if candidate.is_marked => {
                    return Some((Inside::new(Form::of_unknown(&decoded), None, &decoded), own));
                }
                None => {}
            }
        }
        let plain = coding::sealed(bytes).filter(|(codec, _)| codec.is_none()).map(|(_, value)| value);
        let inner = plain.or_else(|| without_tags(bytes));
        if let Some(found) = inner.and_then(|value| detect_value(value, None, depth + 1)) {
            return Some(found);
        }
    }
    Inside::of_msgpack(bytes).map(|inside| (inside, None))
}

/// What base64 stands for, if a text is nothing else.
fn of_base64(text: &[u8]) -> Option<Vec<u8>> {
    let is_long = text.len() >= SHORTEST_BASE64;
    // Digests in hexadecimal are no base64.
    (is_long && !text.iter().all(u8::is_ascii_hexdigit)).then_some(())?;
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).ok()
}

/// The value behind the tags that Symfony's TagAwareMarshaller writes before it: a mark, eight bytes, the length of the tags, the tags.
fn without_tags(bytes: &[u8]) -> Option<&[u8]> {
    let (head, rest) = bytes.split_first_chunk::<13>()?;
    let is_mark = head[0] == 0x9d && head[5] == 0 && head[9] == 0x5f;
    let tags = usize::from(head[10]) << 16 | usize::from(head[11]) << 8 | usize::from(head[12]);
    rest.get(tags..).filter(|value| is_mark && !value.is_empty())
}

/// Refuses what is no folder of cached values.
///
/// # Errors
/// One line: no such folder, or one of the system.
pub fn check_folder(folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        bail!(
            "--values {}: there is no such folder; give the folder with the cached values",
            clean_path(folder)
        );
    }
    if let Ok(whole) = folder.canonicalize()
        && whole.parent() == Some(Path::new("/"))
        && whole.file_name().is_some_and(|name| SYSTEM.iter().any(|own| name == *own))
    {
        bail!(
            "--values {}: a folder of the system; give the folder with the cached values",
            clean_path(folder)
        );
    }
    Ok(())
}

/// Shows every value of a folder; gives how many files were left out for their size.
///
/// # Errors
/// One line: no such folder.
pub fn of_folder(
    folder: &Path,
    progress: &mut dyn Progress,
    each: &mut dyn FnMut(String, Vec<u8>),
) -> Result<()> {
    let notes = user::visit(folder, folder.join("-").as_path(), Links::Inside, &mut |file| {
        if file.bytes > LONGEST as u64 {
            return Some("values longer than 8 MB");
        }
        let Ok(path) = file.path.strip_prefix(folder) else { return Some("files elsewhere") };
        let name = path.to_string_lossy().into_owned();
        match super::local::read_inside(folder, &name, LONGEST as u64) {
            Ok(bytes) => each(name, bytes),
            Err(_) => return Some("unreadable files"),
        }
        None
    });
    notes.iter().for_each(|note| progress.note(&format!("--values: {note}")));
    Ok(())
}
