//! How a worker describes itself: runtime, codecs and serializers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    pub id: u64,
    /// The protocol version that the worker uses, see [`PROTOCOL`](super::PROTOCOL).
    pub protocol: u32,
    /// `native` or `php`.
    pub runtime: String,
    /// The runtime's version: `8.2.36`; for native, the program's.
    pub version: String,
    /// Settings that change results, by name: `USE_ZEND_ALLOC_HUGE_PAGES`, `opcache.enable_cli`,
    /// `pcre.jit`, `debug`, `zts`, clock used, …; shown in the fingerprint.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// Every codec, available or not.
    pub codecs: Vec<CodecDescription>,
    /// Every serializer, available or not (PHP only).
    #[serde(default)]
    pub serializers: Vec<SerializerDescription>,
}

/// One codec, as a worker describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CodecDescription {
    /// Its name in studies.
    pub name: String,
    /// The format it writes with default options.
    pub format: String,
    /// How PHP calls it: `native`, `extension`, `ffi`, `library` (PHP code).
    pub binding: String,
    /// Library and version, as reported: `zlib 1.2.13`.
    pub library: Option<String>,
    /// Whether it takes a PHP value itself, so that it needs no serializer.
    #[serde(default)]
    pub takes_value: bool,
    /// Its levels; null: no levels.
    pub levels: Option<Levels>,
    /// The options besides the level.
    #[serde(default)]
    pub options: Vec<OptionDescription>,
    /// The named sets that contain it.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Rough encode throughput, (level, MB/s): see `weigh_codec::Info::nominal`.
    #[serde(default)]
    pub nominal: Vec<(i32, f64)>,
    /// Null: can be measured. Otherwise the reason why not.
    pub missing: Option<String>,
    /// How to make it available, such as `apt install php-zstd`.
    pub remedy: Option<String>,
}

/// The levels of a codec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Levels {
    /// Lowest.
    pub min: i32,
    /// Highest.
    pub max: i32,
    /// The library's default.
    pub default: i32,
    /// A few levels that cover the range, ascending.
    pub representative: Vec<i32>,
}

/// One option of a codec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OptionDescription {
    /// Its name.
    pub name: String,
    /// The smallest and the largest accepted number, for a numeric option.
    #[serde(default)]
    pub range: Option<(i32, i32)>,
    /// The accepted words, for an option of words.
    #[serde(default)]
    pub words: Vec<String>,
    /// One line that says what it does.
    #[serde(default)]
    pub about: String,
}

/// One serializer, as a PHP worker describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SerializerDescription {
    /// Its name.
    pub name: String,
    /// Extension and version, as reported.
    pub library: Option<String>,
    /// Null: can be measured. Otherwise the reason why not.
    pub missing: Option<String>,
    /// How to make it available.
    pub remedy: Option<String>,
}
