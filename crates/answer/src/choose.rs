//! The one choice: which of several candidates to use, and how sure that is. Answers, arrows, titles, rankings, the page
//! (`web/src/choose.ts`, held together by generated cases) and policies call [`choose`].
//!
//! Candidates are compared work by work: a work is one content, or whatever else they have in common. The least cost is
//! the best there; [`crate::verdict`] says which others are no worse. Of those that are no worse on the most works, and
//! within a tenth of the best of them on average, the simplest is chosen. Works on which it is worse get a choice of
//! their own.

use weigh_stats::ROUNDS;

use crate::estimate::{Estimate, common};
use crate::verdict::{Confidence, is_total_told_less};

/// Costs within this share of the least are equal to it: sample and link model are not more exact than that.
pub const TOLERANCE: f64 = 0.01;
/// A candidate whose figure is further behind is never chosen for its simplicity, whatever its interval.
pub const FAR: f64 = 0.1;
/// A candidate that costs more than this many times the least is behind, however few its rounds are.
const BEHIND: f64 = 2.0;

/// What a candidate costs on one work. What no candidate changes, such as the application's own time, is left out.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// The part that was measured.
    pub varies: Estimate,
    /// The part that is known exactly, in the same unit.
    pub known: f64,
}

/// One that may be chosen.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its cost on each work; none where it was not measured.
    pub costs: Vec<Option<Cost>>,
    /// Whether it may be the best. One that was given up early may not: its few figures could only be ahead by chance.
    pub may_be_best: bool,
    /// How much it asks for: of equal candidates the one with the lowest rank is chosen.
    pub rank: usize,
}

/// What was chosen for some works. Candidates and works are named by their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The works that it is for, ascending.
    pub works: Vec<usize>,
    /// The candidate with the least cost there, on average.
    pub best: usize,
    /// Those that are no worse on any of these works, ascending; best and chosen are among them.
    pub tied: Vec<usize>,
    pub chosen: usize,
    pub confidence: Confidence,
}

impl Cost {
    pub fn total(&self) -> f64 {
        self.varies.value + self.known
    }

    fn is_exact(&self) -> bool {
        self.varies.value == 0.0 || self.varies.drawn_rounds().is_empty()
    }

    /// Whether it is less: by the verdict, or by the figures where both are known exactly.
    pub fn is_less(&self, other: &Cost) -> bool {
        if self.is_exact() && other.is_exact() {
            return self.total() < other.total();
        }
        is_total_told_less((&self.varies, self.known), (&other.varies, other.known))
    }

    /// Whether there are enough rounds to compare both.
    fn is_comparable(&self, other: &Cost) -> bool {
        let rounds = || common(self.varies.drawn_rounds(), other.varies.drawn_rounds()).count();
        (self.is_exact() && other.is_exact()) || rounds() >= ROUNDS
    }

    /// Whether it was measured often enough by itself.
    fn has_rounds(&self) -> bool {
        self.is_exact() || self.varies.drawn_rounds().len() >= ROUNDS
    }
}

impl Candidate {
    /// Its cost on a work, if it may be chosen there.
    fn cost(&self, work: usize) -> Option<&Cost> {
        self.costs.get(work)?.as_ref().filter(|_| self.may_be_best)
    }
}

/// What is known of a candidate on a work.
#[derive(Clone, Copy)]
struct RelativeCost {
    /// Its cost ÷ the least.
    behind: f64,
    /// No difference to the least is known.
    is_open: bool,
    /// It is no worse than the least.
    is_equal: bool,
    /// It has too few rounds to say how it compares.
    is_few: bool,
}

/// Chooses for all works on which something may be chosen: the choice for the most works first. With a tolerance of 0 the
/// least figure is chosen.
pub fn choose(tolerance: f64, candidates: &[Candidate]) -> Vec<Choice> {
    let count = candidates.iter().map(|one| one.costs.len()).max().unwrap_or(0);
    let works: Vec<Vec<Option<RelativeCost>>> =
        (0..count).map(|work| standings(tolerance, candidates, work)).collect();
    let mut left: Vec<usize> = (0..count).filter(|work| works[*work].iter().any(Option::is_some)).collect();
    let mut choices = Vec::new();
    while !left.is_empty() {
        let Some(choice) = widest(tolerance, candidates, &works, &left) else { break };
        left.retain(|work| !choice.works.contains(work));
        choices.push(choice);
    }
    choices
}

