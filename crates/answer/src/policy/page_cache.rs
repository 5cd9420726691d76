//! Whether a cache in front of PHP is to hold pages, which, and for how long: what the site's log would have had of it, of pages that were asked and are the
//! same for all.

use weigh_model::policy::PageCaching;
use weigh_model::site::{CacheablePage, Site};
use weigh_model::units;

/// The least share of the pages' CPU time that is worth a cache.
const LEAST: f64 = 0.05;
/// A longer life is worth its older pages if a shorter one saves less than this share of what it saves.
const ENOUGH: f64 = 0.9;
/// The longest life that is chosen, in seconds: changes of a page are to be seen.
const OLDEST: u64 = 600;
/// Reasons that are told.
const MOST_TOLD: usize = 5;

/// The decision; none: no page was asked.
pub(super) fn decide(site: &Site) -> Option<PageCaching> {
    if site.cacheable.is_empty() {
        return None;
    }
    let told = |page: &CacheablePage| Some(format!("{}: {}", page.page, page.refused.as_ref()?));
    let refused: Vec<String> = site.cacheable.iter().filter_map(told).take(MOST_TOLD).collect();
    let held: Vec<&CacheablePage> = site.cacheable.iter().filter(|page| page.refused.is_none()).collect();
    let keep = |why: &str| {
        let text = format!("Let PHP make every page: {why}.");
        let (keep, seconds, pages, no_cookies, hits, cpu_ms) = (true, 0, Vec::new(), false, None, None);
        PageCaching { keep, text, seconds, pages, no_cookies, hits, cpu_ms, refused: refused.clone() }
    };
    if held.is_empty() {
        return Some(keep(&format!("no page that was asked may be held ({})", refused.join("; "))));
    }
    let logged: Vec<&CacheablePage> = held
        .into_iter()
        .filter(|page| page.cpu_ms.is_some() && page.share.is_some_and(|share| share > 0.0))
        .collect();
    if logged.is_empty() {
        return Some(keep("how often a cache would have them is not known; look again with --log"));
    }
    let seconds: Vec<u64> = site.page_cache.iter().map(|one| one.seconds).collect();
    let lives: Vec<Life> = seconds.iter().map(|life| Life::of(*life, &seconds, &logged)).collect();
    let able: Vec<&Life> = lives.iter().filter(|life| life.seconds <= OLDEST).collect();
    let best = able.iter().map(|life| life.saved()).fold(0.0, f64::max);
    let chosen = able.iter().find(|life| life.saved() >= best * ENOUGH)?;
    if best < LEAST {
        let share = units::percent(best);
        return Some(keep(&format!("a cache would save {share} of what the pages that may be held take")));
    }
    Some(chosen.decision(site, &logged, refused))
}

/// What a cache does that holds pages for some time.
struct Life {
    seconds: u64,
    /// The share of all requests for scripts that it answers.
    hits: f64,
    /// CPU milliseconds for the pages per request for a script, without it and with it.
    ms: [f64; 2],
}

impl Life {
    /// `known`: the lives that hits are known of, ascending. A page that says itself how long it may be held is held as long.
    fn of(seconds: u64, known: &[u64], pages: &[&CacheablePage]) -> Life {
        let mut life = Life { seconds, hits: 0.0, ms: [0.0; 2] };
        for page in pages {
            let share = page.share.unwrap_or_default();
            let at = known.iter().rposition(|known| *known <= page.seconds.unwrap_or(seconds));
            let hits = share * at.and_then(|at| page.hits.get(at)).copied().unwrap_or_default();
            life.hits += hits;
            let [php, server] = page.cpu_ms.unwrap_or_default();
            life.ms[0] += share * (php + server);
            // A hit takes at most what the server takes beside PHP.
            life.ms[1] += share * server + (share - hits) * php;
        }
        life
    }

    /// The share of the CPU time that it saves.
    fn saved(&self) -> f64 {
        if self.ms[0] > 0.0 { 1.0 - self.ms[1] / self.ms[0] } else { 0.0 }
    }

