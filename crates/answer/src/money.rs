//! What each amount counts for in the objective.

use weigh_model::policy::Objective;
use weigh_model::site::Site;

pub(crate) const GB: f64 = 1e9;
pub(crate) const HOUR: f64 = 3600.0;

/// The value of one unit of each amount, in the unit of the objective: seconds that visitors wait, or the site's
/// currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weights {
    /// Of a second that a visitor waits.
    pub wait: f64,
    /// Of a second of CPU time of server and PHP.
    pub core: f64,
    /// Of a byte sent.
    pub sent: f64,
    /// Of a byte that is stored for a month.
    pub stored: f64,
}

impl Weights {
    /// Those of an objective. `scarcity` is the value of a CPU second in waiting seconds, zero if cores are not short.
    pub fn new(site: &Site, objective: Objective, scarcity: f64) -> Weights {
        let prices = &site.prices;
        match objective {
            Objective::Time | Objective::Fcp | Objective::Load => {
                Weights { wait: 1.0, core: scarcity, sent: 0.0, stored: 0.0 }
            }
            Objective::Money => Weights {
                wait: prices.visitor_second.value,
                core: prices.core_hour.value / HOUR * (1.0 + scarcity),
                sent: prices.gb_out.value / GB,
                stored: prices.gb_month.value / GB,
            },
        }
    }

    /// At the site's prices, whatever the objective is.
    pub fn prices(site: &Site) -> Weights {
        Weights::new(site, Objective::Money, 0.0)
    }
}
