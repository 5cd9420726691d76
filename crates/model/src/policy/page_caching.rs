//! What a policy says of a cache of pages.

use serde::{Deserialize, Serialize};

/// Whether a cache in front of PHP holds pages, and which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageCaching {
    /// Whether nothing is to be changed.
    pub keep: bool,
    /// What to do, and why, in a sentence or two.
    pub text: String,
    /// Seconds that a page is held, which is how old visitors see it at most; 0: none is held.
    pub seconds: u64,
    /// Paths of the pages that are held; every other one is made by PHP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<String>,
    /// Whether only visitors without any cookie are answered from it, as one of the pages says `Vary: Cookie`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_cookies: bool,
    /// The share of all requests for scripts that it answers, if no visitor has a cookie but those of analytics and consent, or with `no_cookies` any. Absent: no log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<f64>,
    /// CPU milliseconds of PHP and server per request for these pages, without and with it. Absent: no log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<[f64; 2]>,
    /// What stands against other pages: a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}
