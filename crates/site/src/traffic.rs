//! What access logs say, per month: requests of each file and of all pages, what clients accept, the busiest hour. What a log cannot say is assumed, and said so.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::assumed::AssetType;
use super::hits::{Hits, MONTH_DAYS, RequestsByPath};
use super::log::{self, CachedRequests, Codings, Counted, Names};
use super::named::Named;
use super::scripts::{Answered, Made, Script, is_html, is_shown};
use super::served::Served;
use weigh_model::site::{Accept, Figure, From};
use weigh_model::text::clean;
use weigh_model::units::{self, count, percent};
use weigh_os::interrupt::Interrupt;
use weigh_run::lab::Progress;

/// The most script URLs that are given.
const MOST: usize = 500;
/// Seconds of a day, and the least that a log is taken to cover.
const DAY: f64 = 86_400.0;
const LEAST: f64 = 3_600.0;
/// Hosts that a message lists at most.
const LISTED: usize = 5;
/// The share of lines that cannot be read from which a log tells too little.
const MOST_UNREADABLE: f64 = 0.2;
/// Page views without one asset: assets are not logged.
const MANY_VIEWS: u64 = 1_000;

/// Names of a site's hosts.
#[derive(Clone, Debug, Default)]
pub struct SiteHosts {
    /// As the user, the server's configuration or a URL has them; empty: not known.
    pub names: Vec<String>,
    /// Whether a log without any of them is another site's. A URL may be one of a copy of the site.
    pub is_sure: bool,
}

/// A page that an access log names.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedPage {
    /// Its URL from the first slash on. Its query string may be of a person: it is for asking only, and written nowhere.
    pub url: String,
    /// What is asked of it per month, and of those with a query string of the same keys and responses of about the same length.
    pub hits: Hits,
}

/// What logs say, per month.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Requests by path: of files, and of pages.
    pub asked: RequestsByPath,
    /// What is asked of all pages together.
    pub pages: Hits,
    /// Page views: pages that were shown to a visitor, from the server or (304) from the visitor's own cache.
    pub views: f64,
    /// How many paths of pages there are.
    pub page_paths: u64,
    /// Milliseconds that a page takes, where the log has times.
    pub made_ms: Option<f64>,
    /// What clients accept; empty if the log does not tell.
    pub accept: Vec<Accept>,
    /// Requests per second in the busiest hour.
    pub peak: Option<Figure>,
    /// Requests per second that PHP answered in its busiest hour.
    pub php_peak: Option<Figure>,
    /// Mean milliseconds of these, where the log has times.
    pub php_peak_ms: Option<Figure>,
    pub requests: u64,
    /// Lines that could not be read.
    pub unreadable: u64,
    /// Days that the logs cover.
    pub days: f64,
    /// Bytes of whole responses and ranges sent to visitors, as logged; none if bytes are not logged.
    pub bytes: Option<f64>,
    /// What stands in front of the server, such as a proxy, in words without addresses.
    pub front: Option<String>,
    /// Types of assets whose requests are assumed, because the log cannot or does not have them.
    pub assumed: Vec<AssetType>,
    /// What a cache of pages would answer.
    pub cached: CachedRequests,
    /// Responses of scripts that are not pages: kind, media type, and what is asked of it.
    pub made: Vec<Made>,
    /// Scripts, the most requested first.
    pub(super) scripts: Vec<Script>,
    /// Page views in the logs, and requests there by type of asset.
    logged: (u64, HashMap<AssetType, u64>),
    /// Whether lines that could not be read are those of assets.
    has_lost_assets: bool,
}

impl Traffic {
    /// The pages that a log names, the most requested first.
    pub fn logged_pages(&self) -> Vec<LoggedPage> {
        let shown = self.scripts.iter().filter(|script| is_shown(&script.key));
        let examples = shown.flat_map(|script| &script.examples).filter(|(_, hits)| hits.requests > 0.0);
        let mut pages: Vec<LoggedPage> =
            examples.map(|(url, hits)| LoggedPage { url: url.clone(), hits: *hits }).collect();
        pages.sort_by(|a, b| b.hits.requests.total_cmp(&a.hits.requests).then_with(|| a.url.cmp(&b.url)));
        pages
    }

