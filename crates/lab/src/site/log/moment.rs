//! The time of a line: as nginx and Apache write it, as ISO 8601, or as seconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::entry::Unreadable;

/// Times before 1990 and from 2100 on are mistakes.
const RANGE: std::ops::Range<i64> = 631_152_000..4_102_444_800;
/// Bytes of the longest form.
const LONGEST: usize = 40;

/// Reads times; those that follow on each other are mostly alike.
#[derive(Debug, Default)]
pub struct Moments {
    last: Vec<u8>,
    time: i64,
}

impl Moments {
    /// As [`parse`].
    pub fn parse(&mut self, text: &[u8]) -> Result<i64, Unreadable> {
        if self.last != text {
            self.time = parse(text)?;
            self.last.clear();
            self.last.extend_from_slice(text);
        }
        Ok(self.time)
    }
}

/// Seconds since 1970.
pub fn parse(text: &[u8]) -> Result<i64, Unreadable> {
    let known = std::str::from_utf8(text).ok().filter(|text| text.len() <= LONGEST).and_then(form);
    known.filter(|time| RANGE.contains(time)).ok_or(Unreadable("the time"))
}

/// A number of seconds since 1970, or of milliseconds to nanoseconds, as some write.
pub fn since_1970(number: f64) -> Result<i64, Unreadable> {
    let forms = [1.0, 1e3, 1e6, 1e9].map(|unit| (number / unit).floor() as i64);
    forms.into_iter().find(|time| RANGE.contains(time)).ok_or(Unreadable("the time"))
}

fn form(text: &str) -> Option<i64> {
    match text.as_bytes() {
        [_, _, b'/', ..] => Some(Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", text).ok()?.as_second()),
        [_, _, _, _, b'-', ..] => {
            let with_offset = || text.parse::<Timestamp>().ok();
            // Without an offset it is UTC as well as anything.
            let without = || Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
            Some(with_offset().or_else(without)?.as_second())
        }
        _ => since_1970(text.parse().ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read() {
        let time = 1_767_323_045;
        for text in [
            "02/Jan/2026:03:04:05 +0000",
            "02/Jan/2026:04:34:05 +0130",
            "01/Jan/2026:22:04:05 -0500",
            "2026-01-02T03:04:05+00:00",
            "2026-01-02T03:04:05Z",
            "2026-01-02 03:04:05.678",
            "1767323045.678",
            "1767323045678",
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(time), "{text}");
        }
    }

    #[test]
    fn times_that_cannot_be_are_refused() {
        for text in [
            "",
            "-",
            "32/Jan/2026:03:04:05 +0000",
            "30/Feb/2026:03:04:05 +0000",
            "02/Jan/2026:25:04:05 +0000",
            "02/Jan/1969:03:04:05 +0000",
            "02/Jan/99999:03:04:05 +0000",
            "2026-13-02T03:04:05Z",
            "-1767323045",
            "NaN",
            "inf",
            "1e300",
            "\u{fffd}",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_that_is_refused_is_not_remembered() {
        let mut moments = Moments::default();
        let good = b"02/Jan/2026:03:04:05 +0000";
        assert!(moments.parse(b"x").is_err());
        assert_eq!(moments.parse(good), moments.parse(good));
        assert!(moments.parse(b"x").is_err() && moments.parse(good).is_ok());
    }
}
