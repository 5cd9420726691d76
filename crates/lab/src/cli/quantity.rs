//! Numbers, times and sizes as every verb takes them: one parser for each.

use weigh_load::units;

/// What a time may look like, for help and errors.
const TIME: &str = "give a time above zero, such as 60, 60s, 500ms, 2m or 1.5h";
/// The same of a size.
const SIZE: &str = "give a size above zero in bytes, such as 1500, 64KB or 1MiB";
/// The same of a rate.
const RATE: &str = "give requests per second above zero, such as 200";

/// Seconds above zero: a bare number is in seconds.
pub fn time(text: &str) -> Result<f64, String> {
    units::seconds(text).ok().filter(|seconds| *seconds > 0.0).ok_or_else(|| TIME.into())
}

/// Bytes above zero: a bare number is in bytes.
pub fn size(text: &str) -> Result<u64, String> {
    units::bytes(text).ok().filter(|bytes| *bytes > 0).ok_or_else(|| SIZE.into())
}

/// Requests per second above zero.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0 && *rate <= 1e8);
    rate.ok_or_else(|| RATE.into())
}

/// A whole number that may be zero, such as a seed.
pub fn whole<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "give a whole number, such as 1".into())
}

/// A whole number above zero.
pub fn count<N: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    let number = text.parse().ok().filter(|number: &N| *number > N::from(0));
    number.ok_or_else(|| "give a whole number above zero".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units_and_bare_numbers_are_seconds_and_bytes() {
        for (text, seconds) in
            [("60", 60.0), ("60s", 60.0), ("2m", 120.0), ("1.5h", 5400.0), ("500ms", 0.5), (" 2 min", 120.0)]
        {
            assert_eq!(time(text), Ok(seconds), "{text}");
        }
        for (text, bytes) in [("1500", 1500), ("1KB", 1000), ("64KiB", 65536), ("1.5mb", 1_500_000)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_none_is_refused_with_examples() {
        for wrong in ["", "0", "-5", "nan", "inf", "1e999", "five", "5 parsecs", "1.5d"] {
            assert_eq!(time(wrong), Err(TIME.into()), "{wrong}");
            assert_eq!(size(wrong), Err(SIZE.into()), "{wrong}");
        }
        for wrong in ["", "0", "-1", "nan", "inf", "many"] {
            assert_eq!(rate(wrong), Err(RATE.into()), "{wrong}");
            assert!(count::<u32>(wrong).is_err(), "{wrong}");
        }
        assert_eq!((whole::<u64>("0"), count::<u32>("3")), (Ok(0), Ok(3)));
        assert!(whole::<u64>("abc").is_err());
    }
}
