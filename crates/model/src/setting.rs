//! A setting: a codec with its level and options, as text and as a value.
//!
//! Text form of one setting: `zstd`, `zstd:3`, `zlib:6,memlevel=9,mode=stream`. A [`Request`] names several at once:
//! `gzdeflate:1..9`, `zstd:-5..22/3`, `brotli:1|5|11`, `zlib:all`, `brotli:4,window=16|22`, `set:web`. Only an
//! inventory knows which levels exist, so a request is expanded against a codec's description.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::{CodecDescription, Levels, OptionDescription};
use crate::suggest::nearest_hint;

/// A codec with its level and options.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The codec's name.
    pub codec: String,
    /// The level; `None` for a codec without levels.
    pub level: Option<i32>,
    /// Options by name, as written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

impl Setting {
    /// A codec without level and options.
    pub fn bare(codec: impl Into<String>) -> Setting {
        Setting { codec: codec.into(), level: None, options: BTreeMap::new() }
    }

    pub fn at(codec: impl Into<String>, level: i32) -> Setting {
        Setting { level: Some(level), ..Setting::bare(codec) }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.codec)?;
        if let Some(level) = self.level {
            write!(f, ":{level}")?;
        }
        for (name, value) in &self.options {
            write!(f, ",{name}={value}")?;
        }
        Ok(())
    }
}

/// A request for settings, as written in a study or on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// A codec's name, or `set:NAME`.
    pub name: String,
    /// Which levels; `None`: the caller's default.
    pub levels: Option<LevelRequest>,
    /// Options; several values of an option multiply the settings.
    pub options: BTreeMap<String, Vec<String>>,
}

/// Which levels of a codec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelRequest {
    /// A few levels that cover the range.
    Representative,
    All,
    Default,
    /// These levels, in this order; a range includes both ends.
    Listed(Vec<i32>),
}

/// What a request is expanded against: a codec or a method, as it describes itself.
#[derive(Clone, Copy, Debug)]
pub struct Tunable<'a> {
    pub name: &'a str,
    /// Its levels; none: no levels.
    pub levels: Option<&'a Levels>,
    /// The options besides the level.
    pub options: &'a [OptionDescription],
}

impl<'a> From<&'a CodecDescription> for Tunable<'a> {
    fn from(codec: &'a CodecDescription) -> Tunable<'a> {
        Tunable { name: &codec.name, levels: codec.levels.as_ref(), options: &codec.options }
    }
}

/// A request that cannot be read or does not fit the codec.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SettingError(pub String);

fn refuse<T>(message: String) -> Result<T, SettingError> {
    Err(SettingError(message))
}

impl Request {
    /// Reads one request.
    ///
    /// # Errors
    /// One line that quotes the text and says what was expected.
    pub fn parse(text: &str) -> Result<Request, SettingError> {
        let mut parts = text.split(',');
        let head = parts.next().unwrap_or_default().trim();
        let (prefix, rest) = match head.strip_prefix("set:") {
            Some(rest) => ("set:", rest),
            None => ("", head),
        };
        let (name, levels) = match rest.split_once(':') {
            Some((name, levels)) => (name, Some(LevelRequest::parse(levels, text)?)),
            None => (rest, None),
        };
        if name.is_empty() {
            return refuse(format!("`{text}` does not name a codec; write NAME, NAME:LEVEL or set:NAME"));
        }
        let mut options = BTreeMap::new();
        for part in parts {
            let Some((key, values)) = part.split_once('=').filter(|(k, v)| !k.is_empty() && !v.is_empty())
            else {
                return refuse(format!("`{text}`: `{part}` is not an option; write NAME=VALUE"));
            };
            let values = values.split('|').map(str::to_owned).collect();
            options.insert(key.trim().to_owned(), values);
        }
        Ok(Request { name: format!("{prefix}{name}"), levels, options })
    }

    /// The level that is asked for by its number, or the first of several.
    pub fn level(&self) -> Option<i32> {
        match self.levels.as_ref()? {
            LevelRequest::Listed(levels) => levels.first().copied(),
            _ => None,
        }
    }

    /// The name of the set, if the request names a set.
    pub fn set(&self) -> Option<&str> {
        self.name.strip_prefix("set:")
    }

