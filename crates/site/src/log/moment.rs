//! The time of a line: as nginx and Apache write it, as ISO 8601, or as seconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::entry::Unreadable;

/// Times before 1990 and from 2100 on are mistakes.
const RANGE: std::ops::Range<i64> = 631_152_000..4_102_444_800;
/// Bytes of the longest form.
const LONGEST: usize = 40;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970.
    pub utc: i64,
    /// Seconds by which the server's clock is ahead of UTC; zero where the log does not say.
    pub ahead: i32,
}

/// Reads times; those that follow on each other are mostly alike.
#[derive(Debug, Default)]
pub struct Moments {
    last: Vec<u8>,
    moment: Moment,
}

impl Moments {
    pub fn parse(&mut self, text: &[u8]) -> Result<Moment, Unreadable> {
        if self.last != text {
            self.moment = parse(text)?;
            self.last.clear();
            self.last.extend_from_slice(text);
        }
        Ok(self.moment)
    }
}

pub fn parse(text: &[u8]) -> Result<Moment, Unreadable> {
    let text =
        std::str::from_utf8(text).ok().filter(|text| text.len() <= LONGEST).ok_or(Unreadable("the time"))?;
    let utc = form(text).filter(|time| RANGE.contains(time)).ok_or(Unreadable("the time"))?;
    Ok(Moment { utc, ahead: ahead(text).unwrap_or(0) })
}

/// `+0130` or `+01:30` at the end.
fn ahead(text: &str) -> Option<i32> {
    let at = text.rfind(['+', '-']).filter(|at| *at > 15)?;
    let digits: String = text[at + 1..].chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = digits.split_at_checked(2).filter(|_| digits.len() == 4)?;
    let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
    Some(if text[at..].starts_with('-') { -seconds } else { seconds })
}

/// A number of seconds since 1970, or of milliseconds to nanoseconds, as some write.
fn since_1970(number: f64) -> Option<i64> {
    let forms = [1.0, 1e3, 1e6, 1e9].map(|unit| (number / unit).floor() as i64);
    forms.into_iter().find(|time| RANGE.contains(time))
}

fn form(text: &str) -> Option<i64> {
    match text.as_bytes() {
        [_, _, b'/', ..] => {
            let parsed = |text: &str| Timestamp::strptime("%d/%b/%Y:%H:%M:%S%.f %z", text).ok();
            // Without an offset it is UTC as well as anything.
            Some(parsed(text).or_else(|| parsed(&format!("{text} +0000")))?.as_second())
        }
        [_, _, _, _, b'-', ..] => {
            let with_offset = || text.parse::<Timestamp>().ok();
            let without = || Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
            Some(with_offset().or_else(without)?.as_second())
        }
        _ => since_1970(text.parse().ok()?),
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
            "02/Jan/2026:03:04:05.678 +0000",
            "02/Jan/2026:03:04:05.678",
            "01/Jan/2026:22:04:05 -0500",
            "2026-01-02T03:04:05+00:00",
            "2026-01-02T03:04:05Z",
            "2026-01-02 03:04:05.678",
            "1767323045.678",
            "1767323045678",
        ] {
            assert_eq!(parse(text.as_bytes()).map(|moment| moment.utc), Ok(time), "{text}");
        }
    }

    #[test]
    fn the_clock_of_the_server_is_known_where_it_is_written() {
        let ahead = |text: &str| parse(text.as_bytes()).unwrap().ahead;
        assert_eq!(ahead("02/Jan/2026:04:34:05 +0130"), 5_400);
        assert_eq!(ahead("2026-01-02T03:04:05.123-05:00"), -18_000);
        assert_eq!((ahead("2026-01-02 03:04:05"), ahead("1767323045.678")), (0, 0));
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
