use serde::{Deserialize, Serialize};

/// A PHP whose interval lies within this of the first one's CPU time takes the same.
pub const SAME: f64 = 0.03;

/// With fewer starts nothing is said to be the same.
const LEAST_STARTS: u32 = 5;

/// A page of the site as one PHP makes it, in a private instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhpPage {
    /// The path of its URL.
    pub page: String,
    /// The version of PHP, with the settings that it was given: `8.4.24 -d opcache.jit=tracing`, `8.2.36 in uWSGI 2.0.21`.
    pub php: String,
    /// The PHP as it was given, see `sources.php`. Entries of a page are in that order; the first PHP is what others are compared with.
    pub binary: String,
    /// CPU milliseconds per request of all processes of PHP: the tenth percentile within a start, for other programs only add time; the median over starts. Absent: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<f64>,
    /// Milliseconds from the begin of a request on an open connection to the last byte, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<f64>,
    /// `cpu_ms` ÷ that of the first PHP, and the ends of its interval: corrected for all pages and PHPs, it excludes 1 if they differ significantly.
    /// Absent: the first PHP, or not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<[f64; 3]>,
    /// The same of `time_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ratio: Option<[f64; 3]>,
    /// The same at the rate of the site, of its first page. Absent: of no interest, or the rate is not known or higher than one page at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rate: Option<AtRate>,
    /// What it takes by part, of the first PHP. Absent: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<PageParts>,
    /// How often it was started anew to be measured.
    pub starts: u32,
    /// Whether OPcache is on. Absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opcache: Option<bool>,
    /// Why it is not this page that it makes: the status, or an error of PHP. Absent: it makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The first line that differs from what the first PHP makes, beside lines that change with each request, or why that cannot be told. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// The first message that it logs for requests of the page, where the first PHP logs none. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logs: Option<String>,
}

/// A page where requests come at random, as they do in PHP's busiest hour: between them caches get cold and the processor sleeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtRate {
    /// Requests per second.
    pub per_second: f64,
    /// CPU milliseconds per request of all processes of PHP, with what they take in between.
    pub cpu_ms: f64,
    /// See `cpu_ratio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<[f64; 3]>,
}

/// What a page takes by part, one request at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageParts {
    /// CPU milliseconds of PHP's processes.
    pub php_ms: f64,
    /// CPU milliseconds of the server's.
    pub server_ms: f64,
    /// Milliseconds in which neither computes: PHP waits for a database, a service, a disk or the processor.
    pub waiting_ms: f64,
    /// CPU milliseconds of PHP and server beyond those without a content coding, a part of the first two.
    pub encoding_ms: f64,
}

/// What a PHP brings for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brings {
    /// Less CPU time.
    Better,
    /// More CPU time.
    Worse,
    /// Within [`SAME`] of the first.
    Same,
    /// The interval is too wide to tell.
    Undecided,
}

impl Brings {
    pub fn name(self) -> &'static str {
        match self {
            Brings::Better => "better",
            Brings::Worse => "worse",
            Brings::Same => "same",
            Brings::Undecided => "undecided",
        }
    }
}

impl PhpPage {
    /// By the interval of CPU time; none: it is the first PHP, or was not measured.
    pub fn brings(&self) -> Option<Brings> {
        let [_, low, high] = self.cpu_ratio?;
        Some(match () {
            () if high < 1.0 => Brings::Better,
            () if low > 1.0 => Brings::Worse,
            () if self.starts >= LEAST_STARTS && low >= 1.0 - SAME && high <= 1.0 + SAME => Brings::Same,
            () => Brings::Undecided,
        })
    }

    /// Whether its amounts are such.
    pub(super) fn is_sound(&self) -> bool {
        let at_rate = self.at_rate.as_ref();
        let paced = at_rate.map(|rate| rate.cpu_ms);
        let parts = self.parts.iter();
        let parts = parts.flat_map(|one| [one.php_ms, one.server_ms, one.waiting_ms, one.encoding_ms]);
        let amounts = [self.cpu_ms, self.time_ms, paced, at_rate.map(|rate| rate.per_second)];
        let amounts = amounts.into_iter().flatten().chain(parts);
        let ratios = [self.cpu_ratio, self.time_ratio, at_rate.and_then(|rate| rate.cpu_ratio)];
        let ratios = ratios.into_iter().flatten();
        let is_ordered = |[value, low, high]: [f64; 3]| low <= value && value <= high;
        let mut all = amounts.chain(ratios.clone().flatten());
        all.all(|one| one.is_finite() && one >= 0.0) && ratios.clone().all(is_ordered)
    }
}