    /// The settings of one codec that this request asks for.
    ///
    /// `fallback` applies if the request has no levels. Members of a set ignore options and levels that they do not
    /// have; a codec that is named itself does not.
    ///
    /// # Errors
    /// A level or option that the codec does not take.
    pub fn expand<'a>(
        &self,
        codec: impl Into<Tunable<'a>>,
        fallback: &LevelRequest,
    ) -> Result<Vec<Setting>, SettingError> {
        let codec = codec.into();
        let strict = self.set().is_none();
        let levels = self.levels.as_ref().unwrap_or(fallback).of(codec, strict && self.levels.is_some())?;
        let mut settings: Vec<_> = levels
            .into_iter()
            .map(|level| Setting { codec: codec.name.to_owned(), level, options: BTreeMap::new() })
            .collect();
        for (name, values) in &self.options {
            match codec.options.iter().find(|o| &o.name == name) {
                Some(option) => check_values(codec, option, values)?,
                None if strict => {
                    let known: Vec<_> = codec.options.iter().map(|o| o.name.as_str()).collect();
                    let hint = nearest_hint(name, known.iter().copied());
                    return refuse(format!("{} has no option `{name}`{hint}", codec.name));
                }
                None => continue,
            }
            settings = settings
                .iter()
                .flat_map(|s| {
                    values.iter().map(|v| {
                        let mut with = s.clone();
                        with.options.insert(name.clone(), v.clone());
                        with
                    })
                })
                .collect();
        }
        Ok(settings)
    }
}

fn check_values(
    codec: Tunable<'_>,
    option: &OptionDescription,
    values: &[String],
) -> Result<(), SettingError> {
    for value in values {
        let fine = match option.range {
            Some((low, high)) => value.parse::<i32>().is_ok_and(|v| v >= low && v <= high),
            None => option.words.contains(value),
        };
        if !fine {
            let accepted = match option.range {
                Some((low, high)) => format!("{low} to {high}"),
                None => option.words.join(", "),
            };
            return refuse(format!(
                "{}: {}={value} is not accepted; use {accepted}",
                codec.name, option.name
            ));
        }
    }
    Ok(())
}

impl LevelRequest {
    /// Reads `representative`, `all`, `default`, `6`, `1..9`, `1..9/2`, or several joined by `|`.
    ///
    /// # Errors
    /// One line that quotes `whole`, the text around it.
    pub fn parse(text: &str, whole: &str) -> Result<LevelRequest, SettingError> {
        match text.trim() {
            "representative" => return Ok(LevelRequest::Representative),
            "all" => return Ok(LevelRequest::All),
            "default" => return Ok(LevelRequest::Default),
            _ => {}
        }
        let mut levels = Vec::new();
        for part in text.split('|') {
            match read_range(part.trim()) {
                Some(range) => levels.extend(range),
                None => {
                    return refuse(format!(
                        "`{whole}`: `{part}` is not a level; write 6, 1..9, 1..9/2, 1|6|9, all, default or representative"
                    ));
                }
            }
        }
        Ok(LevelRequest::Listed(levels))
    }

    fn of(&self, codec: Tunable<'_>, strict: bool) -> Result<Vec<Option<i32>>, SettingError> {
        let Some(range) = codec.levels else {
            return match self {
                LevelRequest::Listed(_) if strict => refuse(format!("{} has no levels", codec.name)),
                _ => Ok(vec![None]),
            };
        };
        let levels = match self {
            LevelRequest::Representative => range.representative.clone(),
            LevelRequest::All => (range.min..=range.max).collect(),
            LevelRequest::Default => vec![range.default],
            LevelRequest::Listed(levels) => {
                let outside = levels.iter().find(|l| **l < range.min || **l > range.max);
                if let (Some(level), true) = (outside, strict) {
                    return refuse(format!(
                        "{} has levels {} to {}, not {level}",
                        codec.name, range.min, range.max
                    ));
                }
                levels.iter().copied().filter(|l| *l >= range.min && *l <= range.max).collect()
            }
        };
        Ok(levels.into_iter().map(Some).collect())
    }
}

fn read_range(text: &str) -> Option<Vec<i32>> {
    let (range, step) = match text.split_once('/') {
        Some((range, step)) => (range, step.parse::<usize>().ok().filter(|s| *s > 0)?),
        None => (text, 1),
    };
    let Some((low, high)) = range.split_once("..") else {
        return (step == 1).then(|| text.parse().ok().map(|l| vec![l])).flatten();
    };
    let (low, high) = (low.parse::<i32>().ok()?, high.parse::<i32>().ok()?);
    (low <= high && high.abs_diff(low) <= 1000).then(|| (low..=high).step_by(step).collect())
}

#[cfg(test)]
mod tests;
