//! Parses quantities as a user writes them: `500ms`, `1MB`, `50KB/s`. Decimal multiples (1 KB = 1000 bytes) and binary
//! ones (1 KiB = 1024 bytes) are both supported. This module does not format.

/// Nanoseconds since the start of the engine.
pub type Nanos = u64;

/// Units of time, the longest name first.
const TIMES: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("min", 60.0),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// Units of size, in upper or lower case.
const SIZES: &[(&str, f64)] = &[
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
    ("bytes", 1.0),
    ("byte", 1.0),
    ("b", 1.0),
];

/// A century: a longer time is a mistake, and would not fit into nanoseconds.
const LONGEST: f64 = 3.2e9;

/// Seconds from `500ms`, `0.5`, `10s`, `2m`, `1h`; 0 or more.
///
/// # Errors
/// One line that says what is wrong.
pub fn seconds(text: &str) -> Result<f64, String> {
    let (number, scale) = scaled(text, TIMES);
    let seconds = amount(number).map(|n| n * scale).filter(|s| *s <= LONGEST);
    seconds.ok_or_else(|| format!("{text:?} is not a time; write seconds such as 10, or 500ms, 10s, 2m, 1h"))
}

/// Bytes from `1MB`, `64KiB`, `1500`; 0 or more, rounded.
///
/// # Errors
/// One line that says what is wrong.
pub fn bytes(text: &str) -> Result<u64, String> {
    let small = text.to_ascii_lowercase();
    let (number, scale) = scaled(&small, SIZES);
    let bytes = amount(number).map(|n| n * scale).filter(|b| *b <= 1e18);
    bytes
        .map(|b| b.round() as u64)
        .ok_or_else(|| format!("{text:?} is not a size; write bytes such as 1500, or 50KB, 1MB, 64KiB"))
}

/// Bytes per second from `50KB/s`; at least 1.
///
/// # Errors
/// One line that says what is wrong.
pub fn byte_rate(text: &str) -> Result<u64, String> {
    let size = text.trim().strip_suffix("/s");
    size.and_then(|size| bytes(size).ok())
        .filter(|rate| *rate > 0)
        .ok_or_else(|| format!("{text:?} is not a read rate; write bytes per second above 0, such as 50KB/s"))
}

/// A number per second, above 0 and finite.
pub(crate) fn positive(text: &str) -> Option<f64> {
    amount(text).filter(|n| *n > 0.0)
}

/// A finite number that is not negative, in digits; `inf`, `nan` and signs are rejected.
fn amount(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|n: &f64| plain && n.is_finite())
}

/// The number before a unit, and the unit's factor; without a unit the factor is 1.
fn scaled<'a>(text: &'a str, units: &[(&str, f64)]) -> (&'a str, f64) {
    let text = text.trim();
    let unit = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
    unit.unwrap_or((text, 1.0))
}
