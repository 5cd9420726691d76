//! A way: a method of making the bytes of a response, and who does it. PHP has some (`gzencode` in an output buffer,
//! `readfile`), servers have others (a filter, precompressed files, an offload header); a cell names one with its
//! level.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::protocol::{Levels, OptionDescription};
use crate::setting::Tunable;

/// The option of precompressed ways that names the encoder of the variants.
pub const ENCODER: &str = "encoder";

/// Who carries out a way.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// A PHP script: its description comes from `php/ways/NAME.php`.
    Php,
    /// The web server: its description comes from `servers/NAME/server.toml`.
    Server,
}

impl By {
    /// Its name in studies and in the ids of cells.
    pub fn name(self) -> &'static str {
        match self {
            By::Php => "php",
            By::Server => "server",
        }
    }
}

/// What a way does.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum WayKind {
    /// Sends the content uncompressed.
    #[default]
    Plain,
    /// Compresses each response.
    OnTheFly,
    /// Sends a variant that was compressed in advance.
    PreEncoded,
    /// PHP authorises, and the server sends the file.
    Offload,
    /// The server handles files by type and size, without PHP.
    Transparent,
}

/// One way, as PHP or a server describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WayDescription {
    /// Its name in studies: `gzencode`, `zlib.output_compression`, `gzip`, `gzip_static`, `x-accel-redirect`.
    pub name: String,
    /// What it does.
    pub kind: WayKind,
    /// The content codings that it can send: `gzip`, `br`, `zstd`, `deflate`; empty: identity only.
    #[serde(default)]
    pub codings: Vec<String>,
    /// The subjects that it can serve: `page`, `asset`, `download`.
    pub subjects: Vec<String>,
    /// Its levels; null: no levels.
    #[serde(default)]
    pub levels: Option<Levels>,
    /// The options besides the level.
    #[serde(default)]
    pub options: Vec<OptionDescription>,
    /// Library or module and version, as reported: `zlib 1.2.13`.
    #[serde(default)]
    pub library: Option<String>,
    /// One line for tables and docs.
    #[serde(default)]
    pub about: String,
    /// Rough encode throughput, (level, MB/s); forecasts only.
    #[serde(default)]
    pub nominal: Vec<(i32, f64)>,
    /// Null: can be measured. Otherwise the reason why not.
    #[serde(default)]
    pub missing: Option<String>,
    /// How to make it available, such as `apt install libnginx-mod-http-brotli-filter`.
    #[serde(default)]
    pub remedy: Option<String>,
}

/// The way of a server that uses the user's configuration.
pub const CONFIG: &str = "config";

/// A user's server configuration, as far as a private instance uses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OwnConfig {
    /// The user's file, as given.
    pub file: PathBuf,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Directives outside the server's own block, each on the line that it has in the file.
    pub outer: String,
    /// Directives inside that block, likewise.
    pub inner: String,
    /// Modules that these directives need.
    pub modules: Vec<String>,
    /// Modules that these directives use if available.
    pub optional: Vec<String>,
    /// Whether the directives send precompressed variants.
    pub variants: bool,
}

impl<'a> From<&'a WayDescription> for Tunable<'a> {
    fn from(way: &'a WayDescription) -> Tunable<'a> {
        Tunable { name: &way.name, levels: way.levels.as_ref(), options: &way.options }
    }
}
