//! A cache of pages beside what the policy predicts of it.

use weigh_model::site::Kind;
use weigh_model::units;
use weigh_stats::{ROUNDS, median};

use super::difference::{amount, cause, exactly, line};
use super::{CPU_TIME, Line, PHP_REQUESTS, Proof};
use crate::estimate::{Estimate, MEDIAN};
use crate::verdict::within_rounds;

/// Differing answers that are told.
const MOST_TOLD: usize = 5;

/// What was measured of a cache of pages: in each round the same requests, without it and with it.
#[derive(Clone, Debug, Default)]
pub struct MeasuredCache {
    /// CPU milliseconds of PHP and server per request, without the cache and with it.
    pub rounds: Vec<[f64; 2]>,
    /// The same as predicted of these requests, in as many rounds.
    pub predicted: Vec<[f64; 2]>,
    /// Requests with the cache, those of them that PHP made a page for, and those that it makes one for in the simulation; none: PHP-FPM does not tell.
    pub requests: u64,
    pub made: Option<u64>,
    pub simulated: u64,
    /// Pairs of answers, without the cache and with it, to visitors of many kinds, and those that were not the same, a line each.
    pub compared: u64,
    pub differing: Vec<String>,
    /// Milliseconds that answers took with the cache: those that it gives in the simulation, and those that PHP makes.
    pub answer_ms: [Vec<f64>; 2],
    pub seconds: f64,
}

/// How answers with a cache of pages are beside those without.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ComparedAnswers {
    /// Pairs of answers: with and without the cache.
    pub compared: u64,
    /// Those that were not the same.
    pub differing: u64,
    /// The first of them, a line each.
    pub examples: Vec<String>,
    /// Median milliseconds that an answer from the cache took, and one that PHP made. Absent: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_ms: Option<f64>,
}

impl ComparedAnswers {
    pub(super) fn text(&self) -> String {
        let pairs = units::count(
            usize::try_from(self.compared).unwrap_or(usize::MAX),
            "pair of answers",
            "pairs of answers",
        );
        let found = match self.differing {
            0 => "all the same".to_owned(),
            some => format!("{some} not the same: {}", self.examples.join("; ")),
        };
        let took = match (self.held_ms, self.made_ms) {
            (Some(held), Some(made)) => {
                let [held, made] = [held, made].map(|ms| units::ns(ms * 1e6));
                format!(" An answer from the cache took {held}, one that PHP made {made} (medians).")
            }
            _ => String::new(),
        };
        format!(
            "With the cache of pages and without it, {pairs} to visitors with and without cookies, of several devices and languages: {found}.{took}"
        )
    }
}

impl Proof {
    pub fn add_page_cache(&mut self, measured: &MeasuredCache) {
        let lines: Vec<Line> = cpu(measured).into_iter().chain(php(measured)).collect();
        let differing = measured.differing.len() as u64;
        self.worse |= differing > 0;
        let own = self.lines.iter().any(|line| !line.modelled).then_some(self.verdict);
        self.add_lines(lines, own);
        let examples = measured.differing.iter().take(MOST_TOLD).cloned().collect();
        let [held_ms, made_ms] = measured.answer_ms.each_ref().map(|ms| median(ms));
        let compared = measured.compared;
        self.answers = Some(ComparedAnswers { compared, differing, examples, held_ms, made_ms });
    }
}

/// Both sides over the rounds; none: there is no round.
fn sides(rounds: &[[f64; 2]]) -> Option<[Estimate; 2]> {
    let side = |side: usize| {
        let rounds = rounds.iter().zip(1..).map(|(pair, round)| (round, pair[side])).collect();
        Estimate::over_rounds(rounds, MEDIAN)
    };
    Some([side(0)?, side(1)?])
}

fn cpu(measured: &MeasuredCache) -> Option<Line> {
    let said = sides(&measured.predicted)?;
    // What a round has more of expiries and of slow pages than another is in its prediction, and no noise.
    let of_round = |(seen, predicted): (&[f64; 2], &[f64; 2])| {
        std::array::from_fn(|side| (seen[side] - predicted[side] + said[side].value).max(f64::MIN_POSITIVE))
    };
    let rounds: Vec<[f64; 2]> = measured.rounds.iter().zip(&measured.predicted).map(of_round).collect();
    let [before, after] = sides(&rounds)?;
    let ratio = within_rounds(&[vec![(&before, &after)]]).pop()?.pop()?;
    let tested = ratio.filter(|told| told.ratio.rounds as usize >= ROUNDS);
    let share = tested.map(|told| [told.ratio.low - 1.0, told.ratio.high - 1.0]);
    let after = before.value * ratio.map_or(after.value / before.value, |told| told.ratio.value);
    let name = (Kind::Page, CPU_TIME, "CPU time of the pages that are held".to_owned());
    let said = exactly(said.map(|side| side.value));
    let seen = amount([before.value, after], share);
    line(name, said, seen, (measured.rounds.len(), measured.seconds), cause)
}

/// How many of the requests PHP makes pages for: counts have no interval.
fn php(measured: &MeasuredCache) -> Option<Line> {
    let of = |made: u64| exactly([measured.requests as f64, made as f64]);
    let name = (Kind::Page, PHP_REQUESTS, "requests that PHP makes a page for".to_owned());
    line(name, of(measured.simulated), of(measured.made?), (measured.rounds.len(), measured.seconds), cause)
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    fn measured() -> MeasuredCache {
        let rounds =
            (0..10).map(|round| [20.0 + f64::from(round % 3), 2.0 + f64::from(round % 2) * 0.1]).collect();
        let (predicted, requests, made, simulated) = (vec![[21.0, 2.1]; 10], 500, Some(41), 40);
        MeasuredCache {
            rounds,
            predicted,
            requests,
            made,
            simulated,
            compared: 900,
            seconds: 60.0,
            ..MeasuredCache::default()
        }
    }

    #[test]
    fn what_is_predicted_holds_or_not() {
        let proved = |measured: &MeasuredCache| {
            let mut proof = Proof::default();
            proof.add_page_cache(measured);
            proof
        };
        let held = proved(&measured());
        assert_eq!((held.verdict, held.worse, held.lines.len()), (Verdict::Held, false, 2), "{held:#?}");
        let more = proved(&MeasuredCache { made: Some(400), ..measured() });
        assert_eq!(more.lines[1].verdict, Verdict::Worse);
        // One private answer that another visitor got is worse than any CPU time.
        let other = proved(&MeasuredCache { differing: vec!["/cart: another page".into()], ..measured() });
        assert!(other.worse && other.answers.unwrap().text().contains("1 not the same: /cart"));
    }
}
