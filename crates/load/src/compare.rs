//! A/B comparison: two sides are measured in short alternating blocks, so that a temporary slowdown of the machine
//! affects both. Pure logic; a closure runs each block.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use weigh_stats::{FAMILY_WISE, LogRatio, Rule, median};

use crate::fault::{HttpFault, HttpFaultKind};
use crate::result::{Checked, FaultCount, LoadResult, Preflight};
use weigh_stats::hist::Hist;

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The baseline.
    A,
    /// The candidate.
    B,
}

/// Confidence level of the intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Comparison {
    /// Blocks per side.
    pub blocks: u32,
    /// One row per quantity, in the order of a table.
    pub lines: Vec<Line>,
    /// Failures of A over all blocks, by kind.
    pub faults_a: Vec<FaultCount>,
    /// Failures of B.
    pub faults_b: Vec<FaultCount>,
    /// Requests for which the two sides send different responses.
    pub differences: Vec<Difference>,
}

/// A quantity on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Line {
    /// The quantity.
    pub quantity: Quantity,
    /// The median over A's blocks; none: no block has a value, or in half of the blocks the quantile is among the
    /// requests without a response.
    pub a: Option<f64>,
    /// The median over B's blocks.
    pub b: Option<f64>,
    /// B ÷ A within pairs of blocks. Its interval is corrected for the number of quantities, and excludes 1 if the two
    /// differ significantly. None: fewer than two pairs have both values, or in some block the quantile is among the
    /// requests without a response. With fewer than five pairs no difference is significant.
    pub ratio: Option<Ratio>,
    /// The same with all that was told of it; it is not kept.
    #[serde(skip)]
    pub told: Option<weigh_stats::Ratio>,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ratio {
    /// The median.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// A quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Completed responses per second.
    Rate,
    /// CPU seconds of the generator per completed response.
    ClientCpu,
    /// Median time to first byte in seconds.
    TtfbP50,
    /// 90th percentile of the time to first byte.
    TtfbP90,
    /// 99th percentile of the time to first byte.
    TtfbP99,
    /// Median response time in seconds.
    ResponseP50,
    /// 99th percentile of the response time.
    ResponseP99,
    /// Bytes of body per completed response.
    BodyBytes,
    /// Bytes over the connection per completed response, with headers and framing.
    WireBytes,
}

impl Quantity {
    /// All quantities, in the order of a table.
    pub const ALL: [Quantity; 9] = [
        Quantity::Rate,
        Quantity::ClientCpu,
        Quantity::TtfbP50,
        Quantity::TtfbP90,
        Quantity::TtfbP99,
        Quantity::ResponseP50,
        Quantity::ResponseP99,
        Quantity::BodyBytes,
        Quantity::WireBytes,
    ];

    /// Its name in gates and comparisons.
    pub fn id(self) -> &'static str {
        match self {
            Quantity::Rate => "rate",
            Quantity::ClientCpu => "client-cpu",
            Quantity::TtfbP50 => "ttfb-p50",
            Quantity::TtfbP90 => "ttfb-p90",
            Quantity::TtfbP99 => "ttfb-p99",
            Quantity::ResponseP50 => "p50",
            Quantity::ResponseP99 => "p99",
            Quantity::BodyBytes => "body-bytes",
            Quantity::WireBytes => "wire-bytes",
        }
    }

    /// Its value in a block; none without requests or, for a mean, without completed requests. Infinite: the quantile
    /// is among the requests without a response.
    fn of(self, block: &Block) -> Option<f64> {
        let completed = block.completed as f64;
        let each = |sum: f64| (completed > 0.0).then(|| sum / completed);
        match self {
            Quantity::Rate => (block.seconds > 0.0).then(|| completed / block.seconds),
            Quantity::ClientCpu => each(block.cpu_seconds),
            Quantity::TtfbP50 => quantile(&block.ttfb, 0.5, block.faulted),
            Quantity::TtfbP90 => quantile(&block.ttfb, 0.9, block.faulted),
            Quantity::TtfbP99 => quantile(&block.ttfb, 0.99, block.faulted),
            Quantity::ResponseP50 => quantile(&block.response, 0.5, block.unanswered),
            Quantity::ResponseP99 => quantile(&block.response, 0.99, block.unanswered),
            Quantity::BodyBytes => each(block.body_bytes as f64),
            Quantity::WireBytes => each(block.wire_bytes as f64),
        }
    }
}

