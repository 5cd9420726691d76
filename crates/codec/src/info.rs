//! What a codec is: its format, and its parameters (the level and named options), checked in one place for every codec.

use std::collections::BTreeMap;

/// The levels of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelRange {
    pub min: i32,
    pub max: i32,
    pub default: i32,
    /// A few levels that cover the codec's range, ascending.
    pub representative: &'static [i32],
}

/// One option of a codec besides the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its name: `window`, `memlevel`, `mode`, `container`, `long`, `dict`.
    pub name: &'static str,
    pub values: OptionValues,
    /// One line that says what it does, with its default.
    pub about: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValues {
    /// An integer in this inclusive range.
    Range(i32, i32),
    Words(&'static [&'static str]),
}

/// A codec's parameters for one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params {
    /// The level; `None` means the codec's default.
    pub level: Option<i32>,
    /// Options by name; values as written in the study.
    pub options: BTreeMap<String, String>,
    /// The trained dictionary that belongs to `dict=trained`, if any.
    pub dictionary: Option<Vec<u8>>,
}

/// A parameter that the codec does not accept.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParamError {
    /// A level was given to a codec without levels.
    #[error("{codec} has no levels")]
    NoLevels { codec: &'static str },
    /// The level is outside the codec's range.
    #[error("{codec} has levels {min} to {max}, not {level}")]
    Level { codec: &'static str, level: i32, min: i32, max: i32 },
    #[error("{codec} has no option `{option}`; it takes: {known}")]
    UnknownOption {
        codec: &'static str,
        option: String,
        /// The options that exist, or `none`.
        known: String,
    },
    #[error("{codec}: {option}={value} is not accepted; use {accepted}")]
    OptionValue { codec: &'static str, option: String, value: String, accepted: String },
    /// Two parameters do not go together.
    #[error("{codec}: {message}")]
    Conflict { codec: &'static str, message: String },
}

impl Params {
    /// Parameters with only a level.
    pub fn level(level: i32) -> Params {
        Params { level: Some(level), ..Params::default() }
    }

    /// Checks every parameter against the codec's declarations.
    ///
    /// # Errors
    /// The first [`ParamError`] found.
    pub fn check(&self, info: &Info) -> Result<(), ParamError> {
        let codec = info.name;
        match (self.level, info.levels) {
            (Some(_), None) => return Err(ParamError::NoLevels { codec }),
            (Some(level), Some(r)) if level < r.min || level > r.max => {
                return Err(ParamError::Level { codec, level, min: r.min, max: r.max });
            }
            _ => {}
        }
        for (name, value) in &self.options {
            let Some(spec) = info.options.iter().find(|o| o.name == name) else {
                let known: Vec<_> = info.options.iter().map(|o| o.name).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                return Err(ParamError::UnknownOption { codec, option: name.clone(), known });
            };
            spec.values.check(codec, name, value)?;
        }
        Ok(())
    }

    /// The level, or the codec's default, or 0 for a codec without levels.
    pub fn level_or_default(&self, info: &Info) -> i32 {
        self.level.or(info.levels.map(|l| l.default)).unwrap_or(0)
    }

    /// An option's text, if it was given.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// An option's number, if it was given; call [`Params::check`] first.
    pub fn number(&self, name: &str) -> Option<i32> {
        self.word(name).and_then(|v| v.parse().ok())
    }
}

impl OptionValues {
    fn check(self, codec: &'static str, option: &str, value: &str) -> Result<(), ParamError> {
        let (fine, accepted) = match self {
            OptionValues::Range(lo, hi) => {
                (value.parse::<i32>().is_ok_and(|v| v >= lo && v <= hi), format!("{lo} to {hi}"))
            }
            OptionValues::Words(words) => (words.contains(&value), words.join(", ")),
        };
        if fine {
            return Ok(());
        }
        Err(ParamError::OptionValue { codec, option: option.into(), value: value.into(), accepted })
    }
}

/// A wire format: any decoder of the format can read it, whichever encoder wrote it.
///
/// Content codings map onto it: `gzip` is [`Format::Gzip`], HTTP's `deflate` is [`Format::Zlib`],
/// `br` is [`Format::Brotli`], `zstd` is [`Format::Zstd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// The bytes themselves.
    Identity,
    /// Raw DEFLATE, RFC 1951.
    Deflate,
    /// DEFLATE in the zlib container, RFC 1950.
    Zlib,
    /// DEFLATE in the gzip container, RFC 1952.
    Gzip,
    /// Brotli, RFC 7932.
    Brotli,
    /// Zstandard frames, RFC 8878.
    Zstd,
    /// A bare LZ4 block; its uncompressed length travels outside.
    Lz4Block,
    /// An LZ4 frame.
    Lz4Frame,
    Snappy,
    Xz,
    /// The .bz2 container.
    Bzip2,
}

impl Format {
    /// Every format, in the order of the declaration.
    pub const ALL: [Format; 11] = [
        Format::Identity,
        Format::Deflate,
        Format::Zlib,
        Format::Gzip,
        Format::Brotli,
        Format::Zstd,
        Format::Lz4Block,
        Format::Lz4Frame,
        Format::Snappy,
        Format::Xz,
        Format::Bzip2,
    ];

    /// The name used in records and by PHP codecs: `deflate`, `zlib`, `gzip`, `br`, `zstd`, …
    pub fn name(self) -> &'static str {
        match self {
            Format::Identity => "identity",
            Format::Deflate => "deflate",
            Format::Zlib => "zlib",
            Format::Gzip => "gzip",
            Format::Brotli => "br",
            Format::Zstd => "zstd",
            Format::Lz4Block => "lz4-block",
            Format::Lz4Frame => "lz4",
            Format::Snappy => "snappy",
            Format::Xz => "xz",
            Format::Bzip2 => "bzip2",
        }
    }

    /// The format of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// A description of a codec, without running it.
#[derive(Clone, Debug)]
pub struct Info {
    /// The codec's name in studies and on the command line: `zlib-ng`, `libdeflate`, `zstd` …
    pub name: &'static str,
    /// The format that it writes with default parameters.
    pub format: Format,
    /// Its levels; `None`: no levels.
    pub levels: Option<LevelRange>,
    /// Its options besides the level.
    pub options: &'static [OptionSpec],
    /// The named sets that contain it: `web`, `cache`, `fast`, `archive`. `all` contains every codec.
    pub sets: &'static [&'static str],
    /// Rough encode throughput (level, MB/s of uncompressed bytes), for expected times and the order of
    /// work only; never shown as a result. Levels between two entries are interpolated.
    pub nominal: &'static [(i32, f64)],
}
