//! How long visitors wait for pages, where pages were loaded in a browser: until the moment of a load that counts, over the links of the site's visitors,
//! by what is sent of each stratum.
//!
//! A load is no sum over responses. What a stratum of assets adds to one is what the load takes beyond one in which its bodies are empty; the document
//! has the rest. So parts add up to the load as it is today, and what another setup of one stratum changes is what a simulation says. Where two strata
//! change, what they change together is taken for the sum; [`loads`] simulates both at once.

use std::collections::{BTreeMap, BTreeSet};

use weigh_model::page::{LoadSetup, Moment, PageGraph, Resource, ResourceKind, Visit, simulate};
use weigh_model::policy::{LoadChange, Policy};
use weigh_model::site::{Kind, LoadedPage, Site, Stratum};
use weigh_model::units;

use super::wait::Weighted;

/// Parts of a body for which loads are simulated; between them times are taken for a line, so that no packet alone decides.
const PARTS: [f64; 6] = [0.0, 0.1, 0.2, 0.35, 0.6, 1.0];
/// The type of pages that browsers show.
const SHOWN: &str = "text/html";

/// The moment of a load in seconds, by the part of a body that is sent, at each of [`PARTS`].
type Curve = [f64; PARTS.len()];

/// How long visitors wait for pages.
#[derive(Clone, Debug)]
pub(crate) struct PageWaits {
    moment: Moment,
    pages: Vec<Page>,
}

#[derive(Clone, Debug)]
struct Page {
    name: String,
    graph: PageGraph,
    share: f64,
    /// The stratum of the document, and of each resource, by its number in the site; none: it is of no stratum.
    document: Option<usize>,
    strata: Vec<Option<usize>>,
    /// By link, in the order of the site's.
    over: Vec<OverLink>,
}

/// Seconds of loads over a link.
#[derive(Clone, Debug)]
struct OverLink {
    /// By the part of the document that is sent: of a first and a repeated visit.
    first: Curve,
    repeated: Curve,
    /// By stratum of assets: what it adds to a first visit today, and by the part of each of its bodies that is sent.
    assets: BTreeMap<usize, (f64, Curve)>,
}

/// How views of pages are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedViews {
    /// The share of first visits.
    first: f64,
    /// Seconds of a view, on average, that assets have.
    assets: f64,
    /// By stratum of assets: the share of its responses that belong to first visits, over how many of them one has.
    responses: BTreeMap<usize, f64>,
}

/// Between two simulated parts; beyond a whole body as before it.
fn at(curve: &Curve, part: f64) -> f64 {
    let upper = PARTS.iter().position(|one| *one >= part).unwrap_or(PARTS.len() - 1).max(1);
    let (from, to) = (PARTS[upper - 1], PARTS[upper]);
    curve[upper - 1] + (curve[upper] - curve[upper - 1]) * (part - from) / (to - from)
}

/// How loads of a page go over a link.
fn setup<'l>(site: &Site, graph: &PageGraph, link: &'l Weighted, visit: Visit) -> LoadSetup<'l> {
    let (tls, paced) = (site.visitors.tls, site.visitors.paced == Some(true));
    LoadSetup { link: &link.0, protocol: graph.spoken(tls), tls, paced, visit }
}

/// The stratum of a resource: that of the file of its path, else one of its type and size; none: there is none, or its size is not known.
fn stratum_of(site: &Site, resource: &Resource) -> Option<usize> {
    let bytes = resource.plain_bytes?;
    let path = resource.url.splitn(4, '/').nth(3)?.split('?').next()?;
    let (of, format) = match resource.kind {
        ResourceKind::Document => (Kind::Page, SHOWN),
        ResourceKind::Style => (Kind::Asset, "text/css"),
        ResourceKind::Script => (Kind::Asset, "text/javascript"),
        ResourceKind::Font => (Kind::Asset, "font/"),
        ResourceKind::Image => (Kind::Asset, "image/"),
        ResourceKind::Other => return None,
    };
    let strata = || site.strata.iter().enumerate().filter(|(_, one)| one.kind == of);
    let is_named = |one: &Stratum| one.sample.iter().any(|own| own.path.trim_start_matches('/') == path);
    let is_alike = |one: &Stratum| {
        let is_of_size = bytes >= one.from_bytes as f64 && one.to_bytes.is_none_or(|to| bytes < to as f64);
        one.format.starts_with(format) && is_of_size
    };
    let named = strata().find(|(_, one)| is_named(one));
    named.or_else(|| strata().find(|(_, one)| is_alike(one))).map(|(number, _)| number)
}

