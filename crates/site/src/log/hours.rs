//! When requests came: the first and the last, the busiest hour and second, and how much time the log covers.

use std::collections::BTreeMap;

use super::counted::{Counted, Hour, ScriptHour};
use super::duration::ABSURD;
use super::moment::Moment;

/// The most hours that are held: eleven years. Later ones are not looked at.
const MOST: usize = 100_000;
/// Seconds that are held: 18 hours. Lines of one second that stand further apart are not seen together.
const SECONDS: usize = 1 << 16;
/// Hours without any request that count as covered; a longer gap is a missing file.
const GAP: i64 = 24;

/// Hours of a week, and those of its days and of its weekend.
const WEEK: usize = 168;
const DAY: usize = 24;
const WEEKEND: usize = 5 * DAY;

/// What came in an hour.
#[derive(Clone, Copy, Debug, Default)]
struct HourTraffic {
    lines: u64,
    requests: u64,
    bytes: u64,
    visitors: u64,
    /// Of any client for scripts; those of them that have a time, and their microseconds.
    scripts: u64,
    timed: u64,
    micros: u64,
    /// Hours by which the server's clock is ahead of UTC.
    ahead: i64,
}

/// By hour and second.
#[derive(Default)]
pub struct Hours {
    range: Option<(i64, i64)>,
    held: BTreeMap<i64, HourTraffic>,
    /// The hour of the last line, which is mostly that of the next.
    current: (i64, HourTraffic),
    seconds: Vec<i64>,
    in_second: Vec<u64>,
    busiest: u64,
}

impl Hours {
    pub fn new() -> Hours {
        Hours { seconds: vec![0; SECONDS], in_second: vec![0; SECONDS], ..Hours::default() }
    }

    /// Takes a time as one at which requests were logged: of another host's, if not of this one's.
    pub fn cover(&mut self, moment: Moment) {
        let time = moment.utc;
        let (first, last) = self.range.unwrap_or((time, time));
        self.range = Some((first.min(time), last.max(time)));
        let hour = time.div_euclid(3600);
        if hour != self.current.0 {
            self.flush();
            self.current =
                (hour, HourTraffic { ahead: i64::from(moment.ahead / 3600), ..HourTraffic::default() });
        }
        self.current.1.lines += 1;
    }

    pub fn add(&mut self, moment: Moment, bytes: u64, is_visitor: bool) {
        self.cover(moment);
        let time = moment.utc;
        let current = &mut self.current.1;
        current.requests += 1;
        current.bytes = current.bytes.saturating_add(bytes);
        current.visitors += u64::from(is_visitor);
        let place = time as usize % SECONDS;
        let count = &mut self.in_second[place];
        *count = if self.seconds[place] == time { *count + 1 } else { 1 };
        self.seconds[place] = time;
        self.busiest = self.busiest.max(*count);
    }

    /// Says of the last request that it was for a script, and its microseconds if they are logged.
    pub fn add_script(&mut self, micros: Option<u64>) {
        let current = &mut self.current.1;
        current.scripts += 1;
        current.timed += u64::from(micros.is_some());
        current.micros = current.micros.saturating_add(micros.unwrap_or(0));
    }

    fn flush(&mut self) {
        let (hour, one) = self.current;
        if one.lines > 0 && (self.held.len() < MOST || self.held.contains_key(&hour)) {
            let held = self.held.entry(hour).or_default();
            // Of two clocks the one that is further ahead, whatever the order of lines.
            held.ahead = if held.lines == 0 { one.ahead } else { held.ahead.max(one.ahead) };
            held.lines += one.lines;
            held.requests += one.requests;
            held.bytes = held.bytes.saturating_add(one.bytes);
            held.visitors += one.visitors;
            held.scripts += one.scripts;
            held.timed += one.timed;
            held.micros = held.micros.saturating_add(one.micros);
        }
    }

