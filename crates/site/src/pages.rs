//! The site's own pages: the front page, those that a log names most, and some that it links to, fetched as a visitor would, with what they load. What is fetched is
//! bounded in number, size and time; only hosts that may be asked are asked.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use url::{Position, Url};
use weigh_load::fault::HttpFault;
use weigh_load::target::{Location, Resolver, permit};

use super::budget::Budget;
use super::error_page;
use super::followed::{is_followed, is_harmless};
use super::links;
use super::local::{resolve_target, site_path};
use super::named::{FRONT, Named};
use super::page_head::{PageHead, media_type};
use super::page_loads::RecordedPages;
use super::served::Served;
use super::traffic::LoggedPage;
use weigh_model::text::clean;
use weigh_model::units;
use weigh_rig::http::{self, KeptConnection, Peer, Reply};
use weigh_run::lab::Progress;

/// Pages that are fetched, unless more are given; where a log names pages, and where none does.
const MOST_LOGGED: usize = 12;
pub(super) const MOST_PAGES: usize = 6;
/// Assets that are fetched where there is no document root, and their bytes together.
const MOST_ASSETS: (usize, usize) = (60, 64 << 20);
/// How often a page is requested over a connection that is kept; its time is the median.
const TIMES: usize = 5;
/// How long all of it may take, and how many requests, or files that are read, and bytes with those of links.
const PATIENCE: Duration = Duration::from_secs(60);
const MOST: (usize, usize) = (2000, 128 << 20);
/// What a link takes beside its text.
const LINK: usize = 200;
/// The longest style sheet that is searched for links, and the longest page of a document root.
const LONGEST: u64 = 4 << 20;
/// How often the front page of a private instance may lead elsewhere.
const MOST_HOPS: usize = 3;
/// What to do about an application that does not run in a private instance.
pub const RUNNING: &str = "give --url of the running site";
/// Content codings that browsers accept.
pub(super) const ACCEPT: &str = "gzip, deflate, br, zstd";

/// A page as it was fetched.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its path below the site's root.
    pub path: String,
    /// Its URL from the first slash on, as that of a [`LoggedPage`].
    pub url: String,
    pub format: String,
    /// Its bytes without a content coding.
    pub body: Vec<u8>,
    /// Median milliseconds from the begin of a request on an open connection to the first byte.
    pub made_ms: f64,
}

#[derive(Clone, Debug, Default)]
pub struct Visited {
    pub pages: Vec<Page>,
    /// Paths with query strings that were given or that pages link to: those of a log may be of a person, and are written nowhere.
    pub public: HashSet<String>,
    /// Loads per page view, by path below the site's root: of assets, and of pages that are files.
    pub loads: HashMap<String, f64>,
    /// Assets that were fetched, because there is no document root.
    pub fetched: BTreeMap<String, Vec<u8>>,
    /// How a page was sent to a browser.
    pub page_head: Option<PageHead>,
    /// Whether the pages come over TLS; none: nothing was fetched.
    pub tls: Option<bool>,
    /// The server of a private instance that made the pages.
    pub server: Option<String>,
    /// Why there are no pages, where some were asked for: what was answered in place of the first.
    pub problem: Option<String>,
    /// Loads of the pages in a browser, where they are made in a private instance.
    pub recorded: RecordedPages,
}

pub struct Visitor<'a> {
    pub urls: &'a [String],
    /// Hosts that are not this machine and may be asked.
    pub allowed: &'a [String],
    /// The document root with the folders beside it.
    pub served: Option<&'a Served>,
    /// The private instance that makes the pages; none: they are requested where their URLs lead.
    pub instance: Option<Peer<'a>>,
    /// Pages that a log names, the most requested first: they stand for others before pages that are linked.
    pub logged: &'a [LoggedPage],
}

/// A look at pages while it goes on.
struct Tour<'a> {
    visitor: &'a Visitor<'a>,
    resolver: Resolver,
    budget: Budget,
    progress: &'a mut dyn Progress,
    loads: Vec<HashSet<Url>>,
    sheets: HashMap<Url, Vec<Url>>,
    /// Pages that are none of the site, or were not answered as a log says.
    problems: Vec<String>,
    visited: Visited,
}

