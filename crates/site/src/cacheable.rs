//! Which pages a cache in front of PHP may hold: each is asked for again and again, as visitors who differ in what caches do not tell apart. Only a page whose
//! answers are all the same, and forbid no cache, may be held.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use percent_encoding::percent_decode_str;
use weigh_model::site::{CacheablePage, Kind};
use weigh_model::text::clean;
use weigh_os::group::Group;
use weigh_os::interrupt::Interrupt;
use weigh_rig::asker::{Asker, Question};
use weigh_rig::http::Reply;
use weigh_run::lab::Progress;

use super::application::Instances;
use super::bodies::difference;
use super::log::{CachedPath, CachedRequests};
use super::pages::Visited;
use super::private::Private;
use super::scripts::Answered;

/// Requests in all, and how long they may take.
const MOST: usize = 2_000;
const PATIENCE: Duration = Duration::from_secs(240);
/// Pages that are asked.
const MOST_PAGES: usize = 40;
/// The longest page, in bytes.
const LONGEST: usize = 4 << 20;

/// Visitors by the fields that they send, as browsers, scripts and proxies do. The first sends none.
pub(crate) const VISITORS: [&[(&str, &str)]; 8] = [
    &[],
    &[
        (
            "User-Agent",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
        ),
        ("Sec-CH-UA-Mobile", "?1"),
        ("CloudFront-Is-Mobile-Viewer", "true"),
        ("CF-Device-Type", "mobile"),
        ("X-UA-Device", "mobile"),
        ("Save-Data", "on"),
    ],
    &[
        ("Accept-Language", "de-DE,de;q=0.9,ja;q=0.5"),
        ("CF-IPCountry", "DE"),
        ("CloudFront-Viewer-Country", "DE"),
        ("X-Country-Code", "DE"),
        ("X-Geo-Country", "DE"),
        ("X-GeoIP-Country", "DE"),
        ("Cookie", "_ga=GA1.1.1234.5678; _gid=GA1.1.2345.6789"),
    ],
    &[
        (
            "Accept",
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
        ),
        ("Referer", "https://search.example/?q=shop"),
        ("Sec-Fetch-Dest", "document"),
        ("Sec-Fetch-Mode", "navigate"),
    ],
    &[
        (
            "Accept",
            "application/json, text/vnd.turbo-stream.html, text/markdown;q=0.9, text/javascript, */*;q=0.1",
        ),
        ("Sec-Fetch-Dest", "empty"),
        ("Sec-Fetch-Mode", "cors"),
    ],
    &[
        ("X-Requested-With", "XMLHttpRequest"),
        ("HX-Request", "true"),
        ("X-PJAX", "true"),
        ("Turbo-Frame", "main"),
        ("X-Inertia", "true"),
        ("X-Livewire", "true"),
        ("X-Up-Version", "3.10.0"),
        ("X-Up-Target", "main"),
        ("X-Barba", "yes"),
        ("X-Fetch", "true"),
    ],
    &[
        ("X-Forwarded-For", "203.0.113.7"),
        ("X-Real-IP", "203.0.113.7"),
        ("CF-Connecting-IP", "203.0.113.7"),
        ("True-Client-IP", "203.0.113.7"),
        ("CF-IPCountry", "US"),
        ("CloudFront-Viewer-Country", "US"),
        ("X-Country-Code", "US"),
        ("X-Geo-Country", "US"),
        ("X-GeoIP-Country", "US"),
    ],
    &[("X-Rewrite-URL", "/other"), ("X-Original-URL", "/other")],
];

/// What a proxy in front says of the host and the protocol is part of what the written files know a page by.
pub(crate) const FORWARDED: &[(&str, &str)] =
    &[("X-Forwarded-Host", "other.example"), ("X-Forwarded-Proto", "https")];

/// A page while it is asked.
struct Asked {
    path: String,
    count: u32,
    first: Option<Vec<u8>>,
    seconds: Option<u64>,
    varies_by_cookie: bool,
    refused: Option<String>,
    /// CPU nanoseconds of PHP and of the server.
    cpu: [u64; 2],
}

