//! When another setup would be better: the site with other links, prices or hit ratios.

use weigh_model::policy::{Flip, Objective};
use weigh_model::site::{Kind, Site};
use weigh_model::units;

use super::choose::{TOLERANCE, choose};
use super::wait::Weighted;
use super::weights::Weights;
use super::{Ground, setups};

/// The most flips of a decision.
const MOST: usize = 3;
/// Shares of visitors on one link that are tried, ascending.
const SHARES: [f64; 5] = [0.5, 0.7, 0.8, 0.9, 1.0];
/// Factors of a price that are tried, the nearest first.
const FACTORS: [f64; 6] = [2.0, 0.5, 5.0, 0.2, 20.0, 0.05];

/// A price of a site, to be changed.
type Price = fn(&mut Site) -> &mut f64;

/// A site that differs in one thing, with its links.
struct Other {
    site: Site,
    links: Vec<Weighted>,
    when: String,
}

/// The nearest changes after which another setup is better than the one that was chosen, by its name.
pub(crate) fn flips(
    ground: &Ground,
    kind: Kind,
    objective: Objective,
    scarcity: f64,
    chosen: &str,
) -> Vec<Flip> {
    let mut found: Vec<Flip> = Vec::new();
    for series in series(ground, kind, objective) {
        if found.len() == MOST {
            break;
        }
        found.extend(series.iter().find_map(|other| {
            let own = Ground::new(&other.site, &other.links, ground.reports);
            let weights = Weights::new(&other.site, objective, scarcity);
            let setups = setups(&own, kind, &weights);
            let choice = choose(&setups, &weights, TOLERANCE)?;
            let before = setups.iter().find(|setup| setup.name == chosen)?;
            let then = &setups[choice.chosen];
            let is_other = then.name != chosen && then.is_better(before, &weights);
            is_other.then(|| Flip { when: other.when.clone(), then: then.name.clone() })
        }));
    }
    found
}

/// Series of sites, each from the nearest change to the furthest.
fn series(ground: &Ground, kind: Kind, objective: Objective) -> Vec<Vec<Other>> {
    let mut all: Vec<Vec<Other>> = Vec::new();
    if kind != Kind::Value {
        all.extend((0..ground.links.len()).map(|at| on_link(ground, at)));
    } else {
        all.push(reads(ground));
    }
    if objective == Objective::Money {
        let prices: [(&str, Price); 3] = [
            ("a core-hour", |site| &mut site.prices.core_hour.value),
            ("a GB of traffic", |site| &mut site.prices.gb_out.value),
            ("a GB of memory", |site| &mut site.prices.gb_month.value),
        ];
        all.extend(prices.iter().map(|(what, price)| priced(ground, what, *price)));
    }
    all
}

/// More and more visitors on one link.
fn on_link(ground: &Ground, at: usize) -> Vec<Other> {
    let own = ground.links[at].1;
    let shares = SHARES.into_iter().filter(|share| *share > own);
    let other = |share: f64| {
        let rest = (1.0 - share) / (1.0 - own).max(f64::EPSILON);
        let of = |(number, (link, old)): (usize, &Weighted)| {
            (link.clone(), if number == at { share } else { old * rest })
        };
        let when = format!("{} of visitors were on {}", units::percent(share), ground.links[at].0.name);
        let links = ground.links.iter().enumerate().map(of).collect();
        Other { site: ground.site.clone(), links, when }
    };
    shares.map(other).collect()
}

/// A price that is a multiple of itself.
fn priced(ground: &Ground, what: &str, price: Price) -> Vec<Other> {
    let other = |factor: f64| {
        let mut site = ground.site.clone();
        *price(&mut site) *= factor;
        let when = format!("{what} cost {}×", units::trimmed_number(factor));
        Other { site, links: ground.links.to_vec(), when }
    };
    FACTORS.into_iter().map(other).collect()
}

/// More writes, or fewer, for the same reads.
fn reads(ground: &Ground) -> Vec<Other> {
    let other = |factor: f64| {
        let mut site = ground.site.clone();
        let values = site.strata.iter_mut().filter(|stratum| stratum.kind == Kind::Value);
        values.filter_map(|stratum| stratum.writes.as_mut()).for_each(|writes| writes.value *= factor);
        let when = format!("values were written {}× as often", units::trimmed_number(factor));
        Other { site, links: ground.links.to_vec(), when }
    };
    FACTORS.into_iter().map(other).collect()
}