    pub fn finish(mut self, counted: &mut Counted) {
        self.flush();
        let Some((first, last)) = self.range else { return };
        (counted.first, counted.last) = (Some(first), Some(last));
        counted.busiest_second = self.busiest;
        // Of hours with as many requests the first.
        let busiest = self.held.iter().min_by_key(|(_, held)| u64::MAX - held.requests);
        counted.busiest_hour = busiest.map(|(hour, held)| Hour {
            start: hour * 3600,
            requests: held.requests,
            bytes: held.bytes,
        });
        counted.script_hour = self.held.values().map(script_hour).max_by(|a, b| {
            let busy = |hour: &ScriptHour| hour.requests as f64 * hour.seconds.unwrap_or(0.0);
            busy(a).total_cmp(&busy(b)).then(a.requests.cmp(&b.requests))
        });
        counted.script_hour = counted.script_hour.take().filter(|hour| hour.requests > 0);
        let mut week = [(0.0, 0.0); WEEK];
        let has_weekend = self.held.iter().any(|(hour, held)| hour_of_week(*hour, held.ahead) >= WEEKEND);
        let mut hours = 0;
        let mut last_held: Option<(i64, HourTraffic)> = None;
        for (hour, held) in &self.held {
            if let Some((before, of)) = last_held {
                let gap = hour - before;
                let quiet = (before + 1..*hour)
                    .take(MOST_QUIET)
                    .filter(|hour| hour_of_week(*hour, of.ahead) >= WEEKEND)
                    .count() as i64;
                let is_weekend = !has_weekend && quiet > 0 && gap - quiet <= GAP && gap <= MOST_QUIET as i64;
                counted.week.is_weekend_quiet |= is_weekend;
                if gap <= GAP || is_weekend {
                    (before + 1..*hour).for_each(|hour| week[hour_of_week(hour, of.ahead)].0 += 1.0);
                    hours += gap;
                } else {
                    counted.week.missing_hours += (gap - 1) as u64;
                    hours += 1;
                }
            }
            let place = &mut week[hour_of_week(*hour, held.ahead)];
            *place = (place.0 + 1.0, place.1 + held.visitors as f64);
            last_held = Some((*hour, *held));
        }
        let seconds = hours * 3600 + last.rem_euclid(3600) - first.rem_euclid(3600);
        counted.covered_seconds = seconds.max(1) as u64;
        counted.week.unseen_hours = week.iter().filter(|(covered, _)| *covered == 0.0).count() as u64;
        counted.week.correction = correction(&week);
    }
}

/// What scripts answered in an hour; times that cannot be true are left out.
fn script_hour(held: &HourTraffic) -> ScriptHour {
    let mean = held.micros as f64 / 1e6 / held.timed.max(1) as f64;
    let seconds = Some(mean).filter(|mean| *mean > 0.0 && *mean <= ABSURD);
    ScriptHour { requests: held.scripts, seconds }
}

/// Gaps over weekends that are looked at: two weeks.
const MOST_QUIET: usize = 2 * WEEK;

/// The hour of the week of the server's clock, from Monday on.
fn hour_of_week(hour: i64, ahead: i64) -> usize {
    // 1970 began on a Thursday.
    (hour + ahead + 3 * DAY as i64).rem_euclid(WEEK as i64) as usize
}

