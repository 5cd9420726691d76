//! What a policy is worth by figures that it was not made from, beside the best that these figures know.

use weigh_model::policy::{Decision, Policy};
use weigh_model::site::{Kind, Site};

use super::Ground;
use super::coded::Coded;
use super::setup::choose;
use super::wait::Weighted;
use crate::money::Weights;
use crate::policy::decide::setups;
use crate::report::Report;

/// What a decision is worth, in the unit of the policy's objective per month: seconds that visitors wait, or the site's currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Valued {
    pub kind: Kind,
    /// The value of what was decided; none: the figures do not have it.
    pub own: Option<f64>,
    /// The name of the best setup.
    pub best: String,
    pub least: f64,
}

/// The decisions of a policy by the figures of these reports, one entry per kind that they know. A kind without a decision stays as it is. Cores that are
/// short at peak are not looked at.
pub fn valued(policy: &Policy, site: &Site, links: &[Weighted], reports: &[Report]) -> Vec<Valued> {
    let ground = Ground::new(site, links, reports, policy.objective.moment());
    let weights = Weights::new(site, policy.objective, 0.0);
    let one = |kind: Kind| {
        let coded = Coded::new(&ground, kind);
        let all = setups(&ground, kind, coded.as_ref(), &weights);
        let best = &all[choose(&all, &weights, 0.0)?.best];
        let changed = policy.decisions.iter().find(|decision| decision.kind == kind && !decision.keep);
        let own = match (changed, &coded) {
            (Some(decision), Some(coded)) => coded.of(&ground, &decision.rules),
            (Some(Decision { rules, method, .. }), None) => {
                all.iter().find(|setup| setup.rules == *rules && setup.method == *method).cloned()
            }
            (None, _) => all.iter().find(|setup| setup.is_today).cloned(),
        };
        let own = own.map(|own| own.cost(&weights));
        Some(Valued { kind, own, best: best.name.clone(), least: best.cost(&weights) })
    };
    Kind::ALL.into_iter().filter_map(one).collect()
}
