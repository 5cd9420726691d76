//! How many PHP workers a site needs at peak.
//!
//! Requests come independently of one another, and wait until a worker is free: Erlang's formula for systems with waiting (Erlang C) says
//! how many do (A. K. Erlang, 1917). A worker is busy while the application makes a page and PHP encodes it, and, where the server does not
//! take a download over, while a client reads it. Servers take pages over at once, whatever the client's link is.

use weigh_model::policy::Pool;
use weigh_model::site::{Kind, Site};

use super::setup::Setup;
use super::{Made, per_peak_second};

/// The share of requests that may wait for a worker.
const WAITING: f64 = 0.01;
/// The fewest workers: one slow request must not stop the site.
const LEAST: u32 = 2;
/// Where counting ends.
const MOST: u32 = 100_000;

/// The workers at peak, with the policy and as the site is today; none if the peak or the time of its pages is not known.
pub(super) fn pool(site: &Site, made: &[Made]) -> Option<Pool> {
    let mut pages = site.of(Kind::Page).filter(|stratum| stratum.requests.value > 0.0).peekable();
    pages.peek()?;
    if !pages.all(|stratum| stratum.made_ms.is_some()) || made.iter().all(|one| one.kind != Kind::Page) {
        return None;
    }
    let busy = |setup: &dyn Fn(&Made) -> f64| per_peak_second(site, made.iter().map(setup).sum());
    let of = |one: &Made, setup: &Setup| setup.exact.workers + one.unmeasured.workers;
    let after = busy(&|one| of(one, &one.chosen))?;
    let before = busy(&|one| of(one, one.today.as_ref().unwrap_or(&one.chosen)))?;
    Some(Pool { workers: enough(after), busy: after, today: enough(before) })
}

/// The fewest workers with which few enough requests wait, if this many are busy in the mean.
fn enough(busy: f64) -> u32 {
    let mut blocked = 1.0;
    for workers in 1..MOST {
        let count = f64::from(workers);
        // Erlang B by its recurrence, then Erlang C from it.
        blocked = busy * blocked / (count + busy * blocked);
        let waiting = blocked / (1.0 - busy / count * (1.0 - blocked));
        if workers >= LEAST && count > busy && waiting <= WAITING {
            return workers;
        }
    }
    MOST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_follow_erlangs_formula() {
        // Of the published tables: with 1 busy, 4 workers let 2.0% wait and 5 let 0.4%; with 10 busy, 18 let 1.5% wait and 19 let 0.8%.
        assert_eq!([0.0, 0.01, 1.0, 10.0].map(enough), [2, 2, 5, 19]);
        assert!((enough(1000.0) as f64 - 1000.0) < 120.0, "many workers even out");
    }
}
