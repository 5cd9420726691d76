//! What the inside of a value is: how it was serialized, told by reading it whole; and the same value as `serialize()` writes it, which is
//! what studies start from.

use serde::de::IgnoredAny;

use super::packed::{igbinary, msgpack};
use weigh_content::serialized::{self, Serialized};

/// The shortest text that is told as such, and the shortest unknown bytes that are no short value.
const SHORT: usize = 32;
/// The shortest unknown bytes of which it is said that they do not compress, and how many of them are tried.
const TRIED: (usize, usize) = (64, 256 << 10);
/// The share of its bytes that a value saves at least if it compresses.
const SAVED: f64 = 0.05;
/// The longest name in a session.
const LONGEST_NAME: usize = 256;

/// How a value was serialized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `serialize()`.
    Serialize,
    /// A session of PHP: names, each with a value by `serialize()`.
    Session,
    Igbinary,
    Msgpack,
    Json,
    /// A file of PHP, as `var_export()` makes it.
    VarExport,
    Html,
    /// Text in UTF-8.
    Text,
    Number,
    /// Encrypted, as Laravel does it.
    Encrypted,
    /// Too short to be told.
    Short,
    /// Not known, and does not compress: compressed or encrypted.
    Incompressible,
    Unknown,
    /// Not read: too long, or the time was over.
    Unread,
}

impl Form {
    /// Its word as the format of a stratum.
    pub fn word(self) -> &'static str {
        match self {
            Form::Serialize => "serialize",
            Form::Session => "session",
            Form::Igbinary => "igbinary",
            Form::Msgpack => "msgpack",
            Form::Json => "json",
            Form::VarExport => "var_export",
            Form::Html => "html",
            Form::Text => "text",
            Form::Number => "number",
            Form::Encrypted => "encrypted",
            Form::Short => "short",
            Form::Incompressible => "compressed or encrypted",
            Form::Unknown => "form not known",
            Form::Unread => "not read",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Form::Session => "PHP sessions (serialize)",
            Form::Json => "JSON",
            Form::Html => "HTML",
            Form::Number => "numbers",
            Form::Short => "short values",
            Form::Incompressible => "compressed or encrypted, form not known",
            _ => self.word(),
        }
    }

    /// Whether the bytes of such a value are known to be uncompressed.
    pub fn is_plain(self) -> bool {
        self <= Form::Text
    }

    /// The serializer that writes it, as studies name it.
    pub fn serializer(self) -> Option<&'static str> {
        matches!(self, Form::Serialize | Form::Session | Form::Igbinary | Form::Msgpack).then_some(match self
        {
            Form::Session => "serialize",
            _ => self.word(),
        })
    }

    /// What bytes are that no form was found for.
    pub fn of_unknown(bytes: &[u8]) -> Form {
        match bytes.len() {
            ..SHORT => Form::Short,
            length if length >= TRIED.0 && !is_compressible(&bytes[..length.min(TRIED.1)]) => {
                Form::Incompressible
            }
            _ => Form::Unknown,
        }
    }
}

/// The inside of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    pub form: Form,
    /// The same value as `serialize()` writes it; none if that cannot be measured: objects of classes, references, numbers, and bytes of
    /// which nothing is known.
    pub content: Option<Vec<u8>>,
    /// Its length: of the content, else of the bytes.
    pub bytes: u64,
}

impl Inside {
    /// A value of this form in these bytes.
    pub fn new(form: Form, content: Option<Vec<u8>>, bytes: &[u8]) -> Inside {
        let length = content.as_ref().map_or(bytes.len(), Vec::len);
        Inside { form, content, bytes: length as u64 }
    }