impl Visitor<'_> {
    /// Looks at the pages; without URLs, at those of the document root.
    ///
    /// # Errors
    /// One line: a URL that cannot or may not be requested.
    pub fn look(&self, progress: &mut dyn Progress) -> Result<Visited> {
        let mut tour = self.tour(progress);
        if self.urls.is_empty() {
            tour.of_docroot()
        } else {
            tour.of_urls()?
        }
        tour.count();
        Ok(tour.visited)
    }

    /// How the running site sends its first page, and a file that pages load; replaces what a private instance sent.
    ///
    /// # Errors
    /// One line: a URL that cannot or may not be requested.
    pub fn look_at_running(&self, visited: &mut Visited, progress: &mut dyn Progress) -> Result<()> {
        let tour = self.tour(progress);
        let first = parse(self.urls.first().context("no URL")?)?;
        let reply = tour.request(&first, ACCEPT).with_context(|| tour.flag())?;
        if reply.status != 200 {
            let (flag, named) = (tour.flag(), tour.named(&first));
            bail!("{flag} {named}: status {}; give a URL that answers with 200", reply.status);
        }
        visited.page_head = Some(PageHead::of(&reply));
        visited.tls = Some(first.scheme() == "https");
        Ok(())
    }

    fn tour<'a>(&'a self, progress: &'a mut dyn Progress) -> Tour<'a> {
        Tour {
            visitor: self,
            resolver: Resolver::default(),
            budget: Budget::new(PATIENCE, MOST.0, MOST.1),
            progress,
            loads: Vec::new(),
            sheets: HashMap::new(),
            problems: Vec::new(),
            visited: Visited::default(),
        }
    }
}

