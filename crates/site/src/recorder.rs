//! The graph of a page from a load that was recorded where the network takes next to no time: what is left there is the browser's own time.
//!
//! Who asked for what is said by the browser; where in the document by its markup. A resource's own delay is the time between what made the browser want it
//! and its request. What is left of the first and the largest paint and of the load event, after a simulation of the same load, is the browser's, too.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result};
use url::Url;

use super::markup::{self, Markup, NamedResource};
use weigh_model::link::LinkSpec;
use weigh_model::page::{
    Found, LONGEST_OWN_MS, LargestElement, LoadSetup, MOST_RESOURCES, PageGraph, Paint, Priority, Protocol,
    Repeat, Resource, ResourceKind, Run, Visit, simulate,
};
use weigh_rig::browser::{LargestSeen, Painted, RecordedLoad, RecordedRequest};
use weigh_stats::median;

/// The graph of a page from some loads of it: that of the load with the median first paint, with the median of each of the browser's own times (a visitor's
/// browser takes what it mostly takes, and not the least that it can) and the shortest of each of the server's, for a busy browser sees answers late.
///
/// # Errors
/// One line: there is no load, or one has no document or painted nothing.
pub fn graph(loads: &[RecordedLoad]) -> Result<PageGraph> {
    let mut loads: Vec<&RecordedLoad> = loads.iter().collect();
    loads.sort_by(|a, b| a.fcp_ms.unwrap_or(f64::MAX).total_cmp(&b.fcp_ms.unwrap_or(f64::MAX)));
    let graphs = loads.iter().map(|load| of_load(load)).collect::<Result<Vec<PageGraph>>>()?;
    let mut graph =
        graphs.get(graphs.len().saturating_sub(1) / 2).context("the page was not loaded")?.clone();
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for mut one in graphs {
        own_times(&mut one).into_iter().for_each(|(name, ms)| times.entry(name).or_default().push(*ms));
    }
    for (name, ms) in own_times(&mut graph) {
        let Some(all) = times.get(&name) else { continue };
        let shortest = all.iter().copied().reduce(f64::min).filter(|_| name.starts_with(SERVER));
        *ms = shortest.or_else(|| median(all)).unwrap_or(*ms);
    }
    keep_order(&mut graph, &loads);
    Ok(graph)
}

/// Has the server take as long as it takes for answers over one connection to come in the order in which they came in every load: what comes first has the
/// window, and the next a round trip to wait.
fn keep_order(graph: &mut PageGraph, loads: &[&RecordedLoad]) {
    if graph.protocol != Some(Protocol::Http2) {
        return;
    }
    let answered = |load: &&RecordedLoad, url: &str| {
        load.requests.iter().find(|request| request.url == url)?.timing.map(|timing| timing.first_byte_ms)
    };
    for number in 1..graph.resources.len() {
        let [earlier, later] = &mut graph.resources[number - 1..=number] else { continue };
        let is_read = |one: &Resource| matches!(one.found, Found::Markup(_));
        let comes_first = |load| Some(answered(load, &earlier.url)? <= answered(load, &later.url)?);
        if earlier.origin == later.origin
            && is_read(earlier)
            && is_read(later)
            && loads.iter().all(|load| comes_first(load) == Some(true))
        {
            let least = own(earlier.delay_ms + earlier.server_ms - later.delay_ms + 0.01);
            later.server_ms = later.server_ms.max(least);
        }
    }
}

/// What names of the server's own times begin with.
const SERVER: &str = "server ";

/// The own times of a graph by names that are the same in every load.
fn own_times(graph: &mut PageGraph) -> Vec<(String, &mut f64)> {
    let mut times = vec![
        ("start".to_owned(), &mut graph.start_ms),
        ("commit".to_owned(), &mut graph.commit_ms),
        ("load".to_owned(), &mut graph.load_ms),
        ("first paint".to_owned(), &mut graph.first.paint_ms),
        ("largest paint".to_owned(), &mut graph.largest.paint.paint_ms),
    ];
    for resource in &mut graph.resources {
        times.push((format!("{SERVER}{}", resource.url), &mut resource.server_ms));
        times.push((format!("delay {}", resource.url), &mut resource.delay_ms));
    }
    times
}

