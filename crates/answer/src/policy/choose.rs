//! Chooses among setups: the best by the objective, unless a simpler one is equal to it.

use super::setup::Setup;
use super::weights::Weights;

/// Setups whose value is within this share of the best are equal to it: the link model and the sample are not more
/// exact than that.
pub(crate) const TOLERANCE: f64 = 0.01;
/// A setup that is further behind by its figure is never equal, however few rounds it has.
const FAR: f64 = 0.1;
/// The share of workers' time by which one setup must be lower for that to count among equal ones.
const WORKERS: f64 = 0.1;

/// What was chosen, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The one with the lowest value.
    pub best: usize,
    /// Those equal to it, itself among them.
    pub equal: Vec<usize>,
    /// The one to use: of the equal ones, today's, else the one that asks least of the site.
    pub chosen: usize,
}

/// Chooses; none if there is nothing to choose from.
pub(crate) fn choose(setups: &[Setup], weights: &Weights, tolerance: f64) -> Option<Choice> {
    let cost = |at: &usize| setups[*at].cost(weights);
    let best = (0..setups.len()).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    let least = cost(&best);
    let is_equal = |at: &usize| {
        let own = cost(at);
        let is_near = own <= least * (1.0 + tolerance);
        let is_open = tolerance > 0.0 && own <= least * (1.0 + FAR);
        *at == best || is_near || (is_open && !setups[best].is_better(&setups[*at], weights))
    };
    let equal: Vec<usize> = (0..setups.len()).filter(is_equal).collect();
    let frees = free_of_workers(setups, &equal);
    let chosen = frees.iter().copied().min_by(|a, b| {
        let rank = |at: usize| (!setups[at].is_today, setups[at].burden());
        rank(*a).cmp(&rank(*b)).then(cost(a).total_cmp(&cost(b)))
    })?;
    Some(Choice { best, equal, chosen })
}

/// Of equal setups, those that keep PHP workers busy for the shortest time.
fn free_of_workers(setups: &[Setup], equal: &[usize]) -> Vec<usize> {
    let workers = |at: &usize| setups[*at].exact.workers;
    let least = equal.iter().map(workers).fold(f64::INFINITY, f64::min);
    equal.iter().copied().filter(|at| workers(at) * (1.0 - WORKERS) <= least).collect()
}
