//! Formats quantities: three significant digits, a suitable unit, decimal multiples (1 KB = 1000 bytes; 1 Mbit/s
//! = 10⁶ bits per second). Every sentence and table formats here, so that the same number looks the same everywhere.

/// Bytes: `1 byte`, `512 bytes`, `54.4 KB`, `2.4 MB`.
pub fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_string(),
        0..1000 => format!("{count} bytes"),
        _ => {
            let (number, unit) = scaled(count as f64, &[("KB", 1e3), ("MB", 1e6), ("GB", 1e9)]);
            format!("{} {unit}", trimmed(&significant(number)))
        }
    }
}

/// A time in nanoseconds: `350 ns`, `17.6 µs`, `37.2 ms`, `1.25 s`.
pub fn ns(time: f64) -> String {
    let (number, unit) = scaled(time, TIMES);
    format!("{} {unit}", significant(number))
}

/// Times in nanoseconds from the shortest to the longest, in one unit: `4.20–5.00 ms`; `1.40 ms` if they look the same.
pub fn ns_range(low: f64, high: f64) -> String {
    let (shown, unit) = scaled(high, TIMES);
    let (low, high) = (significant(low * shown / high), significant(shown));
    if low == high { format!("{high} {unit}") } else { format!("{} {unit}", joined(&low, &high)) }
}

/// A time in nanoseconds with its interval in the same unit: `37.2 ms (36.9–37.6)`; with one end `37.2 ms (at most
/// 37.6)`; without ends `37.2 ms`.
pub fn ns_interval(time: f64, low: Option<f64>, high: Option<f64>) -> String {
    with_interval(time, low, high, TIMES)
}

/// A codec throughput in MB/s: `137 MB/s`.
pub fn mb_s(rate: f64) -> String {
    format!("{} MB/s", significant(rate))
}

/// A link speed in Mbit/s: `10 Mbit/s`, `2.5 Gbit/s`.
pub fn mbit(speed: f64) -> String {
    let (number, unit) = scaled(speed, SPEEDS);
    format!("{} {unit}", trimmed(&significant(number)))
}

/// A link speed in Mbit/s with its interval: `1.23 Gbit/s (1.10–1.41)`; without an upper end `1.23 Gbit/s (1.10 or more)`.
pub fn mbit_interval(speed: f64, low: f64, high: f64) -> String {
    with_interval(speed, Some(low), Some(high), SPEEDS)
}

/// A factor: `2.51×`.
pub fn times(factor: f64) -> String {
    format!("{}×", significant(factor))
}

/// A factor with its interval: `2.51× (2.48–2.55)`.
pub fn times_interval(factor: f64, low: f64, high: f64) -> String {
    format!("{} ({})", times(factor), range(low, high))
}

/// An interval: `2.48–2.55`; if an end is negative, `-2 to 3`.
pub fn range(low: f64, high: f64) -> String {
    joined(&significant(low), &significant(high))
}

fn joined(low: &str, high: &str) -> String {
    let dash = if low.starts_with('-') || high.starts_with('-') { " to " } else { "–" };
    format!("{low}{dash}{high}")
}

/// A share (0 to 1) in percent with at most one decimal: `86.6%`, `90%`.
pub fn percent(share: f64) -> String {
    format!("{}%", trimmed(&format!("{:.1}", share * 100.0)))
}

/// A number with a noun: `1 cell`, `3 cells`.
pub fn count(number: usize, singular: &str, plural: &str) -> String {
    format!("{} {}", grouped(&number.to_string()), if number == 1 { singular } else { plural })
}

/// Words as a list: `a`, `a and b`, `a, b and c`.
pub fn list<S: AsRef<str>>(words: &[S]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}

/// Three significant digits, but always all digits before the decimal point: `1,235`, `137`, `17.6`, `0.0123`.
pub fn significant(number: f64) -> String {
    if !number.is_finite() {
        return if number > 0.0 { "∞".to_string() } else { "–".to_string() };
    }
    if number == 0.0 {
        return "0".to_string();
    }
    // Rounding may add a digit (99.96 becomes 100), so it comes before counting digits.
    let digits = |x: f64| x.abs().log10().floor() as i32;
    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
    let decimals = (2 - digits(rounded)).clamp(0, 9) as usize;
    grouped(&format!("{number:.decimals$}"))
}

/// Like [`significant`], without trailing zeros: `2.5`, `10`.
pub fn trimmed_number(number: f64) -> String {
    trimmed(&significant(number))
}

const TIMES: &[(&str, f64)] = &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
const SPEEDS: &[(&str, f64)] = &[("kbit/s", 1e-3), ("Mbit/s", 1.0), ("Gbit/s", 1e3)];