    /// Reads the logs. What stands in the way of a file or a line is said.
    ///
    /// # Errors
    /// One line: no request could be read, or none of the site's hosts; or the user wants an end.
    pub fn read(
        logs: &[PathBuf],
        hosts: &SiteHosts,
        served: Option<&Served>,
        progress: &mut dyn Progress,
    ) -> Result<Traffic> {
        progress.doing(&format!("reading {}", count(logs.len(), "log", "logs")));
        let read = |names: &[String]| {
            let names = Names::new(names.iter().map(String::as_str));
            Interrupt::during(|interrupt| log::read(logs, names, interrupt))
                .context("signals cannot be caught")?
        };
        let mut counted = read(&hosts.names)?;
        if counted.requests() == 0 && counted.elsewhere > 0 {
            let (names, others) = (clean(&hosts.names.join(", ")), list(&counted.other_hosts));
            if hosts.is_sure {
                bail!("--log: no request for {names}; it has {others}; --host NAME chooses");
            }
            progress.note(&format!(
                "--log: no request for {names}, so that all hosts count: {others}; --host NAME chooses"
            ));
            counted = read(&[])?;
        }
        counted.problems.iter().for_each(|problem| progress.note(&format!("--log {problem}")));
        tell_unreadable(&counted, progress);
        tell_hosts(&counted, hosts, progress);
        if counted.visitors.requests == 0 {
            bail!("--log: no request of a visitor in it; give the web server's access log");
        }
        if counted.without_agent == counted.visitors.requests {
            progress.note("--log: no user agents in it, so that bots count as visitors");
        }
        if counted.timed > 0 && counted.script_seconds.is_none() {
            progress.note(
                "--log: its response times are left out, because their mean is zero or more than ten minutes",
            );
        }
        Ok(Traffic::of(&counted, served, progress))
    }

    fn of(counted: &Counted, served: Option<&Served>, progress: &mut dyn Progress) -> Traffic {
        let seconds = counted.covered_seconds as f64;
        tell_time(counted, progress);
        let factor = MONTH_DAYS * DAY / seconds.max(LEAST) * counted.week.correction;
        let (mut paths, mut pages, mut page_paths, mut views) = (HashMap::new(), Hits::default(), 0, 0);
        let (mut scripts, mut assets) = (Vec::new(), HashMap::new());
        // Requests for scripts by their names, and those of them that an application answers.
        let (mut named, mut made) = (0, 0);
        for one in &counted.paths {
            let hits = Hits::per_month(&one.hits, factor);
            let path = Named::of(one.path.trim_start_matches('/'), served);
            named += if log::is_script(&one.path) { one.hits.requests } else { 0 };
            made += if path.is_page { one.hits.requests } else { 0 };
            if path.is_page {
                let found = Script::of(&path.name, one, factor);
                views += found.iter().filter(|one| is_shown(&one.key)).map(|one| one.viewed).sum::<u64>();
                scripts.extend(found);
            } else if is_html(&path.name) {
                views += one.hits.views;
            } else if let Some(kind) = AssetType::of(&path.name) {
                // Errors are for what is not there, and logged everywhere.
                let sent = one.hits.whole + one.hits.partial + one.hits.not_modified;
                *assets.entry(kind).or_default() += sent;
            }
            if hits.any() && path.is_page {
                pages.add(&hits);
                page_paths += 1;
            }
            paths.entry(path.name).or_insert_with(Hits::default).add(&hits);
        }
        if counted.others.requests > 0 {
            let others =
                count(usize::try_from(counted.others.requests).unwrap_or(usize::MAX), "request", "requests");
            progress.note(&format!("--log: {others} for further paths, each with few, are left out"));
        }
        scripts.sort_by(|a, b| b.hits.requests.total_cmp(&a.hits.requests).then_with(|| a.key.cmp(&b.key)));
        let peak = counted.busiest_hour.as_ref().map(|hour| hour.requests as f64 / 3600.0);
        let made = if named == 0 { 1.0 } else { (made as f64 / named as f64).min(1.0) };
        let php_hour = counted.script_hour.filter(|_| made > 0.0);
        let lost = counted.unreadable as f64 / counted.lines.max(1) as f64;
        let sent = counted.paths.iter().map(|one| one.hits.bytes - one.hits.other_bytes).sum::<u64>();
        Traffic {
            asked: RequestsByPath { paths, from: From::Counted },
            pages,
            views: views as f64 * factor,
            page_paths,
            made_ms: counted.script_seconds.map(|seconds| round(seconds * 1e3, 100.0)),
            accept: accept(&counted.codings),
            peak: peak.map(|peak| Figure::counted(round(peak, 1000.0))),
            php_peak: php_hour.map(|hour| Figure::counted(round(hour.requests as f64 * made / 3600.0, 1e4))),
            php_peak_ms: php_hour.and_then(|hour| Some(Figure::counted(round(hour.seconds? * 1e3, 100.0)))),
            requests: counted.requests(),
            unreadable: counted.unreadable,
            days: seconds / DAY,
            bytes: counted.has_bytes.then_some(sent as f64 * factor),
            front: counted.front.clone(),
            assumed: Vec::new(),
            cached: counted.cached.clone(),
            made: Vec::new(),
            scripts,
            logged: (views, assets),
            has_lost_assets: lost > MOST_UNREADABLE
                && counted.unreadable_assets * 10 > counted.unreadable * 9,
        }
    }

