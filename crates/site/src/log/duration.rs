//! Response times in logs: numbers in the unit of their column, texts such as `250.1ms`, and their mean.

use super::counted::Counted;
use super::entry::Entry;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Second,
    Milli,
    Micro,
    Nano,
}

/// Seconds that half of a site's responses never take: such numbers of an unknown unit are none of seconds.
const SLOW: f64 = 2.0;
/// Numbers of Caddy's from which on they are milliseconds.
const LONG: f64 = 20.0;
/// The longest mean, in seconds, that can be a page's.
pub const ABSURD: f64 = 600.0;

impl Unit {
    pub fn named(word: &[u8]) -> Option<Unit> {
        let word = std::str::from_utf8(word).ok()?;
        match word {
            "s" | "sec" | "secs" | "seconds" => Some(Unit::Second),
            "ms" | "msec" | "millisec" | "millis" | "milliseconds" => Some(Unit::Milli),
            "us" | "usec" | "microsec" | "micros" | "microseconds" | "µs" => Some(Unit::Micro),
            "ns" | "nsec" | "nanos" | "nanoseconds" => Some(Unit::Nano),
            _ => None,
        }
    }

    fn micros(self) -> f64 {
        match self {
            Unit::Second => 1e6,
            Unit::Milli => 1e3,
            Unit::Micro => 1.0,
            Unit::Nano => 1e-3,
        }
    }
}

/// A number with its decimals, and the unit behind it; none for `-` and what is not a number.
pub fn number(text: &[u8]) -> Option<(f64, usize, Option<Unit>)> {
    let end = text.iter().position(|b| !b.is_ascii_digit() && *b != b'.').unwrap_or(text.len());
    let unit = if end == text.len() { None } else { Some(Unit::named(&text[end..])?) };
    let digits = std::str::from_utf8(&text[..end]).ok().filter(|digits| digits.len() < 24)?;
    let decimals = digits.rsplit_once('.').map_or(0, |(_, decimals)| decimals.len());
    (digits.starts_with(|c: char| c.is_ascii_digit())).then_some((digits.parse().ok()?, decimals, unit))
}

/// Microseconds of a field: of a list, as an upstream that was asked again has it, the sum.
pub fn micros(text: &[u8], unit: Unit) -> Option<u64> {
    let parts = text.split(|b| matches!(b, b',' | b' ')).filter(|part| !matches!(*part, b"" | b":" | b"-"));
    let mut sum = None;
    for part in parts.take(8) {
        let (number, _, own) = number(part)?;
        *sum.get_or_insert(0.0) += number * own.unwrap_or(unit).micros();
    }
    super::entry::micros(sum? / 1e6)
}

/// The numbers of a column, from which its unit follows.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    values: Vec<f64>,
    /// How many have three decimals.
    thousandths: usize,
    /// How many have four to six decimals.
    fine: usize,
    finest: usize,
    whole: usize,
    /// How many have a unit of their own.
    pub with_unit: usize,
}

impl Numbers {
    /// Adds the first number of a field.
    pub fn add(&mut self, text: &[u8]) {
        let first = text.split(|b| matches!(b, b',' | b' ')).next().unwrap_or_default();
        if let Some((value, decimals, unit)) = number(first) {
            self.values.push(value);
            self.with_unit += usize::from(unit.is_some());
            self.thousandths += usize::from(decimals == 3 && unit.is_none());
            self.fine += usize::from((4..=6).contains(&decimals));
            self.finest += usize::from(decimals > 6);
            self.whole += usize::from(decimals == 0);
        }
    }

    pub fn count(&self) -> usize {
        self.values.len()
    }

    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len().max(1) as f64
    }

    /// Whether all have three decimals, as nginx writes seconds.
    pub fn is_of_nginx(&self) -> bool {
        self.count() > 0 && self.thousandths == self.count()
    }

    /// The unit of all of them as far as the numbers tell. nginx writes seconds with three decimals; Caddy counts nanoseconds, which are up to nine decimals of
    /// a second, six of a millisecond, and none of their own.
    pub fn unit(&self, is_caddy: bool) -> Option<Unit> {
        let all = self.count();
        let mut sorted = self.values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let median = *sorted.get(all / 2)?;
        if self.with_unit == all || self.finest > 0 {
            return Some(Unit::Second);
        }
        if self.whole == all {
            return (is_caddy && median >= 1e4).then_some(Unit::Nano);
        }
        match is_caddy {
            false => (median < SLOW).then_some(Unit::Second),
            true if self.fine * 2 > all => Some(Unit::Milli),
            true if median < 1.0 => Some(Unit::Second),
            true => (median >= LONG).then_some(Unit::Milli),
        }
    }
}

