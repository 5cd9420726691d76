//! Files that are sent as deltas against a dictionary that the client has (RFC 9842): how they are named, which there are below a folder, and
//! what the configurations of servers need of them.
//!
//! The delta of `app.js` is `app.js.DIGEST.dcz` in the same folder. DIGEST are the first digits of the dictionary's SHA-256, which the delta itself begins
//! with: a folder tells all that its configuration says.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fancy_regex::Regex;
use serde::Serialize;
use walkdir::WalkDir;
use weigh_codec::delta::{self, Coding, Digest};
use weigh_model::text::clean;

use weigh_content::types::{self, TYPES};
use weigh_os::digest::hex;
use weigh_os::regular;

/// The part of a name that changes with the content: hexadecimal digits of which one is a number, a version such as `3.7.1`, or mixed letters
/// with a number, as bundlers write them. The regular expression is that of the servers, too.
pub const FINGERPRINT: &str = "(?:(?=[a-f]*[0-9])[0-9a-f]{6,64}|v?[0-9]+(?:\\.[0-9]+)+|(?=[A-Za-z_]*[0-9])(?=[a-z0-9_]*[A-Z])[A-Za-z0-9_]{8,22})";
/// Letters of a path that need no escape: in a pattern, in a header and in a configuration.
const PLAIN: &str = "[A-Za-z0-9._~-]";
/// Letters of paths that a configuration can name one by one: all but those that no file on a server should have in its name, and `?`.
const ANY: &str = "[^/?\\x00-\\x1f\\x7f]";
/// Letters that a pattern cannot have as they are: some programs percent-encode them in URLs, and others do not; `'`, `|` and `$` mean something to
/// configurations besides; a colon ends a protocol even if it is escaped.
const UNSURE: &str = ":[]@$&,;=|'!";
/// Names with other letters that a configuration names at most: servers try one after the other.
const MOST_SPECIAL: usize = 500;
/// Digits of a dictionary's digest in the name of a delta.
const DIGITS: usize = 16;
/// The type whose files are pages: what a family's dictionary is for.
pub const PAGES: &str = "text/html";

/// What the templates of servers are given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dictionaries {
    /// Those that there are deltas against.
    known: Vec<Known>,
    /// The content codings, the one that is to be sent where a client takes both first.
    codings: Vec<&'static str>,
    /// The paths of files whose names have a part that changes with the content: what is before it and after it.
    named: String,
    /// The paths of other files that serve as dictionaries.
    unnamed: String,
    /// Files with other letters in their paths.
    special: Vec<Special>,
    /// The paths of these files below the folder; of names beyond the 500th none.
    #[serde(skip)]
    pub special_files: Vec<String>,
    pages: String,
    /// Media types of files that may have deltas.
    types: Vec<types::Type>,
    /// The dictionary of a family of pages.
    shared: Option<Shared>,
    /// `Cache-Control` of all of them.
    cache: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Known {
    /// As clients offer it: its SHA-256 as a byte sequence of structured fields.
    offered: String,
    /// The digits in the names of deltas.
    id: String,
}

/// A file whose path has letters that mean something in patterns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Special {
    /// The regular expression of the path of the file and its later versions, in which every other byte than a letter stands as `\xHH`.
    expression: String,
    /// The URL pattern, as a string of structured fields: each backslash is doubled.
    pattern: String,
}

/// A dictionary with a URL of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shared {
    /// Its path: `/dictionary.3f2a….dict`.
    pub path: String,
    /// The URL pattern of the pages that it is for: `/blog/*`.
    pub pattern: String,
}

/// What is asked for besides the deltas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The dictionary of a family of pages.
    pub shared: Option<Shared>,
    /// `Cache-Control` of the files and their deltas; none: as the server's configuration has it.
    pub cache: Option<String>,
}

/// The digits by which a delta names its dictionary.
pub fn id(digest: &Digest) -> String {
    hex(&digest[..DIGITS / 2])
}

/// As clients offer a dictionary in `Available-Dictionary`.
pub fn offered(digest: &Digest) -> String {
    format!(":{}:", STANDARD.encode(digest))
}

