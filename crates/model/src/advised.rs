//! What a policy asks of a web server: what its templates are given in place of one method.

use serde::{Deserialize, Serialize};

use crate::site::Alias;
use crate::way::WayKind;

/// The method of a server that carries out a policy.
pub const ADVISED: &str = "advised";

/// A policy as far as one web server carries it out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Advised {
    /// Methods for all that the server sends, the preferred one first.
    pub rules: Vec<Encoding>,
    /// Methods for what PHP makes, if they differ; null: the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<Encoding>>,
    /// How PHP hands files over, or the server sends them without PHP: `x-accel-redirect`, `transparent`; null: neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downloads: Option<String>,
    /// The pages that a cache in front of PHP holds; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<HeldPages>,
    /// Folders beside the document root that files are sent from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Alias>,
    /// What of the site's own configuration is known, and goes on to hold; null: no configuration is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<KeptConfiguration>,
}

/// Pages that a cache in front of PHP holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HeldPages {
    /// Seconds that a page is held that does not say how long itself.
    pub seconds: u64,
    /// Their paths as regular expressions without what begins and ends them, of printable ASCII.
    pub pages: Vec<String>,
    /// Whether only visitors without any cookie are answered from it.
    pub no_cookies: bool,
}

/// What of a site's own configuration goes on to hold beside a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename = "Kept")]
pub struct KeptConfiguration {
    /// Directives that a policy's parts leave out, because the configuration has them: `gzip_proxied`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directives: Vec<String>,
    /// Content codings that it compresses with, beside those of the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codings: Vec<String>,
    /// Sections by the name of a file, in the server's own words, that are to hold for precompressed files, too; empty: none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sections: String,
}

/// One method of encoding responses, and what it holds for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Encoding {
    /// The server's method: `gzip`, `gzip_static`, `mod_deflate`.
    pub method: String,
    /// Whether it encodes each response or sends precompressed files.
    pub kind: WayKind,
    /// Whether the method is switched off here.
    #[serde(default)]
    pub off: bool,
    /// The level; null: none.
    pub level: Option<i32>,
    /// Content codings, the preferred one first.
    pub codings: Vec<String>,
    /// The smallest content in bytes, uncompressed; 0: as the server or the site's configuration has it.
    pub min_bytes: u64,
    /// Media types.
    pub types: Vec<String>,
}

impl Encoding {
    /// Whether it compresses each response.
    pub fn is_on_the_fly(&self) -> bool {
        self.kind == WayKind::OnTheFly
    }
}

impl Advised {
    /// All methods, of pages too.
    pub fn all(&self) -> impl Iterator<Item = &Encoding> {
        self.rules.iter().chain(self.pages.iter().flatten())
    }
}
