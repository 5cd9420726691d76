//! How one variant of a file is made, and how what was made is read again. Another kind of variant is another [`Recipe`]: whoever plans,
//! writes and checks asks for nothing but what stands here.

use std::borrow::Cow;
use std::fmt::Debug;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::source::Source;
use weigh_codec::{Coder, Format, Params, codecs, independent};
use weigh_content::types::is_same;
use weigh_model::setting::Setting;
use weigh_model::site::Kind;

pub trait Recipe: Send + Sync + Debug {
    fn coding(&self) -> &'static str;

    /// What it adds to the name of this file after a dot.
    fn ending(&self, path: &Path) -> Cow<'static, str>;

    /// What makes it, for this source: where two sources have the same content and the same `by`, they have the same variant; where it
    /// changes, the variant is made again.
    fn by(&self, path: &Path) -> String;

    /// The length of the smallest source that it is for.
    fn min_bytes(&self) -> u64;

    /// Whether it is for this source, as far as is known of it.
    fn takes(&self, source: &Source) -> bool;

    /// A coder for a source of this length.
    ///
    /// # Errors
    /// One line: this program cannot do it.
    fn coder(&self, path: &Path, bytes: u64) -> Result<Box<dyn Coder>>;

    /// Whether a coder of one source is good for another, both of them small.
    fn keeps_coders(&self) -> bool;

    /// What was encoded, by a decoder that shares no code with the encoder.
    ///
    /// # Errors
    /// It is damaged, or holds more than `expected` bytes.
    fn decode(&self, path: &Path, encoded: &[u8], expected: usize) -> Result<Vec<u8>>;

    /// Seconds that it takes, roughly: the longest begin first.
    fn seconds(&self, bytes: u64) -> f64;

    /// The most memory that it takes, roughly, the source and the variant included.
    fn memory(&self, bytes: u64) -> u64;
}

/// What a recipe is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every file that is worth encoding.
    All,
    /// What a policy decided for a kind of content.
    Decided {
        kind: Kind,
        /// Media types, whatever servers call them; none: all of the kind.
        types: Vec<String>,
    },
}

/// A content coding by one of the codecs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coded {
    pub coding: &'static str,
    /// What is added to names.
    pub ending: &'static str,
    /// The codec with its level.
    pub setting: Setting,
    /// The smallest source in bytes.
    pub min_bytes: u64,
    pub scope: Scope,
}

/// The largest window of the content coding zstd, RFC 9659: 8 MB, as a base-2 logarithm.
const ZSTD_WINDOW: u32 = 23;
/// From this level on, zstd takes a larger window of its own accord.
const ZSTD_ULTRA: i32 = 20;
/// Brotli's windows, as base-2 logarithms. RFC 7932 has 24 too, with which the encoder alone takes 235 MB.
const BROTLI_WINDOWS: (u32, u32) = (16, 23);

impl Coded {
    fn format(&self) -> Format {
        match self.coding {
            "br" => Format::Brotli,
            "zstd" => Format::Zstd,
            _ => Format::Gzip,
        }
    }

    fn params(&self, bytes: u64) -> Params {
        let mut params = Params { level: self.setting.level, ..Params::default() };
        let mut set = |name: &str, value: u32| params.options.insert(name.to_owned(), value.to_string());
        match self.setting.codec.as_str() {
            "brotli" => {
                // The smallest that reaches back over the whole file.
                let reach = (bytes + 16).next_power_of_two().trailing_zeros();
                set("window", reach.clamp(BROTLI_WINDOWS.0, BROTLI_WINDOWS.1));
            }
            "zstd" if self.setting.level.is_some_and(|level| level >= ZSTD_ULTRA) => {
                set("window", ZSTD_WINDOW);
                set("long", 1);
            }
            _ => {}
        }
        params
    }
}

impl Recipe for Coded {
    fn coding(&self) -> &'static str {
        self.coding
    }

    fn ending(&self, _path: &Path) -> Cow<'static, str> {
        self.ending.into()
    }

    fn by(&self, _path: &Path) -> String {
        self.setting.to_string()
    }

    fn min_bytes(&self) -> u64 {
        self.min_bytes
    }

    fn takes(&self, source: &Source) -> bool {
        let is_meant = match &self.scope {
            Scope::All => true,
            Scope::Decided { kind, types } => {
                let is_named = types.is_empty() || types.iter().any(|name| is_same(name, &source.format));
                *kind == source.kind && is_named
            }
        };
        is_meant && source.is_worth != Some(false) && source.seen.bytes >= self.min_bytes
    }

    fn coder(&self, _path: &Path, bytes: u64) -> Result<Box<dyn Coder>> {
        let name = &self.setting.codec;
        let codec = codecs::find(name).ok_or_else(|| anyhow!("this program has no {name}"))?;
        Ok(codec.coder(&self.params(bytes))?)
    }

    fn keeps_coders(&self) -> bool {
        // Brotli's window is the file's, and its encoder is made anew for each anyway.
        self.setting.codec != "brotli"
    }

    fn decode(&self, _path: &Path, encoded: &[u8], expected: usize) -> Result<Vec<u8>> {
        let decoded = independent::decode(self.format(), encoded, expected, None);
        Ok(decoded.with_context(|| format!("{} by {}", self.coding, self.setting))?.0)
    }

    fn seconds(&self, bytes: u64) -> f64 {
        /// What each file takes besides.
        const EACH: f64 = 1e-4;
        let found = codecs::find(&self.setting.codec);
        let nominal = found.map_or(&[][..], |codec| codec.info().nominal);
        let level = self.setting.level.unwrap_or_default();
        let near = nominal.iter().min_by_key(|(at, _)| at.abs_diff(level));
        EACH + bytes as f64 / near.map_or(1e6, |(_, rate)| rate * 1e6)
    }

    fn memory(&self, bytes: u64) -> u64 {
        let own = match self.setting.codec.as_str() {
            // As measured at the highest levels on files of 4 and 24 MB.
            "brotli" => (bytes * 20).min(120 << 20),
            "zstd" => (bytes * 20).min(100 << 20),
            "zopfli" => bytes.min(1 << 20) * 60,
            _ => 10 << 20,
        };
        own + 2 * bytes
    }
}

/// The window that is asked for, as a base-2 logarithm.
#[cfg(test)]
pub(super) fn window(coded: &Coded, bytes: u64) -> Option<i32> {
    coded.params(bytes).number("window")
}
