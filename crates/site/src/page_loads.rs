//! Loads of the site's pages in a real browser, as graphs: of a running site through a door, of a private instance in its own network. The browser
//! reaches nobody else: what pages load from other hosts is left out.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use url::{Position, Url};

use super::local::resolve_target;
use super::recorder;
use weigh_answer::compare::Change;
use weigh_answer::compare::page_loads::{CODING_OF, LoadFigures, PairedLoads};
use weigh_answer::load_view::{PicturedLoad, PicturedRequest};
use weigh_answer::policy::Weighted;
use weigh_load::target::{Resolver, permit};
use weigh_model::link::{LinkSpec, Way};
use weigh_model::page::{PageGraph, Protocol};
use weigh_model::text::clean;
use weigh_os::interrupt::Interrupt;
use weigh_os::network::Network;
use weigh_rig::browser::{self, Browser, BrowserSpec, LoadLimits, RecordedLoad, RecordedRequest, Relay};
use weigh_rig::http;
use weigh_rig::link::{Link, Making};
use weigh_run::lab::Progress;
use weigh_stats::ROUNDS;

/// Pages that are loaded, and how often each.
const MOST_PAGES: usize = 6;
const TIMES: usize = 3;
/// What a link needs for some rounds of three loads, in seconds.
const LEAST_SECONDS: f64 = 40.0;
/// How many times its seconds a link may have until there are rounds enough for a verdict: a busy machine loads pages slowly.
const LONGEST: f64 = 6.0;
/// Rounds of three loads, and changes that are told.
const MOST_ROUNDS: usize = 500;
const MOST_CHANGES: usize = 10;
/// The page of each browser: the first one has two, and what differs between these is no difference of pages.
const SIDES: [usize; 3] = [0, 1, 0];
/// How long a load may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A page's path with its graph.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedPage {
    /// Its URL from the first slash on, without its query.
    pub path: String,
    pub graph: PageGraph,
}

/// The graphs of pages, and what is to be said of those without one.
#[derive(Clone, Debug, Default)]
pub struct RecordedPages {
    pub pages: Vec<RecordedPage>,
    pub notes: Vec<String>,
}

impl RecordedPages {
    /// None, for this reason.
    pub fn without(error: &anyhow::Error) -> RecordedPages {
        let notes = vec![format!("--browser: {error:#}; loads of pages are left out")];
        RecordedPages { pages: Vec::new(), notes }
    }
}

/// Loads pages of a running site, given by their paths, the site by the URL of one page. The browser is in a network of its own.
///
/// # Errors
/// One line: there is no browser or no network for it, or the site may not be asked.
pub fn of_running(site: &str, paths: &[String], allowed: &[String]) -> Result<RecordedPages> {
    browser::program()?;
    let target = Resolver::default().target(site)?;
    permit(&target, allowed)?;
    let peer = http::peer_of(&target).map_err(|fault| anyhow!("{}", fault.message))?;
    let inside = Network::private().context("a browser needs a network of its own")?;
    let relay = Relay::start(inside.try_clone()?, Ipv4Addr::LOCALHOST, peer.address)?;
    let base = Url::parse(site.trim()).context("the page's URL")?;
    inside.within(|| record(&base, relay.address(), false, paths))?
}

/// Loads pages of a server at this address in the network of this thread, given by their paths. `any_certificate`: it is a private instance.
///
/// # Errors
/// One line: there is no browser, or it does not start.
pub fn record(
    base: &Url,
    address: SocketAddr,
    any_certificate: bool,
    paths: &[String],
) -> Result<RecordedPages> {
    let spec = BrowserSpec { hosts: vec![(host(base)?, address)], any_certificate, ..BrowserSpec::default() };
    let mut browser = Browser::start(&spec)?;
    let limits = LoadLimits { patience: PATIENCE, ..LoadLimits::default() };
    let mut recorded = RecordedPages::default();
    for path in paths.iter().take(MOST_PAGES) {
        let url = resolve_target(base, path);
        let named = clean(&url[Position::BeforePath..Position::AfterPath]);
        match page(&mut browser, &url, &limits) {
            Ok(graph) => recorded.pages.push(RecordedPage { path: named, graph }),
            Err(error) => {
                recorded.notes.push(format!("--browser {named}: {error:#}"));
                // After a page that hangs, a new one for the next.
                drop(browser);
                browser = Browser::start(&spec)?;
            }
        }
    }
    Ok(recorded)
}

