//! The script URLs that a log names most: what PHP answers is not always a page, so that they can be asked, and counted as what they are.

use std::collections::HashMap;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::hits::Hits;
use super::log::PathTraffic;
use super::traffic::{Traffic, per_month};
use weigh_model::site::Kind;

/// The most script URLs that are given.
const MOST: usize = 500;
/// What a path of a URL cannot have as it is.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'%');

/// Last parts of paths, and keys of query strings, that show no page: feeds, programs' interfaces, periodic tasks, style sheets and scripts by PHP.
const NOT_SHOWN: &str = "feed rss rss2 atom rdf xmlrpc.php wp-cron.php admin-ajax.php ajax.php api.php rest.php load.php \
    css.php js.php fetch.php thumb.php cron.php graphql ajax heartbeat doing_wp_cron wc-ajax rest_route indexer.php";
/// First parts of paths of programs' interfaces.
const INTERFACES: [&str; 3] = ["wp-json", "api", "_wdt"];

/// A script, or its requests with query strings of the same keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The path below the site's root; behind `?` the keys in order: `index.php?action&title`. It can be written anywhere.
    pub key: String,
    /// An example, from the first slash on. Its query string may be of a person: it is for asking only, and written nowhere.
    pub url: String,
    /// What is asked of it per month.
    pub hits: Hits,
    /// Page views in the log, if it is a page.
    pub(super) viewed: u64,
    /// Its page views per month, likewise.
    views: f64,
}

impl Script {
    /// The script of a path, and those with query strings.
    pub(super) fn of(name: &str, traffic: &PathTraffic, factor: f64) -> Vec<Script> {
        let url = format!("/{}", utf8_percent_encode(name, ESCAPED));
        let script = |key: String, url: String, hits: &super::log::Hits| Script {
            key,
            url,
            hits: per_month(hits, factor),
            viewed: hits.views,
            views: hits.views as f64 * factor,
        };
        let mut all: Vec<Script> = traffic
            .variants
            .iter()
            .map(|one| script(format!("{name}?{}", one.keys), format!("{url}?{}", one.query), &one.hits))
            .collect();
        let mut rest = script(name.to_owned(), url, &traffic.hits);
        for one in &all {
            rest.hits.subtract(&one.hits);
            rest.viewed = rest.viewed.saturating_sub(one.viewed);
            rest.views = (rest.views - one.views).max(0.0);
        }
        all.extend(Some(rest).filter(|rest| rest.hits.any()));
        all
    }
}

/// Whether a script shows a page, as far as its name and the keys of its query string tell.
pub(super) fn is_shown(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (path, keys) = key.split_once('?').unwrap_or((&key, ""));
    let path = path.trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let first = path.split('/').next().unwrap_or_default();
    let is_listed = |name: &str| NOT_SHOWN.split(' ').any(|one| one == name);
    !is_listed(last) && !INTERFACES.contains(&first) && !keys.split('&').any(is_listed)
}

#[allow(dead_code, reason = "what asks scripts calls them")]
impl Traffic {
    /// The most requested scripts, the first first: they can be asked what they are.
    pub fn scripts(&self) -> &[Script] {
        &self.scripts[..self.scripts.len().min(MOST)]
    }

    /// Takes scripts that were asked for what their answers are, by [`Script::key`]: those that are no pages are none any more, and are in [`Traffic::made`].
    pub fn reclassify(&mut self, kinds: &HashMap<String, (Kind, String)>) {
        let (others, pages) = std::mem::take(&mut self.scripts)
            .into_iter()
            .partition::<Vec<_>, _>(|one| kinds.get(&one.key).is_some_and(|(kind, _)| *kind != Kind::Page));
        self.scripts = pages;
        for one in others {
            let path = one.key.split('?').next().unwrap_or_default();
            self.pages.subtract(&one.hits);
            if is_shown(&one.key) {
                self.views = (self.views - one.views).max(0.0);
            }
            if let Some(hits) = self.asked.paths.get_mut(path) {
                hits.subtract(&one.hits);
                self.page_paths -= u64::from(!hits.any() && self.page_paths > 0);
            }
            let (kind, format) = &kinds[&one.key];
            self.made.push((*kind, format.clone(), one.hits));
        }
    }
}
