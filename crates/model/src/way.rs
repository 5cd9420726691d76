//! A way: how the bytes of a response come to be, and who makes them so. PHP offers some (`gzencode` in an output buffer,
//! `readfile`), servers offer others (a filter, pre-encoded files, an offload header); a cell names one with its level.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::protocol::{Levels, OptionDescription};
use crate::setting::Tunable;

/// The option of pre-encoded ways that names what encoded the variants.
pub const ENCODER: &str = "encoder";

/// Who carries a way out.
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
    /// The word for it in studies and cells' names.
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
    /// Sends the content as it is.
    #[default]
    Plain,
    /// Encodes each response.
    OnTheFly,
    /// Sends a variant that was encoded before.
    PreEncoded,
    /// PHP authorises, and the server sends the file.
    Offload,
    /// The server takes files by type and size, and PHP is not asked.
    Transparent,
}

/// One way as PHP or a server has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WayDescription {
    /// Its name in studies: `gzencode`, `zlib.output_compression`, `gzip`, `gzip_static`, `x-accel-redirect`.
    pub name: String,
    /// What it does.
    pub kind: WayKind,
    /// The content codings that it can send: `gzip`, `br`, `zstd`, `deflate`; empty: identity alone.
    #[serde(default)]
    pub codings: Vec<String>,
    /// What it serves: `page`, `asset`, `download`.
    pub subjects: Vec<String>,
    /// Its levels, null without.
    #[serde(default)]
    pub levels: Option<Levels>,
    /// The options beside the level.
    #[serde(default)]
    pub options: Vec<OptionDescription>,
    /// Library or module and version, as queried: `zlib 1.2.13`.
    #[serde(default)]
    pub library: Option<String>,
    /// One line for tables and docs.
    #[serde(default)]
    pub about: String,
    /// Rough encode throughput, (level, MB/s); forecasts only.
    #[serde(default)]
    pub nominal: Vec<(i32, f64)>,
    /// Null: can be measured. Else why not.
    #[serde(default)]
    pub missing: Option<String>,
    /// What would mend it, such as `apt install libnginx-mod-http-brotli-filter`.
    #[serde(default)]
    pub remedy: Option<String>,
}

/// The way of a server by a configuration of the user's.
pub const CONFIG: &str = "config";

/// A server's configuration of the user's, as far as a private instance takes it over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OwnConfig {
    /// The user's file, as given.
    pub file: PathBuf,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Its directives that stand outside of the server's own block, each in the line that it has in the file.
    pub outer: String,
    /// Those that stand inside it, likewise.
    pub inner: String,
    /// Modules that they need.
    pub modules: Vec<String>,
    /// Modules that they use where they are there.
    pub optional: Vec<String>,
    /// They send variants that were encoded before.
    pub variants: bool,
}

impl<'a> From<&'a WayDescription> for Tunable<'a> {
    fn from(way: &'a WayDescription) -> Tunable<'a> {
        Tunable { name: &way.name, levels: way.levels.as_ref(), options: &way.options }
    }
}
