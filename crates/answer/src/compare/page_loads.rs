//! Loads of two pages in turn, as a comparison like any other.

use anyhow::{Result, bail};
use weigh_model::gate::{Gate, Limit};
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean;

use super::{Change, Compared, Comparison, Names, Side, Verdict, gate};
use crate::estimate::{Estimate, MEDIAN};
use crate::load_view::{LoadView, PicturedLoad};
use crate::metric::{Better, Unit};
use crate::verdict::within_rounds;

const SUBJECT: &str = "page-load";

/// How many times a difference is to be what differs of the first page with itself.
const SMALL: f64 = 4.0;

/// What a change of a content coding begins with.
pub const CODING_OF: &str = "content coding of ";

/// One load of a page in a browser. Times are seconds since the navigation began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadFigures {
    /// Largest contentful paint.
    pub lcp: f64,
    /// First contentful paint.
    pub fcp: f64,
    pub load: f64,
    /// Bytes of responses with their heads, by the browser's count.
    pub bytes: f64,
    /// Requests that were answered.
    pub requests: f64,
}

/// Loads of two pages over a link, one of each in every round.
#[derive(Clone, Debug)]
pub struct PairedLoads {
    /// The path of the page, and the link by its name.
    pub page: String,
    pub link: String,
    pub rounds: Vec<[LoadFigures; 2]>,
    /// The first page once more in each round, in a browser of its own: what differs there is no difference of pages.
    pub again: Vec<LoadFigures>,
    /// A load of each that does not count, to be shown.
    pub pictured: Option<[PicturedLoad; 2]>,
    /// What was not the same on both sides.
    pub changes: Vec<Change>,
    /// Seconds of wall time.
    pub seconds: f64,
}

impl PairedLoads {
    /// What was loaded, and how: `/@4g`.
    pub fn configuration(&self) -> String {
        format!("{}@{}", self.page, self.link)
    }

    /// To be shown, with what the sides are called.
    pub fn view(&self, names: [&str; 2]) -> Option<LoadView> {
        let title = format!("{} over {}", self.page, self.link);
        Some(LoadView { title, names: names.map(str::to_owned), sides: self.pictured.clone()? })
    }

    /// The rounds of the first page with itself.
    fn with_itself(&self) -> Vec<[LoadFigures; 2]> {
        self.rounds.iter().zip(&self.again).map(|([a, _], again)| [*a, *again]).collect()
    }
}