/// A quantile that counts requests without a response; infinite if it is among these, none without requests.
fn quantile(times: &Hist, q: f64, unanswered: u64) -> Option<f64> {
    (times.count() + unanswered > 0).then(|| times.quantile_with(q, unanswered).unwrap_or(f64::INFINITY))
}

/// A request for which the two sides send different responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Difference {
    /// The request's name.
    pub request: String,
    /// The response of A: `200, 12345 bytes decoded, sha256 0123abcd…`.
    pub a: String,
    /// The response of B.
    pub b: String,
}

/// Runs this many blocks of each side, in pairs, with a random order in each pair. `run` gets the side and the block's
/// number from 0. The numbers of pairs that A and B start differ by at most one.
///
/// # Errors
/// Those of `run`.
pub fn compare<E>(
    blocks: u32,
    seed: u64,
    mut run: impl FnMut(Side, u32) -> Result<LoadResult, E>,
) -> Result<Comparison, E> {
    let mut firsts: Vec<Side> = (0..blocks).map(|i| if i % 2 == 0 { Side::A } else { Side::B }).collect();
    firsts.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let (mut pairs, mut faults_a, mut faults_b) = (Vec::new(), Vec::new(), Vec::new());
    let mut differences = Vec::new();
    for (index, first) in (0..blocks).zip(firsts) {
        let (a, b) = match first {
            Side::A => {
                let a = run(Side::A, index)?;
                (a, run(Side::B, index)?)
            }
            Side::B => {
                let b = run(Side::B, index)?;
                (run(Side::A, index)?, b)
            }
        };
        if differences.is_empty() {
            differences = differing(&a, &b);
        }
        pairs.push((values(&a), values(&b)));
        gather(&mut faults_a, a.faults);
        gather(&mut faults_b, b.faults);
    }
    Ok(Comparison { blocks, lines: lines(&pairs), faults_a, faults_b, differences })
}

/// Every quantity, with correction for their number.
fn lines(pairs: &[(Values, Values)]) -> Vec<Line> {
    let paired = |quantity: usize| pairs.iter().filter_map(move |(a, b)| Some((b[quantity]?, a[quantity]?)));
    let logs = |quantity| LogRatio::of(paired(quantity)).into_iter().collect();
    let rules = Rule::family(&(0..Quantity::ALL.len()).map(logs).collect::<Vec<_>>(), FAMILY_WISE);
    let line = |(quantity, rule): (usize, &Rule)| {
        let a: Vec<f64> = pairs.iter().filter_map(|(a, _)| a[quantity]).collect();
        let b: Vec<f64> = pairs.iter().filter_map(|(_, b)| b[quantity]).collect();
        let is_finite = paired(quantity).all(|(b, a)| b.is_finite() && a.is_finite());
        let ratios: Vec<f64> = paired(quantity).filter(|_| is_finite).map(|(b, a)| b / a).collect();
        let ratio = median(&ratios).and_then(|value| rule.compare(paired(quantity), value));
        Line {
            quantity: Quantity::ALL[quantity],
            a: median(&a),
            b: median(&b),
            // JSON has no infinity.
            ratio: ratio.map(|r| Ratio { median: r.value, low: r.low, high: r.high.min(f64::MAX) }),
            told: ratio,
        }
    };
    rules.iter().enumerate().map(line).collect()
}

/// A block's value of each quantity, in the order of [`Quantity::ALL`].
type Values = [Option<f64>; Quantity::ALL.len()];

/// A block, summed over its classes.
#[derive(Default)]
struct Block {
    seconds: f64,
    cpu_seconds: f64,
    completed: u64,
    faulted: u64,
    unanswered: u64,
    body_bytes: u64,
    wire_bytes: u64,
    ttfb: Hist,
    response: Hist,
}

fn values(result: &LoadResult) -> Values {
    let mut block = Block {
        seconds: result.seconds,
        cpu_seconds: result.client.user_seconds + result.client.system_seconds,
        ..Block::default()
    };
    for class in &result.classes {
        block.completed += class.counts.completed;
        block.faulted += class.counts.faulted;
        block.unanswered += class.counts.unanswered();
        block.body_bytes += class.counts.body_bytes;
        block.wire_bytes += class.counts.wire_bytes;
        block.ttfb.add(&class.times.ttfb);
        block.response.add(&class.times.response);
    }
    Quantity::ALL.map(|quantity| quantity.of(&block))
}