/// What the name of a delta ends in, after the file's name and a dot: `3f2a….dcz`.
pub fn ending(digest: &Digest, coding: Coding) -> String {
    format!("{}.{}", id(digest), coding.name())
}

/// The digits of the dictionary and the coding, from what a name ends in; none if it is not the ending of a delta.
pub fn read_ending(ending: &str) -> Option<(&str, Coding)> {
    let (digits, coding) = ending.split_once('.')?;
    let is_id = digits.len() == DIGITS && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    is_id.then_some((digits, Coding::from_name(coding)?))
}

/// The same from the whole name of a file: `app.js.3f2a….dcz`.
pub fn read_name(name: &str) -> Option<(&str, Coding)> {
    let (rest, _) = name.rsplit_once('.')?;
    let (plain, _) = rest.rsplit_once('.').filter(|(plain, _)| !plain.is_empty())?;
    read_ending(&name[plain.len() + 1..])
}

/// The regular expression of paths with a part that changes with the content, of files with these extensions.
fn named(letter: &str, extensions: &str) -> String {
    let rest = format!("(?:\\.[A-Za-z0-9]+)*\\.(?:{extensions})");
    format!("^(/(?:{letter}+/)*{letter}*?[.-]){FINGERPRINT}({rest})$")
}

fn unnamed(letter: &str, extensions: &str) -> String {
    format!("^(/(?:{letter}+/)*{letter}+\\.(?:{extensions}))$")
}

/// The extensions of text that may serve as a dictionary for its next version, as a regular expression.
fn extensions() -> String {
    let all = TYPES.iter().filter(|t| t.compressible && t.name != PAGES);
    all.flat_map(|t| t.extensions.iter().copied()).collect::<Vec<_>>().join("|")
}

/// The part of a path that does not change with the content: before and after the part that does, or all of it.
fn parts(path: &str) -> Option<(String, Option<String>)> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| compiled(&named(ANY, &extensions())));
    static UNNAMED: LazyLock<Regex> = LazyLock::new(|| compiled(&unnamed(ANY, &extensions())));
    match NAMED.captures(path).ok()? {
        Some(found) => Some((found[1].to_owned(), Some(found[2].to_owned()))),
        None => UNNAMED.captures(path).ok()?.map(|found| (found[1].to_owned(), None)),
    }
}

/// The URL pattern of the later versions of the file at a path: `/js/app.*.js` for `/js/app.3f2a1b.js`, the path itself where no part of the name
/// changes with the content; none of a path that no configuration can name, or whose files are not worth it. What means something in patterns
/// is escaped, what URLs encode is encoded: `/\(shop\)/a%20b.js`.
pub fn pattern(path: &str) -> Option<String> {
    let (begin, end) = parts(path)?;
    Some(match end {
        Some(end) => format!("{}*{}", literal(&begin), literal(&end)),
        None => literal(&begin),
    })
}

/// A part of a path as a pattern that takes it alone, whatever the program that wrote the URL encodes.
fn literal(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        match c {
            _ if c.is_ascii_alphanumeric() || "/._~-".contains(c) => pattern.push(c),
            '(' | ')' | '*' | '+' => pattern.extend(['\\', c]),
            _ if UNSURE.contains(c) => pattern.push('*'),
            _ => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| pattern.push_str(&format!("%{byte:02X}")))
            }
        }
    }
    pattern
}

/// The file at a path as configurations name it, if it has a pattern and other letters than those that they take without a word.
fn special(path: &str) -> Option<Special> {
    let (begin, end) = parts(path)?;
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "/._~-".contains(c));
    let escaped = |text: &str| -> String {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"/_".contains(&byte);
        text.bytes()
            .map(|b| if is_word(b) { char::from(b).to_string() } else { format!("\\x{b:02X}") })
            .collect()
    };
    let end_of = end.as_deref().map(|end| format!("{FINGERPRINT}{}", escaped(end))).unwrap_or_default();
    let expression = format!("^{}{end_of}$", escaped(&begin));
    let is_special = !is_plain(&begin) || end.as_deref().is_some_and(|end| !is_plain(end));
    is_special.then_some(Special { expression, pattern: pattern(path)?.replace('\\', "\\\\") })
}