    /// What bytes are that no codec wrote; none if they are of no known form.
    pub fn of_plain(bytes: &[u8]) -> Option<Inside> {
        let found = |form, content| Some(Inside::new(form, content, bytes));
        let as_string = || Some([format!("s:{}:\"", bytes.len()).as_bytes(), bytes, b"\";"].concat());
        match serialized::detect_serialized(bytes) {
            Serialized::Value => return found(Form::Serialize, Some(bytes.to_vec())),
            Serialized::Foreign(_) => return found(Form::Serialize, None),
            Serialized::Other => {}
        }
        if let Some(content) = igbinary(bytes) {
            return found(Form::Igbinary, content);
        }
        if let Some(content) = session(bytes) {
            return found(Form::Session, content);
        }
        // What Symfony's PhpFilesAdapter and `var_export()` write.
        if bytes.starts_with(b"<?php") {
            return found(Form::VarExport, None);
        }
        if is_number(bytes) {
            return found(Form::Number, None);
        }
        if matches!(bytes.first(), Some(b'{' | b'[' | b'"'))
            && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
        {
            let is_encrypted = ["iv", "value", "mac"].iter().all(|key| has_key(bytes, key));
            return if is_encrypted { found(Form::Encrypted, None) } else { found(Form::Json, as_string()) };
        }
        let form = if is_markup(bytes) { Form::Html } else { Form::Text };
        (form == Form::Html || is_text(bytes)).then(|| Inside::new(form, as_string(), bytes))
    }

    /// A map or array of MessagePack, which has no mark of its own.
    pub fn of_msgpack(bytes: &[u8]) -> Option<Inside> {
        Some(Inside::new(Form::Msgpack, msgpack(bytes)?, bytes))
    }
}

fn has_key(json: &[u8], key: &str) -> bool {
    memchr::memmem::find(json, format!("\"{key}\":\"").as_bytes()).is_some()
}

fn is_number(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    digits.first().is_some_and(u8::is_ascii_digit) && digits.len() <= 24 && digits.iter().all(is_part)
}

/// A page, a part of one, or XML: from the first tag to the last.
fn is_markup(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    let is_tag = matches!(text, [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'!' | b'?', ..] if text.ends_with(b">"));
    is_tag && !text.contains(&0)
}

fn is_text(bytes: &[u8]) -> bool {
    let is_control = |c: char| c.is_control() && !c.is_whitespace();
    bytes.len() >= SHORT && std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(is_control))
}

fn is_compressible(bytes: &[u8]) -> bool {
    let mut out = Vec::new();
    let wish = weigh_codec::Params { level: Some(1), ..Default::default() };
    let coder = weigh_codec::codecs::find("zstd").and_then(|codec| codec.coder(&wish).ok());
    let encoded = coder.and_then(|mut coder| coder.encode(bytes, &mut out).ok());
    encoded.is_some() && (out.len() as f64) < (1.0 - SAVED) * bytes.len() as f64
}

/// The variables of a session as an array, if the bytes are one: written by PHP's handler `php` (`name|value`), or by `php_binary` (the
/// name's length in a byte, name, value). No content if a variable has none.
fn session(bytes: &[u8]) -> Option<Option<Vec<u8>>> {
    variables(bytes, name_by_bar).or_else(|| variables(bytes, name_by_length))
}

fn name_by_bar<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().take(LONGEST_NAME).position(|byte| *byte == b'|')?;
    let (name, after) = rest.split_at(end);
    *rest = &after[1..];
    Some(name)
}

fn name_by_length<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first()?;
    let (name, after) = after.split_at_checked(usize::from(*length))?;
    *rest = after;
    Some(name)
}

fn variables<'a>(
    bytes: &'a [u8],
    name: impl Fn(&mut &'a [u8]) -> Option<&'a [u8]>,
) -> Option<Option<Vec<u8>>> {
    let (mut rest, mut count, mut all, mut is_whole) = (bytes, 0, Vec::new(), true);
    while !rest.is_empty() {
        let name = name(&mut rest)?;
        let is_name = |byte: &u8| *byte >= b' ' && !b"\";{}!".contains(byte);
        if name.is_empty() || !name.iter().all(is_name) {
            return None;
        }
        let (value, after) = serialized::first(rest)?;
        is_whole &= value == Serialized::Value;
        all.extend_from_slice(format!("s:{}:\"", name.len()).as_bytes());
        all.extend_from_slice(name);
        all.extend_from_slice(b"\";");
        all.extend_from_slice(&rest[..rest.len() - after.len()]);
        rest = after;
        count += 1;
    }
    let array = || [format!("a:{count}:{{").as_bytes(), &all, b"}"].concat();
    (count > 0).then(|| is_whole.then(array))
}
