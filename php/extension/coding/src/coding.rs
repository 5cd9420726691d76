//! The content codings: names, levels, and data that is all there.

use std::fmt;
use std::ops::RangeInclusive;

use crate::{Error, Operation, brotli, deflate, stream::Stream, zstd};

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
}

impl Coding {
    /// All codings.
    pub const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd];

    /// The coding of this name, in any case; `zlib` is `deflate`, and `x-gzip` is `gzip`.
    ///
    /// # Errors
    /// [`Error::Unknown`], with at most 32 characters of the name.
    pub fn named(name: &str) -> Result<Coding, Error> {
        match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Ok(Coding::Gzip),
            "deflate" | "zlib" => Ok(Coding::Deflate),
            "br" => Ok(Coding::Br),
            "zstd" => Ok(Coding::Zstd),
            _ => Err(Error::Unknown(name.chars().take(32).flat_map(char::escape_debug).collect())),
        }
    }

    /// Its name in Content-Encoding.
    pub fn name(self) -> &'static str {
        ["gzip", "deflate", "br", "zstd"][self as usize]
    }

    /// Its levels. Those of Zstandard above 19 need windows that browsers refuse.
    pub fn levels(self) -> RangeInclusive<i32> {
        match self {
            Coding::Gzip | Coding::Deflate => 0..=12,
            Coding::Br => 0..=11,
            Coding::Zstd => -7..=19,
        }
    }

    /// The level for pages that are encoded when they are sent; see the README for the measurements behind it.
    pub fn default_level(self) -> i32 {
        if self == Coding::Br { 5 } else { 6 }
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
    /// Empty: none.
    pub(crate) dictionary: &'a [u8],
}

impl<'a> Plan<'a> {
    /// Checks the level and the dictionary; an empty dictionary is none.
    ///
    /// # Errors
    /// The coding has no such level, or takes no dictionary.
    pub fn new(coding: Coding, level: Option<i64>, dictionary: Option<&'a [u8]>) -> Result<Plan<'a>, Error> {
        let dictionary = dictionary.unwrap_or_default();
        if coding != Coding::Zstd && !dictionary.is_empty() {
            return Err(Error::Dictionary(coding));
        }
        let level = level.unwrap_or_else(|| coding.default_level().into());
        let known = i32::try_from(level).ok().filter(|level| coding.levels().contains(level));
        Ok(Plan { coding, level: known.ok_or(Error::Level(coding, level))?, dictionary })
    }
}

/// Encodes the data into an emptied vector.
///
/// # Errors
/// There is not enough memory; for bytes of any kind there is no other.
pub fn encode(plan: &Plan, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    match plan.coding {
        Coding::Gzip | Coding::Deflate => deflate::encode(plan, data, out),
        Coding::Br => brotli::Encoder::new(plan, data.len())?.run(data, Operation::Finish, out),
        Coding::Zstd => zstd::encode(plan, data, out),
    }
}

/// Decodes the data into an emptied vector, to at most `limit` bytes. It is empty again after an error.
///
/// # Errors
/// The data is damaged, cut short or followed by more, or decodes to more than `limit` bytes.
pub fn decode(
    coding: Coding,
    data: &[u8],
    limit: usize,
    dictionary: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    out.clear();
    let plan = Plan::new(coding, None, dictionary)?;
    let result = match coding {
        Coding::Gzip | Coding::Deflate => deflate::decode(coding, data, limit, out),
        Coding::Br => brotli::decode(data, limit, out),
        Coding::Zstd => zstd::decode(&plan, data, limit, out),
    };
    if result.is_err() {
        out.clear();
    }
    result
}
