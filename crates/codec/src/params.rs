//! Parameters of a codec: the level and named options, checked in one place for every codec.

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

/// The accepted values of an option.
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
    /// The option does not exist for this codec.
    #[error("{codec} has no option `{option}`; it takes: {known}")]
    UnknownOption {
        codec: &'static str,
        option: String,
        /// The options that exist, or `none`.
        known: String,
    },
    /// The option's value is not accepted.
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
    pub fn check(&self, info: &crate::Info) -> Result<(), ParamError> {
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
    pub fn level_or_default(&self, info: &crate::Info) -> i32 {
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
