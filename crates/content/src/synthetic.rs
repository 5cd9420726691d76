//! Synthetic content: small, generated, deterministic; for when there is no network and the cache is empty.
//!
//! It imitates the shape of real content (skewed word frequencies, repeated keys, nesting), so that the order of
//! codecs is plausible, but its sizes and ratios are not those of any real site: every table labels it. Owns the
//! families and sizes; `synthetic:html-64k` is 64,000 bytes at most. Refuses to pass for real.

mod php;
pub(super) mod text;
mod web;

use std::path::Path;
use std::str::FromStr;
use std::{fmt, fs};

use anyhow::{Context, Result, anyhow, bail};

use weigh_model::payload::{Origin, Payload, family_of};

use super::names::file_name;
use text::Random;
use weigh_model::text::clean_path;
use weigh_os::digest;

/// The largest synthetic content in bytes.
const LARGEST: u64 = 32 << 20;

/// What is imitated: a word, the kind of its payloads, what they imitate, and what writes at most this many bytes of it.
type Family = (&'static str, &'static str, &'static str, fn(&mut Random, usize) -> Vec<u8>);

/// All families. The place of one is what its randomness is drawn from, so that new ones go to the end.
const FAMILIES: [Family; 11] = [
    ("html", "html", "an HTML page", web::html),
    ("js", "js", "minified JavaScript", web::js),
    ("css", "css", "a style sheet", web::css),
    ("json", "json", "JSON records", web::json),
    ("svg", "svg", "an SVG drawing", web::svg),
    ("text", "text", "English prose", web::prose),
    ("noise", "binary", "content that is compressed already", Random::noise),
    ("rows", "php-value", "query rows", php::rows),
    ("tree", "php-value", "a configuration tree", php::tree),
    ("i18n", "php-value", "a translation catalogue", php::i18n),
    ("meta", "php-value", "class metadata as objects", php::meta),
];

/// A family at a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Its place among [`FAMILIES`].
    family: usize,
    bytes: u64,
    kind: String,
}

impl Recipe {
    /// The twin of something real: the nearest family, at the same size.
    pub(super) fn like(name: &str, kind: &str, bytes: u64) -> Recipe {
        let place = |fits: &dyn Fn(&Family) -> bool| FAMILIES.iter().position(fits);
        let found = match kind {
            "php-value" => {
                place(&|f| f.1 == "php-value" && name.starts_with(f.0)).or(place(&|f| f.0 == "tree"))
            }
            "map" => place(&|f| f.0 == "json"),
            _ => place(&|f| f.1 == kind).or(place(&|f| f.0 == "noise")),
        };
        let family = found.unwrap_or(0);
        Recipe { family, bytes: bytes.min(LARGEST), kind: kind.into() }
    }

    /// The bytes: at most as many as asked for and nearly that many, unless a single entry takes more.
    pub fn bytes(&self) -> Vec<u8> {
        self.instances(1).concat()
    }

    /// This many of its shape, one drawn after the other from the same words; the first is [`Recipe::bytes`].
    pub fn instances(&self, count: usize) -> Vec<Vec<u8>> {
        let random = &mut Random::new(self.family as u64);
        let limit = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        (0..count).map(|_| FAMILIES[self.family].3(random, limit)).collect()
    }

    /// Writes it into a folder as the payload `name`; with `family` a small one together with other instances of its shape. The payload's
    /// blob is a path in `into`, as given.
    pub fn stage(&self, into: &Path, name: &str, family: bool) -> Result<Payload> {
        let count = if family { family_of(self.bytes) } else { 1 };
        let instances = self.instances(count);
        let content = instances.concat();
        let blob = into.join(file_name(name));
        let fail = || format!("cannot write in {}", clean_path(into));
        fs::create_dir_all(into).with_context(fail)?;
        let mut fresh = tempfile::NamedTempFile::new_in(into).with_context(fail)?;
        std::io::Write::write_all(&mut fresh, &content).with_context(fail)?;
        fresh.persist(&blob).with_context(fail)?;
        let bytes = content.len() as u64;
        Ok(Payload {
            name: name.to_owned(),
            kind: self.kind.clone(),
            blob,
            sha256: digest::sha256(&content),
            bytes,
            items: instances.iter().map(|instance| instance.len() as u64).collect(),
            family: count > 1,
            value: (self.kind == "php-value").then(|| "serialize".to_owned()),
            parts: Vec::new(),
            origin: Origin::Synthetic { imitates: FAMILIES[self.family].2.into() },
        })
    }
}

