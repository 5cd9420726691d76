//! What a cache of pages in front of PHP would do for a site.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};

/// What a cache of pages in front of PHP would have answered of the requests in the log, if every page were the same for all who ask.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CachedPages {
    /// Seconds that a page is held.
    pub seconds: u64,
    /// The share of all requests for scripts that it answers.
    pub hits: f64,
    /// The same of visitors' alone: bots ask for pages that nobody else does. Absent: no visitor asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visitors: Option<f64>,
    /// Megabytes (10⁶ bytes) of pages that are held at most, as they were sent. Absent: no bytes are logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub megabytes: Option<f64>,
    /// Whether the log has no query strings: pages that differ by them are taken for one, and the shares are the largest possible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}

/// A page that was asked as several visitors whether a cache may hold it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CacheablePage {
    /// The path of its URL, with a query string that a page links to.
    pub page: String,
    /// How often it was asked for. What differs in fewer than three of as many answers may not have been seen.
    pub asked: u32,
    /// Why no cache may hold it. Absent: all answers were the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Seconds for which its own `Cache-Control` lets a cache hold it. Absent: it does not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Whether it says `Vary: Cookie`: a cache may answer only who has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies_by_cookie: bool,
    /// CPU milliseconds of PHP and of the web server for a response that PHP makes. Absent: no cache may hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<[f64; 2]>,
    /// The share of all requests for scripts that are for this page, by `GET`. Absent: no log, or one of too many pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Of these requests, the share that a cache answers, in the order of `[[page_cache]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<f64>,
}

impl CacheablePage {
    /// # Errors
    /// What is wrong with it.
    pub(super) fn check(&self) -> Result<()> {
        let shares = self.share.iter().chain(&self.hits);
        ensure!(self.page.starts_with('/'), "cacheable: a page is a path");
        ensure!(
            shares.into_iter().all(|share| (0.0..=1.0).contains(share)),
            "cacheable: a share is from 0 to 1"
        );
        ensure!(
            self.cpu_ms.iter().flatten().all(|ms| ms.is_finite() && *ms >= 0.0),
            "cacheable: a time is not negative"
        );
        Ok(())
    }
}
