//! Synthetic content: small, generated, deterministic; for when there is no network and the cache is empty.
//!
//! It imitates the shape of real content (skewed word frequencies, repeated keys, nesting), so that the order of
//! codecs is plausible, but its sizes and ratios are not those of any real site: every table labels it. Owns the
//! families and sizes; `synthetic:html-64k` is 64,000 bytes at most. Refuses to pass for real.

mod php;
mod text;
mod web;

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};

use weigh_model::payload::{Origin, Payload};

use super::names::file_name;
use crate::digest;
use text::Random;
use weigh_model::text::clean_path;

/// The largest synthetic content in bytes.
const LARGEST: u64 = 32 << 20;

/// What is imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// A page of prose with markup.
    Html,
    /// Minified statements.
    Js,
    /// Rules.
    Css,
    /// Records.
    Json,
    /// Paths.
    Svg,
    /// Prose.
    Text,
    /// What does not compress: images, fonts.
    Noise,
    /// PHP value: query rows.
    Rows,
    /// PHP value: a configuration tree.
    Tree,
    /// PHP value: a translation catalogue.
    I18n,
    /// PHP value: class metadata as objects.
    Meta,
}

/// All families with their words, the kinds of their payloads, and what they imitate.
const FAMILIES: [(Family, &str, &str, &str); 11] = [
    (Family::Html, "html", "html", "an HTML page"),
    (Family::Js, "js", "js", "minified JavaScript"),
    (Family::Css, "css", "css", "a style sheet"),
    (Family::Json, "json", "json", "JSON records"),
    (Family::Svg, "svg", "svg", "an SVG drawing"),
    (Family::Text, "text", "text", "English prose"),
    (Family::Noise, "noise", "binary", "content that is compressed already"),
    (Family::Rows, "rows", "php-value", "query rows"),
    (Family::Tree, "tree", "php-value", "a configuration tree"),
    (Family::I18n, "i18n", "php-value", "a translation catalogue"),
    (Family::Meta, "meta", "php-value", "class metadata as objects"),
];

/// A family at a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    family: Family,
    bytes: u64,
    kind: String,
}

impl Recipe {
    /// The twin of something real: the nearest family, at the same size.
    pub(super) fn like(name: &str, kind: &str, bytes: u64) -> Recipe {
        let value = FAMILIES.iter().filter(|f| f.2 == "php-value").find(|f| name.starts_with(f.1));
        let same = FAMILIES.iter().find(|f| f.2 == kind && f.2 != "php-value").map(|f| f.0);
        let family = match (kind, value) {
            ("php-value", Some(found)) => found.0,
            ("php-value", None) => Family::Tree,
            ("map", _) => Family::Json,
            _ => same.unwrap_or(Family::Noise),
        };
        Recipe { family, bytes: bytes.min(LARGEST), kind: kind.into() }
    }

    /// The bytes: at most as many as asked for and nearly that many, unless a single entry takes more.
    pub fn bytes(&self) -> Vec<u8> {
        let random = &mut Random::new(self.family as u64);
        let limit = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        match self.family {
            Family::Html => web::html(random, limit),
            Family::Js => web::js(random, limit),
            Family::Css => web::css(random, limit),
            Family::Json => web::json(random, limit),
            Family::Svg => web::svg(random, limit),
            Family::Text => web::prose(random, limit),
            Family::Noise => random.noise(limit),
            Family::Rows => php::rows(random, limit),
            Family::Tree => php::tree(random, limit),
            Family::I18n => php::i18n(random, limit),
            Family::Meta => php::meta(random, limit),
        }
    }

    /// Writes it into a folder as the payload `name`. The payload's blob is a path in `into`, as given.
    pub fn stage(&self, into: &Path, name: &str) -> Result<Payload> {
        let content = self.bytes();
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
            items: vec![bytes],
            value: (self.kind == "php-value").then(|| "serialize".to_owned()),
            origin: Origin::Synthetic { imitates: self.imitates().into() },
        })
    }

    fn imitates(&self) -> &'static str {
        FAMILIES.iter().find(|f| f.0 == self.family).map_or("content", |f| f.3)
    }
}

impl FromStr for Recipe {
    type Err = anyhow::Error;

    /// Reads `FAMILY-SIZE`, where the size is a number of bytes, of thousands (`64k`) or of millions (`2.4m`).
    fn from_str(text: &str) -> Result<Recipe> {
        let words = || FAMILIES.map(|f| f.1).join(", ");
        let usage =
            || anyhow!("`synthetic:{text}`: write FAMILY-SIZE, such as html-64k; families: {}", words());
        let (word, size) = text.rsplit_once('-').ok_or_else(usage)?;
        let found = FAMILIES.iter().find(|f| f.1 == word).ok_or_else(usage)?;
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
        Ok(Recipe { family: found.0, bytes: bytes as u64, kind: found.2.into() })
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = FAMILIES.iter().find(|f| f.0 == self.family).map_or("", |f| f.1);
        write!(f, "synthetic:{word}-{}", self.bytes)
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
        for (_, word, kind, _) in FAMILIES {
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
            .map(|f| digest::sha256(&format!("{}-50k", f.1).parse::<Recipe>().unwrap().bytes()))
            .collect();
        assert_eq!(&digest::sha256(all.as_bytes())[..16], "190dc48e58d88da1");
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
        for (_, word, ..) in FAMILIES {
            assert!(!format!("{word}-1").parse::<Recipe>().unwrap().bytes().is_empty(), "{word}");
        }
    }
}
