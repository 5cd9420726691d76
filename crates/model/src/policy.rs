//! A policy, as `policy.toml` holds it: what to do with each kind of content, why, and what it brings. The program and the
//! PHP library read it.

mod change;
mod page_caching;

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::Gate;
use crate::page::Moment;
use crate::site::Kind;
use crate::suggest::readable;

pub use change::{Amount, Change, ContentChange};
pub use page_caching::PageCaching;

/// The version of the file that this program reads and writes.
pub const SCHEMA: u32 = 1;

/// `policy.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The version of this form: 1.
    pub schema: u32,
    /// The site's name.
    pub site: String,
    /// SHA-256 of the site's file, hexadecimal.
    pub site_sha256: String,
    /// What was minimised.
    pub objective: Objective,
    /// The web server that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What has too few rounds to compare its settings, a line each. Empty: all decisions are settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<String>,
    /// The kinds of machine that were measured, the best first: the decisions are for that one. Empty: one that no cluster named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Machine>,
    /// One decision per kind of content, the one that brings most first.
    #[serde(default)]
    pub decisions: Vec<Decision>,
    /// The PHP workers; absent: what PHP answers in its busiest hour is not counted, or its time not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// The cache of pages in front of PHP; absent: no page was asked whether it may be held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCaching>,
    /// What other PHPs would bring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub php: Vec<OtherPhp>,
    /// Everything together: the kinds whose coverage says that they are in it.
    pub total: Change,
    /// First visits of pages that were loaded in a browser, over each link of visitors, with all decisions together. Empty: none was loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<LoadChange>,
    /// What the figures rest on, one entry per kind of content that the site has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coverage: Vec<Coverage>,
    /// How the server's files were tried on the site's configuration; absent: none is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// The limits that a proof of it must keep, as `[[gate]]` tables.
    #[serde(default, rename = "gate", skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
}

impl Policy {
    /// Reads `policy.toml`; `whence` names it in errors.
    ///
    /// # Errors
    /// One line: the place, what is wrong, and the nearest known key.
    pub fn parse(text: &str, whence: &str) -> Result<Policy> {
        let policy: Policy = toml::from_str(text).map_err(|error| readable(&error, text, whence))?;
        let schema = policy.schema;
        ensure!(
            schema == SCHEMA,
            "{whence}: schema = {schema} is not known; this program reads schema = {SCHEMA}"
        );
        Ok(policy)
    }

    /// Whether a file is not written, because it makes something worse.
    pub fn withholds(&self, file: &str) -> bool {
        self.trial.iter().flat_map(|trial| &trial.withheld).any(|one| one.file == file)
    }

    /// Takes back what is decided for a kind: it stays as it is, and changes nothing. The interval of the total is then not known.
    pub fn keep_as_it_is(&mut self, kind: Kind, why: &str) {
        let in_total = self.coverage.iter().find(|one| one.kind == kind).is_none_or(|one| one.in_total);
        let found = self.decisions.iter_mut().find(|decision| decision.kind == kind && !decision.keep);
        let Some(decision) = found else { return };
        decision.keep = true;
        decision.text = why.to_owned();
        decision.needs.clear();
        decision.flips.clear();
        // Precompressed files that nobody is sent are not made.
        decision.rules.retain(|rule| rule.by != Encoder::Beforehand);
        for (amount, total) in decision.change.amounts_mut().into_iter().zip(self.total.amounts_mut()) {
            let more = amount.after - amount.before;
            if in_total && more != 0.0 {
                *total = Amount { after: total.after - more, low: None, high: None, ..*total };
            }
            *amount = Amount { after: amount.before, low: Some(0.0), high: Some(0.0), ..*amount };
        }
    }
}

/// How the files for a web server were tried: the site's whole configuration ran in a private instance, as it is and with them, and both
/// were asked the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Answers that were compared with those of the configuration as it is; none of the files that are written makes one worse.
    pub answers: u64,
    /// Whether none of them is of a page: the configuration hands no request for one to a program so that it can tell which page it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_pages: bool,
    /// Questions that were left out, for time and their number are bounded.
    #[serde(default, skip_serializing_if = "is_none")]
    pub not_asked: u64,
    /// Why nothing was asked; absent: it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untried: Option<String>,
    /// Files that are not written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
}

/// Leaves out a number that is none.
fn is_none(number: &u64) -> bool {
    *number == 0
}

/// A file that is not written, because it makes something worse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Withheld {
    /// The file below the folder of the configuration: `nginx/encoding.conf`.
    pub file: String,
    /// Answers that are worse with it.
    pub answers: u64,
    /// One of each thing that is worse.
    pub worse: Vec<Worse>,
}

