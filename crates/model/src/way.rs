//! A way: a method of making the bytes of a response, and who does it. PHP has some (`gzencode` in an output buffer,
//! `readfile`), servers have others (a filter, precompressed files, an offload header); a cell names one with its
//! level.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::{Levels, OptionDescription};
use crate::setting::Tunable;

/// The option of precompressed ways that names the encoder of the variants.
pub const ENCODER: &str = "encoder";

/// Who carries out a way.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// A PHP script: its description comes from `php/ways/NAME.php`.
    Php,
    /// The web server: its description comes from `servers/NAME/server.toml`.
    #[default]
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
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
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
    /// Sends a delta that was made in advance against the version that the client has (RFC 9842).
    Delta,
    /// PHP authorises, and the server sends the file.
    Offload,
    /// The server handles files by type and size, without PHP.
    Transparent,
}

/// One way, as PHP or a server describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// What a placeholder in [`OwnConfig::text`] begins with.
pub const PLACEHOLDER: &str = "@WEIGH-";
/// The placeholder of the private instance's directory.
pub const DIR: &str = "@WEIGH-DIR@";
/// The placeholder of the socket of the private pool of PHP-FPM.
pub const FPM: &str = "@WEIGH-FPM@";
/// The placeholder of the socket that stands for every other program that the server hands requests to.
pub const UPSTREAM: &str = "@WEIGH-UPSTREAM@";
/// The placeholder of the folder that stands for `/` in paths of files that are served.
pub const TREE: &str = "@WEIGH-TREE@";

/// What settings of PHP end with by which an extension compresses all output.
pub const OUTPUT_COMPRESSION: &str = ".output_compression";
/// PHP's own handler, which is a setting, too.
pub const OB_GZHANDLER: &str = "ob_gzhandler";

/// Whether a method of PHP is such a setting, and no code that calls a codec.
pub fn is_php_setting(method: &str) -> bool {
    let is_name = method.chars().all(|c| c.is_ascii_alphanumeric() || "._".contains(c));
    method == OB_GZHANDLER || is_name && method.ends_with(OUTPUT_COMPRESSION)
}

/// A user's server configuration, as a private instance runs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnConfig {
    /// The method's name: `config`.
    pub way: String,
    /// The user's file, as given.
    pub file: PathBuf,
    /// SHA-256 of all files that were read, hexadecimal.
    pub sha256: String,
    /// The files that were read, in their order.
    pub files: Vec<PathBuf>,
    /// The whole configuration, a directive a line. `@WEIGH-DIR@` is the instance's directory, `@WEIGH-TREE@` the folder that stands for `/`, `@WEIGH-ROOT@` the document root in it,
    /// `@WEIGH-FPM@` the socket of PHP, `@WEIGH-UPSTREAM@` that of other programs, `@WEIGH-PORT@` the port.
    pub text: String,
    /// Where each line of the text comes from: the file's place in `files` and the line in it; null: the program's own.
    pub origins: Vec<Option<(u32, u32)>>,
    /// The document root, as the configuration says.
    pub root: PathBuf,
    /// The host that requests name; null: the instance's address.
    pub host: Option<String>,
    /// The list of media types that it names in a file of its own, a type with its extensions per line; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub types: String,
    /// Files of folders, `.htaccess`, by path below `/`.
    pub folder_files: BTreeMap<PathBuf, String>,
    /// The path of the script that makes a page, reached as the configuration reaches PHP.
    pub page: Option<String>,
    /// What is sent in place of each content, by payload.
    pub samples: BTreeMap<String, Sample>,
    /// Modules that a part of a configuration needs.
    pub modules: Vec<String>,
    /// Modules that it uses if available.
    pub optional: Vec<String>,
}

impl OwnConfig {
    /// Whether other programs than PHP make its pages: none is left to it.
    pub fn hands_pages_on(&self) -> bool {
        self.text.contains(UPSTREAM) && !self.text.contains(FPM)
    }
}

/// A content as the user's site has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The URL path.
    pub path: String,
    /// The file below `/`, as the configuration says.
    pub file: PathBuf,
    /// Whether the content is all of the owner's file; else it is sent under a name of its own in the same folder.
    pub is_whole: bool,
    /// The endings of the encoded variants that the owner has beside the file: `gz`, `br`.
    pub variants: Vec<String>,
    /// Variants that are made for it, as a policy says: by their ending the encoder, `gz` by `libdeflate`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packed: BTreeMap<String, String>,
}

impl Sample {
    /// Path and file of a content that is sent under this name; one that is all of the owner's file has its own.
    pub fn named(&self, name: &str) -> (String, PathBuf) {
        if self.is_whole {
            return (self.path.clone(), self.file.clone());
        }
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        (format!("{folder}/{name}"), self.file.with_file_name(name))
    }
}

impl<'a> From<&'a WayDescription> for Tunable<'a> {
    fn from(way: &'a WayDescription) -> Tunable<'a> {
        Tunable { name: &way.name, levels: way.levels.as_ref(), options: &way.options }
    }
}
