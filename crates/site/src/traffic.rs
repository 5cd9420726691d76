//! What access logs say, per month: requests of each file and of all pages, what clients accept, the busiest hour. What a log cannot say is assumed, and said so.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::assumed::AssetType;
use super::hits::{Hits, MONTH_DAYS, RequestsByPath};
use super::log::{self, Codings, Counted, Names};
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
    if (counted.covered_seconds as f64) < DAY {
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
mod tests {
    use super::*;
    use crate::tests::Quiet;
    use weigh_model::site::Kind;

    fn answered(key: String, kind: Kind, format: &str) -> (String, Answered) {
        let url = format!("/{key}");
        (key, Answered { kind, format: format.into(), url, body: Vec::new() })
    }

    const AGENT: &str = "\"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\"";

    fn line(day: u32, request: &str, status: u32, bytes: u32) -> String {
        let request = if request.starts_with('/') { format!("GET {request}") } else { request.to_owned() };
        format!(
            "192.0.2.1 - - [{day:02}/Nov/2026:10:00:00 +0000] \"{request} HTTP/1.1\" {status} {bytes} {AGENT}\n"
        )
    }

    /// Two whole weeks of November 2026 with a request in each hour, and these lines.
    fn read(text: &str, hosts: &SiteHosts, served: Option<&Served>) -> (Result<Traffic>, Vec<String>) {
        let root = tempfile::tempdir().unwrap();
        let log = root.path().join("access.log");
        std::fs::write(&log, text).unwrap();
        let mut told = Quiet::default();
        let traffic = Traffic::read(&[log], hosts, served, &mut told);
        (traffic, told.0)
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < wanted * 0.01 + 1e-6, "{found} {wanted}");
    }

    /// Per month, of what came once in a log of a week and of the same hours only.
    const MONTH: f64 = MONTH_DAYS / 7.0;

    /// Marks that the log covers a week, without a visitor.
    fn week() -> String {
        let hour = |n: u32| {
            format!(
                "192.0.2.1 - - [{:02}/Nov/2026:{:02}:59:59 +0000] \"-\" 400 0 \"-\" \"-\"\n",
                2 + n / 24,
                n % 24
            )
        };
        "192.0.2.1 - - [02/Nov/2026:00:00:00 +0000] \"-\" 400 0 \"-\" \"-\"\n".to_owned()
            + &(0..168).map(hour).collect::<String>()
    }

    #[test]
    fn what_php_answers_is_counted_of_all_clients_with_every_method_and_status() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("docs/index.html"), "x").unwrap();
        let bot = "\"-\" \"Googlebot/2.1 (+http://www.google.com/bot.html)\"";
        let at = |hour: u32, request: &str, status: u32, agent: &str, seconds: &str| {
            format!(
                "192.0.2.1 - - [03/Nov/2026:{hour:02}:10:00 +0000] \"{request} HTTP/1.1\" {status} 90 {agent} rt={seconds} urt={seconds}\n"
            )
        };
        let mut text = String::new();
        for _ in 0..900 {
            text += &at(3, "GET /shop/item", 200, bot, "4.000");
            text += &at(3, "POST /cart", 302, AGENT, "2.000");
            text += &at(3, "GET /gone", 404, AGENT, "1.000");
            text += &at(3, "HEAD /", 200, bot, "1.000");
            // Not PHP's.
            text += &at(3, "GET /app.js", 200, AGENT, "0.000");
            text += &at(9, "GET /", 200, AGENT, "0.100");
            text += &at(9, "GET /", 200, AGENT, "0.100");
            text += &at(9, "GET /", 200, AGENT, "0.100");
            text += &at(9, "GET /", 200, AGENT, "0.100");
            text += &at(9, "GET /", 200, AGENT, "0.100");
        }
        let served = Served::new(Some(root.path()), None);
        let (traffic, told) = read(&text, &SiteHosts::default(), Some(&served));
        let traffic = traffic.unwrap();
        assert_eq!(traffic.php_peak, Some(Figure::counted(1.0)), "{told:?}");
        assert_eq!(traffic.php_peak_ms, Some(Figure::counted(2000.0)));
        // A folder's front page that is a file is the server's.
        let quiet: String = (0..40).map(|_| at(3, "GET /docs/", 200, AGENT, "0.000")).collect();
        let traffic = read(&quiet, &SiteHosts::default(), Some(&served)).0.unwrap();
        assert_eq!((traffic.php_peak, traffic.php_peak_ms), (None, None));
    }

    #[test]
    fn a_log_of_a_week_is_scaled_to_a_month() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("docs/index.html"), "x").unwrap();
        let text = [
            week(),
            line(2, "/js/app.js?v=1", 200, 3000),
            line(2, "/js/app.js", 304, 0),
            line(3, "/files/a.zip", 206, 500),
            line(4, "/blog/post", 200, 9000),
            line(4, "/", 200, 8000),
            line(4, "/docs/", 200, 100),
            line(5, "/gone", 404, 10),
            line(6, "/gone", 404, 10),
            line(7, "/index.php", 200, 7000),
            "rubbish\n".to_owned(),
        ];
        let (traffic, told) =
            read(&text.concat(), &SiteHosts::default(), Some(&Served::new(Some(root.path()), None)));
        let traffic = traffic.unwrap();
        let app = traffic.asked.of("js/app.js");
        near(app.requests, MONTH);
        near(app.not_modified, MONTH);
        near(app.bytes, 3000.0 * MONTH);
        near(traffic.asked.of("files/a.zip").ranges, MONTH);
        near(traffic.asked.of("docs/index.html").requests, MONTH);
        near(traffic.pages.requests, 3.0 * MONTH);
        // The front page of `docs/` is a file, and a page.
        near(traffic.views, 4.0 * MONTH);
        near(traffic.bytes.unwrap(), 27_600.0 * MONTH);
        assert_eq!((traffic.page_paths, traffic.unreadable), (3, 1));
        near(traffic.days, 7.0);
        assert_eq!(traffic.accept.len(), 1, "{:?}", traffic.accept);
        near(traffic.accept[0].share, 1.0);
        assert!(
            told.iter().any(|line| line.contains("1 line could not be read, such as line 179 of")),
            "{told:?}"
        );
        let none =
            Traffic::read(&["/nonexistent/log".into()], &SiteHosts::default(), None, &mut Quiet::default());
        assert!(none.unwrap_err().to_string().contains("no request of a visitor"));
    }

    #[test]
    fn a_view_is_a_page_that_a_visitor_is_shown() {
        let viewed = [
            line(2, "/a", 200, 9),
            line(2, "/a?utm=1", 200, 9),
            line(2, "/index.php?title=B", 200, 9),
            line(2, "/a", 304, 0),
        ];
        let others = [
            line(2, "/old", 301, 0),
            line(2, "/empty", 204, 0),
            line(2, "HEAD /a", 200, 0),
            line(2, "POST /contact", 200, 9),
            line(2, "/feed/", 200, 9),
            line(2, "/?feed=rss2", 200, 9),
            line(2, "/wp-json/wp/v2/posts", 200, 9),
            line(2, "/wp-admin/admin-ajax.php?action=x", 200, 9),
            line(2, "/lib/exe/css.php?t=1", 200, 9),
            line(2, "/robots.txt", 200, 9),
            line(2, "/favicon.ico", 200, 9),
            line(2, "/gone", 404, 9),
            line(2, "/a", 500, 9),
            line(2, "/a", 200, 9).replace("Mozilla/5.0 (X11", "Mozilla/5.0 (compatible; Googlebot/2.1"),
        ];
        let (traffic, _) = read(&(week() + &viewed.concat() + &others.concat()), &SiteHosts::default(), None);
        near(traffic.unwrap().views, 4.0 * MONTH);
    }

    #[test]
    fn scripts_that_answer_no_page_are_taken_out_of_the_pages() {
        let raw = |title: &str| line(3, &format!("/index.php?title={title}&action=raw"), 200, 500);
        let text = [
            week(),
            line(2, "/index.php?title=A", 200, 9000),
            raw("Secret"),
            raw("Other"),
            line(4, "/download/12", 200, 70_000),
            line(4, "/", 200, 8000),
        ];
        let (traffic, told) = read(&text.concat(), &SiteHosts::default(), None);
        let mut traffic = traffic.unwrap();
        let keys: Vec<&str> = traffic.scripts().iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["index.php?action&title", "", "download/12", "index.php?title"]);
        assert_eq!(traffic.scripts()[0].url, "/index.php?title=Secret&action=raw");
        near(traffic.views, 5.0 * MONTH);
        assert!(told.iter().all(|line| !line.contains("response times")), "{told:?}");
        let kinds = HashMap::from([
            answered("index.php?action&title".to_owned(), Kind::Asset, "text/css"),
            answered("download/12".to_owned(), Kind::Download, "application/pdf"),
            answered("".to_owned(), Kind::Page, "text/html"),
        ]);
        traffic.reclassify(&kinds);
        near(traffic.views, 2.0 * MONTH);
        near(traffic.pages.bytes, 17_000.0 * MONTH);
        near(traffic.asked.of("index.php").requests, MONTH);
        assert_eq!((traffic.page_paths, traffic.scripts().len(), traffic.made.len()), (2, 2, 2));
        near(traffic.made[0].hits.bytes, 1_000.0 * MONTH);
        assert_eq!(
            (traffic.made[1].kind, traffic.made[1].format.as_str()),
            (Kind::Download, "application/pdf")
        );
    }

    #[test]
    fn a_feed_is_no_page_and_has_its_own_type() {
        let feed = line(3, "/?feed=rss2", 200, 30_000).repeat(3);
        let text = week() + &line(2, "/", 200, 8000) + &feed;
        let mut traffic = read(&text, &SiteHosts::default(), None).0.unwrap();
        traffic.reclassify(&HashMap::from([answered("?feed".into(), Kind::Page, "application/rss+xml")]));
        near(traffic.pages.bytes, 8_000.0 * MONTH);
        near(traffic.views, MONTH);
        near(traffic.asked.of("").requests, MONTH);
        let made = &traffic.made[0];
        assert_eq!((made.kind, made.format.as_str()), (Kind::Page, "application/rss+xml"));
        near(made.hits.requests, 3.0 * MONTH);
    }

    #[test]
    fn a_file_takes_what_is_asked_of_its_path_without_a_query_string() {
        let text = week() + &line(2, "/", 200, 8000) + &line(3, "/?p=7", 200, 9000).repeat(2);
        let mut traffic = read(&text, &SiteHosts::default(), None).0.unwrap();
        let own = traffic.scripts.iter().find(|one| one.key.is_empty()).unwrap().hits;
        traffic.take_for_file("", &own, "cache/index.html");
        near(traffic.pages.bytes, 18_000.0 * MONTH);
        let left: Vec<&str> = traffic.scripts.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(left, ["?p"]);
        near(traffic.views, 3.0 * MONTH);
    }

    #[test]
    fn a_script_has_an_example_for_each_length_of_its_responses() {
        let pages = [("/?p=1", 9_000), ("/?p=2", 9_100), ("/?p=3", 90_000), ("/?p=1", 9_000)];
        let lines: String = pages.iter().map(|(path, bytes)| line(2, path, 200, *bytes)).collect();
        let traffic = read(&(week() + &lines), &SiteHosts::default(), None).0.unwrap();
        let [script] = traffic.scripts() else { panic!("{:?}", traffic.scripts()) };
        assert_eq!((script.key.as_str(), script.url.as_str()), ("?p", "/?p=1"));
        near(script.hits.requests, 4.0 * MONTH);
        let examples: Vec<&str> = script.examples.iter().map(|(url, _)| url.as_str()).collect();
        assert_eq!(examples, ["/?p=1", "/?p=3"]);
        near(script.examples[0].1.bytes, 27_100.0 * MONTH);
    }

    #[test]
    fn heads_of_responses_without_a_body_are_no_bytes_of_content() {
        let text = week()
            + &line(2, "/a.css", 200, 3000)
            + &line(2, "/a.css", 304, 220).repeat(9)
            + &line(2, "/a.css", 206, 100)
            + &line(2, "HEAD /a.css", 200, 300);
        let traffic = read(&text, &SiteHosts::default(), None).0.unwrap();
        near(traffic.asked.of("a.css").bytes, 3_100.0 * MONTH);
        near(traffic.bytes.unwrap(), 3_100.0 * MONTH);
    }

    #[test]
    fn lines_of_other_hosts_are_left_out_and_said() {
        let of = |host: &str, path: &str| format!("{host}:80 {}", line(2, path, 200, 9));
        let text = week().replace("192.0.2.1 -", "shop.example:80 192.0.2.1 -")
            + &of("shop.example", "/a")
            + &of("blog.example", "/b").repeat(9);
        let named = |names: &[&str], is_sure| SiteHosts {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            is_sure,
        };
        let (traffic, told) = read(&text, &named(&["shop.example"], true), None);
        near(traffic.unwrap().pages.requests, MONTH);
        assert!(
            told.iter().any(|line| line
                .contains("left out 9 lines of other hosts than shop.example: blog.example (9 lines)")),
            "{told:?}"
        );
        let (traffic, told) = read(&text, &SiteHosts::default(), None);
        near(traffic.unwrap().pages.requests, 10.0 * MONTH);
        assert!(
            told.iter().any(|line| line.contains("several hosts") && line.contains("--host NAME")),
            "{told:?}"
        );
        let refused = read(&text, &named(&["other.example"], true), None).0.unwrap_err().to_string();
        assert!(
            refused.contains(
                "no request for other.example; it has shop.example (170 lines) and blog.example (9 lines)"
            ),
            "{refused}"
        );
        let (traffic, told) = read(&text, &named(&["staging.example"], false), None);
        near(traffic.unwrap().pages.requests, 10.0 * MONTH);
        assert!(told.iter().any(|line| line.contains("no request for staging.example")), "{told:?}");
    }

    /// 1,000 page views, and these lines.
    fn pages_and(others: &str) -> (Traffic, Vec<String>) {
        let text = week() + &line(2, "/a", 200, 9).repeat(1_000) + others;
        let (traffic, told) = read(&text, &SiteHosts::default(), None);
        (traffic.unwrap(), told)
    }

    #[test]
    fn what_is_not_logged_is_assumed_and_said() {
        let loads = HashMap::from([("a.css".to_owned(), 1.0), ("b.png".to_owned(), 0.5)]);
        let (mut traffic, _) = pages_and("");
        let mut told = Quiet::default();
        traffic.assume_unlogged(&loads, &|_| false, &mut told);
        assert_eq!(traffic.assumed, AssetType::ALL);
        near(traffic.asked.of("a.css").requests, traffic.views);
        near(traffic.asked.of("b.png").requests, traffic.views / 2.0);
        assert!(told.0[0].contains("are not logged (1,000 page views without one): their requests are assumed, from what the pages load"), "{told:?}");
        // Images are logged, style sheets are loaded and are not.
        let (mut traffic, _) = pages_and(&line(2, "/b.png", 200, 9));
        traffic.assume_unlogged(&loads, &|_| false, &mut told);
        assert_eq!(traffic.assumed, [AssetType::StyleSheet]);
        near(traffic.asked.of("b.png").requests, MONTH);
        // What is not there is logged whatever is left out.
        let (mut traffic, _) = pages_and(&line(2, "/gone.png", 404, 9).repeat(9));
        traffic.assume_unlogged(&loads, &|_| false, &mut told);
        assert_eq!(traffic.assumed, AssetType::ALL);
        // A log with some of everything that is loaded has what was asked.
        let (mut traffic, _) = pages_and(&(line(2, "/b.png", 200, 9) + &line(2, "/a.css", 200, 9)));
        traffic.assume_unlogged(&loads, &|_| false, &mut told);
        assert!(traffic.assumed.is_empty());
        // The configuration tells it, however few views there are.
        let mut traffic = read(&(week() + &line(2, "/a", 200, 9)), &SiteHosts::default(), None).0.unwrap();
        traffic.assume_unlogged(&HashMap::new(), &|path| path.ends_with(".js"), &mut told);
        assert_eq!(traffic.assumed, [AssetType::Script]);
        assert!(told.0.last().unwrap().contains("from the published mix"), "{told:?}");
    }

    #[test]
    fn response_times_that_cannot_be_true_are_said() {
        let text = week() + &line(2, "/a", 200, 9).replace('\n', " rt=0.000\n").repeat(9);
        let (traffic, told) = read(&text, &SiteHosts::default(), None);
        assert_eq!(traffic.unwrap().made_ms, None);
        assert!(told.iter().any(|line| line.contains("response times are left out")), "{told:?}");
    }

    #[test]
    fn lines_that_are_lost_are_said_loudly() {
        let broken = line(2, "/a.css", 200, 9).replace(" 200 ", " x ");
        let (mut traffic, told) = pages_and(&broken.repeat(500));
        assert!(
            told.iter().any(|line| line.contains("500 lines, 30% of all,")
                && line.contains("of assets, whose figures are therefore assumed")),
            "{told:?}"
        );
        traffic.assume_unlogged(&HashMap::new(), &|_| false, &mut Quiet::default());
        assert_eq!(traffic.assumed, AssetType::ALL);
    }
}
