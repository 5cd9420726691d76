//! A distribution of times with bounded memory: an HdrHistogram of nanoseconds with three significant digits. Its
//! memory grows with the largest time, in a few steps, and never with the number of times. A value read from it is the
//! middle of its bin.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::de::Error;
use serde::{Deserialize, Serialize};

/// The shortest time, in nanoseconds.
const LOWEST: u64 = 1;
/// The initial range: a pause in a long run should not make it grow.
const USUAL: u64 = 1_000_000_000;
/// Longer times count as one hour.
const HIGHEST: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;
/// Significant digits of the histograms of slices.
const COARSE_DIGITS: u8 = 2;

/// A distribution of times. In JSON, the HdrHistogram V2 encoding in base64, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Hist(Histogram<u64>);

impl Default for Hist {
    fn default() -> Hist {
        Hist(histogram(DIGITS))
    }
}

fn histogram(digits: u8) -> Histogram<u64> {
    let mut inner = Histogram::new_with_bounds(LOWEST, USUAL, digits).expect("the bounds are in order");
    inner.auto(true);
    // Writes to all its memory; otherwise a long run would touch more of it than a short one.
    inner.clear();
    inner
}

/// Adds the counts of `from`. If it has other bins, each is counted at its middle: older runs have bins of 512 ns and
/// more.
fn take(into: &mut Histogram<u64>, from: &Histogram<u64>) {
    if into.sigfig() == from.sigfig() && into.low() == from.low() {
        into.add(from).expect("it grows to the largest time");
        return;
    }
    for bin in from.iter_recorded() {
        let middle = from.median_equivalent(bin.value_iterated_to()).min(HIGHEST);
        into.record_n(middle, bin.count_at_value()).expect("it grows to the largest time");
    }
}

impl Hist {
    /// Counts a time in nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.record(ns.min(HIGHEST)).expect("it grows to the largest time");
    }

    /// Counts a time in nanoseconds this many times.
    pub fn record_n(&mut self, ns: u64, count: u64) {
        self.0.record_n(ns.min(HIGHEST), count).expect("it grows to the largest time");
    }

    pub fn add(&mut self, other: &Hist) {
        take(&mut self.0, &other.0);
    }

    /// Sets all counts to 0 and keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The smallest time, in seconds; none without counts.
    pub fn min(&self) -> Option<f64> {
        self.middle(self.0.min())
    }

    /// The largest time, in seconds.
    pub fn max(&self) -> Option<f64> {
        self.middle(self.0.max())
    }

    /// The mean, in seconds.
    pub fn mean(&self) -> Option<f64> {
        self.some(self.0.mean())
    }

    /// The standard deviation, in seconds.
    pub fn sd(&self) -> Option<f64> {
        self.some(self.0.stdev())
    }

    /// The value at a quantile between 0 and 1, in seconds.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.middle(self.0.value_at_quantile(q))
    }

    /// The value at a quantile of all requests, in seconds. This many of them have no time and count as slower than all
    /// others; none if the quantile is among them.
    pub fn quantile_with(&self, q: f64, unanswered: u64) -> Option<f64> {
        if unanswered == 0 {
            return self.quantile(q);
        }
        let (counted, all) = (self.count(), self.count().saturating_add(unanswered));
        // A product such as 0.57 × 100 is slightly above the whole number.
        let rank = (q * all as f64 * (1.0 - 1e-12)).ceil().max(1.0);
        if rank > counted as f64 { None } else { self.quantile((rank - 0.5) / counted as f64) }
    }

    /// The number of times above this many seconds.
    pub fn above(&self, seconds: f64) -> u64 {
        let ns = (seconds * 1e9).clamp(0.0, HIGHEST as f64) as u64;
        self.count() - self.0.count_between(0, ns)
    }

    /// The histogram, for formats that need its buckets; in nanoseconds.
    pub fn inner(&self) -> &Histogram<u64> {
        &self.0
    }

    /// The middle of a value's bin, in seconds.
    fn middle(&self, ns: u64) -> Option<f64> {
        self.some(self.0.median_equivalent(ns) as f64)
    }

    fn some(&self, ns: f64) -> Option<f64> {
        (!self.0.is_empty()).then_some(ns / 1e9)
    }
}

/// A packed histogram, which is no longer counted into: its V2 encoding in base64. It takes some hundred bytes instead
/// of some ten thousand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Packed(String);

impl Packed {
    pub fn of(hist: &Hist) -> Packed {
        Packed::pack(&hist.0)
    }

    /// Packs it to two significant digits, in about an eighth of the memory.
    pub fn coarse(hist: &Hist) -> Packed {
        let mut inner = histogram(COARSE_DIGITS);
        take(&mut inner, &hist.0);
        Packed::pack(&inner)
    }

