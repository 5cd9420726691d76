//! A setting: a codec with its level and options, as text and as a value.
//!
//! Text form: `zstd`, `zstd:3`, `zlib:6,memlevel=9,mode=stream`. Where a list is asked for, the level
//! part may be a range (`gzdeflate:1..9`), a step (`zstd:-5..22/3`) or several (`br:1|5|11`); expansion
//! stands in [`crate::plan`], because only an inventory knows which levels exist.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A codec with its level and options.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
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

    /// A codec at a level.
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