/// The graph of a recorded load.
fn of_load(load: &RecordedLoad) -> Result<PageGraph> {
    let usable = |request: &&RecordedRequest| {
        let is_loaded = !request.failed && request.timing.is_some() && request.done_ms.is_some();
        is_loaded && request.kind != "Preflight" && request.kind != "Ping"
    };
    let requests: Vec<&RecordedRequest> = load.requests.iter().filter(usable).take(MOST_RESOURCES).collect();
    let document = requests.first().context("the page was not loaded")?;
    let painted = load.painted()?;
    let largest = load.largest.as_ref().context("nothing was painted")?;
    let address = Url::parse(&document.url).context("the page's URL")?;
    let recorder = Recorder {
        load,
        painted,
        largest,
        markup: markup::read(&load.markup, &address),
        address,
        requests,
        origins: Vec::new(),
    };
    let graph = recorder.graph()?;
    graph.check()?;
    Ok(graph)
}

struct Recorder<'l> {
    load: &'l RecordedLoad,
    painted: Painted,
    largest: &'l LargestSeen,
    markup: Markup,
    address: Url,
    requests: Vec<&'l RecordedRequest>,
    origins: Vec<url::Origin>,
}

impl Recorder<'_> {
    fn graph(mut self) -> Result<PageGraph> {
        let document = self.requests[0];
        let sent_ms = document.timing.map_or(0.0, |timing| timing.sent_ms);
        let found: Vec<Found> = (0..self.requests.len()).map(|number| self.found(number)).collect();
        let commit_ms = self.commit(&found);
        let mut resources: Vec<Resource> = Vec::new();
        for (number, found) in found.into_iter().enumerate() {
            let resource = self.resource(number, found, &resources);
            resources.push(resource);
        }
        let applied = self.applied(&resources);
        for number in 1..resources.len() {
            let wants = self.wants(resources[number].found, &resources, &applied, commit_ms);
            resources[number].delay_ms = own(self.asked(number) - wants);
        }
        let number = |urls: &[String]| {
            let all = urls.iter().filter_map(|url| self.requests.iter().position(|one| one.url == *url));
            all.collect::<Vec<usize>>()
        };
        let largest = self.largest;
        let image = largest.url.as_ref().and_then(|url| self.requests.iter().position(|one| one.url == *url));
        let image = image.filter(|number| *number > 0);
        let named = image.and_then(|number| self.named(number)).map(|named| named.at);
        let place = if image.is_some() { named } else { markup::place_of(&self.load.markup, &largest.text) };
        let first =
            Paint { at: self.markup.content_at, fonts: number(&self.load.hiding_fonts), paint_ms: 0.0 };
        let paint =
            Paint { at: place.unwrap_or(self.markup.body_at), fonts: number(&largest.fonts), paint_ms: 0.0 };
        let mut graph = PageGraph {
            schema: PageGraph::SCHEMA,
            protocol: protocol(&document.protocol),
            resources,
            inline_scripts: self.markup.inline_scripts.clone(),
            body_at: self.markup.body_at,
            first,
            largest: LargestElement { image, paint },
            start_ms: own(sent_ms),
            commit_ms,
            load_ms: 0.0,
        };
        self.add_own_times(&mut graph);
        Ok(graph)
    }

    /// What is left of the paints and of the load event after a simulation of the recorded load.
    fn add_own_times(&self, graph: &mut PageGraph) {
        let Ok(link) = LinkSpec::parse("10gbit/0ms") else { return };
        let tls = self.address.scheme() == "https";
        let protocol = graph.spoken(tls);
        // So late that it does not depend on the first paint.
        graph.largest.paint.paint_ms = LONGEST_OWN_MS;
        let simulated =
            simulate(graph, &LoadSetup { link: &link, protocol, tls, paced: false, visit: Visit::First });
        graph.first.paint_ms = own(self.painted.fcp_ms - simulated.fcp_ms);
        graph.load_ms = own(self.painted.load_ms - simulated.load_ms);
        graph.largest.paint.paint_ms = own(self.largest.at_ms + LONGEST_OWN_MS - simulated.lcp_ms);
    }

    /// The element of the document that names a request.
    fn named(&self, number: usize) -> Option<&NamedResource> {
        let url = &self.requests[number].url;
        self.markup.named.iter().find(|named| named.url.as_str() == url)
    }

    /// When a share of the document had arrived.
    fn arrived(&self, share: f64) -> f64 {
        let document = self.requests[0];
        let first = document.timing.map_or(0.0, |timing| timing.first_byte_ms);
        first + (document.done_ms.unwrap_or(first) - first).max(0.0) * share
    }

    /// Who asks for a request, and when.
    fn found(&self, number: usize) -> Found {
        if number == 0 {
            return Found::Navigation;
        }
        let request = self.requests[number];
        let by = request.initiator.url.as_ref();
        let by = by.and_then(|by| self.requests[..number].iter().position(|one| one.url == *by));
        let is_sheet = |number: usize| self.requests[number].kind == "Stylesheet";
        match (request.initiator.kind.as_str(), by) {
            (_, Some(by)) if by > 0 && is_sheet(by) => match is_sheet(number) {
                true => Found::After(by),
                false => Found::Layout(by),
            },
            ("script", Some(by)) if by > 0 => Found::After(by),
            ("script", _) => self.by_script(number),
            _ => match self.named(number) {
                Some(named) if named.is_lazy => Found::Layout(0),
                Some(named) => Found::Markup(named.at),
                // An image that a script makes while the document is parsed is said to be the parser's.
                None => self.by_script(number),
            },
        }
    }

    /// By a script that is not named: the one that was there last. Without any, the first layout wants an image, and the document all else.
    fn by_script(&self, number: usize) -> Found {
        let request = self.requests[number];
        let scripts = self.requests[..number].iter().enumerate().filter(|(_, one)| one.kind == "Script");
        let scripts = scripts.filter_map(|(by, one)| Some((one.done_ms?, Found::After(by))));
        let own = self.markup.inline_scripts.iter().map(|at| (self.arrived(*at), Found::Markup(*at)));
        let before = scripts.chain(own).filter(|(at_ms, _)| *at_ms <= request.wanted_ms);
        let last = before.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, found)| found);
        let is_drawn = request.kind == "Image" || request.kind == "Font";
        last.unwrap_or(if is_drawn { Found::Layout(0) } else { Found::After(0) })
    }

    /// When the browser sent a request. With HTTP/1.1, when it wanted to: there a request also waits for a free connection.
    fn asked(&self, number: usize) -> f64 {
        let request = self.requests[number];
        let sent = request.timing.filter(|_| request.protocol == "h2").map(|timing| timing.sent_ms);
        sent.unwrap_or(request.wanted_ms)
    }

    /// The browser's own time from the document's first byte to the first request that its markup makes.
    fn commit(&self, found: &[Found]) -> f64 {
        let first = self.arrived(0.0);
        let waited = found.iter().enumerate().filter_map(|(number, found)| match found {
            Found::Markup(at) => Some(self.asked(number) - self.arrived(*at).max(first)),
            _ => None,
        });
        own(waited.fold(f64::INFINITY, f64::min).min(self.painted.fcp_ms - first))
    }

    /// A resource, without the browser's own time before it is asked for.
    fn resource(&mut self, number: usize, found: Found, before: &[Resource]) -> Resource {
        let request = self.requests[number];
        let named = self.named(number).cloned();
        let kind = kind(request, number);
        let timing = request.timing.unwrap_or_default();
        let run = match (kind, named.as_ref()) {
            (ResourceKind::Script, Some(named)) => named.run.or(Some(Run::Async)),
            (ResourceKind::Script, None) => Some(Run::Async),
            _ => None,
        };
        let by_parent =
            matches!(found, Found::After(by) if kind == ResourceKind::Style && before[by].blocks_render);
        let is_in_head = named.as_ref().is_some_and(|named| named.at <= self.markup.body_at);
        let by_markup =
            is_in_head && (run == Some(Run::Blocking) || named.as_ref().is_some_and(|one| one.is_sheet));
        let blocks_render = match request.blocking.as_deref() {
            Some(said) => said == "Blocking" || by_parent,
            None => by_markup || by_parent,
        };
        let is_lazy = named.as_ref().is_some_and(|named| named.is_lazy);
        let is_waited_for =
            !matches!(request.kind.as_str(), "XHR" | "Fetch" | "EventSource" | "Media" | "Other");
        // What a style sheet needs is asked for by the first layout: before the load event where that waits for something else.
        let is_of_sheet = matches!(found, Found::Layout(by) if by > 0);
        let is_early = is_of_sheet || request.wanted_ms < self.painted.load_ms;
        Resource {
            url: request.url.clone(),
            origin: self.origin(&request.url),
            kind,
            found,
            delay_ms: 0.0,
            priority: priority(&request.priority),
            raised: Some(priority(&request.last_priority))
                .filter(|_| request.last_priority != request.priority),
            blocks_render,
            blocks_load: number > 0 && is_waited_for && !is_lazy && is_early,
            run,
            head_bytes: request.head_bytes,
            body_bytes: request.body_bytes,
            // An empty body is one; of another the browser has to have counted what it decoded.
            plain_bytes: Some(request.decoded_bytes).filter(|all| *all > 0.0 || request.body_bytes == 0.0),
            request_bytes: request.request_bytes,
            server_ms: own(timing.first_byte_ms - timing.sent_ms),
            work_ms: 0.0,
            repeat: repeat(request),
        }
    }

    /// When each had its effect in the recorded load: of scripts, when those before them and the style sheets before them had.
    fn applied(&self, resources: &[Resource]) -> Vec<f64> {
        let done = self.requests.iter().map(|request| request.done_ms.unwrap_or(request.wanted_ms));
        let mut applied: Vec<f64> = done.collect();
        let mut earlier = f64::NEG_INFINITY;
        for (number, resource) in resources.iter().enumerate() {
            let place = match (resource.run, resource.found) {
                (Some(Run::Blocking), Found::Markup(at)) => at,
                (Some(Run::Deferred), _) => 1.0,
                _ => continue,
            };
            let is_waited_for = |sheet: &usize| {
                let sheet = *sheet;
                resources[sheet].run.is_none()
                    && resources[sheet].blocks_render
                    && stands_before(resources, sheet, place)
            };
            let sheets = (0..resources.len()).filter(is_waited_for).map(|sheet| applied[sheet]);
            let document = if place == 1.0 { self.arrived(1.0) } else { f64::NEG_INFINITY };
            applied[number] = sheets.fold(applied[number], f64::max).max(earlier).max(document);
            earlier = applied[number];
        }
        applied
    }

    /// When the recorded load had what makes the browser want a resource.
    fn wants(&self, found: Found, resources: &[Resource], applied: &[f64], commit_ms: f64) -> f64 {
        match found {
            Found::Navigation => 0.0,
            Found::Markup(at) => self.arrived(at).max(self.arrived(0.0) + commit_ms),
            Found::After(by) => applied[by],
            Found::Layout(by) => {
                let blocking = resources.iter().zip(applied).filter(|(one, _)| one.blocks_render);
                let from = self.arrived(self.markup.body_at).max(self.arrived(0.0) + commit_ms);
                let laid_out = blocking.map(|(_, applied)| *applied).fold(from, f64::max);
                if by == 0 { laid_out } else { laid_out.max(applied[by]) }
            }
        }
    }

    fn origin(&mut self, url: &str) -> usize {
        let origin = Url::parse(url).map_or_else(|_| self.address.origin(), |url| url.origin());
        self.origins.iter().position(|one| *one == origin).unwrap_or_else(|| {
            self.origins.push(origin);
            self.origins.len() - 1
        })
    }
}