    fn decision(&self, site: &Site, pages: &[&CacheablePage], refused: Vec<String>) -> PageCaching {
        let share: f64 = pages.iter().filter_map(|page| page.share).sum();
        let cpu_ms = self.ms.map(|ms| (ms / share * 1e3).round() / 1e3);
        let count = units::count(pages.len(), "page", "pages");
        let life = units::ns(self.seconds as f64 * 1e9);
        let at_most = if site.page_cache.iter().any(|one| one.at_most) { "at most " } else { "" };
        let no_cookies = pages.iter().any(|page| page.varies_by_cookie);
        let harmless = if no_cookies { "" } else { " but those of analytics and consent" };
        let text = format!(
            "Hold {count} in a cache in front of PHP for {life}. It answers {at_most}{} of the requests for scripts, as far as visitors have no \
             cookie{harmless} and requests no Origin. CPU time of these pages −{}. A change of one is seen {life} later at most.",
            units::percent(self.hits),
            units::percent(self.saved()),
        );
        PageCaching {
            keep: false,
            text,
            seconds: self.seconds,
            pages: pages.iter().map(|page| page.page.clone()).collect(),
            no_cookies,
            hits: Some((self.hits * 1e4).round() / 1e4),
            cpu_ms: Some(cpu_ms),
            refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use weigh_model::site::CachedPages;

    use super::*;
    use crate::policy::tests::shop;

    fn page(path: &str, share: f64, hits: [f64; 3]) -> CacheablePage {
        CacheablePage {
            page: path.into(),
            asked: 200,
            refused: None,
            seconds: None,
            varies_by_cookie: false,
            cpu_ms: Some([40.0, 0.5]),
            share: Some(share),
            hits: hits.to_vec(),
        }
    }

    fn decided(pages: Vec<CacheablePage>) -> PageCaching {
        let life =
            |seconds| CachedPages { seconds, hits: 0.5, visitors: None, megabytes: None, at_most: false };
        let mut site = shop();
        (site.page_cache, site.cacheable) = ([1, 60, 3600].map(life).to_vec(), pages);
        decide(&site).unwrap()
    }

    #[test]
    fn the_shortest_life_is_chosen_that_a_longer_one_saves_little_more_than() {
        let both = decided(vec![page("/", 0.3, [0.2, 0.8, 0.95]), page("/a", 0.1, [0.0, 0.1, 0.2])]);
        assert_eq!((both.keep, both.seconds), (false, 60), "an hour is too old");
        assert_eq!(both.pages, ["/", "/a"]);
        assert_eq!(both.hits, Some(0.25));
        // 0.3 × 0.8 + 0.1 × 0.1 of 0.4 requests cost the server alone.
        let [before, after] = both.cpu_ms.unwrap();
        assert!(
            (before - 40.5).abs() < 1e-6 && (after - (0.5 + 40.0 * (1.0 - 0.25 / 0.4))).abs() < 1e-3,
            "{after}"
        );
        assert_eq!(decided(vec![page("/", 0.3, [0.78, 0.8, 0.95])]).seconds, 1);
        let own = CacheablePage { seconds: Some(5), ..page("/", 0.3, [0.5, 0.8, 0.95]) };
        assert!(!both.no_cookies && both.text.contains("no cookie but those of analytics"), "{}", both.text);
        let varies = CacheablePage { varies_by_cookie: true, ..page("/", 0.3, [0.5, 0.8, 0.95]) };
        let varies = decided(vec![varies]);
        assert!(
            varies.no_cookies && varies.text.contains("visitors have no cookie and requests no Origin. CPU"),
            "{}",
            varies.text
        );
        assert_eq!(decided(vec![own]).hits, Some(0.15), "it is held for five seconds whatever is decided");
    }

    #[test]
    fn without_a_gain_nothing_is_changed() {
        let refused = CacheablePage { refused: Some("it sets a cookie".into()), ..page("/", 0.9, [0.9; 3]) };
        let alone = decided(vec![refused.clone()]);
        assert!(
            alone.keep && alone.text.contains("no page that was asked may be held (/: it sets a cookie)"),
            "{}",
            alone.text
        );
        let rare = decided(vec![refused, page("/a", 0.1, [0.0, 0.01, 0.2])]);
        assert!(rare.keep && rare.text.contains("would save 1%"), "{}", rare.text);
        let unlogged =
            decided(vec![CacheablePage { share: None, hits: Vec::new(), ..page("/", 0.1, [0.0; 3]) }]);
        assert!(unlogged.keep && unlogged.text.contains("--log"), "{}", unlogged.text);
    }
}