impl Tour<'_> {
    /// The given pages, those that a log names, then those that they link to.
    fn of_urls(&mut self) -> Result<()> {
        let mut given: Vec<Url> = self.visitor.urls.iter().map(|url| parse(url)).collect::<Result<_>>()?;
        if self.visitor.instance.is_some() {
            given.iter_mut().for_each(|url| self.enter(url));
        }
        let mut queue: VecDeque<Url> = given.iter().cloned().collect();
        let mut known: HashSet<Url> = given.iter().cloned().collect();
        let logged: Vec<Url> = given.first().map(|first| self.logged(first)).unwrap_or_default();
        let most = if logged.is_empty() { MOST_PAGES } else { MOST_LOGGED }.max(given.len());
        queue.extend(logged.iter().filter(|url| known.insert((*url).clone())).take(most).cloned());
        // The front page of a private instance was not asked for by its address.
        let is_needed =
            |url: &Url| given.contains(url) && (self.visitor.instance.is_none() || logged.is_empty());
        let (mut looked, mut first, mut broken) = (0, None, Vec::new());
        while let Some(url) = queue.pop_front() {
            let is_given = given.contains(&url);
            if looked >= most || self.budget.is_spent() && !is_given {
                break;
            }
            self.progress.doing(&format!("requesting {}", self.named(&url)));
            let page = match self.page(&url) {
                Ok(page) => page,
                Err(error) if is_needed(&url) => bail!("{} {error:#}", self.flag()),
                Err(error) if is_given || logged.contains(&url) => {
                    self.problems.push(format!("{} {error:#}", self.flag()));
                    continue;
                }
                Err(error) => {
                    broken.push(format!("{error:#}"));
                    continue;
                }
            };
            if let Some(problem) = self.is_other(&page, &url) {
                self.problems.push(problem);
                continue;
            }
            let links = links::of_page(&page.body, &url);
            let mut loads = self.with_style_sheets(links.assets);
            let file = self.static_file(&page);
            if let Some(file) = &file {
                loads.insert(at(&url, file));
            }
            self.loads.push(loads);
            let public = links.pages.iter().filter(|next| next.query().is_some() && is_harmless(next, &url));
            let whole = |next: &Url| next[Position::BeforePath..Position::AfterQuery].to_owned();
            self.visited.public.extend(public.map(whole));
            for next in links.pages {
                if is_followed(&next, &url) && known.len() < most * 4 && known.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
            looked += 1;
            if file.is_none() {
                first.get_or_insert(url);
                self.visited.pages.push(page);
            }
        }
        if let Some(problem) = broken.first() {
            let more =
                if broken.len() > 1 { format!(" (and {} more)", broken.len() - 1) } else { String::new() };
            self.progress.note(&format!("left out a linked page: {problem}{more}"));
        }
        self.visited.tls = given.first().map(|url| url.scheme() == "https");
        self.visited.page_head =
            first.and_then(|url| self.sent(&url, ACCEPT)).map(|reply| PageHead::of(&reply));
        if self.visitor.served.is_none() {
            self.fetch_assets();
        }
        self.tell_problems();
        Ok(())
    }

    /// Says what was left out; where that is all pages, the first reason is kept for the end.
    fn tell_problems(&mut self) {
        let mut problems = std::mem::take(&mut self.problems).into_iter();
        if self.visited.pages.is_empty() {
            self.visited.problem = problems.next();
        }
        problems.for_each(|problem| self.progress.note(&format!("left out a page: {problem}")));
    }

    /// Pages that a log names, on the host of a URL. Those whose names say that they do something are not requested.
    fn logged(&self, first: &Url) -> Vec<Url> {
        let urls = self.visitor.logged.iter().map(|page| resolve_target(first, &page.url));
        urls.filter(|url| is_harmless(url, first)).collect()
    }

    /// Why a page is none of the site, where its signs or its size say so: what, and what to do.
    fn is_other(&self, page: &Page, url: &Url) -> Option<String> {
        let (flag, named) = (self.flag(), self.named(url));
        let what = match error_page::sign(&page.body, page.format == "text/html") {
            Some(sign) => sign,
            None => {
                let logged = self.visitor.logged.iter().find(|logged| logged.url == page.url)?;
                let logged = logged.hits.bytes / logged.hits.requests;
                let is_other = error_page::is_too_small(page.body.len(), logged);
                let bytes = |bytes: f64| units::bytes(bytes as u64);
                is_other.then(|| {
                    let (here, there) = (bytes(page.body.len() as f64), bytes(logged));
                    format!("{here} where the log has {there} per response: an error page, or another site")
                })?
            }
        };
        let remedy =
            if self.visitor.instance.is_some() { RUNNING } else { "give the URL of a page that works" };
        Some(format!("{flag} {named}: it answers with {what}; {remedy}"))
    }

    /// The file of the document root that a page is, if no application makes it.
    fn static_file(&self, page: &Page) -> Option<String> {
        let served = self.visitor.served?;
        let named = Named::of(&page.path, Some(served));
        let is_file = !named.is_page && served.locate(&named.name).is_some_and(|file| file.is_file());
        is_file.then_some(named.name)
    }

    /// What pages are asked for by.
    fn flag(&self) -> &'static str {
        if self.visitor.instance.is_some() { "--render" } else { "--url" }
    }

    /// A URL in messages: of a private instance, whose host is nobody's, its path; a query string only where the user gave it.
    fn named(&self, url: &Url) -> String {
        let is_given = || self.visitor.urls.iter().any(|given| parse(given).is_ok_and(|given| given == *url));
        match self.visitor.instance {
            Some(_) => clean(url.path()),
            None if is_given() => clean(url.as_str()),
            None => clean(&url[..Position::AfterPath]),
        }
    }

    /// Requests a URL once; its host has to be one that may be asked.
    fn request(&self, url: &Url, accept: &str) -> Result<Reply> {
        self.with_peer(url, |peer, location| http::get_from(peer, location, accept))
    }

    /// Does something with who is asked for a URL. The host has to be one that may be asked.
    fn with_peer<T>(
        &self,
        url: &Url,
        work: impl FnOnce(Peer<'_>, &Location) -> Result<T, HttpFault>,
    ) -> Result<T> {
        self.budget.request();
        let done = match self.visitor.instance {
            Some(_) if !self.is_own(url) => bail!("{}: of another host", clean(url.as_str())),
            Some(peer) => work(peer, &Location::parse(url.as_str())?),
            None => {
                let target = self.resolver.target(url.as_str())?;
                permit(&target, self.visitor.allowed)?;
                http::peer_of(&target).and_then(|peer| work(peer, &target.location))
            }
        };
        done.map_err(|fault| anyhow!("{}: {}", self.named(url), fault.message))
    }

    /// Follows where the front page of a private instance leads within its site, such as to a language; not to what sets it up.
    fn enter(&self, front: &mut Url) {
        for _ in 0..MOST_HOPS {
            let Ok(reply) = self.request(front, "identity") else { return };
            let to = reply.field("location").and_then(|to| String::from_utf8(to).ok());
            let Some(next) = to.and_then(|to| front.join(&to).ok()) else { return };
            if !(300..400).contains(&reply.status) || !is_followed(&next, front) {
                return;
            }
            *front = next;
        }
    }

    /// Requests a page some times, over one connection where its server keeps it.
    fn page(&self, url: &Url) -> Result<Page> {
        let (reply, mut times) = self.with_peer(url, |peer, location| {
            let mut kept = KeptConnection::new(peer);
            let reply = kept.get(location, "identity")?;
            let mut times = vec![reply.first_byte];
            while reply.status == 200 && times.len() < TIMES && !self.budget.is_spent() {
                times.push(kept.get(location, "identity")?.first_byte);
            }
            Ok((reply, times))
        })?;
        let named = self.named(url);
        let remedy = |of_url| if self.visitor.instance.is_some() { RUNNING } else { of_url };
        match (reply.status, reply.shown_field("location")) {
            (200, _) => {}
            (status @ 300..=399, Some(to)) => {
                bail!("{named}: status {status}, it leads to {to}; {}", remedy("give that"))
            }
            (status, _) => bail!("{named}: status {status}; {}", remedy("give a URL that answers with 200")),
        }
        if reply.body.is_empty() {
            bail!("{named}: a response without a body; {}", remedy("give a page"));
        }
        let format = media_type(&reply).unwrap_or_else(|| "text/html".into());
        times.sort();
        let made_ms = times[times.len() / 2].as_secs_f64() * 1e3;
        let body = reply.decoded().with_context(|| named.clone())?;
        let path = site_path(url).unwrap_or_default();
        let of_log = self.visitor.logged.iter().find(|one| resolve_target(url, &one.url) == *url);
        let own = of_log.map_or_else(|| url[Position::BeforePath..].to_owned(), |one| one.url.clone());
        Ok(Page { path, url: own, format, body, made_ms: (made_ms * 100.0).round() / 100.0 })
    }

    /// What a URL is answered with, if the status is 200.
    fn sent(&self, url: &Url, accept: &str) -> Option<Reply> {
        self.request(url, accept).ok().filter(|reply| reply.status == 200)
    }

    /// Assets of the page's own host, with what their style sheets load.
    fn with_style_sheets(&mut self, assets: Vec<Url>) -> HashSet<Url> {
        let mut queue: VecDeque<Url> = assets.into();
        let mut all = HashSet::new();
        while let Some(url) = queue.pop_front() {
            if all.contains(&url) {
                continue;
            }
            if url.path().ends_with(".css") {
                let inside = self.style_sheet(&url);
                queue.extend(inside.into_iter().filter(|inner| inner.origin() == url.origin()));
            }
            all.insert(url);
        }
        all
    }

    fn style_sheet(&mut self, url: &Url) -> Vec<Url> {
        if self.budget.is_spent() {
            return Vec::new();
        }
        let found = match self.sheets.get(url) {
            Some(known) => known.clone(),
            None => self.bytes(url).map(|css| links::of_style_sheet(&css, url)).unwrap_or_default(),
        };
        // They are kept here, and with each page that loads them.
        self.budget.take(found.iter().map(|link| link.as_str().len() + LINK).sum());
        self.sheets.entry(url.clone()).or_insert_with(|| found.clone());
        found
    }

    /// What an asset holds: the file of the document root, else what its host sends.
    fn bytes(&self, url: &Url) -> Option<Vec<u8>> {
        if self.budget.is_spent() {
            return None;
        }
        let bytes = match self.visitor.served {
            Some(served) => {
                self.budget.request();
                served.read(&site_path(url)?, LONGEST).ok()
            }
            None if !self.is_own(url) => None,
            None => self.sent(url, "identity")?.decoded().ok(),
        }?;
        self.budget.take(bytes.len());
        Some(bytes)
    }

    /// Whether it is of the host of the first page.
    fn is_own(&self, url: &Url) -> bool {
        match self.visitor.urls.first() {
            Some(first) => parse(first).is_ok_and(|first| first.origin() == url.origin()),
            None => url.host_str() == Some(NOWHERE),
        }
    }

    /// Fetches what the pages load.
    fn fetch_assets(&mut self) {
        let mut urls: Vec<Url> =
            self.loads.iter().flatten().filter(|url| self.is_own(url)).cloned().collect();
        urls.sort();
        urls.dedup();
        let mut left = MOST_ASSETS.1;
        for url in urls.iter().take(MOST_ASSETS.0) {
            let Some(path) = site_path(url) else { continue };
            self.progress.doing(&format!("requesting {url}"));
            let Some(body) = self.bytes(url).filter(|body| body.len() <= left) else {
                self.progress
                    .note(&format!("left out {}: it is not sent, or not in time", clean(url.as_str())));
                continue;
            };
            left -= body.len();
            self.visited.fetched.insert(path, body);
        }
        let more = urls.len().saturating_sub(MOST_ASSETS.0);
        if more > 0 {
            self.progress.note(&format!(
                "left out {more} further assets of the pages; give --docroot to count all files"
            ));
        }
    }

    /// The front page of the document root, and pages that it links to.
    fn of_docroot(&mut self) {
        let Some(served) = self.visitor.served else { return };
        let is_file = |name: &&str| served.locate(name).is_some_and(|file| file.is_file());
        let front = FRONT.into_iter().find(is_file);
        let Some(Ok(front)) = front.map(|name| Url::parse(&format!("http://{NOWHERE}/{name}"))) else {
            return;
        };
        let (mut queue, mut known) = (VecDeque::from([front.clone()]), HashSet::from([front]));
        while let Some(url) = queue.pop_front().filter(|_| self.loads.len() < MOST_PAGES) {
            let Some(body) = self.bytes(&url) else { continue };
            let links = links::of_page(&body, &url);
            let mut loads = self.with_style_sheets(links.assets);
            loads.insert(url.clone());
            self.loads.push(loads);
            let is_file = |next: &Url| next.path().ends_with(".html") || next.path().ends_with(".htm");
            for next in links.pages {
                if is_file(&next) && is_followed(&next, &url) && known.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
        }
    }

    /// Loads per page view: each page is viewed as often as another.
    fn count(&mut self) {
        let each = 1.0 / self.loads.len().max(1) as f64;
        let own = self.loads.iter().flatten().filter(|url| self.is_own(url));
        let paths: Vec<String> = own.filter_map(site_path).collect();
        for path in paths {
            *self.visited.loads.entry(path).or_default() += each;
        }
    }
}

/// The host of pages that are files.
const NOWHERE: &str = "docroot.invalid";

fn parse(url: &str) -> Result<Url> {
    Location::parse(url)?;
    Url::parse(url.trim()).with_context(|| format!("--url {}", clean(url)))
}

/// A path below the root of a URL's host.
fn at(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(path);
    url.set_query(None);
    url
}

#[cfg(test)]
mod tests;
