//! The content codings: names, levels, and which of them have dictionaries.

use std::fmt;
use std::ops::RangeInclusive;

use sha2::{Digest, Sha256};

use crate::Error;

/// The lowest level at which Brotli's encoder looks into a dictionary; below it only the decoder would.
const DICTIONARY_LEVEL: i32 = 5;

/// A content coding of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// HTTP's name for the zlib format, RFC 1950.
    Deflate,
    /// Brotli, RFC 7932.
    Br,
    /// Zstandard, RFC 8878, with windows of at most 8 MB (RFC 9659).
    Zstd,
    /// Brotli with a shared dictionary, RFC 9842.
    Dcb,
    /// Zstandard with a shared dictionary, RFC 9842.
    Dcz,
}

impl Coding {
    /// All codings.
    pub const ALL: [Coding; 6] =
        [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd, Coding::Dcb, Coding::Dcz];

    /// The coding of this name, in any case; `zlib` is `deflate`, and `x-gzip` is `gzip`.
    ///
    /// # Errors
    /// [`Error::Unknown`], with at most 32 characters of the name.
    pub fn named(name: &str) -> Result<Coding, Error> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let known = Coding::ALL.into_iter().find(|coding| is(coding.name()));
        let known = known.or_else(|| is("zlib").then_some(Coding::Deflate));
        let known = known.or_else(|| is("x-gzip").then_some(Coding::Gzip));
        let shown = || name.chars().take(32).flat_map(char::escape_debug).collect();
        known.ok_or_else(|| Error::Unknown(shown()))
    }

    /// Its name in Content-Encoding.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Br => "br",
            Coding::Zstd => "zstd",
            Coding::Dcb => "dcb",
            Coding::Dcz => "dcz",
        }
    }

    /// Its levels. Those of Zstandard above 19 need windows that browsers refuse.
    pub fn levels(self) -> RangeInclusive<i32> {
        match self {
            Coding::Gzip | Coding::Deflate => 0..=12,
            Coding::Br | Coding::Dcb => 0..=11,
            Coding::Zstd | Coding::Dcz => -7..=19,
        }
    }

    /// The level for pages that are encoded when they are sent; see the README for the measurements behind it.
    pub fn default_level(self) -> i32 {
        match self {
            Coding::Gzip | Coding::Deflate => 6,
            Coding::Br => 4,
            Coding::Dcb => DICTIONARY_LEVEL,
            Coding::Zstd | Coding::Dcz => 3,
        }
    }

    /// What precedes the stream: for a shared dictionary the magic number and the dictionary's SHA-256.
    pub(crate) fn preamble(self, dictionary: Option<&[u8]>) -> Vec<u8> {
        let magic: &[u8] = match self {
            Coding::Dcb => &[0xff, 0x44, 0x43, 0x42],
            Coding::Dcz => &[0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0],
            _ => return Vec::new(),
        };
        let digest = Sha256::digest(dictionary.unwrap_or_default());
        [magic, digest.as_slice()].concat()
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A coding with a level and a dictionary that it has.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The coding.
    pub coding: Coding,
    pub(crate) level: i32,
    pub(crate) dictionary: Option<&'a [u8]>,
}

impl<'a> Plan<'a> {
    /// Checks the level and the dictionary; an empty dictionary is none.
    ///
    /// # Errors
    /// The coding has no such level, or takes no dictionary, or needs one.
    pub fn new(coding: Coding, level: Option<i64>, dictionary: Option<&'a [u8]>) -> Result<Plan<'a>, Error> {
        let dictionary = dictionary.filter(|bytes| !bytes.is_empty());
        let level = match level {
            None if coding == Coding::Br && dictionary.is_some() => DICTIONARY_LEVEL,
            None => coding.default_level(),
            Some(level) => {
                let known = i32::try_from(level).ok().filter(|level| coding.levels().contains(level));
                known.ok_or(Error::Level { coding, level })?
            }
        };
        match (coding, dictionary) {
            (Coding::Gzip | Coding::Deflate, Some(_)) => Err(Error::DictionaryRefused(coding)),
            (Coding::Dcb | Coding::Dcz, None) => Err(Error::DictionaryMissing(coding)),
            _ => Ok(Plan { coding, level, dictionary }),
        }
    }
}