/// Adds up failures by kind and keeps the first example.
fn gather(all: &mut Vec<FaultCount>, more: Vec<FaultCount>) {
    for fault in more {
        match all.iter_mut().find(|f: &&mut FaultCount| f.kind == fault.kind) {
            Some(known) => known.count += fault.count,
            None => all.push(fault),
        }
    }
    all.sort_by_key(|fault| fault.kind);
}

/// Requests for which the preflights saw different pages: another status or, for a page that does not vary, other
/// decoded bytes.
fn differing(a: &LoadResult, b: &LoadResult) -> Vec<Difference> {
    let is_fixed = |p: &Preflight| p.decoded_sha256.is_some() && p.checked != Checked::Samples;
    let pairs = a.preflights.iter().zip(&b.preflights);
    let unequal = pairs.filter(|(a, b)| {
        a.status != b.status || (is_fixed(a) && is_fixed(b) && a.decoded_sha256 != b.decoded_sha256)
    });
    unequal.map(|(a, b)| Difference { request: a.request.clone(), a: shown(a), b: shown(b) }).collect()
}

fn shown(preflight: &Preflight) -> String {
    let mut text = preflight.status.to_string();
    if let Some(fault) = &preflight.fault {
        text.push_str(&format!(", {}", fault.kind.name()));
    }
    if let Some(bytes) = preflight.decoded_bytes {
        text.push_str(&format!(", {bytes} bytes decoded"));
    }
    if let Some(sha256) = preflight.decoded_sha256.as_ref().and_then(|s| s.get(..8)) {
        text.push_str(&format!(", sha256 {sha256}…"));
    }
    text
}

/// Why two preflights are not comparable: the targets respond with different statuses, or the bodies decode to
/// different content. Bodies that vary between responses are not compared. None: no difference is known.
pub fn unequal(a: &Preflight, b: &Preflight) -> Option<HttpFault> {
    let names = |what: &str| format!("`{}` and `{}` return {what}", a.request, b.request);
    if a.status != b.status {
        let message = format!("{}: {} and {}", names("different statuses"), a.status, b.status);
        return Some(HttpFault::new(HttpFaultKind::Status, message));
    }
    let (Some(first), Some(second)) = (&a.decoded_sha256, &b.decoded_sha256) else { return None };
    if first == second {
        return None;
    }
    let told = |p: &Preflight, sha: &str| {
        format!("{} bytes with SHA-256 {}…", p.decoded_bytes.unwrap_or(0), sha.get(..12).unwrap_or(sha))
    };
    let message =
        format!("{} after decoding: {} and {}", names("different content"), told(a, first), told(b, second));
    Some(HttpFault::new(HttpFaultKind::Mismatch, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preflight(status: u16, sha: Option<&str>) -> Preflight {
        Preflight {
            request: "page".into(),
            status,
            decoded_bytes: Some(5),
            decoded_sha256: sha.map(Into::into),
            ..Preflight::default()
        }
    }

    #[test]
    fn only_known_differences_are_faults() {
        let kind = |a, b| unequal(&a, &b).map(|f| f.kind);
        assert_eq!(kind(preflight(200, Some("ab")), preflight(200, Some("ab"))), None);
        assert_eq!(
            kind(preflight(200, Some("ab")), preflight(200, Some("cd"))),
            Some(HttpFaultKind::Mismatch)
        );
        assert_eq!(kind(preflight(200, None), preflight(200, Some("cd"))), None);
        assert_eq!(kind(preflight(200, Some("ab")), preflight(404, Some("ab"))), Some(HttpFaultKind::Status));
        let fault = unequal(&preflight(200, Some(&"a".repeat(64))), &preflight(200, Some("b"))).unwrap();
        assert!(fault.message.contains("5 bytes with SHA-256 aaaaaaaaaaaa…"), "{}", fault.message);
    }

    #[test]
    fn an_interval_without_an_end_is_read_back() {
        let rate = |rate| Quantity::ALL.map(|quantity| (quantity == Quantity::Rate).then_some(rate));
        let pairs = [(rate(1e-99), rate(1e99)), (rate(1e99), rate(1e-99))];
        let line = lines(&pairs).into_iter().find(|line| line.quantity == Quantity::Rate).unwrap();
        assert_eq!(line.told.unwrap().high, f64::INFINITY);
        let read: Line = serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap();
        assert_eq!(read.ratio.unwrap().high, f64::MAX);
    }
}
