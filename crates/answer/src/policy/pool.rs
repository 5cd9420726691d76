//! How many PHP workers a site keeps busy when PHP is busiest.
//!
//! What PHP answers then is counted in a log: to all clients, bots too, with every method and status. A worker is busy for as long as a response
//! takes. Times that were logged are those of that hour. Times that were measured one after the other are the least: at that rate requests
//! also wait for the cores, and a queue for them says how long. Requests come independently of one another, and wait until a worker is free:
//! Erlang's formula for systems with waiting (Erlang C) says how many do (A. K. Erlang, 1917).

use weigh_model::policy::Pool;
use weigh_model::site::{Kind, Site, Stratum};

/// The share of requests that may wait for a worker.
const WAITING: f64 = 0.01;
/// The fewest workers: one slow request must not stop the site.
const LEAST: u32 = 2;
const MOST: u32 = 100_000;

/// The workers in the busiest hour; none if it was not counted, or no time of a response is known.
pub(super) fn pool(site: &Site) -> Option<Pool> {
    let requests = site.visitors.php_peak.filter(|peak| peak.value > 0.0)?.value;
    let logged = site.visitors.php_peak_ms.map(|ms| ms.value);
    let pages = site.of(Kind::Page).filter(|stratum| stratum.requests.value > 0.0);
    let ms = logged.or_else(|| Some(made(pages)?.0))?;
    let busy = requests * ms / 1e3;
    let cores = site.limits.cores.value.max(1.0).min(f64::from(MOST)).floor();
    let most = match logged {
        Some(_) => Some(busy),
        // With those that wait for a core.
        None => (busy < cores).then(|| busy + waiting(busy, cores as u32) * busy / (cores - busy)),
    };
    let at_least = ((busy.floor() + 1.0).min(f64::from(MOST)) as u32).max(LEAST);
    Some(Pool { requests, ms, is_logged: logged.is_some(), busy, at_least, enough: most.and_then(enough) })
}

/// Milliseconds that one of these pages takes to be made, as measured one after the other, and the requests for them; none if it is not known of all.
pub(super) fn made<'s>(mut pages: impl Iterator<Item = &'s Stratum>) -> Option<(f64, f64)> {
    let add = |(made, requests): (f64, f64), page: &Stratum| {
        Some((made + page.made_ms?.value * page.requests.value, requests + page.requests.value))
    };
    let (made, requests) = pages.try_fold((0.0, 0.0), add)?;
    (requests > 0.0).then(|| (made / requests, requests))
}

/// The share of requests that find all workers busy, by how many workers there are, from one on, if this many are busy on average.
fn all_waiting(busy: f64) -> impl Iterator<Item = (f64, f64)> {
    let mut blocked = 1.0;
    (1..MOST).map(f64::from).map(move |workers| {
        // Erlang B by its recurrence, then Erlang C from it.
        blocked = busy * blocked / (workers + busy * blocked);
        (workers, blocked / (1.0 - busy / workers * (1.0 - blocked)))
    })
}

fn waiting(busy: f64, workers: u32) -> f64 {
    all_waiting(busy).nth(workers.saturating_sub(1) as usize).map_or(1.0, |(_, waiting)| waiting)
}

/// The fewest workers with which few enough requests wait; none: more than are counted.
fn enough(busy: f64) -> Option<u32> {
    let is_enough = |(workers, waiting): &(f64, f64)| {
        *workers >= f64::from(LEAST) && *workers > busy && *waiting <= WAITING
    };
    all_waiting(busy).find(is_enough).map(|(workers, _)| workers as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_follow_erlangs_formula() {
        // Of the published tables: with 1 busy, 4 workers let 2.0% wait and 5 let 0.4%; with 10 busy, 18 let 1.5% wait and 19 let 0.8%.
        assert_eq!([0.0, 0.01, 1.0, 10.0].map(enough), [2, 2, 5, 19].map(Some));
        assert!((f64::from(enough(1000.0).unwrap()) - 1000.0) < 120.0, "many workers even out");
        assert_eq!(enough(1e9), None);
    }
}