/// Whether a resource stands before a place of the document, or is asked for by one that does.
fn stands_before(resources: &[Resource], number: usize, place: f64) -> bool {
    match resources[number].found {
        Found::Markup(at) => at <= place,
        Found::After(by) => stands_before(resources, by, place),
        Found::Navigation | Found::Layout(_) => false,
    }
}

/// What the browser calls a protocol; none: another one.
pub(crate) fn protocol(spoken: &str) -> Option<Protocol> {
    match spoken {
        "http/1.1" => Some(Protocol::Http1),
        "h2" => Some(Protocol::Http2),
        "h3" => Some(Protocol::Http3),
        _ => None,
    }
}

/// A time as a graph has it.
fn own(ms: f64) -> f64 {
    let ms = if ms.is_finite() { ms.clamp(0.0, LONGEST_OWN_MS) } else { 0.0 };
    (ms * 100.0).round() / 100.0
}

fn kind(request: &RecordedRequest, number: usize) -> ResourceKind {
    match request.kind.as_str() {
        "Document" if number == 0 => ResourceKind::Document,
        "Stylesheet" => ResourceKind::Style,
        "Script" => ResourceKind::Script,
        "Font" => ResourceKind::Font,
        "Image" => ResourceKind::Image,
        _ => ResourceKind::Other,
    }
}

fn priority(said: &str) -> Priority {
    match said {
        "VeryHigh" => Priority::VeryHigh,
        "High" => Priority::High,
        "Medium" => Priority::Medium,
        "Low" => Priority::Low,
        _ => Priority::VeryLow,
    }
}

/// What a repeated visit does, by the fields of the response. Without Cache-Control it is asked for again, conditionally where that is possible.
fn repeat(request: &RecordedRequest) -> Repeat {
    let control = request.cache_control.as_deref().unwrap_or_default().to_lowercase();
    let mut words = HashMap::new();
    for word in control.split(',') {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        words.insert(name.trim(), value.trim().trim_matches('"').parse::<f64>().unwrap_or(0.0));
    }
    let validated = if request.has_validator { Repeat::Validate } else { Repeat::Again };
    match words.get("max-age") {
        _ if words.contains_key("no-store") => Repeat::Again,
        _ if words.contains_key("no-cache") => validated,
        Some(seconds) if *seconds > 0.0 => Repeat::Fresh,
        _ => validated,
    }
}

#[cfg(test)]
mod tests;
