//! Records of a very long run, thinned: what is said of a run grows with its configurations, not with its records.

use std::collections::{HashMap, HashSet};

use crate::caveat::Caveat;
use crate::plan::Plan;
use crate::record::{Record, VisitRecord};

/// Visits of a configuration that are kept at most. More are thinned to every second, fourth, … round, of all configurations alike:
/// what is compared by rounds has the same ones.
pub const MOST: usize = 250;
/// Other records of a configuration that are kept at most, all types together.
const MOST_OTHERS: usize = 100;

/// Whether the visits of a round are kept where one of this many is.
pub fn is_kept(round: u32, one_of: u32) -> bool {
    round.wrapping_sub(1).is_multiple_of(one_of)
}

/// Records that come one after the other, of which some are kept.
#[derive(Debug)]
pub struct Thinned<'p> {
    /// Records kept of each planned cell: visits, and others.
    cells: HashMap<&'p str, [usize; 2]>,
    of_run: usize,
    records: Vec<Record>,
    one_of: u32,
    left_out: u64,
}

impl<'p> Thinned<'p> {
    /// None yet of a run of this plan; records of what is not in it are left out without a word, as reports do.
    pub fn new(plan: &'p Plan) -> Thinned<'p> {
        let cells = plan.cells.iter().map(|cell| (cell.id.as_str(), [0, 0])).collect();
        Thinned { cells, of_run: 0, records: Vec::new(), one_of: 1, left_out: 0 }
    }

    /// Whether the next one is of a round that is left out, by its JSON, as runs write it: it need not be read then.
    pub fn leaves_out(&mut self, json: &[u8]) -> bool {
        let is_left_out = self.one_of > 1 && round_of(json).is_some_and(|round| !is_kept(round, self.one_of));
        self.left_out += u64::from(is_left_out);
        is_left_out
    }

    pub fn take(&mut self, record: Record) {
        let cell = match &record {
            Record::Visit(visit) => Some(visit.cell.as_str()),
            Record::Fault { cell, .. } | Record::Stop { cell, .. } => Some(cell.as_str()),
            Record::Caveat { cell, .. } => cell.as_deref(),
            Record::Resumed { .. } | Record::End { .. } => None,
        };
        let visit = visit_of(&record);
        let known = match cell.map(|cell| self.cells.get_mut(cell)) {
            None => &mut self.of_run,
            Some(Some(known)) => &mut known[usize::from(visit.is_none())],
            Some(None) => return,
        };
        if visit.map_or(*known >= MOST_OTHERS, |visit| !is_kept(visit.round, self.one_of)) {
            self.left_out += 1;
            return;
        }
        *known += 1;
        let is_full = visit.is_some() && *known > MOST;
        self.records.push(record);
        if is_full {
            self.thin();
        }
    }

    /// Leaves out what a later visit of the same round replaces, then rounds, until no configuration has too many.
    fn thin(&mut self) {
        let mut seen = HashSet::new();
        let mut is_last = |visit: &VisitRecord| seen.insert((visit.cell.clone(), visit.round));
        let visits = self.records.iter().rev().map(visit_of);
        let mut kept: Vec<bool> = visits.map(|visit| visit.is_none_or(&mut is_last)).collect();
        self.retain(|_| kept.pop().unwrap_or(true));
        while self.cells.values().any(|[visits, _]| *visits > MOST) {
            self.one_of = self.one_of.saturating_mul(2);
            let one_of = self.one_of;
            self.retain(|record| visit_of(record).is_none_or(|visit| is_kept(visit.round, one_of)));
        }
    }

    fn retain(&mut self, keep: impl FnMut(&Record) -> bool) {
        let before = self.records.len();
        self.records.retain(keep);
        self.left_out += (before - self.records.len()) as u64;
        self.cells.values_mut().for_each(|[visits, _]| *visits = 0);
        for visit in self.records.iter().filter_map(visit_of) {
            if let Some([visits, _]) = self.cells.get_mut(visit.cell.as_str()) {
                *visits += 1;
            }
        }
    }

    /// What was kept, with a caveat if that is not all.
    pub fn records(mut self) -> Vec<Record> {
        if self.left_out > 0 {
            let caveat = Caveat::Thinned { one_of: self.one_of, left_out: self.left_out };
            self.records.push(Record::Caveat { cell: None, caveat });
        }
        self.records
    }
}

fn visit_of(record: &Record) -> Option<&VisitRecord> {
    if let Record::Visit(visit) = record { Some(visit) } else { None }
}

/// The round of a visit; none: it is something else, or written in another order.
fn round_of(json: &[u8]) -> Option<u32> {
    const ROUND: &[u8] = b"\",\"round\":";
    let rest = json.strip_prefix(b"{\"type\":\"visit\",\"cell\":\"")?;
    let at = rest.windows(ROUND.len()).position(|bytes| bytes == ROUND)? + ROUND.len();
    let digits = rest[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[at..at + digits]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Cell, Subject};
    use crate::setting::Setting;

    fn visit(cell: &str, round: u32) -> Record {
        Record::Visit(VisitRecord { at: f64::from(round), ..VisitRecord::of(cell, round) })
    }

    fn thinned(records: impl Iterator<Item = Record>) -> Vec<Record> {
        let cell = |id: &str| Cell {
            id: id.into(),
            subject: Subject::CODEC,
            payload: "page".into(),
            runtime: "native".into(),
            setting: Setting::bare("zlib"),
            expected_seconds: 0.1,
            ..Cell::default()
        };
        let plan = Plan { cells: ["a", "b"].map(cell).into(), ..Plan::default() };
        let mut thinned = Thinned::new(&plan);
        records.for_each(|record| thinned.take(record));
        thinned.records()
    }

    fn rounds(records: &[Record], of: &str) -> Vec<u32> {
        let round = |record: &Record| match record {
            Record::Visit(visit) if visit.cell == of => Some(visit.round),
            _ => None,
        };
        records.iter().filter_map(round).collect()
    }

    #[test]
    fn a_run_of_ordinary_length_stays_as_it_is() {
        let all: Vec<Record> =
            (1..=MOST as u32).flat_map(|round| [visit("a", round), visit("b", round)]).collect();
        assert_eq!(thinned(all.clone().into_iter()), all);
    }

    #[test]
    fn a_long_run_keeps_the_same_rounds_of_all_configurations_and_says_so() {
        // The second comes in every fourth round only.
        let all = (1..=50_000).flat_map(|round| {
            let seldom = (round % 4 == 1).then(|| visit("b", round));
            [visit("a", round), visit("elsewhere", round)].into_iter().chain(seldom)
        });
        let kept = thinned(all);
        let (a, b) = (rounds(&kept, "a"), rounds(&kept, "b"));
        assert!(a.len() > MOST / 2 && a.len() <= MOST && a == b, "{} {}", a.len(), b.len());
        let left_out = 50_000 + 12_500 - a.len() as u64 - b.len() as u64;
        let caveat = Caveat::Thinned { one_of: 256, left_out };
        assert_eq!(kept.last(), Some(&Record::Caveat { cell: None, caveat }));
        assert!(rounds(&kept, "elsewhere").is_empty());
    }

    #[test]
    fn the_round_of_a_visit_is_told_from_its_json() {
        let json = serde_json::to_vec(&visit("a \" b,\"round\":7", 1234)).unwrap();
        assert_eq!(round_of(&json), Some(1234));
        assert_eq!(round_of(&serde_json::to_vec(&Record::Resumed { at: 1 }).unwrap()), None);
    }

    #[test]
    fn the_same_again_and_again_is_kept_once_and_the_last_counts() {
        let same =
            (0..10_000).map(|at| Record::Visit(VisitRecord { at: f64::from(at), ..VisitRecord::of("a", 7) }));
        let kept = thinned(same);
        assert!(kept.len() <= MOST + 1);
        let last = kept.iter().rev().find_map(|record| match record {
            Record::Visit(visit) => Some(visit.at),
            _ => None,
        });
        assert_eq!(last, Some(9999.0));
        let resumed = thinned((0..10_000).map(|at| Record::Resumed { at }));
        assert_eq!(resumed.len(), MOST_OTHERS + 1);
    }
}