    fn pack(histogram: &Histogram<u64>) -> Packed {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).expect("a vector takes all that is written");
        Packed(STANDARD.encode(bytes))
    }

    /// Adds another histogram's counts, with this one's number of digits. A histogram packed here can always be read.
    pub fn add(&mut self, other: &Packed) {
        let Ok(Some(theirs)) = other.read() else { return };
        let Ok(Some(mut own)) = self.read() else {
            *self = other.clone();
            return;
        };
        own.auto(true);
        take(&mut own, &theirs);
        *self = Packed::pack(&own);
    }

    /// Unpacks it; a new one is empty.
    ///
    /// # Errors
    /// A sentence, if the text is not a histogram.
    pub fn unpack(&self) -> Result<Hist, String> {
        let mut hist = Hist::default();
        if let Some(read) = self.read()? {
            take(&mut hist.0, &read);
        }
        Ok(hist)
    }

    /// The histogram with its packed precision, and with only the range that its largest time needs.
    fn read(&self) -> Result<Option<Histogram<u64>>, String> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let bytes = STANDARD.decode(&self.0).map_err(|e| format!("not base64: {e}"))?;
        let read = Deserializer::new().deserialize(&mut bytes.as_slice());
        read.map(Some).map_err(|e| format!("not an HdrHistogram: {e}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Hist {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Packed::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Hist {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Hist, D::Error> {
        Packed::deserialize(deserializer)?.unpack().map_err(D::Error::custom)
    }
}

impl schemars::JsonSchema for Hist {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Hist".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "HdrHistogram V2 encoding, not compressed, in base64; values in nanoseconds"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = u64>) -> Hist {
        let mut hist = Hist::default();
        times.into_iter().for_each(|ns| hist.record(ns));
        hist
    }

    #[test]
    fn packed_ones_add_up_to_the_packed_sum() {
        let few = (1..400).map(|n| n * 7_919);
        // Above the initial range.
        let long = [90_000_000, 4_000_000_000, HIGHEST];
        for (a, b) in [(of(few.clone()), of(long)), (of(long), of(few.clone())), (of(few.clone()), of(few))] {
            let (mut sum, mut packed) = (a.clone(), Packed::coarse(&a));
            sum.add(&b);
            packed.add(&Packed::coarse(&b));
            let (packed, sum) = (packed.unpack().unwrap(), Packed::coarse(&sum).unpack().unwrap());
            assert_eq!(packed.inner(), sum.inner());
        }
    }

    #[test]
    fn short_times_are_recovered_within_a_percent() {
        for ns in [1, 700, 999, 42_300, 1_234_567, 2_000_000_000] {
            let hist = of([ns; 100]);
            let packed = [Packed::of(&hist), Packed::coarse(&hist)].map(|packed| packed.unpack().unwrap());
            for hist in [&hist, &packed[0], &packed[1]] {
                for said in [hist.quantile(0.5), hist.quantile(0.999), hist.min(), hist.max(), hist.mean()] {
                    let said = said.unwrap() * 1e9;
                    assert!((said / ns as f64 - 1.0).abs() < 0.01, "{said} for {ns}");
                }
            }
        }
    }

    #[test]
    fn histograms_of_older_runs_are_read() {
        // Their bins were 512 ns wide or wider.
        let mut old = Histogram::<u64>::new_with_bounds(1_000, 1_000_000_000, 3).unwrap();
        old.auto(true);
        [700, 42_300, 42_300, 7_000_000_000].iter().for_each(|ns| old.record(*ns).unwrap());
        let hist = Packed::pack(&old).unpack().unwrap();
        assert_eq!(hist.count(), 4);
        let at = |q| hist.quantile(q).unwrap() * 1e9;
        assert!(
            (at(0.25) - 700.0).abs() <= 256.0 && (at(0.5) - 42_300.0).abs() <= 256.0,
            "{} {}",
            at(0.25),
            at(0.5)
        );
        assert!((at(1.0) / 7e9 - 1.0).abs() < 0.001, "{}", at(1.0));
        let mut sum = Packed::of(&of([42_300]));
        sum.add(&Packed::pack(&old));
        assert_eq!(sum.unpack().unwrap().count(), 5);
    }

    #[test]
    fn those_without_a_time_are_slower_than_all_others() {
        let hist = of((1..=57).map(|ms| ms * 1_000_000));
        let at = |q| hist.quantile_with(q, 43).map(|s| (s * 1e3).round());
        assert_eq!([at(0.01), at(0.5), at(0.57)], [Some(1.0), Some(50.0), Some(57.0)]);
        assert_eq!([at(0.571), at(0.99), at(1.0)], [None; 3]);
        assert_eq!(of([]).quantile_with(0.5, 3), None);
        assert_eq!(hist.quantile_with(0.9, 0), hist.quantile(0.9));
    }

    #[test]
    fn an_empty_one_adds_nothing_and_takes_all() {
        let full = Packed::coarse(&of([5_000, 70_000]));
        let mut packed = Packed::default();
        packed.add(&full);
        assert_eq!(packed, full);
        packed.add(&Packed::default());
        assert_eq!(packed, full);
    }
}
