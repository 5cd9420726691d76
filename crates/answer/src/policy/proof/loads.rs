//! Loads of a page before and after, in a browser over links of the site's visitors, beside what the policy predicts of them.

use weigh_model::policy::{LoadChange, Policy};
use weigh_model::site::Kind;
use weigh_stats::ROUNDS;

use super::difference::{amount, cause, exactly, line};
use super::{FCP, LCP, LOAD, Line};
use crate::compare::page_loads::PairedLoads;
use crate::compare::{Change, Comparison, Names, page_loads};

/// A moment of a load: its metric, its name, and what is predicted of it.
type Moment = (&'static str, &'static str, fn(&LoadChange) -> [f64; 2]);

const MOMENTS: [Moment; 3] =
    [(LCP, "LCP", |load| load.lcp_ms), (FCP, "FCP", |load| load.fcp_ms), (LOAD, "load", |load| load.load_ms)];

/// One line for each moment of a load and each link, of a proof that took this many seconds; and what else was not the same before and after.
pub fn prove_loads(policy: &Policy, loads: &[PairedLoads], seconds: f64) -> (Vec<Line>, Vec<Change>) {
    let compared = page_loads::comparison(loads, Names::default(), "", "", &[]);
    let lines = loads.iter().flat_map(|one| lines(policy, one, &compared, seconds)).collect();
    // Codings are what a policy changes.
    let other = compared.changes.into_iter().filter(|change| !change.what.starts_with(page_loads::CODING_OF));
    (lines, other.collect())
}

fn lines(policy: &Policy, one: &PairedLoads, compared: &Comparison, seconds: f64) -> Vec<Line> {
    let predicted = policy.loads.iter().find(|load| load.page == one.page && load.link == one.link);
    let Some(predicted) = predicted else { return Vec::new() };
    let of = |(metric, name, ms): Moment| {
        let row = compared
            .rows
            .iter()
            .find(|row| row.metric == metric && row.configuration == one.configuration())?;
        // Fewer rounds than a test takes have no interval.
        // Where two browsers differ with the page before, there is no ratio.
        let tested = row.ratio.filter(|ratio| ratio.rounds as usize >= ROUNDS);
        let share = tested.map(|ratio| [ratio.low - 1.0, ratio.high - 1.0]);
        let after = row.a * row.ratio.map_or(row.quotient(), |ratio| ratio.value);
        let said = exactly(ms(predicted).map(|ms| ms / 1e3));
        let name = (Kind::Page, metric, format!("{name} of {} over {}", one.page, one.link));
        line(name, said, amount([row.a, after], share), (one.rounds.len(), seconds), cause)
    };
    MOMENTS.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use weigh_model::policy::SCHEMA;

    use super::super::Verdict;
    use super::*;
    use crate::compare::page_loads::LoadFigures;

    fn policy(lcp_ms: [f64; 2]) -> Policy {
        let load = LoadChange {
            page: "/".into(),
            link: "4g".into(),
            lcp_ms,
            fcp_ms: [900.0, 800.0],
            load_ms: [2000.0, 1900.0],
        };
        Policy {
            schema: SCHEMA,
            site: "shop".into(),
            site_sha256: String::new(),
            objective: Default::default(),
            server: None,
            decisions: Vec::new(),
            unsettled: Vec::new(),
            machines: Vec::new(),
            pool: None,
            page_cache: None,
            php: Vec::new(),
            total: Default::default(),
            loads: vec![load],
            coverage: Vec::new(),
            trial: None,
            gates: Vec::new(),
        }
    }

    /// Twelve rounds in which LCP falls by a tenth, with little noise.
    fn loads(link: &str) -> PairedLoads {
        let load = |lcp: f64| LoadFigures { lcp, fcp: lcp * 0.6, load: lcp * 1.3, bytes: 1e5, requests: 5.0 };
        let noise = |round: i32| 1.0 + f64::from(round % 3) * 0.004;
        let rounds: Vec<_> =
            (0..12).map(|round| [load(1.5 * noise(round)), load(1.35 * noise(round + 1))]).collect();
        let again = rounds.iter().map(|[before, _]: &[LoadFigures; 2]| *before).collect();
        let (page, link, changes) = ("/".into(), link.into(), Vec::new());
        PairedLoads { page, link, rounds, again, pictured: None, changes, seconds: 60.0 }
    }

    #[test]
    fn each_moment_is_beside_its_prediction() {
        let lcp = |predicted| prove_loads(&policy(predicted), &[loads("4g")], 180.0).0.swap_remove(0);
        let held = lcp([1400.0, 1260.0]);
        assert_eq!((held.verdict, held.amount.as_str()), (Verdict::Held, "LCP of / over 4g"), "{held:?}");
        assert!((held.measured.share().unwrap() + 0.1).abs() < 0.01, "{held:?}");
        assert_eq!(lcp([1400.0, 1000.0]).verdict, Verdict::Worse);
        assert_eq!(lcp([1400.0, 1400.0]).verdict, Verdict::Better);
        assert_eq!(prove_loads(&policy([1400.0, 1260.0]), &[loads("cable")], 180.0).0, []);
        assert_eq!(prove_loads(&policy([1400.0, 1260.0]), &[loads("4g")], 180.0).0.len(), 3);
    }
}
