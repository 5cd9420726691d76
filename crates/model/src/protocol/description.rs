//! What a worker says of itself: its runtime, codecs and serializers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a worker is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The request's id.
    pub id: u64,
    /// The worker's [`PROTOCOL`](super::PROTOCOL).
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

/// One codec as a worker has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CodecDescription {
    /// Its name in studies.
    pub name: String,
    /// The format it writes with default options.
    pub format: String,
    /// `native`, `extension`, `ffi`, `library` (PHP code); how it is reached.
    pub binding: String,
    /// Library and version as queried: `zlib 1.2.13`.
    pub library: Option<String>,
    /// `true`: takes a PHP value itself (a marshaller), so that no serializer goes with it.
    #[serde(default)]
    pub takes_value: bool,
    /// Its levels, null without.
    pub levels: Option<Levels>,
    /// The options beside the level.
    #[serde(default)]
    pub options: Vec<OptionDescription>,
    /// The named sets it is in.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Rough encode throughput, (level, MB/s): see `weigh_codec::Info::nominal`.
    #[serde(default)]
    pub nominal: Vec<(i32, f64)>,
    /// Null: can be measured. Else why not.
    pub missing: Option<String>,
    /// What would mend it, such as `apt install php-zstd`.
    pub remedy: Option<String>,
}

/// The levels of a codec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Levels {
    /// Lowest.
    pub min: i32,
    /// Highest.
    pub max: i32,
    /// What the library uses when nothing is said.
    pub default: i32,
    /// The few that show the range, ascending.
    pub representative: Vec<i32>,
}

/// One option of a codec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OptionDescription {
    /// Its name.
    pub name: String,
    /// Lowest and highest number accepted, for a numeric option.
    #[serde(default)]
    pub range: Option<(i32, i32)>,
    /// The words accepted, for an option of words.
    #[serde(default)]
    pub words: Vec<String>,
    /// One line on what it does.
    #[serde(default)]
    pub about: String,
}

/// One serializer as a PHP worker has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SerializerDescription {
    /// Its name.
    pub name: String,
    /// Extension and version, as queried.
    pub library: Option<String>,
    /// Null: can be measured. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    pub remedy: Option<String>,
}