/// The graph of a page from some loads of it.
fn page(browser: &mut Browser, url: &Url, limits: &LoadLimits) -> Result<PageGraph> {
    let mut loads = Vec::new();
    // The first load of a browser is of one that has just started.
    browser.load(url.as_str(), limits)?;
    for _ in 0..TIMES {
        loads.push(browser.load(url.as_str(), limits)?);
    }
    recorder::graph(&loads)
}

/// Of links with their shares of visitors, those that loads of pages get this many seconds for: the most used, as many as have time for some rounds.
pub fn most_used(links: &[Weighted], seconds: f64) -> Vec<LinkSpec> {
    let mut links: Vec<&Weighted> = links.iter().collect();
    links.sort_by(|a, b| b.1.total_cmp(&a.1));
    let count = ((seconds / LEAST_SECONDS) as usize).max(1);
    links.into_iter().take(count).map(|(link, _)| link.clone()).collect()
}

/// Two running pages whose loads are compared.
#[derive(Clone, Debug)]
pub struct PairedPages<'a> {
    /// Their URLs: A, B.
    pub urls: [&'a str; 2],
    /// The links between the browser and both, one after the other.
    pub links: &'a [LinkSpec],
    /// Remote hosts that may be asked.
    pub allowed: &'a [String],
    /// The only protocol of each browser: A's, B's; none: what browsers do by default.
    pub protocols: [Option<Protocol>; 2],
    /// Seconds of measuring, over all links alike.
    pub seconds: f64,
    pub seed: u64,
}

/// A page with the address that answers for it, in this network; none: in that of the thread.
pub(crate) struct Page {
    pub url: Url,
    pub protocol: Option<Protocol>,
    pub peer: SocketAddr,
    pub network: Option<Network>,
}

impl PairedPages<'_> {
    /// Loads both in turn, over each link.
    ///
    /// # Errors
    /// One line: there is no browser, link or answer; a load that did not end or painted nothing; an interruption.
    pub fn load(&self, progress: &mut dyn Progress) -> Result<Vec<PairedLoads>> {
        let pages = [self.page(0)?, self.page(1)?];
        let PairedPages { links, seconds, seed, .. } = *self;
        // Where only this machine answers, its certificate may be its own.
        let any_certificate = pages.iter().all(|page| page.peer.ip().is_loopback());
        let loads = PageLoads { pages: &pages, links, any_certificate, seconds, seed };
        Interrupt::during(|interrupt| loads.measure(interrupt, progress))?
    }

    fn page(&self, side: usize) -> Result<Page> {
        let url = self.urls[side];
        let target = Resolver::default().target(url)?;
        permit(&target, self.allowed)?;
        let peer = http::peer_of(&target).map_err(|fault| anyhow!("{}", fault.message))?;
        let url = Url::parse(url.trim()).context("the page's URL")?;
        Ok(Page { url, protocol: self.protocols[side], peer: peer.address, network: None })
    }
}

impl Page {
    /// The key of its certificate.
    fn key(&self) -> Result<String> {
        let of_page = || http::key_of(self.peer, self.url.host_str().unwrap_or_default());
        match &self.network {
            Some(network) => network.within(of_page)?,
            None => of_page(),
        }
    }

    /// Checks that a load went by the protocol that is asked for.
    fn speaks(&self, load: &RecordedLoad) -> Result<()> {
        let Some(asked) = self.protocol else { return Ok(()) };
        let spoken = load.requests.first().map(|document| document.protocol.as_str()).unwrap_or_default();
        ensure!(
            recorder::protocol(spoken) == Some(asked),
            "{}: it does not speak {}, but {spoken}; leave out --http",
            clean(self.url.as_str()),
            asked.name()
        );
        Ok(())
    }
}