/// Asks for the pages that were looked at, and for what scripts of the log answer that is no HTML, those first that the log has most requests for. Only query
/// strings that a page links to are asked for: others may be of a person. `logged` has what a cache would answer.
///
/// # Errors
/// The instance that makes them does not start; the user wants an end.
pub fn asked(
    instances: &Instances<'_>,
    (visited, made): (&Visited, &HashMap<String, Answered>),
    logged: Option<&CachedRequests>,
    progress: &mut dyn Progress,
) -> Result<Vec<CacheablePage>> {
    let is_public = |url: &&str| !url.contains('?') || visited.public.contains(*url);
    let data = made.values().filter(|one| one.kind == Kind::Page && !one.is_html());
    let mut data: Vec<&str> = data.map(|one| one.url.as_str()).collect();
    data.sort_unstable();
    let pages = visited.pages.iter().map(|page| page.url.as_str());
    let mut paths: Vec<&str> = pages.chain(data).filter(is_public).collect();
    let share = |path: &&str| of_log(path, logged).map_or(0.0, |of_log| -of_log.share);
    paths.sort_by(|a, b| share(a).total_cmp(&share(b)));
    if paths.is_empty() {
        progress.note("--page-cache: no page was looked at");
        return Ok(Vec::new());
    }
    ask(instances.get(true, progress)?, &paths, logged, progress)
}

fn ask(
    private: &Private,
    paths: &[&str],
    logged: Option<&CachedRequests>,
    progress: &mut dyn Progress,
) -> Result<Vec<CacheablePage>> {
    let mut pages: Vec<Asked> = paths.iter().take(MOST_PAGES).map(|path| Asked::new(path)).collect();
    progress.doing("asking which pages are the same for all visitors");
    let asked = Interrupt::during(|interrupt| {
        let asked = private.with_php(interrupt, |asker, php| {
            rounds(&mut pages, asker, php.meters(asker)?, interrupt);
            Ok(())
        });
        interrupt.ended(asked)
    });
    asked??;
    Ok(pages.into_iter().map(|page| page.told(logged)).collect())
}

/// Round after round, each page as each visitor, as long as requests and time are left.
fn rounds(pages: &mut [Asked], asker: &Asker<'_>, meters: [Group; 2], interrupt: &Interrupt) {
    let (until, mut count) = (Instant::now() + PATIENCE, 0);
    let cpu = || meters.map(|group| group.usage().cpu_ns);
    // What opcode and other caches have after a first request is none of a page's.
    for page in pages.iter_mut() {
        page.request(asker, 0);
        page.count = 0;
    }
    while pages.iter().any(|page| page.refused.is_none()) {
        for page in pages.iter_mut().filter(|page| page.refused.is_none()) {
            if count + VISITORS.len() > MOST || Instant::now() > until || interrupt.is_set() {
                return;
            }
            let before = cpu();
            (0..VISITORS.len()).for_each(|visitor| page.request(asker, visitor));
            let after = cpu();
            (0..2).for_each(|at| page.cpu[at] += after[at].saturating_sub(before[at]));
            count += VISITORS.len();
        }
    }
}

impl Asked {
    fn new(path: &str) -> Asked {
        let (count, first, seconds, varies_by_cookie, refused, cpu) = Default::default();
        Asked { path: path.to_owned(), count, first, seconds, varies_by_cookie, refused, cpu }
    }

    /// Asks once, and finds what stands against a cache.
    fn request(&mut self, asker: &Asker<'_>, visitor: usize) {
        let fields = VISITORS[visitor];
        let ask = |fields| asker.ask(&Question { path: &self.path, fields, ..Question::default() });
        let found = ask(fields).map_err(|fault| fault.message).and_then(|reply| {
            let body = reply.decoded_within(LONGEST).map_err(|error| format!("{error:#}"))?;
            let varies = vary(&reply).iter().any(|field| field == "cookie");
            forbids(&reply).map_or(Ok((own_seconds(&reply), varies, body)), Err)
        });
        self.count += 1;
        let (seconds, varies, body) = match found {
            Ok(found) => found,
            Err(why) => return self.refuse(why),
        };
        self.varies_by_cookie |= varies;
        let Some(first) = &self.first else {
            (self.first, self.seconds) = (Some(body), seconds);
            return;
        };
        if *first == body {
            self.seconds = self.seconds.into_iter().chain(seconds).min();
            return;
        }
        // The fields are why, if without them the answer is as before and with them once more another.
        let is_first = |fields| {
            ask(fields).ok().and_then(|reply| reply.decoded_within(LONGEST).ok()).map(|body| body == *first)
        };
        let line = difference([first; 2], [&body; 2], "the first answer").unwrap_or_default();
        let why = match visitor > 0 && is_first(&[]) == Some(true) && is_first(fields) == Some(false) {
            true => {
                let by = fields.chunks(1).find(|one| is_first(one) == Some(false)).unwrap_or(fields);
                let names: Vec<&str> = by.iter().map(|(name, _)| *name).collect();
                format!("it differs by {}: {line}", names.join(", "))
            }
            false => format!("it differs from one request to the next: {line}"),
        };
        self.refuse(why);
    }