/// How every candidate stands on a work; none for those that may not be chosen there.
fn standings(tolerance: f64, candidates: &[Candidate], work: usize) -> Vec<Option<RelativeCost>> {
    let costs: Vec<Option<&Cost>> = candidates.iter().map(|one| one.cost(work)).collect();
    let least = costs.iter().copied().flatten().min_by(|a, b| a.total().total_cmp(&b.total()));
    let Some(least) = least else { return vec![None; candidates.len()] };
    // What all have is not part of a choice.
    let is_common = costs.iter().flatten().all(|cost| cost.known == least.known) && least.varies.value > 0.0;
    let counted = |cost: &Cost| if is_common { cost.varies.value } else { cost.total() };
    let standing = |cost: &Option<&Cost>| {
        let cost = (*cost)?;
        let (own, best) = (counted(cost), counted(least));
        let behind = if own == best { 1.0 } else { own / best };
        let is_known = std::ptr::eq(cost, least) || least.is_comparable(cost);
        let is_open = std::ptr::eq(cost, least) || (is_known && !least.is_less(cost));
        let is_near = behind <= 1.0 + tolerance;
        let is_equal = is_near || (tolerance > 0.0 && if is_known { is_open } else { behind <= 1.0 + FAR });
        let is_few = !least.has_rounds() || (!is_known && behind <= BEHIND);
        Some(RelativeCost { behind, is_open, is_equal, is_few })
    };
    costs.iter().map(standing).collect()
}

/// The choice that holds on the most of some works.
fn widest(
    tolerance: f64,
    candidates: &[Candidate],
    works: &[Vec<Option<RelativeCost>>],
    left: &[usize],
) -> Option<Choice> {
    // The works on which each candidate is equal to the best.
    let held = |at: usize| -> Vec<usize> {
        let is_equal = |work: &usize| works[*work][at].is_some_and(|standing| standing.is_equal);
        left.iter().copied().filter(is_equal).collect()
    };
    let held: Vec<Vec<usize>> = (0..candidates.len()).map(held).collect();
    // Of those that hold on as many works, those where more compete come first.
    let rivals = |work: &usize| works[*work].iter().flatten().count();
    let reach: Vec<(usize, usize)> =
        held.iter().map(|own| (own.len(), own.iter().map(rivals).sum())).collect();
    let widest = reach.iter().copied().max().filter(|(most, _)| *most > 0)?;
    // The mean is that of ratios.
    let mean = |at: usize| {
        let behind = held[at].iter().filter_map(|work| Some(works[*work][at]?.behind.ln()));
        behind.sum::<f64>() / widest.0 as f64
    };
    let all: Vec<(usize, f64)> =
        (0..candidates.len()).filter(|at| reach[*at] == widest).map(|at| (at, mean(at))).collect();
    let (best, least) = all.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let far = if tolerance > 0.0 { FAR } else { 0.0 };
    let near = all.iter().filter(|(_, mean)| *mean <= least + far.ln_1p());
    let chosen =
        near.min_by(|a, b| candidates[a.0].rank.cmp(&candidates[b.0].rank).then(a.1.total_cmp(&b.1)))?.0;
    let own = &held[chosen];
    let is_tied = |at: &usize| own.iter().all(|work| held[*at].contains(work));
    let tied = (0..candidates.len()).filter(is_tied).collect();
    Some(Choice { works: own.clone(), best, tied, chosen, confidence: confidence(works, own) })
}