/// An answer that is worse with a file than without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worse {
    /// The path of the URL; empty: the file as a whole is refused.
    pub url: String,
    /// How it was asked for: `GET, Accept-Encoding: gzip, deflate`.
    pub request: String,
    /// What is worse: `status`, `body`, `ETag`.
    pub what: String,
    /// What it is without the file.
    pub before: String,
    /// What it is with the file.
    pub after: String,
}

/// How much of a kind of content the figures rest on. What is not covered counts the same before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// The kind.
    pub kind: Kind,
    /// The share of its requests (of values: of its keys) of which it was measured what is sent today and what would be; 0 to 1.
    pub requests: f64,
    /// The same share of its bytes.
    pub bytes: f64,
    /// Whether its amounts are in the total. They are not if something is to be changed, and what is done today is not known.
    pub in_total: bool,
    /// GB per month of the bodies that are sent today, computed for the responses whose bytes a log counted; absent: no log counted any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_gb: Option<f64>,
    /// GB per month of the same responses, as the log counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_gb: Option<f64>,
    /// What is not covered, one entry per reason, the most bytes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Where what was computed and what was counted differ most, if they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// Content of a kind that the figures do not rest on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Why.
    pub reason: Reason,
    /// The strata by their names, those with the most bytes first, at most three.
    pub content: Vec<String>,
    /// How many strata there are.
    pub strata: usize,
    /// Their share of the kind's requests (of values: of its keys), 0 to 1.
    pub requests: f64,
    /// Their share of the kind's bytes, 0 to 1.
    pub bytes: f64,
    /// Whether their bytes are an upper bound, because only those of the content without a coding are known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}

/// Why content is not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The site's description has no file of it that could be measured.
    NoSample,
    /// There are files, and nothing was measured of them.
    NotMeasured,
    /// There are files of which the bytes with the policy are known, because they were encoded, and nothing was measured.
    EncodedOnly,
    /// It was measured, and requests for what the site sends of it today failed.
    TodayFailed,
    /// It was measured, and what the site sends of it today, or to some clients, did not fit into the budget.
    TodayNotMeasured,
    /// It was measured, and what the site does today with it, or sends to some clients, is not known.
    TodayUnknown,
}

impl Reason {
    pub const ALL: [Reason; 6] = [
        Reason::NoSample,
        Reason::NotMeasured,
        Reason::EncodedOnly,
        Reason::TodayFailed,
        Reason::TodayNotMeasured,
        Reason::TodayUnknown,
    ];
}

/// A stratum whose computed bytes are not those that were counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Its name.
    pub content: String,
    /// GB per month, computed.
    pub computed_gb: f64,
    /// GB per month, counted.
    pub counted_gb: f64,
    /// Responses per month.
    pub requests: f64,
    /// Whether the counted bytes have those of ranges in them, which are no whole responses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_ranges: bool,
}

/// What a site takes per month on a kind of machine, with what is best there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The kind, as its cluster calls it.
    pub kind: String,
    /// The price of one of its cores for an hour.
    pub core_hour: f64,
    /// Hours of CPU time of server and PHP.
    pub core_hours: f64,
    /// Hours that visitors wait.
    pub wait_hours: f64,
    /// The sum at the site's prices, in its currency.
    pub cost: f64,
    /// What is minimised, compared with the first machine; absent for the first, and with too few rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
}

/// An amount on a machine, compared with that on another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// This machine's ÷ the other's.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether the difference is significant.
    pub claimed: bool,
}

/// What another PHP would bring for content of a kind, with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherPhp {
    /// The kind.
    pub kind: Kind,
    /// Its version: `8.4.2`.
    pub version: String,
    /// The version of the site's PHP.
    pub instead_of: String,
    /// Hours of CPU time, with the site's PHP before and with the other after.
    pub core_hours: Amount,
}

/// How many PHP workers a site keeps busy in the hour in which PHP is busiest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Requests per second that PHP answers then, to all clients.
    pub requests: f64,
    /// Milliseconds that one of them takes.
    pub ms: f64,
    /// Whether that was logged in that hour; else it was measured one after the other, and is the least.
    pub is_logged: bool,
    /// Workers that are busy in the mean.
    pub busy: f64,
    /// Workers below which requests wait longer and longer.
    pub at_least: u32,
    /// Workers with which at most one request in a hundred waits for a free one; absent: the cores do not suffice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<u32>,
}

/// A first visit of a page over a link, predicted: milliseconds from the begin of the navigation, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadChange {
    /// The page's path.
    pub page: String,
    /// The link by its name.
    pub link: String,
    /// Largest contentful paint.
    pub lcp_ms: [f64; 2],
    /// First contentful paint.
    pub fcp_ms: [f64; 2],
    /// The load event.
    pub load_ms: [f64; 2],
}