/// Whether deltas of the file at a path can be sent: it may have a later version, or it is a page.
pub fn is_for_deltas(path: &str) -> bool {
    static PAGE: LazyLock<Regex> = LazyLock::new(|| compiled(&unnamed(ANY, &page_extensions())));
    pattern(path).is_some() || PAGE.is_match(path).unwrap_or(false)
}

/// The extensions of pages, as a regular expression.
fn page_extensions() -> String {
    types::extensions(&[PAGES.to_owned()]).join("|")
}

fn compiled(expression: &str) -> Regex {
    Regex::new(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

impl Dictionaries {
    /// What the configuration of servers needs of the deltas below a folder. There may be none: then its files become dictionaries for their next
    /// version.
    ///
    /// # Errors
    /// One line: what cannot be read, or a wish that no header can hold.
    pub fn of(root: &Path, wish: &Wish) -> Result<Dictionaries> {
        let mut known: BTreeMap<String, Known> = BTreeMap::new();
        let mut bytes: BTreeMap<Coding, u64> = BTreeMap::new();
        let (mut specials, mut special_files) = (BTreeSet::new(), Vec::new());
        for entry in WalkDir::new(root).follow_links(true).sort_by_file_name() {
            let Ok(entry) = entry else { continue };
            let below = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
            let found =
                below.filter(|_| entry.file_type().is_file()).and_then(|below| special(&format!("/{below}")));
            if let Some(found) =
                found.filter(|found| specials.len() < MOST_SPECIAL || specials.contains(found))
            {
                specials.insert(found);
                special_files.extend(below.map(str::to_owned));
            }
            let Some((digits, coding)) = entry.file_name().to_str().and_then(read_name) else { continue };
            // One that begins otherwise was not made for this, and is never sent unless another one has its digits.
            let Some(digest) = digest_of(entry.path(), coding)?.filter(|digest| id(digest) == digits) else {
                continue;
            };
            let offered = offered(&digest);
            known.insert(digits.to_owned(), Known { offered, id: digits.to_owned() });
            *bytes.entry(coding).or_default() += entry.metadata().map_or(0, |m| m.len());
        }
        let mut codings = Coding::ALL.to_vec();
        // Where one of them was not worth it somewhere, the other is there alone and counts for more.
        codings.sort_by_key(|coding| bytes.get(coding).copied().unwrap_or(u64::MAX));
        let all = Dictionaries {
            known: known.into_values().collect(),
            codings: codings.into_iter().map(Coding::name).collect(),
            named: named(PLAIN, &extensions()),
            unnamed: unnamed(PLAIN, &extensions()),
            special: specials.into_iter().collect(),
            special_files,
            pages: format!("(?:/|\\.(?:{}))$", page_extensions()),
            types: TYPES.into_iter().filter(|t| t.compressible).collect(),
            shared: wish.shared.clone(),
            cache: wish.cache.clone(),
        };
        all.check()?;
        Ok(all)
    }

    /// Whether what the user gave can stand in a header, and between double quotes in any configuration.
    fn check(&self) -> Result<()> {
        let is_harmless = |text: &str, more: &str| {
            !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._~-".contains(c) || more.contains(c))
        };
        if let Some(cache) = self.cache.as_ref().filter(|cache| !is_harmless(cache, "=, ")) {
            bail!("`{}` is no Cache-Control: use one such as `max-age=31536000, immutable`", clean(cache));
        }
        let Some(shared) = &self.shared else { return Ok(()) };
        for (text, more) in [(&shared.path, ""), (&shared.pattern, "*")] {
            if !text.starts_with('/') || !is_harmless(text, more) {
                bail!("`{}` is no path that a header can hold: use one such as `/blog/*`", clean(text));
            }
        }
        Ok(())
    }
}

/// The digest that a delta begins with; none if it does not begin as one.
fn digest_of(path: &Path, coding: Coding) -> Result<Option<Digest>> {
    let mut head = Vec::new();
    let read = regular::open(path).and_then(|file| file.take(coding.head() as u64).read_to_end(&mut head));
    read.with_context(|| format!("{}: cannot be read", weigh_model::text::clean_path(path)))?;
    Ok(delta::digest_in(coding, &head))
}

#[cfg(test)]
mod tests;