/// Loads of two pages over links, one after the other.
pub(crate) struct PageLoads<'a> {
    pub pages: &'a [Page; 2],
    pub links: &'a [LinkSpec],
    /// Whether they are of private instances.
    pub any_certificate: bool,
    /// Over all links alike.
    pub seconds: f64,
    pub seed: u64,
}

impl PageLoads<'_> {
    /// Loads both in turn, the first one twice, in random order in each round, each load in an empty profile. Each of the three has a browser of its own
    /// at the near end of the link, in a network that leads nowhere else.
    pub fn measure(&self, interrupt: &Interrupt, progress: &mut dyn Progress) -> Result<Vec<PairedLoads>> {
        browser::program()?;
        self.links.iter().map(|link| self.over(link, interrupt, progress)).collect()
    }

    fn over(
        &self,
        spec: &LinkSpec,
        interrupt: &Interrupt,
        progress: &mut dyn Progress,
    ) -> Result<PairedLoads> {
        progress.doing(&format!("making the link {}", spec.name));
        let making = Making { private: true, seed: self.seed, ..Making::default() };
        let link = Link::make_with(spec, &making)?;
        ensure!(
            matches!(link.way(), Way::Netem | Way::Tun | Way::Loopback),
            "no link for a browser can be made here: {}",
            link.measured().passed_over.join("; ")
        );
        let (mut relays, mut browsers) = (Vec::new(), Vec::new());
        for side in SIDES {
            let page = &self.pages[side];
            let (far, address) = (link.far().try_clone()?, link.far_address());
            let start = || Relay::start(far, address, page.peer);
            let relay = match &page.network {
                Some(network) => network.within(start)??,
                None => start()?,
            };
            let hosts = vec![(host(&page.url)?, link.reach(relay.address().port())?)];
            let (any_certificate, protocol) = (self.any_certificate, page.protocol);
            let key =
                (any_certificate && protocol == Some(Protocol::Http3)).then(|| page.key()).transpose()?;
            let spec = BrowserSpec { hosts, any_certificate, protocol, key, ..BrowserSpec::default() };
            browsers.push(link.near().within(|| Browser::start(&spec))??);
            relays.push(relay);
        }
        self.rounds(spec, &mut browsers, interrupt, progress)
    }

    fn rounds(
        &self,
        link: &LinkSpec,
        browsers: &mut [Browser],
        interrupt: &Interrupt,
        progress: &mut dyn Progress,
    ) -> Result<PairedLoads> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let limits = LoadLimits::default();
        // The first load of a browser is of one that has just started; pictures are taken of loads that do not count.
        let pictured = LoadLimits { picture: true, ..limits };
        let mut first = Vec::new();
        for (browser, side) in browsers.iter_mut().zip(SIDES) {
            let url = self.pages[side].url.as_str();
            browser.load(url, &limits)?;
            if first.len() < self.pages.len() {
                let load = browser.load(url, &pictured)?;
                self.pages[side].speaks(&load)?;
                first.push(load);
            }
        }
        let (begun, seconds) = (Instant::now(), self.seconds / self.links.len() as f64);
        let (mut rounds, mut again) = (Vec::new(), Vec::new());
        let mut load = |number: usize| {
            let load = browsers[number].load(self.pages[SIDES[number]].url.as_str(), &limits);
            interrupt.ended(load.and_then(|load| figures_of(&load)))
        };
        let mut order = [0, 1, 2];
        let is_over = |rounds: usize| {
            let spent = begun.elapsed().as_secs_f64();
            rounds >= MOST_ROUNDS || spent >= seconds * if rounds > ROUNDS { 1.0 } else { LONGEST }
        };
        while !is_over(rounds.len()) {
            let left = (seconds - begun.elapsed().as_secs_f64()).max(0.0);
            progress.doing(&format!(
                "{left:.0} s left over {}: round {} of loads",
                link.name,
                rounds.len() + 1
            ));
            order.shuffle(&mut random);
            let mut round = [None; SIDES.len()];
            for number in order {
                round[number] = Some(load(number)?);
            }
            if let [Some(a), Some(b), Some(once_more)] = round {
                rounds.push([a, b]);
                again.push(once_more);
            }
        }
        let page = clean(&self.pages[0].url[Position::BeforePath..Position::AfterPath]);
        let link = link.name.clone();
        let changes = changes([&first[0], &first[1]]);
        let pictured = Some([view(&first[0])?, view(&first[1])?]);
        let seconds = begun.elapsed().as_secs_f64();
        Ok(PairedLoads { page, link, rounds, again, pictured, changes, seconds })
    }
}