/// Response times in bins, of which a mean follows that few slow ones do not move.
#[derive(Clone, Debug)]
pub struct Durations {
    /// How many, and their microseconds.
    bins: Vec<(u64, u64)>,
}

impl Durations {
    pub fn new() -> Durations {
        Durations { bins: vec![(0, 0); 65] }
    }

    pub fn add(&mut self, entry: &Entry<'_>) {
        if let Some(micros) = entry.micros {
            let bin = &mut self.bins[64 - micros.leading_zeros() as usize];
            *bin = (bin.0 + 1, bin.1.saturating_add(micros));
        }
    }

    /// Writes the mean: the slowest hundredth counts as much as the others in its bin or below. What cannot be true is left out.
    pub fn finish(self, counted: &mut Counted) {
        let all: u64 = self.bins.iter().map(|bin| bin.0).sum();
        let most = all - all / 100;
        let (mut taken, mut micros) = (0, 0.0);
        for (requests, sum) in self.bins {
            let some = requests.min(most - taken);
            taken += some;
            micros += sum as f64 * some as f64 / requests.max(1) as f64;
        }
        let seconds = micros / 1e6 / taken.max(1) as f64;
        counted.timed = all;
        counted.script_seconds = Some(seconds).filter(|seconds| *seconds > 0.0 && *seconds <= ABSURD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit_of(texts: &[&str], is_caddy: bool) -> Option<Unit> {
        let mut numbers = Numbers::default();
        texts.iter().for_each(|text| numbers.add(text.as_bytes()));
        numbers.unit(is_caddy)
    }

    #[test]
    fn units_follow_from_the_numbers() {
        for (texts, is_caddy, wanted) in [
            (&["0.120", "1.001", "0.000"][..], false, Some(Unit::Second)),
            (&["0.12", "0.1"], false, Some(Unit::Second)),
            (&["250", "12"], false, None),
            (&["250.5", "120.1"], false, None),
            (&["50.123", "8.250"], false, None),
            (&["0.000123456", "0.25"], true, Some(Unit::Second)),
            (&["0.25", "0.031"], true, Some(Unit::Second)),
            (&["12.345678", "3.000001"], true, Some(Unit::Milli)),
            (&["0.345678", "0.200001"], true, Some(Unit::Milli)),
            (&["250.0", "250.5"], true, Some(Unit::Milli)),
            (&["4.0", "4.5"], true, None),
            (&["250000000", "12000"], true, Some(Unit::Nano)),
            (&["3", "7"], true, None),
            (&[], true, None),
        ] {
            assert_eq!(unit_of(texts, is_caddy), wanted, "{texts:?} {is_caddy}");
        }
    }

    #[test]
    fn fields_are_microseconds_and_lists_are_summed() {
        let of = |text: &str| micros(text.as_bytes(), Unit::Second);
        assert_eq!(
            (of("0.120"), of("0.1, 0.02"), of("- : 0.5")),
            (Some(120_000), Some(120_000), Some(500_000))
        );
        assert_eq!(
            (of("3ms"), of("250µs"), of("1.5s"), of("2000000ns")),
            (Some(3_000), Some(250), Some(1_500_000), Some(2_000))
        );
        for none in ["", "-", "x", "-1", "1e9", "0.1, x", ".5", "1m"] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    fn mean(micros: impl Iterator<Item = u64>) -> Counted {
        let mut durations = Durations::new();
        micros.for_each(|micros| durations.add(&Entry { micros: Some(micros), ..Entry::default() }));
        let mut counted = Counted::default();
        durations.finish(&mut counted);
        counted
    }

    #[test]
    fn few_slow_responses_do_not_move_the_mean() {
        let found = mean((0..1_000).map(|n| if n % 200 == 0 { 60_000_000 } else { 100_000 }));
        assert!((found.script_seconds.unwrap() - 0.1).abs() < 0.001, "{found:?}");
        assert_eq!(found.timed, 1_000);
    }

    #[test]
    fn what_cannot_be_true_is_left_out() {
        for micros in [0, 700_000_000] {
            let found = mean((0..100).map(|_| micros));
            assert_eq!((found.script_seconds, found.timed), (None, 100));
        }
        assert_eq!(mean(std::iter::empty()), Counted::default());
    }
}
