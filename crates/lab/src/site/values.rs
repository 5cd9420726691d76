//! Cached values: what form they have, told from their bytes, and those of a folder. A value that a codec compressed is decompressed.

use std::path::Path;

use anyhow::{Result, bail};
use serde::de::IgnoredAny;
use weigh_codec::{Format, independent};

use crate::content::serialized::{self, Serialized};
use crate::content::user::{self, Links};
use crate::lab::Progress;
use weigh_model::text::clean_path;

/// The longest value in bytes, stored and decompressed.
pub const LONGEST: usize = 8 << 20;
/// First bytes that a codec writes, with its format.
const CODED: [(&[u8], Format); 4] = [
    (b"\x1f\x8b\x08", Format::Gzip),
    (b"\x28\xb5\x2f\xfd", Format::Zstd),
    (b"\x78\x9c", Format::Zlib),
    (b"\x78\xda", Format::Zlib),
];

/// A value as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// How it was serialized: `serialize`, `igbinary`, `msgpack`, `var_export`, `json`, `other`.
    pub form: &'static str,
    /// The codec that it is compressed with: `zlib`, `gzip`, `zstd`; none.
    pub codec: Option<&'static str>,
    /// Its bytes without the codec.
    pub bytes: Vec<u8>,
    /// Its bytes as stored.
    pub stored: u64,
}

impl Value {
    /// What the bytes of a store or a file are.
    pub fn of(stored: Vec<u8>) -> Value {
        let length = stored.len() as u64;
        let coded = CODED.iter().find(|(magic, _)| stored.starts_with(magic));
        let plain = coded.and_then(|(_, format)| {
            Some((format.name(), independent::decode(*format, &stored, LONGEST, None).ok()?.0))
        });
        let (codec, bytes) = plain.map_or((None, stored), |(name, bytes)| (Some(name), bytes));
        Value { form: form(&bytes), codec, bytes, stored: length }
    }
}

/// How bytes were serialized.
fn form(bytes: &[u8]) -> &'static str {
    if matches!(serialized::look(bytes), Serialized::Value | Serialized::Foreign(_)) {
        return "serialize";
    }
    if bytes.starts_with(b"\0\0\0\x02") || bytes.starts_with(b"\0\0\0\x01") {
        return "igbinary";
    }
    // What Symfony's PhpFilesAdapter and `var_export()` write.
    if bytes.starts_with(b"<?php") {
        return "var_export";
    }
    if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        return "json";
    }
    if is_msgpack(bytes) { "msgpack" } else { "other" }
}

/// Whether bytes are one map or array of MessagePack, from the first to the last.
fn is_msgpack(bytes: &[u8]) -> bool {
    let is_container = matches!(bytes.first(), Some(0x80..=0x9f | 0xdc..=0xdf));
    let mut rest = bytes;
    let mut left: u64 = 1;
    // What is still to come is a number, so that depth costs no stack; each item takes a byte at least.
    while left > 0 {
        let Some(items) = skip_item(&mut rest) else { return false };
        left = left - 1 + items;
        if left > rest.len() as u64 {
            return false;
        }
    }
    is_container && rest.is_empty()
}

/// Skips the begin of an item, with its bytes if it is no container; gives how many items follow inside.
fn skip_item(rest: &mut &[u8]) -> Option<u64> {
    let (&kind, after) = rest.split_first()?;
    *rest = after;
    let mut number = |length: usize| {
        let (number, after) = rest.split_at_checked(length)?;
        *rest = after;
        Some(number.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let (skip, items) = match kind {
        0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => (0, 0),
        0x80..=0x8f => (0, u64::from(kind & 15) * 2),
        0x90..=0x9f => (0, u64::from(kind & 15)),
        0xa0..=0xbf => (u64::from(kind & 31), 0),
        0xc4 | 0xd9 => (number(1)?, 0),
        0xc5 | 0xda => (number(2)?, 0),
        0xc6 | 0xdb => (number(4)?, 0),
        0xc7..=0xc9 => (number(1 << (kind - 0xc7))? + 1, 0),
        0xca | 0xce | 0xd2 => (4, 0),
        0xcb | 0xcf | 0xd3 => (8, 0),
        0xcc | 0xd0 => (1, 0),
        0xcd | 0xd1 => (2, 0),
        0xd4..=0xd8 => ((1 << (kind - 0xd4)) + 1, 0),
        0xdc => (0, number(2)?),
        0xdd => (0, number(4)?),
        0xde => (0, number(2)? * 2),
        0xdf => (0, number(4)? * 2),
        _ => return None,
    };
    *rest = rest.get(usize::try_from(skip).ok()?..)?;
    Some(items)
}

/// Shows every value of a folder; gives how many files were left out for their size.
///
/// # Errors
/// One line: no such folder.
pub fn of_folder(
    folder: &Path,
    progress: &mut dyn Progress,
    each: &mut dyn FnMut(String, Value),
) -> Result<()> {
    if !folder.is_dir() {
        bail!(
            "--values {}: there is no such folder; give the folder with the cached values",
            clean_path(folder)
        );
    }
    let notes = user::visit(folder, folder.join("-").as_path(), Links::Inside, &mut |file| {
        if file.bytes > LONGEST as u64 {
            return Some("values longer than 8 MB");
        }
        let Ok(path) = file.path.strip_prefix(folder) else { return Some("files elsewhere") };
        let name = path.to_string_lossy().into_owned();
        match super::local::read_inside(folder, &name, LONGEST as u64) {
            Ok(bytes) => each(name, Value::of(bytes)),
            Err(_) => return Some("unreadable files"),
        }
        None
    });
    notes.iter().for_each(|note| progress.note(&format!("--values: {note}")));
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_are_told_from_bytes() {
        for (bytes, wanted) in [
            (&b"a:1:{i:0;s:1:\"x\";}"[..], "serialize"),
            (b"O:8:\"App\\Post\":0:{}", "serialize"),
            (b"\0\0\0\x02\x14\x01\x06\0\x11\x01x", "igbinary"),
            (b"{\"a\": [1, 2]}", "json"),
            (b"\x82\xa1a\x01\xa1b\x92\x02\xc0", "msgpack"),
            (b"\x82\xa1a\x01", "other"),
            (b"<?php return array();", "var_export"),
            (b"plain text", "other"),
            (b"", "other"),
        ] {
            assert_eq!(form(bytes), wanted, "{bytes:?}");
        }
    }

    #[test]
    fn a_compressed_value_is_told_by_what_is_in_it() {
        let text = b"a:1:{i:0;s:1:\"x\";}";
        let codec = weigh_codec::codecs::find("zlib").unwrap();
        let (mut out, mut wish) = (Vec::new(), weigh_codec::Params::default());
        wish.options.insert("container".into(), "zlib".into());
        codec.coder(&wish).unwrap().encode(text, &mut out).unwrap();
        let value = Value::of(out.clone());
        assert_eq!((value.form, value.codec, value.bytes.as_slice()), ("serialize", Some("zlib"), &text[..]));
        assert_eq!(value.stored, out.len() as u64);
        let broken = Value::of(out[..out.len() - 3].to_vec());
        assert_eq!((broken.form, broken.codec), ("other", None));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_broken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for first in [0x82, 0x95, 0xdc, 0xdd, 0xdf, 0xc6, 0x1f, 0x78] {
                let value = Value::of([&[first], &bytes[..]].concat());
                prop_assert_eq!(value.stored as usize, bytes.len() + 1);
            }
        }
    }
}