/// A host with its port, as a browser asks for it.
fn host(url: &Url) -> Result<String> {
    let host = url.host_str().context("the page's URL has no host")?;
    Ok(format!("{host}:{}", url.port_or_known_default().context("the page's URL has no port")?))
}

fn figures_of(load: &RecordedLoad) -> Result<LoadFigures> {
    let painted = load.painted()?;
    let answered = || load.requests.iter().filter(|request| request.timing.is_some() && !request.from_cache);
    Ok(LoadFigures {
        lcp: painted.lcp_ms / 1e3,
        fcp: painted.fcp_ms / 1e3,
        load: painted.load_ms / 1e3,
        bytes: answered().map(|request| request.head_bytes + request.body_bytes).sum(),
        requests: answered().count() as f64,
    })
}

/// What is shown of a load.
fn view(load: &RecordedLoad) -> Result<PicturedLoad> {
    let painted = load.painted()?;
    let request = |request: &RecordedRequest| {
        let (timing, done_ms) = request.timing.zip(request.done_ms)?;
        Some(PicturedRequest {
            path: format!("/{}", request.url.splitn(4, '/').nth(3).unwrap_or_default()),
            coding: request.coding.clone(),
            bytes: request.head_bytes + request.body_bytes,
            wanted_ms: request.wanted_ms,
            first_byte_ms: timing.first_byte_ms,
            done_ms,
        })
    };
    Ok(PicturedLoad {
        fcp_ms: painted.fcp_ms,
        lcp_ms: painted.lcp_ms,
        load_ms: painted.load_ms,
        requests: load.requests.iter().filter_map(request).collect(),
        frames: load.frames.iter().map(|frame| (frame.at_ms, frame.jpeg.clone())).collect(),
    })
}

/// What two loads did not have alike: the picture, what failed, and content codings of what both have.
fn changes([a, b]: [&RecordedLoad; 2]) -> Vec<Change> {
    let change = |what: String, a: String, b: String| Change { what, a, b, forbids: false };
    let mut all = Vec::new();
    if a.picture != b.picture {
        let picture = |load: &RecordedLoad| {
            let digest = load.picture.as_deref().unwrap_or_default();
            format!("SHA-256 {}", digest.get(..8).unwrap_or_default())
        };
        all.push(change("the picture".into(), picture(a), picture(b)));
    }
    let failed = |load: &RecordedLoad| {
        load.requests.iter().filter(|request| request.failed || request.status >= 400).count()
    };
    if failed(a) != failed(b) {
        all.push(change(
            "the number of failed requests".into(),
            failed(a).to_string(),
            failed(b).to_string(),
        ));
    }
    let path = |request: &RecordedRequest| request.url.splitn(4, '/').nth(3).unwrap_or_default().to_owned();
    let coded: HashMap<String, &str> =
        a.requests.iter().map(|request| (path(request), request.coding.as_str())).collect();
    let other = |request: &&RecordedRequest| {
        coded.get(&path(request)).is_some_and(|coding| *coding != request.coding)
    };
    let others = b.requests.iter().filter(other).take(MOST_CHANGES);
    all.extend(others.map(|request| {
        let path = path(request);
        let before = coded[&path].to_owned();
        change(format!("{CODING_OF}/{path}"), before, request.coding.clone())
    }));
    all
}