    fn refuse(&mut self, why: String) {
        self.refused.get_or_insert(clean(&why));
    }

    fn told(self, logged: Option<&CachedRequests>) -> CacheablePage {
        let of_log = of_log(&self.path, logged);
        let ms = |ns: u64| (ns as f64 / f64::from(self.count) / 1e3).round() / 1e3;
        let few = (self.count < VISITORS.len() as u32).then(|| "there was no time to ask for it".to_owned());
        let refused = self.refused.or(few);
        CacheablePage {
            page: clean(&self.path),
            asked: self.count,
            cpu_ms: refused.is_none().then(|| self.cpu.map(ms)),
            refused,
            seconds: self.seconds,
            varies_by_cookie: self.varies_by_cookie,
            share: of_log.as_ref().map(|of| of.share),
            hits: of_log.map(|of| of.hits).unwrap_or_default(),
        }
    }
}

/// What a log has of a page.
fn of_log(url: &str, logged: Option<&CachedRequests>) -> Option<CachedPath> {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let query = (!query.is_empty()).then_some(query.as_bytes());
    logged?.page(&percent_decode_str(path).decode_utf8_lossy(), query)
}

fn text(reply: &Reply, name: &str) -> Option<String> {
    reply.field(name).map(|value| String::from_utf8_lossy(&value).to_lowercase())
}

/// What of an answer forbids a cache to hold it.
fn forbids(reply: &Reply) -> Option<String> {
    if reply.status != 200 {
        return Some(format!("status {}", reply.status));
    }
    if reply.field("set-cookie").is_some() {
        return Some("it sets a cookie".to_owned());
    }
    let control = text(reply, "cache-control").unwrap_or_default();
    let word = |word: &str| control.split([',', ' ', '=']).any(|part| part.trim() == word);
    if let Some(forbidden) = ["private", "no-store", "no-cache"].into_iter().find(|one| word(one)) {
        return Some(format!("its Cache-Control says {forbidden}"));
    }
    if own_seconds(reply) == Some(0) {
        return Some("its Cache-Control says max-age=0".to_owned());
    }
    if let Some(expires) = text(reply, "expires").filter(|_| own_seconds(reply).is_none()) {
        return Some(format!("it has an Expires of its own: {expires}"));
    }
    if text(reply, "pragma").is_some_and(|pragma| pragma.contains("no-cache")) {
        return Some("its Pragma says no-cache".to_owned());
    }
    // Visitors with cookies, and scripts of other sites, get none of it.
    let is_bypassed = |field: &String| matches!(field.as_str(), "accept-encoding" | "cookie" | "origin");
    let other = vary(reply).into_iter().find(|field| !is_bypassed(field));
    other.map(|field| format!("it says Vary: {field}"))
}

/// The request's fields in its `Vary`.
fn vary(reply: &Reply) -> Vec<String> {
    let fields = text(reply, "vary").unwrap_or_default();
    fields.split(',').map(str::trim).filter(|field| !field.is_empty()).map(str::to_owned).collect()
}

/// Seconds for which it says that a shared cache may hold it.
fn own_seconds(reply: &Reply) -> Option<u64> {
    let control = text(reply, "cache-control")?;
    let of = |name: &str| {
        let part = control.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))?;
        part.trim_matches('"').parse().ok()
    };
    of("s-maxage").or_else(|| of("max-age"))
}
