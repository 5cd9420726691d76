//! Numbers, times and sizes as every verb takes them: one parser for each.

use clap::builder::{PossibleValuesParser, TypedValueParser};
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

/// What an age may look like, for help and errors.
const AGE: &str = "give an age above zero, such as 90d, 12h or 2w";

/// The time that is so long ago, RFC 3339, UTC: hours, days and weeks.
pub fn ago(text: &str) -> Result<String, String> {
    hours(text).and_then(before_now).ok_or_else(|| AGE.into())
}

/// A time, RFC 3339, UTC: a date, which begins at midnight UTC, or an age.
pub fn since(text: &str) -> Result<String, String> {
    let date = text.parse().ok().and_then(|date: jiff::civil::Date| {
        date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|at| at.timestamp().to_string())
    });
    let age = || hours(text).and_then(before_now);
    date.or_else(age).ok_or_else(|| "give a date such as 2026-01-31, or an age such as 90d, 12h or 2w".into())
}

fn hours(text: &str) -> Option<i64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let each = match unit.trim() {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return None,
    };
    number.parse::<i64>().ok()?.checked_mul(each).filter(|hours| (1..=200 * 366 * 24).contains(hours))
}

fn before_now(hours: i64) -> Option<String> {
    let now = jiff::Timestamp::now();
    let then = jiff::Timestamp::from_second(now.as_second() - hours * 3600).ok()?;
    Some(then.to_string())
}

/// Words to look for: an empty text would match everything.
pub fn parse_words(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("give at least one word".into()) } else { Ok(text.to_owned()) }
}

/// For an option that takes the name of one of `all`.
pub fn one_of<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let named = move |given: String| {
        let found = all.iter().copied().find(|one| name(*one) == given);
        found.expect("the parser before took it for one of the names")
    };
    PossibleValuesParser::new(all.iter().map(|one| name(*one))).map(named)
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

    #[test]
    fn a_date_begins_at_midnight_and_ages_end_now() {
        assert_eq!(since("2026-01-31"), Ok("2026-01-31T00:00:00Z".into()));
        let now = jiff::Timestamp::now().as_second();
        let second = |text: String| text.parse::<jiff::Timestamp>().unwrap().as_second();
        for (text, hours) in [("12h", 12), ("90d", 2160), ("2w", 336), (" 1 d", 24)] {
            assert!(
                (now - hours * 3600..=now - hours * 3600 + 60).contains(&second(ago(text).unwrap())),
                "{text}"
            );
            assert!(since(text).is_ok(), "{text}");
        }
        for wrong in
            ["", "0d", "-1d", "90", "d", "1.5d", "2026-13-01", "99999999999999999999w", "9999999w", "5 m"]
        {
            assert_eq!(ago(wrong), Err(AGE.into()), "{wrong}");
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