/// Visitors of a mean hour of the week, by those of a mean hour that is covered. Each hour of the week has its hours that are covered, and their visitors.
fn correction(week: &[(f64, f64); WEEK]) -> f64 {
    let mean = |some: &mut dyn Iterator<Item = usize>| {
        let (hours, visitors) =
            some.map(|at| week[at]).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (hours > 0.0).then(|| visitors / hours)
    };
    let all = mean(&mut (0..WEEK)).filter(|all| *all > 0.0);
    let Some(all) = all else { return 1.0 };
    let rate = |at: usize| {
        let is_weekend = at >= WEEKEND;
        let same = |is_alike: bool| {
            move |other: &usize| other % DAY == at % DAY && ((*other >= WEEKEND) == is_weekend) == is_alike
        };
        let own = mean(&mut [at].into_iter());
        let own = own.or_else(|| mean(&mut (0..WEEK).filter(same(true))));
        own.or_else(|| mean(&mut (0..WEEK).filter(same(false)))).unwrap_or(all)
    };
    (0..WEEK).map(rate).sum::<f64>() / WEEK as f64 / all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(times: &[i64]) -> Counted {
        let mut hours = Hours::new();
        times.iter().for_each(|time| hours.add(Moment { utc: *time, ahead: 0 }, 10, true));
        let mut counted = Counted::default();
        hours.finish(&mut counted);
        counted
    }

    /// Requests in each hour of days from Monday, 5 January 2026 on; none: the hour is not in the log.
    fn of_days(days: std::ops::Range<i64>, ahead: i32, per_hour: impl Fn(i64, i64) -> u64) -> Counted {
        let mut hours = Hours::new();
        for (day, hour) in days.flat_map(|day| (0..24).map(move |hour| (day, hour))) {
            for n in 0..per_hour(day, hour) {
                let utc = 1_767_571_200 + day * 86_400 + hour * 3600 + n as i64 % 3600 - i64::from(ahead);
                hours.add(Moment { utc, ahead }, 10, true);
            }
        }
        let mut counted = Counted::default();
        hours.finish(&mut counted);
        counted
    }

    /// Requests of a week, as a log tells it.
    fn per_week(counted: &Counted, requests: u64) -> f64 {
        requests as f64 * counted.week.correction * 7.0 * 86_400.0 / counted.covered_seconds as f64
    }

    fn is_near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 0.02, "{found} {wanted}");
    }

    #[test]
    fn half_a_week_is_weighted_by_hour() {
        let usual = |day: i64, hour: i64| {
            if day % 7 >= 5 {
                20
            } else if (8..18).contains(&hour) {
                100
            } else {
                10
            }
        };
        let week: u64 = (0..7).flat_map(|day| (0..24).map(move |hour| usual(day, hour))).sum();
        let requests =
            |days: std::ops::Range<i64>| days.flat_map(|day| (0..24).map(move |hour| usual(day, hour))).sum();
        for days in [0..7, 0..14, 0..10, 2..8, 5..13] {
            let found = of_days(days.clone(), 0, usual);
            assert_eq!(found.week.unseen_hours, 24 * 7u64.saturating_sub((days.end - days.start) as u64));
            is_near(per_week(&found, requests(days)), week as f64);
        }
        // A weekend that is never covered is taken as the other days.
        let found = of_days(0..5, 0, usual);
        is_near(per_week(&found, requests(0..5)), requests(0..5) as f64 / 5.0 * 7.0);
        assert_eq!((found.week.unseen_hours, found.week.is_weekend_quiet), (48, false));
    }

    #[test]
    fn an_intranet_rests_at_weekends_by_its_own_clock() {
        let working = |day: i64, hour: i64| if day % 7 < 5 && (8..18).contains(&hour) { 10 } else { 0 };
        for ahead in [0, 9 * 3600, -8 * 3600] {
            let found = of_days(0..12, ahead, working);
            assert_eq!((found.week.is_weekend_quiet, found.week.missing_hours), (true, 0), "{ahead}");
            is_near(per_week(&found, 1_000), 500.0);
        }
    }

    #[test]
    fn lines_of_other_hosts_cover_time() {
        let mut hours = Hours::new();
        let at = |hour: i64| Moment { utc: 1_767_571_200 + hour * 3600, ahead: 0 };
        hours.add(at(0), 10, true);
        (0..=72).for_each(|hour| hours.cover(at(hour)));
        hours.add(at(72), 10, true);
        let mut counted = Counted::default();
        hours.finish(&mut counted);
        assert_eq!((counted.covered_seconds, counted.week.missing_hours), (72 * 3600, 0));
        assert_eq!(counted.busiest_hour.map(|hour| hour.requests), Some(1));
    }

    #[test]
    fn days_that_are_missing_are_not_covered() {
        let all_but = |gone: std::ops::Range<i64>| {
            of_days(0..14, 0, move |day, _| if gone.contains(&day) { 0 } else { 10 })
        };
        let found = all_but(2..4);
        assert_eq!(found.week.missing_hours, 48);
        is_near(found.covered_seconds as f64, 12.0 * 86_400.0);
        is_near(per_week(&found, 12 * 240), 7.0 * 240.0);
        // The other weekend tells that this one is missing.
        let found = all_but(5..7);
        assert_eq!((found.week.missing_hours, found.week.is_weekend_quiet), (48, false));
        is_near(per_week(&found, 12 * 240), 7.0 * 240.0);
    }

    #[test]
    fn the_hour_in_which_scripts_are_busiest_is_not_that_with_the_most_requests() {
        let mut hours = Hours::new();
        let mut add = |at: i64, requests: usize, micros: Option<u64>| {
            for _ in 0..requests {
                hours.add(Moment { utc: at, ahead: 0 }, 10, false);
                hours.add_script(micros);
            }
        };
        add(0, 50, Some(100_000));
        add(3600, 20, Some(400_000));
        add(7200, 5, None);
        let mut counted = Counted::default();
        hours.finish(&mut counted);
        assert_eq!(counted.busiest_hour.unwrap().requests, 50);
        assert_eq!(counted.script_hour, Some(ScriptHour { requests: 20, seconds: Some(0.4) }));
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