impl Page {
    /// A load in which of each body of the resources that are meant this part is sent.
    fn load(&self, setup: &LoadSetup, part: f64, is_meant: impl Fn(usize) -> bool, moment: Moment) -> f64 {
        let mut graph = self.graph.clone();
        let meant = graph.resources.iter_mut().enumerate().filter(|(number, _)| is_meant(*number));
        // Of what has no known size the body stays.
        meant.for_each(|(_, one)| one.body_bytes = one.plain_bytes.map_or(one.body_bytes, |all| all * part));
        simulate(&graph, setup).ms(moment) / 1e3
    }

    fn over(&self, site: &Site, link: &Weighted, moment: Moment) -> OverLink {
        let setup = |visit| setup(site, &self.graph, link, visit);
        let (first, repeated) = (setup(Visit::First), setup(Visit::Repeat));
        // More bytes make no load shorter: that a long document leaves a wide window to what comes after it is no reason to send more, and over 4g
        // MediaWiki's main page took 2.9% less with gzip, where that was simulated to take 5.1% more.
        let curve = |setup: &LoadSetup, is_meant: &dyn Fn(usize) -> bool| {
            let mut longest = 0.0_f64;
            PARTS.map(|part| {
                longest = longest.max(self.load(setup, part, is_meant, moment));
                longest
            })
        };
        let today = simulate(&self.graph, &first).ms(moment) / 1e3;
        let strata: BTreeSet<usize> = self.strata.iter().flatten().copied().collect();
        let assets = strata.into_iter().map(|stratum| {
            let curve = curve(&first, &|number| self.strata[number] == Some(stratum));
            (stratum, ((today - curve[0]).max(0.0), curve.map(|seconds| seconds - curve[0])))
        });
        let of_document = |setup: &LoadSetup| curve(setup, &|number| number == 0);
        OverLink { first: of_document(&first), repeated: of_document(&repeated), assets: assets.collect() }
    }

    /// How many resources are of a stratum.
    fn count(&self, stratum: usize) -> f64 {
        self.strata.iter().filter(|own| **own == Some(stratum)).count() as f64
    }
}

impl PageWaits {
    /// Those of a site whose pages were loaded in a browser, until a moment; none: they were not, or nobody asks for pages.
    pub fn new(site: &Site, links: &[Weighted], moment: Moment) -> Option<PageWaits> {
        let knows_made = site.knows_made();
        let curves = |mut page: Page| {
            if knows_made {
                // What making takes is counted beside it.
                page.graph.resources[0].server_ms = 0.0;
            }
            page.over = links.iter().map(|link| page.over(site, link, moment)).collect();
            page
        };
        let pages: Vec<Page> = if views(site) > 0.0 { pages(site).map(curves).collect() } else { Vec::new() };
        (!pages.is_empty()).then_some(PageWaits { moment, pages })
    }

    fn mean(&self, links: &[Weighted], of: impl Fn(&OverLink) -> f64) -> f64 {
        let shares: f64 = self.pages.iter().map(|page| page.share).sum();
        let over =
            |page: &Page| -> f64 { page.over.iter().zip(links).map(|(over, link)| of(over) * link.1).sum() };
        self.pages.iter().map(|page| over(page) * page.share).sum::<f64>() / shares.max(f64::MIN_POSITIVE)
    }

    /// How many responses of a stratum of assets a first visit has, on average.
    fn count(&self, stratum: usize) -> f64 {
        let shares: f64 = self.pages.iter().map(|page| page.share).sum();
        let count = |page: &Page| page.count(stratum) * page.share;
        self.pages.iter().map(count).sum::<f64>() / shares.max(f64::MIN_POSITIVE)
    }

    /// Seconds that visitors wait for a response of a stratum of which this part of the body is sent, on average; none: loads do not tell.
    pub fn seconds(
        &self,
        (site, links, shared): (&Site, &[Weighted], &SharedViews),
        stratum: &Stratum,
        part: f64,
    ) -> Option<f64> {
        let number = site.strata.iter().position(|one| std::ptr::eq(one, stratum))?;
        match stratum.kind {
            Kind::Page if stratum.format == SHOWN => {
                let first = shared.first;
                let of = |over: &OverLink| {
                    first * at(&over.first, part) + (1.0 - first) * at(&over.repeated, part)
                };
                Some(self.mean(links, of) - shared.assets)
            }
            Kind::Asset => {
                let response = shared.responses.get(&number)?;
                let adds =
                    |over: &OverLink| over.assets.get(&number).map_or(0.0, |(_, curve)| at(curve, part));
                Some(self.mean(links, adds) * response)
            }
            _ => None,
        }
    }