/// How sure a choice for these works is.
fn confidence(works: &[Vec<Option<RelativeCost>>], own: &[usize]) -> Confidence {
    let all = || own.iter().map(|work| works[*work].iter().flatten());
    if all().any(|mut standings| standings.any(|standing| standing.is_few)) {
        return Confidence::TooFewRounds;
    }
    let is_tied = all().any(|standings| standings.filter(|standing| standing.is_open).count() > 1);
    if is_tied { Confidence::Tied } else { Confidence::Settled }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::QUANTILE;

    /// Rounds of about this amount.
    fn cost(amount: f64, rounds: u32, known: f64) -> Option<Cost> {
        let noise = |round: u32| amount * (1.0 + 0.002 * f64::from(round * 7 % 5));
        let rounds = (1..=rounds).map(|round| (round, noise(round))).collect();
        Some(Cost { varies: Estimate::over_rounds(rounds, QUANTILE)?, known })
    }

    fn candidate(rank: usize, costs: Vec<Option<Cost>>) -> Candidate {
        Candidate { costs, may_be_best: true, rank }
    }

    fn one(candidates: &[Candidate]) -> Choice {
        let mut choices = choose(TOLERANCE, candidates);
        assert_eq!(choices.len(), 1, "{choices:?}");
        choices.remove(0)
    }

    #[test]
    fn the_least_is_chosen_unless_a_simpler_one_is_equal() {
        let far = one(&[candidate(1, vec![cost(1.0, 8, 0.0)]), candidate(0, vec![cost(2.0, 8, 0.0)])]);
        assert_eq!((far.chosen, far.best, far.confidence), (0, 0, Confidence::Settled));
        let near = one(&[candidate(1, vec![cost(1.0, 8, 0.0)]), candidate(0, vec![cost(1.005, 8, 0.0)])]);
        assert_eq!((near.chosen, near.best, near.tied), (1, 0, vec![0, 1]));
    }

    #[test]
    fn what_all_have_in_common_makes_nothing_equal() {
        // 600 of an application beside 1 and 2: within 1% of the sum, and twice as much of what differs.
        let all = [candidate(1, vec![cost(1.0, 8, 600.0)]), candidate(0, vec![cost(2.0, 8, 600.0)])];
        assert_eq!(one(&all).chosen, 0);
    }

    #[test]
    fn with_too_few_rounds_no_order_is_known_whatever_the_figures_are() {
        for rounds in 1..5 {
            let all =
                [candidate(0, vec![cost(30.6, rounds, 0.0)]), candidate(0, vec![cost(225.0, rounds, 0.0)])];
            let choice = one(&all);
            assert_eq!((choice.chosen, choice.confidence), (0, Confidence::TooFewRounds), "{rounds}");
            assert_eq!(choice.tied, [0], "one that is seven times as slow is no equal");
        }
        let enough = [candidate(0, vec![cost(30.6, 5, 0.0)]), candidate(0, vec![cost(225.0, 2, 0.0)])];
        assert_eq!(one(&enough).confidence, Confidence::Settled, "more rounds would not make it the best");
        let near = [candidate(0, vec![cost(30.6, 5, 0.0)]), candidate(0, vec![cost(31.6, 2, 0.0)])];
        assert_eq!(one(&near).confidence, Confidence::TooFewRounds);
    }

    #[test]
    fn what_is_known_exactly_needs_no_rounds() {
        let exact = |known: f64| Some(Cost { known, ..Cost::default() });
        let choice = one(&[candidate(0, vec![exact(120.0)]), candidate(5, vec![exact(100.0)])]);
        assert_eq!((choice.chosen, choice.confidence), (1, Confidence::Settled));
        let choice = one(&[candidate(0, vec![exact(100.4)]), candidate(5, vec![exact(100.0)])]);
        assert_eq!((choice.chosen, choice.best), (0, 1));
    }

    #[test]
    fn what_was_given_up_early_is_never_chosen() {
        let mut all = [candidate(0, vec![cost(1.0, 2, 0.0)]), candidate(0, vec![cost(1.5, 8, 0.0)])];
        all[0].may_be_best = false;
        let choice = one(&all);
        assert_eq!((choice.chosen, choice.tied, choice.confidence), (1, vec![1], Confidence::Settled));
    }

    #[test]
    fn one_that_is_equal_everywhere_is_chosen_for_all_and_another_where_it_is_worse() {
        let first = candidate(0, vec![cost(1.0, 8, 0.0), cost(1.0, 8, 0.0), cost(3.0, 8, 0.0)]);
        let second = candidate(0, vec![cost(2.0, 8, 0.0), cost(1.003, 8, 0.0), cost(1.0, 8, 0.0)]);
        let third = candidate(0, vec![None, None, cost(4.0, 8, 0.0)]);
        let choices = choose(TOLERANCE, &[first, second, third]);
        let of: Vec<(usize, &[usize])> =
            choices.iter().map(|one| (one.chosen, one.works.as_slice())).collect();
        // Both hold on two works; more compete where the second one does.
        assert_eq!(of, [(1, &[1, 2][..]), (0, &[0][..])]);
    }

    #[test]
    fn nothing_measured_is_no_choice_and_no_tolerance_is_the_least_figure() {
        assert!(choose(TOLERANCE, &[]).is_empty());
        assert!(choose(TOLERANCE, &[candidate(0, vec![None])]).is_empty());
        let all = [candidate(0, vec![cost(1.005, 8, 0.0)]), candidate(9, vec![cost(1.0, 8, 0.0)])];
        assert_eq!(choose(0.0, &all)[0].chosen, 1);
    }
}
