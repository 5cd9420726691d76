//! When requests came: the first and the last, the busiest hour and second, and how much time the log covers.

use std::collections::BTreeMap;

use super::counted::{Counted, Hour};

/// The most hours that are held: eleven years. Later ones are not looked at.
const MOST: usize = 100_000;
/// Seconds that are held: 18 hours. Lines of one second that stand further apart are not seen together.
const SECONDS: usize = 1 << 16;
/// Hours without any request that count as covered; a longer gap is a missing file.
const GAP: i64 = 24;

/// By hour and second.
pub struct Hours {
    range: Option<(i64, i64)>,
    held: BTreeMap<i64, (u64, u64)>,
    /// The hour of the last line, which is mostly that of the next.
    current: (i64, u64, u64),
    seconds: Vec<i64>,
    in_second: Vec<u64>,
    busiest: u64,
}

impl Hours {
    /// Of no request.
    pub fn new() -> Hours {
        let (seconds, in_second) = (vec![0; SECONDS], vec![0; SECONDS]);
        Hours { range: None, held: BTreeMap::new(), current: (0, 0, 0), seconds, in_second, busiest: 0 }
    }

    /// Counts a request.
    pub fn add(&mut self, time: i64, bytes: u64) {
        let (first, last) = self.range.unwrap_or((time, time));
        self.range = Some((first.min(time), last.max(time)));
        let hour = time.div_euclid(3600);
        if hour != self.current.0 {
            self.flush();
            self.current = (hour, 0, 0);
        }
        self.current.1 += 1;
        self.current.2 = self.current.2.saturating_add(bytes);
        let place = time as usize % SECONDS;
        let count = &mut self.in_second[place];
        *count = if self.seconds[place] == time { *count + 1 } else { 1 };
        self.seconds[place] = time;
        self.busiest = self.busiest.max(*count);
    }

    fn flush(&mut self) {
        let (hour, requests, bytes) = self.current;
        if requests > 0 && (self.held.len() < MOST || self.held.contains_key(&hour)) {
            let held = self.held.entry(hour).or_default();
            *held = (held.0 + requests, held.1.saturating_add(bytes));
        }
    }

    /// Writes what was found.
    pub fn finish(mut self, counted: &mut Counted) {
        self.flush();
        let Some((first, last)) = self.range else { return };
        (counted.first, counted.last) = (Some(first), Some(last));
        counted.busiest_second = self.busiest;
        // Of hours with as many requests the first.
        let busiest = self.held.iter().min_by_key(|(_, (requests, _))| u64::MAX - requests);
        counted.busiest_hour = busiest.map(|(hour, (requests, bytes))| Hour {
            start: hour * 3600,
            requests: *requests,
            bytes: *bytes,
        });
        let starts = || self.held.keys().copied();
        let hours: i64 =
            starts().zip(starts().skip(1)).map(|(a, b)| if b - a > GAP { 1 } else { b - a }).sum();
        let seconds = hours * 3600 + last.rem_euclid(3600) - first.rem_euclid(3600);
        counted.covered_seconds = seconds.max(1) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(times: &[i64]) -> Counted {
        let mut hours = Hours::new();
        times.iter().for_each(|time| hours.add(*time, 10));
        let mut counted = Counted::default();
        hours.finish(&mut counted);
        counted
    }

    #[test]
    fn the_busiest_hour_and_second_are_found() {
        let day = 86_400;
        let counted = counted(&[day, day + 3700, day + 1, day + 3700, day + 7200, day + 7201, day + 7199]);
        assert_eq!((counted.first, counted.last), (Some(day), Some(day + 7201)));
        assert_eq!(counted.busiest_hour, Some(Hour { start: day + 3600, requests: 3, bytes: 30 }));
        assert_eq!(counted.busiest_second, 2);
        assert_eq!(counted.covered_seconds, 7201);
    }

    #[test]
    fn days_without_a_file_are_not_covered() {
        let (day, hour) = (86_400, 3600);
        assert_eq!(counted(&[day, day + 20 * hour]).covered_seconds, 20 * 3600);
        assert_eq!(counted(&[day, day + hour, 31 * day, 31 * day + 2 * hour]).covered_seconds, 4 * 3600);
        assert_eq!(counted(&[day]).covered_seconds, 1);
        assert_eq!(counted(&[]), Counted::default());
    }
}