    /// Assumes the requests of assets that the log cannot have: `loads` are those of the pages, per view; `is_unlogged` tells of a path below the site's root
    /// whether the server's configuration leaves it out. Where the pages tell of no such asset, the types are in [`Traffic::assumed`] alone.
    pub fn assume_unlogged(
        &mut self,
        loads: &HashMap<String, f64>,
        is_unlogged: &dyn Fn(&str) -> bool,
        progress: &mut dyn Progress,
    ) {
        let (views, logged) = &self.logged;
        let of = |kind: AssetType| loads.iter().filter(move |(path, _)| AssetType::of(path) == Some(kind));
        let is_none_logged = logged.values().sum::<u64>() == 0;
        let is_missing = |kind: &AssetType| {
            let is_left_out = is_unlogged(kind.example()) || of(*kind).any(|(path, _)| is_unlogged(path));
            let is_loaded = of(*kind).next().is_some();
            let is_many = *views >= MANY_VIEWS || self.has_lost_assets;
            logged.get(kind).is_none_or(|requests| *requests == 0)
                && (is_left_out || is_many && (is_loaded || is_none_logged))
        };
        let missing: Vec<AssetType> = AssetType::ALL.into_iter().filter(is_missing).collect();
        self.assumed = if self.has_lost_assets { AssetType::ALL.to_vec() } else { missing.clone() };
        if missing.is_empty() {
            return;
        }
        let loaded: Vec<(&String, &f64)> = missing.iter().flat_map(|kind| of(*kind)).collect();
        let source = if loaded.is_empty() { "the published mix" } else { "what the pages load" };
        let names: Vec<String> = missing.iter().map(|kind| kind.plural().to_owned()).collect();
        progress.note(&format!(
            "--log: {} are not logged ({} without one): their requests are assumed, from {source}",
            units::list(&names),
            count(usize::try_from(*views).unwrap_or(usize::MAX), "page view", "page views")
        ));
        for (path, per_view) in loaded {
            let hits = Hits { requests: per_view * self.views, ..Hits::default() };
            self.asked.paths.insert(path.clone(), hits);
        }
    }

    /// Takes a path that looked like a script's for that of a file: what is asked of it without a query string, which may lead elsewhere. One that is a
    /// page, such as a cache of pages has them, is viewed as before.
    pub fn take_for_file(&mut self, path: &str, hits: &Hits, file: &str) {
        let (own, others) =
            std::mem::take(&mut self.scripts).into_iter().partition::<Vec<_>, _>(|one| one.key == path);
        self.scripts = others;
        if !own.is_empty() {
            self.pages.subtract(hits);
            self.page_paths = self.page_paths.saturating_sub(1);
            if is_html(file) {
                return;
            }
            let shown = own.iter().filter(|one| is_shown(&one.key)).map(|one| one.views).sum::<f64>();
            self.views = (self.views - shown).max(0.0);
        }
    }

    /// The most requested scripts, the first first: they can be asked what they are.
    pub fn scripts(&self) -> &[Script] {
        &self.scripts[..self.scripts.len().min(MOST)]
    }

    /// Takes scripts that were asked for what their answers are, by [`Script::key`]: those that are not pages are none any more, and are in [`Traffic::made`].
    pub fn reclassify(&mut self, kinds: &HashMap<String, Answered>) {
        let (others, pages) = std::mem::take(&mut self.scripts)
            .into_iter()
            .partition::<Vec<_>, _>(|one| kinds.get(&one.key).is_some_and(|answered| !answered.is_html()));
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
            let Answered { kind, format, .. } = &kinds[&one.key];
            self.made.push(Made { kind: *kind, format: format.clone(), hits: one.hits, key: one.key });
        }
    }
}