impl FromStr for Recipe {
    type Err = anyhow::Error;

    /// Reads `FAMILY-SIZE`, where the size is a number of bytes, of thousands (`64k`) or of millions (`2.4m`).
    fn from_str(text: &str) -> Result<Recipe> {
        let words = || FAMILIES.map(|f| f.0).join(", ");
        let usage =
            || anyhow!("`synthetic:{text}`: write FAMILY-SIZE, such as html-64k; families: {}", words());
        let (word, size) = text.rsplit_once('-').ok_or_else(usage)?;
        let family = FAMILIES.iter().position(|f| f.0 == word).ok_or_else(usage)?;
        let (number, unit) = match size.strip_suffix(['k', 'm']) {
            Some(number) if size.ends_with('k') => (number, 1e3),
            Some(number) => (number, 1e6),
            None => (size, 1.0),
        };
        let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
        let number: f64 = number.parse().ok().filter(|_| plain).ok_or_else(usage)?;
        let bytes = (number * unit).round();
        if !(1.0..=LARGEST as f64).contains(&bytes) {
            bail!("`synthetic:{text}`: sizes go from 1 byte to {LARGEST} bytes");
        }
        Ok(Recipe { family, bytes: bytes as u64, kind: FAMILIES[family].1.into() })
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "synthetic:{}-{}", FAMILIES[self.family].0, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn deflated(bytes: &[u8]) -> f64 {
        let mut out = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        out.write_all(bytes).unwrap();
        out.finish().unwrap().len() as f64 / bytes.len() as f64
    }

    #[test]
    fn sizes_are_kept_and_compressibility_is_plausible() {
        for (word, kind, ..) in FAMILIES {
            for size in ["16k", "256k", "2.4m"] {
                let recipe: Recipe = format!("{word}-{size}").parse().unwrap();
                let bytes = recipe.bytes();
                let asked = recipe.bytes as f64;
                let filled = bytes.len() as f64 / asked;
                assert!((0.8..=1.0).contains(&filled), "{word}-{size}: {filled}");
                let left = deflated(&bytes);
                let expected = if kind == "binary" { 0.95..1.01 } else { 0.04..0.55 };
                assert!(expected.contains(&left), "{word}-{size} deflates to {left}");
            }
        }
    }

    #[test]
    fn the_bytes_never_change() {
        // Figures measured on synthetic content are compared between machines and versions.
        let all: String = FAMILIES
            .iter()
            .map(|f| digest::sha256(&format!("{}-50k", f.0).parse::<Recipe>().unwrap().bytes()))
            .collect();
        assert_eq!(&digest::sha256(all.as_bytes())[..16], "190dc48e58d88da1");
    }

    #[test]
    fn instances_differ_and_the_first_is_the_content_itself() {
        for (word, ..) in FAMILIES {
            let recipe: Recipe = format!("{word}-16k").parse().unwrap();
            let all = recipe.instances(24);
            assert_eq!(all[0], recipe.bytes(), "{word}");
            let different: std::collections::BTreeSet<_> = all.iter().collect();
            assert_eq!(different.len(), 24, "{word}");
            assert!(all.iter().all(|one| (0.8..=1.0).contains(&(one.len() as f64 / 16e3))), "{word}");
        }
    }

    #[test]
    fn sizes_are_read_strictly() {
        let size = |text: &str| text.parse::<Recipe>().map(|r| r.bytes);
        assert_eq!(size("html-64k").unwrap(), 64_000);
        assert_eq!(size("tree-2.4m").unwrap(), 2_400_000);
        assert_eq!(size("rows-17").unwrap(), 17);
        for text in
            ["html", "html-", "html-0", "html-k", "html-1e9", "html-99m", "nothing-4k", "html--4", "html-nan"]
        {
            let error = size(text).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_single_entry_is_there_even_when_it_is_too_long() {
        for (word, ..) in FAMILIES {
            assert!(!format!("{word}-1").parse::<Recipe>().unwrap().bytes().is_empty(), "{word}");
        }
    }
}