    /// How a view is shared between first and repeated visits, and between the document and assets, by the requests for what pages load.
    pub fn shared(&self, site: &Site, links: &[Weighted]) -> SharedViews {
        let (mut needed, mut requested, views) = (0.0, 0.0, views(site));
        let mut shared = SharedViews { first: 1.0, ..SharedViews::default() };
        for (number, stratum) in site.strata.iter().enumerate() {
            let count = self.count(number);
            if stratum.kind != Kind::Asset || count == 0.0 {
                continue;
            }
            let adds = |over: &OverLink| over.assets.get(&number).map_or(0.0, |(today, _)| *today);
            // Responses beyond those that views explain are asked for beside pages, and nobody waits.
            let (all, of_views) = (stratum.requests.value, stratum.requests.value.min(views * count));
            shared.responses.insert(number, of_views / all.max(f64::MIN_POSITIVE) / count);
            shared.assets += of_views * self.mean(links, adds) / count / views;
            needed += views * count;
            requested += of_views;
        }
        if needed > 0.0 {
            shared.first = requested / needed;
        }
        shared
    }

    /// What is counted, in a line.
    pub fn words(&self, site: &Site) -> String {
        let pages = units::count(self.pages.len(), "page", "pages");
        let (what, protocol) = (self.moment.name(), if site.visitors.tls { "HTTP/2" } else { "HTTP/1.1" });
        let slower = units::trimmed_number(site.visitors.slower_devices.value);
        format!(
            "Visitors wait until {what} of a page, predicted over {protocol} from {pages} loaded in a browser, on devices that take {slower}× as long as it; \
             values, downloads and what no page loads wait for their response."
        )
    }
}

/// First visits of pages that were loaded in a browser over each link, today and with all that a policy changes; the most viewed page first.
pub fn loads(policy: &Policy, site: &Site, links: &[Weighted]) -> Vec<LoadChange> {
    // Bytes of a stratum after ÷ before.
    let times = |number: usize| {
        let stratum = &site.strata[number];
        let changed = policy.decisions.iter().filter(|one| !one.keep && one.kind == stratum.kind);
        let part = changed.flat_map(|one| &one.parts).find(|part| part.content == stratum.name());
        part.map(|part| part.gb_out).filter(|[before, _]| *before > 0.0).map(|[before, after]| after / before)
    };
    let of_page = |page: Page| {
        let mut after = page.graph.clone();
        let strata = std::iter::once(page.document).chain(page.strata.iter().skip(1).copied());
        for (resource, own) in after.resources.iter_mut().zip(strata) {
            resource.body_bytes *= own.and_then(times).unwrap_or(1.0);
        }
        let mut both = page.graph.resources.iter().zip(&after.resources);
        let is_less = both.all(|(before, after)| after.body_bytes <= before.body_bytes);
        let change = |link: &Weighted| {
            let setup = setup(site, &page.graph, link, Visit::First);
            let loads = [simulate(&page.graph, &setup), simulate(&after, &setup)];
            // As in `Page::over`.
            let ms = |moment| {
                let [before, after] = [loads[0].ms(moment), loads[1].ms(moment)];
                [before, if is_less { after.min(before) } else { after }]
            };
            LoadChange {
                page: page.name.clone(),
                link: link.0.name.clone(),
                lcp_ms: ms(Moment::LargestPaint),
                fcp_ms: ms(Moment::FirstPaint),
                load_ms: ms(Moment::Load),
            }
        };
        links.iter().map(change).collect::<Vec<_>>()
    };
    pages(site).flat_map(of_page).collect()
}

/// The pages of a site that were loaded, the most viewed first, without times.
fn pages(site: &Site) -> impl Iterator<Item = Page> {
    let page = |loaded: &LoadedPage| {
        let graph = loaded.graph.clone()?.on_device(site.visitors.slower_devices.value);
        let mut strata: Vec<Option<usize>> =
            graph.resources.iter().map(|one| stratum_of(site, one)).collect();
        let document = strata[0].take();
        let (name, share, over) = (loaded.page.clone(), loaded.share, Vec::new());
        Some(Page { name, graph, share, document, strata, over })
    };
    let mut pages: Vec<Page> = site.loaded.iter().filter_map(page).collect();
    pages.sort_by(|a, b| b.share.total_cmp(&a.share));
    pages.into_iter()
}

/// Views of pages per month.
fn views(site: &Site) -> f64 {
    site.of(Kind::Page).filter(|one| one.format == SHOWN).map(|one| one.requests.value).sum()
}

#[cfg(test)]
mod tests;