/// Says how much of the logs could not be read, and what that means.
fn tell_unreadable(counted: &Counted, progress: &mut dyn Progress) {
    let Some(example) = &counted.example else { return };
    let share = counted.unreadable as f64 / counted.lines.max(1) as f64;
    let lines = count(usize::try_from(counted.unreadable).unwrap_or(usize::MAX), "line", "lines");
    let lines = match share > MOST_UNREADABLE {
        true => format!("{lines}, {} of all,", percent(share)),
        false => lines,
    };
    let most_are = counted.unreadable_assets * 10 > counted.unreadable * 9;
    let what = match share > MOST_UNREADABLE {
        true if most_are => "; nearly all of them are of assets, whose figures are therefore assumed",
        true => "; the figures rest on the others",
        false => "",
    };
    let (file, line, why) = (&example.file, example.line, example.why);
    progress.note(&format!("--log: {lines} could not be read, such as line {line} of {file}: {why}{what}"));
}

/// Says which hosts the logs are for, where there are several.
fn tell_hosts(counted: &Counted, hosts: &SiteHosts, progress: &mut dyn Progress) {
    if counted.elsewhere > 0 {
        let lines = count(usize::try_from(counted.elsewhere).unwrap_or(usize::MAX), "line", "lines");
        let others = if counted.other_hosts.is_empty() {
            String::new()
        } else {
            format!(": {}", list(&counted.other_hosts))
        };
        progress.note(&format!(
            "--log: left out {lines} of other hosts than {}{others}",
            clean(&hosts.names.join(", "))
        ));
        return;
    }
    // `www.` is the same site.
    let base = |host: &str| host.trim_start_matches("www.").to_owned();
    let bases: std::collections::HashSet<String> = counted.hosts.iter().map(|(host, _)| base(host)).collect();
    if bases.len() > 1 && Names::new(hosts.names.iter().map(String::as_str)).is_empty() {
        progress.note(&format!(
            "--log: it has several hosts, which all count: {}; --host NAME chooses",
            list(&counted.hosts)
        ));
    }
}

/// `blog.example (4950 lines) and shop.example (50 lines)`.
fn list(hosts: &[(String, u64)]) -> String {
    let name = |(host, lines): &(String, u64)| {
        format!("{} ({})", clean(host), count(usize::try_from(*lines).unwrap_or(usize::MAX), "line", "lines"))
    };
    let mut all: Vec<String> = hosts.iter().take(LISTED).map(name).collect();
    if hosts.len() > LISTED {
        all.push(format!("{} more", hosts.len() - LISTED));
    }
    if all.is_empty() { "lines without a host".into() } else { units::list(&all) }
}

/// Says which part of a week the logs do not cover.
fn tell_time(counted: &Counted, progress: &mut dyn Progress) {
    let week = &counted.week;
    if (counted.covered_seconds as f64) < LEAST {
        progress.note("--log: less than an hour, which counts as one: figures per month are low. Give rotated logs too, such as access.log.1");
    } else if (counted.covered_seconds as f64) < DAY {
        progress.note("--log: less than a day; a month is taken to be like it. Give rotated logs too, such as access.log.1");
    } else if week.unseen_hours > 0 {
        progress.note(&format!(
            "--log: {} of the 168 hours of a week are never covered, and taken to be like the same hours of other days; give rotated logs too",
            week.unseen_hours
        ));
    }
    if week.missing_hours > 0 {
        let hours = count(usize::try_from(week.missing_hours).unwrap_or(usize::MAX), "hour", "hours");
        progress.note(&format!("--log: {hours} between its lines are taken for a missing file, and left out of the time that it covers"));
    }
    if week.is_weekend_quiet {
        progress.note("--log: no request on Saturdays and Sundays, which are taken to be quiet");
    }
}

/// The classes of clients with their shares; empty if nothing is known of any.
fn accept(codings: &Codings) -> Vec<Accept> {
    let classes: [(&[&str], u64); 4] = [
        (&["zstd", "br", "gzip"], codings.zstd_br_gzip),
        (&["br", "gzip"], codings.br_gzip),
        (&["gzip"], codings.gzip),
        (&[], codings.none),
    ];
    let all: u64 = classes.iter().map(|class| class.1).sum();
    if codings.by_header + codings.by_agent == 0 {
        return Vec::new();
    }
    let of = |(codings, requests): (&[&str], u64)| Accept {
        codings: codings.iter().map(|coding| (*coding).to_owned()).collect(),
        share: round(requests as f64 / all as f64, 1e4),
        from: From::Counted,
    };
    classes.into_iter().filter(|class| class.1 > 0).map(of).collect()
}

fn round(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

#[cfg(test)]
mod tests;