/// A quantity by its id, with its unit.
type Quantity = (&'static str, Unit, fn(&LoadFigures) -> f64);

/// The least important last.
const QUANTITIES: [Quantity; 5] = [
    ("lcp", Unit::S, |one| one.lcp),
    ("fcp", Unit::S, |one| one.fcp),
    ("load", Unit::S, |one| one.load),
    ("bytes", Unit::Bytes, |one| one.bytes),
    ("requests", Unit::Count, |one| one.requests),
];

/// Checks that loads have what gates are about.
///
/// # Errors
/// The first that they have not; one line.
pub fn check(gates: &[Gate]) -> Result<()> {
    let ids = || QUANTITIES.iter().map(|(id, ..)| *id);
    for one in gates {
        if ids().all(|id| id != one.metric) {
            let hint = nearest_hint(&one.metric, ids());
            bail!("gate: no metric `{}` of loads of pages{hint}", clean(&one.metric));
        }
        if !matches!(one.limit(), Ok(Limit::NoWorseThan(_))) {
            bail!("gate: `{}` of two loads of pages takes a share, such as {0}<5%", clean(&one.metric));
        }
    }
    Ok(())
}

/// The comparison of two pages; over several links, they are told together. Gates must be checked.
pub fn comparison(
    all: &[PairedLoads],
    names: Names,
    started: &str,
    machine: &str,
    gates: &[Gate],
) -> Comparison {
    let rounds = all.iter().map(|one| one.rounds.len()).min().unwrap_or_default() as u32;
    let side = |name: String| Side {
        name,
        study: SUBJECT.to_owned(),
        started: started.to_owned(),
        rounds,
        seconds: all.iter().map(|one| one.seconds).sum(),
        machine: machine.to_owned(),
    };
    let (mut rows, alike) = (rows(all, |one| one.rounds.clone()), rows(all, PairedLoads::with_itself));
    let mut changes: Vec<Change> = Vec::new();
    for change in all.iter().flat_map(|one| &one.changes) {
        // What differs whatever the link is told once.
        if changes.iter().all(|known| known.what != change.what) {
            changes.push(change.clone());
        }
    }
    for one in alike.iter().filter(|row| row.verdict.is_claimed()) {
        let mut rows = rows.iter_mut().filter(|row| row.metric == one.metric);
        // What is small beside a difference leaves it what it is.
        let is_small = |row: &&mut Compared| one.quotient().ln().abs() < row.quotient().ln().abs() / SMALL;
        let Some(row) = rows.find(|row| row.configuration == one.configuration && !is_small(row)) else {
            continue;
        };
        (row.ratio, row.alone, row.verdict) = (None, None, Verdict::Untested);
        let what = format!("{} of {} in two browsers with the first page", one.metric, one.configuration);
        let (a, b) = (one.unit.amount(one.a), one.unit.amount(one.b));
        changes.push(Change { what, a, b, forbids: false });
    }
    let mut compared = Comparison::of_rows(SUBJECT, (side(names.a), side(names.b)), rows, changes);
    compared.loads = all.iter().filter_map(|one| one.view([&compared.a.name, &compared.b.name])).collect();
    compared.gates = gate::beside(gates, &compared);
    compared
}

/// Each quantity over each link, of pairs in rounds.
fn rows(all: &[PairedLoads], rounds_of: fn(&PairedLoads) -> Vec<[LoadFigures; 2]>) -> Vec<Compared> {
    let mut rows: Vec<Compared> = Vec::new();
    let rounds: Vec<(&PairedLoads, Vec<[LoadFigures; 2]>)> =
        all.iter().map(|one| (one, rounds_of(one))).collect();
    let estimates: Vec<Vec<(&PairedLoads, [Estimate; 2])>> = QUANTITIES
        .iter()
        .map(|(.., of)| {
            rounds.iter().filter_map(|(one, rounds)| Some((*one, estimates(rounds, *of)?))).collect()
        })
        .collect();
    let pairs: Vec<Vec<(&Estimate, &Estimate)>> =
        estimates.iter().map(|own| own.iter().map(|(_, [a, b])| (a, b)).collect()).collect();
    for (((id, unit, _), own), told) in QUANTITIES.iter().zip(&estimates).zip(within_rounds(&pairs)) {
        rows.extend(own.iter().zip(told).map(|((one, [a, b]), told)| {
            Compared::of(&one.configuration(), (id, *unit, Better::Less), (a.value, b.value), told)
        }));
    }
    rows
}

/// Both sides over the rounds; none: there is no round.
fn estimates(rounds: &[[LoadFigures; 2]], of: fn(&LoadFigures) -> f64) -> Option<[Estimate; 2]> {
    let side = |side: usize| {
        let rounds = rounds.iter().zip(1..).map(|(pair, round)| (round, of(&pair[side]))).collect();
        Estimate::over_rounds(rounds, MEDIAN)
    };
    Some([side(0)?, side(1)?])
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Rounds in which a neighbour may slow both loads down, B by this much more than A.
    fn rounds(more: f64, seed: u64) -> PairedLoads {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut load = |times: f64, round: f64| {
            let lcp = times * round * (1.0 + rng.random::<f64>() * 0.03);
            LoadFigures { lcp, fcp: lcp * 0.7, load: lcp * 1.2, bytes: 90_000.0 * times, requests: 4.0 }
        };
        let pair = |round: usize| {
            let slow = if round.is_multiple_of(3) { 1.6 } else { 1.0 };
            [load(1.0, slow), load(more, slow)]
        };
        let rounds: Vec<_> = (0..12).map(pair).collect();
        let again = rounds.iter().map(|[a, _]: &[LoadFigures; 2]| *a).collect();
        let (page, link, changes) = ("/".into(), "4g".into(), Vec::new());
        PairedLoads { page, link, rounds, again, pictured: None, changes, seconds: 60.0 }
    }

    fn of(loads: &[PairedLoads]) -> Comparison {
        let names = Names { a: "http://a/".into(), b: "http://b/".into() };
        let gate = Gate { metric: "lcp".into(), no_worse_than: Some("5%".into()), ..Gate::default() };
        comparison(loads, names, "2026-01-02T03:04:05Z", "a machine", &[gate])
    }

    #[test]
    fn what_is_slower_in_every_round_is_worse_and_what_is_the_same_is_not() {
        let found = of(&[rounds(1.1, 1)]);
        let verdict = |id: &str| found.rows.iter().find(|row| row.metric == id).unwrap().verdict;
        assert_eq!((verdict("lcp"), verdict("bytes")), (Verdict::Worse, Verdict::Worse));
        assert_eq!((verdict("requests"), found.gates[0].outcome), (Verdict::Same, gate::GateOutcome::Fail));
        let claims: usize = (0..40).map(|seed| of(&[rounds(1.0, seed)]).findings().count()).sum();
        assert!(claims <= 2, "{claims} claims of 40 equal pairs");
    }

    #[test]
    fn what_differs_of_a_page_with_itself_is_no_difference_of_pages() {
        let mut one = rounds(1.1, 1);
        one.again.iter_mut().for_each(|load| load.lcp *= 1.2);
        let found = of(&[one]);
        let row = |id: &str| found.rows.iter().find(|row| row.metric == id).unwrap();
        assert_eq!((row("lcp").verdict, row("lcp").ratio), (Verdict::Untested, None));
        assert_eq!(row("fcp").verdict, Verdict::Worse);
        assert_eq!(found.gates[0].outcome, gate::GateOutcome::Undecided);
        let said = &found.changes[0];
        assert!(said.what.starts_with("lcp of /@4g in two browsers"), "{said:?}");
    }

    #[test]
    fn gates_are_about_what_loads_have() {
        let gate = |metric: &str, limit: &str| {
            let own = Some(limit.to_owned());
            let (at_most, no_worse_than) = if limit.ends_with('%') { (None, own) } else { (own, None) };
            check(&[Gate { metric: metric.into(), at_most, no_worse_than, ..Gate::default() }])
        };
        assert!(gate("lcp", "5%").is_ok());
        assert!(gate("lcpp", "5%").unwrap_err().to_string().contains("did you mean `lcp`"));
        assert!(gate("load", "2s").unwrap_err().to_string().contains("takes a share"));
    }
}