/// What is minimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The time that visitors wait, with the cores at peak under the limit: for pages that were loaded in a browser until the largest contentful paint.
    #[default]
    Time,
    /// The same until the first contentful paint.
    Fcp,
    /// The same until the load event.
    Load,
    /// The cost of cores, traffic, memory and, if they have a price, visitors' seconds.
    Money,
}

impl Objective {
    /// As flags and files name it.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Time => "time",
            Objective::Fcp => "fcp",
            Objective::Load => "load",
            Objective::Money => "money",
        }
    }

    /// Until when visitors wait for a page.
    pub fn moment(self) -> Moment {
        match self {
            Objective::Time | Objective::Money => Moment::LargestPaint,
            Objective::Fcp => Moment::FirstPaint,
            Objective::Load => Moment::Load,
        }
    }
}

/// What to do with content of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The kind.
    pub kind: Kind,
    /// Whether today's method stays.
    pub keep: bool,
    /// What to do, in one sentence: `Precompress assets with brotli 11 and zopfli, from 1 KB up.` Of pages, also what the
    /// application takes beside encoding.
    pub text: String,
    /// The method of today, in words.
    pub today: String,
    /// What to send or store, the first that a client accepts and that holds for the content. None: as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// How PHP hands files over, a method that is no content coding. None: nothing of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// What it needs that the site does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// What it brings.
    pub change: Change,
    /// What its CPU time has beyond that of a busy server; null: nothing, for it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rate: Option<AtRate>,
    /// The same by type and size of the content that was measured, for proofs that measure a part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ContentChange>,
    /// When something else would be better, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flips: Vec<Flip>,
}

impl Decision {
    /// The method of PHP that encodes for clients that accept these content codings; none: what they get is the server's.
    pub fn by_php(&self, codings: &[String]) -> Option<&str> {
        let rule = self.rules.iter().find(|rule| codings.contains(&rule.coding))?;
        (rule.by == Encoder::Php).then_some(rule.method.as_str())
    }
}

/// CPU time per response at the rate of the site's busiest hour, as far as it is higher than on a busy server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtRate {
    /// Milliseconds between requests on average, which come at random times.
    pub every_ms: u32,
    /// CPU nanoseconds per response on a busy server, and how many more at that rate: one pair for each method that was measured, ascending.
    pub points: Vec<[f64; 2]>,
}

impl AtRate {
    /// How many CPU nanoseconds more a response takes that takes this many on a busy server: in proportion between two points, outside of them as at the
    /// nearest.
    pub fn more(&self, cpu_ns: f64) -> f64 {
        let below = self.points.iter().rfind(|point| point[0] <= cpu_ns).or(self.points.first());
        let above = self.points.iter().find(|point| point[0] > cpu_ns).or(below);
        let (Some(below), Some(above)) = (below, above) else { return 0.0 };
        let share = (cpu_ns - below[0]) / (above[0] - below[0]);
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        below[1] + share * (above[1] - below[1])
    }
}

/// One content coding, or one form of stored values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The content coding: `br`, `gzip`, `zstd`. Of values: the codec.
    pub coding: String,
    /// Who encodes.
    pub by: Encoder,
    /// The method as a study names it: `brotli_static`, `gzip:6`, `zstd:3`.
    pub method: String,
    /// The encoder of precompressed files: `brotli:11`, `zopfli`, `zstd:19`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
    /// Of values, the serializer: `igbinary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serializer: Option<String>,
    /// The level; null: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<i32>,
    /// The smallest content in bytes, uncompressed.
    pub min_bytes: u64,
    /// Media types that it holds for; none: every type of the kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
}

impl Rule {
    /// A rule for every type and size, without what only some methods have.
    pub fn new(coding: &str, by: Encoder, method: &str) -> Rule {
        Rule {
            coding: coding.to_owned(),
            by,
            method: method.to_owned(),
            encoder: None,
            serializer: None,
            level: None,
            min_bytes: 0,
            types: Vec::new(),
        }
    }

    /// Whether it is for content of this media type.
    pub fn is_for(&self, format: &str) -> bool {
        self.types.is_empty() || self.types.iter().any(|own| own == format)
    }
}

/// Who encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encoder {
    /// `weigh pack`, or any encoder at deployment.
    Beforehand,
    /// The web server, for each response.
    Server,
    /// PHP, for each response or value.
    Php,
}

/// Something that the site does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// What: `ext-zstd`, `the module http_brotli_static`.
    pub what: String,
    /// How to get it: `apt install php8.2-zstd`; empty: unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub how: String,
}

/// A change of the site under which another setting is better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flip {
    /// The change: `all visitors were on fibre`.
    pub when: String,
    /// What is better then: `zstd 3 in PHP`.
    pub then: String,
}