/// The number in the largest unit in which it is at least 1 after rounding to three digits.
fn scaled(number: f64, units: &[(&'static str, f64)]) -> (f64, &'static str) {
    let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
    let fits = units.iter().rev().find(|(_, size)| rounded.abs() >= *size);
    let (unit, size) = fits.or(units.first()).copied().unwrap_or(("", 1.0));
    (number / size, unit)
}

/// A number with its interval, both in the number's unit.
fn with_interval(number: f64, low: Option<f64>, high: Option<f64>, units: &[(&'static str, f64)]) -> String {
    let (shown, unit) = scaled(number, units);
    let size = if shown == 0.0 { 1.0 } else { number / shown };
    let end = |end: f64| significant(end / size);
    let interval = match (low, high) {
        (Some(low), Some(high)) if high.is_infinite() => format!(" ({} or more)", end(low)),
        (Some(low), Some(high)) => format!(" ({})", joined(&end(low), &end(high))),
        (None, Some(high)) => format!(" (at most {})", end(high)),
        (Some(low), None) => format!(" (at least {})", end(low)),
        (None, None) => String::new(),
    };
    format!("{} {unit}{interval}", significant(shown))
}

/// Removes trailing zeros of a decimal number.
fn trimmed(number: &str) -> String {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        number.to_string()
    }
}

/// Puts a comma between groups of three digits before the decimal point.
fn grouped(number: &str) -> String {
    let (whole, fraction) = number.split_once('.').map_or((number, None), |(w, f)| (w, Some(f)));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |rest| ("-", rest));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{text}.{fraction}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let shown: Vec<String> =
            [0, 1, 999, 1000, 1024, 54_417, 999_950, 2_400_000, 2_457_600, 3_000_000_000, 1_500_000_000_000]
                .map(bytes)
                .to_vec();
        assert_eq!(
            shown,
            [
                "0 bytes",
                "1 byte",
                "999 bytes",
                "1 KB",
                "1.02 KB",
                "54.4 KB",
                "1 MB",
                "2.4 MB",
                "2.46 MB",
                "3 GB",
                "1,500 GB"
            ]
        );
    }

    #[test]
    fn times_of_every_size() {
        let shown: Vec<String> =
            [0.0, 0.5, 350.4, 999.96, 17_590.0, 37_230_000.0, 1.25e9, 6.1e12].map(ns).to_vec();
        assert_eq!(
            shown,
            ["0 ns", "0.500 ns", "350 ns", "1.00 µs", "17.6 µs", "37.2 ms", "1.25 s", "6,100 s"]
        );
        let of = |low, high| ns_interval(37_230_000.0, low, high);
        assert_eq!(of(Some(36_900_000.0), Some(137_600_000.0)), "37.2 ms (36.9–138)");
        assert_eq!(of(None, Some(37_600_000.0)), "37.2 ms (at most 37.6)");
        assert_eq!(
            (of(Some(3e7), None), of(None, None)),
            ("37.2 ms (at least 30.0)".into(), "37.2 ms".into())
        );
        assert_eq!(ns_interval(0.0, Some(0.0), Some(0.0)), "0 ns (0–0)");
    }

    #[test]
    fn speeds_and_rates() {
        assert_eq!(mbit(0.5), "500 kbit/s");
        assert_eq!(mbit(10.0), "10 Mbit/s");
        assert_eq!(mbit(2500.0), "2.5 Gbit/s");
        assert_eq!(mbit_interval(1234.0, 1100.0, f64::INFINITY), "1.23 Gbit/s (1.10 or more)");
        assert_eq!(mb_s(137.16), "137 MB/s");
        assert_eq!(mb_s(3306.2), "3,306 MB/s");
        assert_eq!(times_interval(2.514, 2.48, 2.553), "2.51× (2.48–2.55)");
    }

    #[test]
    fn shares_and_words() {
        assert_eq!(percent(0.8664), "86.6%");
        assert_eq!(percent(0.9), "90%");
        assert_eq!(percent(-0.021), "-2.1%");
        assert_eq!(count(1, "cell", "cells"), "1 cell");
        assert_eq!(count(1200, "cell", "cells"), "1,200 cells");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list::<&str>(&[]), "");
    }

    #[test]
    fn digits() {
        let shown: Vec<String> = [99.96, 9.996, 0.012_345, 1234.5, -1_234_567.0, f64::INFINITY, f64::NAN]
            .map(significant)
            .to_vec();
        assert_eq!(shown, ["100", "10.0", "0.0123", "1,234", "-1,234,567", "∞", "–"]);
    }
}
