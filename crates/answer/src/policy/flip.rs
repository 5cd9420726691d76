//! When another setup would be better: the site with other links, clients, figures or prices.

use std::collections::BTreeMap;

use weigh_model::policy::{Flip, Objective};
use weigh_model::site::{From, Kind, Site};
use weigh_model::units;

use super::Ground;
use super::wait::Weighted;
use crate::first::distinct;
use crate::policy::decide::make;
use crate::policy::made::Made;

/// Shares on one link, or of one class of clients, that are tried, ascending.
const SHARES: [f64; 5] = [0.5, 0.7, 0.8, 0.9, 1.0];
/// Factors of a figure that are tried, the nearest first.
const FACTORS: [f64; 6] = [2.0, 0.5, 5.0, 0.2, 20.0, 0.05];

/// A figure of a site, to be changed.
type Of = fn(&mut Site) -> &mut f64;

/// Figures that are assumed where nobody gives them, and how a multiple of one is said.
const FIGURES: [(&str, Of); 6] = [
    ("visitors' devices took {}× as long to decode", |site| &mut site.visitors.slower_devices.value),
    ("{}× as many responses opened a connection", |site| &mut site.visitors.new_connections.value),
    ("the link to the store had {}× the rate", |site| &mut site.store_link.mbit.value),
    ("the round trip to the store took {}×", |site| &mut site.store_link.rtt_ms.value),
    ("a setting might add {}× as long to the first byte", |site| &mut site.limits.first_byte_ms.value),
    ("encoding and sending might take {}× the cores at peak", |site| &mut site.limits.peak_share.value),
];

/// The same of prices, which decide on costs alone.
const PRICES: [(&str, Of); 4] = [
    ("a core-hour cost {}×", |site| &mut site.prices.core_hour.value),
    ("a GB of traffic cost {}×", |site| &mut site.prices.gb_out.value),
    ("a GB of memory cost {}×", |site| &mut site.prices.gb_month.value),
    ("a visitor's second cost {}×", |site| &mut site.prices.visitor_second.value),
];

/// A site that differs in one thing, with its links.
struct Other {
    site: Site,
    links: Vec<Weighted>,
    when: String,
}

/// Of each kind the changes after which another setup is better than the one that was chosen, by its name: the nearest of each series.
pub(super) fn flips(ground: &Ground, made: &[Made], objective: Objective) -> BTreeMap<Kind, Vec<Flip>> {
    // With how far the change is along its series.
    let mut found: BTreeMap<Kind, Vec<(usize, Flip)>> = BTreeMap::new();
    for series in series(ground, objective) {
        let mut open: Vec<&Made> = made.iter().filter(|one| one.today.is_some()).collect();
        for (step, Other { site, links, when }) in series.iter().enumerate() {
            if open.is_empty() {
                break;
            }
            // What is chosen does not depend on what was not measured.
            let ground =
                Ground::at(ground.rate.clone(), ground.page_waits.clone(), site, links, ground.reports);
            let (then, _) = make(&ground, objective);
            open.retain(|one| {
                let mut better = then.iter().filter(|then| !then.equal.contains(&one.chosen.name));
                let flip = better.find(|then| then.kind == one.kind).map(|then| {
                    let then = then.chosen.name.clone();
                    (step, Flip { when: when.clone(), then })
                });
                let is_open = flip.is_none();
                found.entry(one.kind).or_default().extend(flip);
                is_open
            });
        }
    }
    let nearest = |mut all: Vec<(usize, Flip)>| {
        all.sort_by_key(|(step, _)| *step);
        all.into_iter().map(|(_, flip)| flip).collect()
    };
    found.into_iter().map(|(kind, all)| (kind, nearest(all))).collect()
}

/// Series of sites, each from the nearest change to the furthest.
fn series(ground: &Ground, objective: Objective) -> Vec<Vec<Other>> {
    let site = ground.site;
    let other = |when: String, change: &dyn Fn(&mut Site, &mut [Weighted])| {
        let (mut site, mut links) = (site.clone(), ground.links.to_vec());
        change(&mut site, &mut links);
        Other { site, links, when }
    };
    let links: Vec<f64> = ground.links.iter().map(|(_, share)| *share).collect();
    let on_link = |at: usize| {
        let of = |shares: Vec<f64>| {
            let when =
                format!("{} of visitors were on {}", units::percent(shares[at]), ground.links[at].0.name);
            other(when, &|_, links| links.iter_mut().zip(&shares).for_each(|(link, share)| link.1 = *share))
        };
        more(&links, at).map(of).collect()
    };
    let clients: Vec<f64> = site.visitors.accept.iter().map(|client| client.share).collect();
    let of_class = |at: usize| {
        let codings = units::list(&site.visitors.accept[at].codings);
        let codings = if codings.is_empty() { "no coding" } else { &codings };
        let of = |shares: Vec<f64>| {
            let when = format!("{} of clients accepted {codings}", units::percent(shares[at]));
            let shared = |site: &mut Site, _: &mut [Weighted]| {
                site.visitors.accept.iter_mut().zip(&shares).for_each(|(one, share)| one.share = *share);
            };
            other(when, &shared)
        };
        more(&clients, at).map(of).collect()
    };
    let times = |what: &str, change: &dyn Fn(&mut Site, f64)| -> Vec<Other> {
        let of = |factor: f64| {
            other(what.replace("{}", &units::trimmed_number(factor)), &|site, _| change(site, factor))
        };
        FACTORS.into_iter().map(of).collect()
    };
    let written = |site: &mut Site, factor: f64| {
        let writes = site.strata.iter_mut().filter_map(|one| one.writes.as_mut());
        writes.for_each(|writes| writes.value *= factor);
    };
    let figure = |(what, of): &(&str, Of)| {
        // A share has an end.
        let most = if *what == FIGURES[1].0 { 1.0 } else { f64::INFINITY };
        times(what, &|site, factor| *of(site) = (*of(site) * factor).min(most))
    };
    let assumed = site.strata.iter().filter(|one| one.requests.from == From::Assumed);
    let requested = |format: String| {
        times(&format!("{format} were requested {{}}× as often"), &|site, factor| {
            let own = site.strata.iter_mut().filter(|one| one.format == format);
            own.for_each(|one| one.requests.value *= factor);
        })
    };
    let mut all: Vec<Vec<Other>> = (0..links.len()).map(on_link).collect();
    all.extend((0..clients.len()).map(of_class));
    all.push(times("values were written {}× as often", &written));
    all.extend(FIGURES.iter().map(figure));
    all.extend(PRICES.iter().filter(|_| objective == Objective::Money).map(figure));
    all.extend(distinct(assumed.map(|one| one.format.clone())).into_iter().map(requested));
    all
}

/// The shares of all, with larger and larger ones of one of them.
fn more(all: &[f64], at: usize) -> impl Iterator<Item = Vec<f64>> {
    let own = all[at];
    SHARES.into_iter().filter(move |share| *share > own).map(move |share| {
        let rest = (1.0 - share) / (1.0 - own).max(f64::EPSILON);
        all.iter().enumerate().map(|(number, old)| if number == at { share } else { old * rest }).collect()
    })
}
