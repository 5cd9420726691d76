//! Does the model of page loads say what Chromium does? Pages whose answers are planted, from nginx at the far end of links, over HTTP/1.1 without TLS and
//! HTTP/2 with it: the graph of each is recorded by the same protocol without a link, and its load simulated over the link as that was measured.
//!
//! `cargo bench -p weigh --bench page-load -- again` takes the loads and times of the last call again, for another model; `-- record`
//! records the loads without a link anew; `-- bbr` sends from a kernel that paces.

#[path = "../common/mod.rs"]
mod common;
mod pages;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use common::{SEED, Targets, WEIGH, progress, rounds};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use url::Url;
use weigh_content::defs::Definitions;
use weigh_model::link::{LinkSpec, Way};
use weigh_model::page::{LoadSetup, PageGraph, PageLoad, Protocol, Visit, simulate};
use weigh_os::guard::LaunchContext;
use weigh_os::network::Network;
use weigh_rig::browser::{Browser, BrowserSpec, LoadLimits, RecordedLoad};
use weigh_rig::link::{Link, Making};
use weigh_rig::server::{Definition, Found, Instance, Site, certificate};
use weigh_rig::service::FolderDefinition;
use weigh_site::recorder;
use weigh_stats::median;

/// Links by name.
const LINKS: [&str; 4] = ["fibre", "cable", "4g", "devtools-slow-3g"];
const PROTOCOLS: [Protocol; 2] = [Protocol::Http1, Protocol::Http2];
/// How far the model may be from the browser, in which share of the cells.
const OFF: f64 = 0.1;
const SHARE: f64 = 0.9;
/// A planted change that is at least as large has to be told the right direction of.
const CHANGED: f64 = 0.03;

/// What was measured: loads without a link by protocol and page, and by link, protocol and page the medians of LCP and load in milliseconds.
#[derive(Default, Serialize, Deserialize)]
struct Measured {
    loads: BTreeMap<Protocol, BTreeMap<String, Vec<RecordedLoad>>>,
    cells: Vec<Cell>,
    /// Whether the far end of links had bbr.
    #[serde(default)]
    paced: bool,
}

impl Measured {
    /// Graphs by protocol and page.
    fn graphs(&self) -> Result<Graphs> {
        let of = |loads: &BTreeMap<String, Vec<RecordedLoad>>| {
            let graph = |(page, loads): (&String, &Vec<RecordedLoad>)| {
                Ok((page.clone(), recorder::graph(loads).with_context(|| page.clone())?))
            };
            loads.iter().map(graph).collect::<Result<_>>()
        };
        self.loads.iter().map(|(protocol, loads)| Ok((*protocol, of(loads)?))).collect()
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Cell {
    page: String,
    link: LinkSpec,
    protocol: Protocol,
    fcp_ms: f64,
    lcp_ms: f64,
    load_ms: f64,
}

fn main() -> ExitCode {
    let measured = || {
        let kept = common::kept("page-load")?.join("measured.json");
        let wanted = |part: &str| std::env::args().any(|arg| arg == part);
        let known = || -> Result<Measured> { Ok(serde_json::from_str(&std::fs::read_to_string(&kept)?)?) };
        let measured: Measured = match (wanted("again"), wanted("record")) {
            (true, _) => known()?,
            (false, true) => Measured { loads: recorded(&Ground::new()?)?, ..known()? },
            (false, false) => measure(&kept, wanted("bbr"))?,
        };
        std::fs::write(&kept, serde_json::to_vec(&measured)?)?;
        let mut targets = Targets::default();
        let graphs = measured.graphs()?;
        std::fs::write(kept.with_file_name("graphs.json"), serde_json::to_vec(&graphs)?)?;
        judge(&mut targets, &measured, &graphs);
        Ok(targets)
    };
    common::end(measured())
}

/// The pages with a server for them.
struct Ground {
    home: tempfile::TempDir,
    found: Found,
    site: Site,
    pages: Vec<pages::Page>,
}

impl Ground {
    fn new() -> Result<Ground> {
        let home = tempfile::tempdir()?;
        // Servers of a lab of root's have a user of their own.
        std::fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let docroot = home.path().join("docroot");
        let pages = pages::all();
        pages.iter().try_for_each(|page| page.write(&docroot))?;
        let definitions = Definition::load(&Definitions::load(None)?)?;
        let nginx = definitions.iter().find(|one| one.name == "nginx").context("no definition of nginx")?;
        let found = nginx.find();
        Ok(Ground { home, found, site: Site { docroot, ..Site::default() }, pages })
    }

    /// Starts the server at an address of this thread's network.
    fn serve(&self, host: Ipv4Addr, protocol: Protocol) -> Result<Instance> {
        let place =
            LaunchContext { launcher: WEIGH.into(), ..LaunchContext::new(self.home.path(), self.log()) };
        let mut site = self.site.clone();
        if protocol == Protocol::Http2 {
            let folder = tempfile::tempdir_in(self.home.path())?;
            site.tls = Some(certificate::make(folder.path())?);
            let _ = folder.keep();
        }
        Instance::start_at(host, &self.found, &site, &place)
    }

    fn log(&self) -> PathBuf {
        self.home.path().join("server.log")
    }
}

fn browser() -> Result<Browser> {
    Browser::start(&BrowserSpec { any_certificate: true, launcher: WEIGH.into(), ..BrowserSpec::default() })
}

/// Loads all pages, and keeps what is known after each link.
fn measure(kept: &Path, paced: bool) -> Result<Measured> {
    let ground = Ground::new()?;
    let mut measured = Measured { loads: recorded(&ground)?, cells: Vec::new(), paced };
    let rounds = rounds(3);
    let definitions = Definitions::load(None)?;
    for name in LINKS {
        let spec = definitions.link(name)?;
        for protocol in PROTOCOLS {
            let cells = loads(&ground, &spec, (protocol, paced), rounds)
                .with_context(|| format!("{name}, {}", protocol.name()))?;
            measured.cells.extend(cells);
            std::fs::write(kept, serde_json::to_vec(&measured)?)?;
        }
    }
    Ok(measured)
}

/// Five loads of each page by each protocol in a network without a link.
fn recorded(ground: &Ground) -> Result<BTreeMap<Protocol, BTreeMap<String, Vec<RecordedLoad>>>> {
    PROTOCOLS.into_iter().map(|protocol| Ok((protocol, recorded_by(ground, protocol)?))).collect()
}

fn recorded_by(ground: &Ground, protocol: Protocol) -> Result<BTreeMap<String, Vec<RecordedLoad>>> {
    let network = Network::private()?;
    network.within(|| {
        let instance = ground.serve(Ipv4Addr::LOCALHOST, protocol)?;
        let mut browser = browser()?;
        progress(&format!("{}, sandbox: {}", browser.version(), browser.has_sandbox()));
        let mut loads = BTreeMap::new();
        let limits = LoadLimits::default();
        browser.load(&instance.url(&ground.pages[0].path()), &limits)?;
        for page in &ground.pages {
            let url = instance.url(&page.path());
            let all = (0..5).map(|_| browser.load(&url, &limits)).collect::<Result<Vec<_>>>()?;
            if std::env::var_os("WEIGH_BENCH_SHOWN").is_some_and(|name| name == page.name) {
                all.iter().for_each(shown);
            }
            loads.insert(page.name.to_owned(), all);
        }
        instance.stop();
        Ok(loads)
    })?
}

/// Loads of all pages over a link, in random order: the medians.
fn loads(
    ground: &Ground,
    spec: &LinkSpec,
    (protocol, paced): (Protocol, bool),
    rounds: usize,
) -> Result<Vec<Cell>> {
    let spec = &LinkSpec { paced: Some(paced), ..spec.clone() };
    let link = Link::make_with(spec, &Making { launcher: WEIGH.into(), ..Making::default() })?;
    ensure!(matches!(link.way(), Way::Netem | Way::Tun), "no link with delay can be made here");
    let instance = link.far().within(|| ground.serve(link.far_address(), protocol))??;
    let base = instance.url_at(link.reach(instance.port())?, "/");
    let base = Url::parse(&base)?;
    let mut times: BTreeMap<&str, [Vec<f64>; 3]> = BTreeMap::new();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut browser = link.near().within(browser)??;
    let limits = LoadLimits::default();
    browser.load(base.join(&ground.pages[0].path())?.as_str(), &limits)?;
    for _ in 0..rounds {
        let mut order: Vec<&pages::Page> = ground.pages.iter().collect();
        order.shuffle(&mut rng);
        for page in order {
            let load = browser.load(base.join(&page.path())?.as_str(), &limits).context(page.name)?;
            let lcp = load.largest.as_ref().map_or(f64::NAN, |largest| largest.at_ms);
            let seen = times.entry(page.name).or_default();
            let of = [load.fcp_ms.unwrap_or(f64::NAN), lcp, load.load_ms.unwrap_or(f64::NAN)];
            seen.iter_mut().zip(of).for_each(|(all, one)| all.push(one));
            if std::env::var_os("WEIGH_BENCH_SHOWN").is_some_and(|name| name == page.name) {
                shown(&load);
            }
        }
    }
    let measured = measured(&link, spec);
    progress(&format!("{} {}: {:?}", spec.name, protocol.name(), measured));
    instance.stop();
    let cell = |(page, [fcp, lcp, load]): (&str, [Vec<f64>; 3])| {
        let middle = |all: &[f64]| median(all).unwrap_or(f64::NAN);
        Cell {
            page: page.to_owned(),
            link: measured.clone(),
            protocol,
            fcp_ms: middle(&fcp),
            lcp_ms: middle(&lcp),
            load_ms: middle(&load),
        }
    };
    Ok(times.into_iter().map(cell).collect())
}

/// When each request of a load was wanted, sent, answered and done, on stderr.
fn shown(load: &RecordedLoad) {
    for request in &load.requests {
        let timing = request.timing.unwrap_or_default();
        progress(&format!(
            "  {:>8.1} {:>8.1} {:>8.1} {:>8.1}  {} {} {}→{} {:?} #{} {:.0}+{:.0} B",
            request.wanted_ms,
            timing.sent_ms,
            timing.first_byte_ms,
            request.done_ms.unwrap_or(f64::NAN),
            request.kind,
            request.url.rsplit('/').next().unwrap_or_default(),
            request.priority,
            request.last_priority,
            request.blocking,
            request.connection,
            request.head_bytes,
            request.body_bytes,
        ));
    }
    let largest = load.largest.as_ref();
    progress(&format!(
        "  FCP {:?}, LCP {:?}, load {:?}",
        load.fcp_ms,
        largest.map(|one| one.at_ms),
        load.load_ms
    ));
}

/// The link as it was measured.
fn measured(link: &Link, spec: &LinkSpec) -> LinkSpec {
    let seen = link.measured();
    let kbps = |rate: &Option<weigh_model::link::Rate>, asked| {
        rate.as_ref().map(|rate| rate.measured_kbps).or(asked)
    };
    LinkSpec {
        down_kbps: kbps(&seen.down, spec.down_kbps),
        up_kbps: kbps(&seen.up, spec.up_kbps),
        rtt_ms: seen.round_trip.as_ref().map_or(spec.rtt_ms, |trip| trip.median_ms),
        ..spec.clone()
    }
}

type Graphs = BTreeMap<Protocol, BTreeMap<String, PageGraph>>;

fn load_of(graphs: &Graphs, cell: &Cell, paced: bool) -> PageLoad {
    let tls = cell.protocol == Protocol::Http2;
    let setup = LoadSetup { link: &cell.link, protocol: cell.protocol, tls, paced, visit: Visit::First };
    simulate(&graphs[&cell.protocol][&cell.page], &setup)
}

fn judge(targets: &mut Targets, measured: &Measured, graphs: &Graphs) {
    let off = |simulated: f64, seen: f64| (simulated / seen - 1.0).abs();
    for (what, of) in [("LCP", 1), ("load", 2)] {
        let mut near = 0;
        for cell in &measured.cells {
            let load = load_of(graphs, cell, measured.paced);
            let (simulated, seen) =
                if of == 1 { (load.lcp_ms, cell.lcp_ms) } else { (load.load_ms, cell.load_ms) };
            let is_near = off(simulated, seen) <= OFF;
            near += usize::from(is_near);
            println!(
                "  {what} {} {} {}: {:.0} ms simulated, {:.0} ms measured, {:.3}{}; FCP {:.0}, {:.0}",
                cell.page,
                cell.link.name,
                cell.protocol.name(),
                simulated,
                seen,
                simulated / seen,
                if is_near { "" } else { " off" },
                load.fcp_ms,
                cell.fcp_ms,
            );
        }
        by_link(measured, graphs, what, of);
        let share = near as f64 / measured.cells.len().max(1) as f64;
        let target = format!("within {:.0}% in ≥ {SHARE} of {} cells", OFF * 100.0, measured.cells.len());
        targets.line(&format!("page-load-{what}"), &format!("{share:.3}"), &target, share >= SHARE);
    }
    directions(targets, measured, graphs);
    cost(targets, measured, graphs);
}

/// The share of cells within the target, by link and protocol.
fn by_link(measured: &Measured, graphs: &Graphs, what: &str, of: usize) {
    for name in LINKS {
        for protocol in PROTOCOLS {
            let cells =
                measured.cells.iter().filter(|cell| cell.link.name == name && cell.protocol == protocol);
            let ratios: Vec<f64> = cells
                .map(|cell| {
                    let load = load_of(graphs, cell, measured.paced);
                    if of == 1 { load.lcp_ms / cell.lcp_ms } else { load.load_ms / cell.load_ms }
                })
                .collect();
            let near = ratios.iter().filter(|ratio| (*ratio - 1.0).abs() <= OFF).count();
            let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let high = ratios.iter().copied().fold(0.0, f64::max);
            println!(
                "| {what} | {name} | {} | {near} of {} | {:.3} | {low:.3}–{high:.3} |",
                protocol.name(),
                ratios.len(),
                median(&ratios).unwrap_or(f64::NAN),
            );
        }
    }
}

/// Whether planted changes have the direction that was measured: of pages, and of protocols.
fn directions(targets: &mut Targets, measured: &Measured, graphs: &Graphs) {
    let find = |page: &str, link: &str, protocol| {
        let mut all = measured.cells.iter();
        all.find(|cell| cell.page == page && cell.link.name == link && cell.protocol == protocol)
    };
    let mut pairs = Vec::new();
    for link in LINKS {
        for protocol in PROTOCOLS {
            pairs.extend(
                pages::CHANGES.iter().map(|(a, b)| (find(a, link, protocol), find(b, link, protocol))),
            );
        }
        for page in graphs[&Protocol::Http2].keys() {
            pairs.push((find(page, link, Protocol::Http1), find(page, link, Protocol::Http2)));
        }
    }
    let (mut right, mut all) = (0, 0);
    for (before, after) in pairs.into_iter().filter_map(|(a, b)| a.zip(b)) {
        let seen = after.lcp_ms / before.lcp_ms - 1.0;
        if seen.abs() <= CHANGED {
            continue;
        }
        let simulated = load_of(graphs, after, measured.paced).lcp_ms
            / load_of(graphs, before, measured.paced).lcp_ms
            - 1.0;
        all += 1;
        if simulated * seen > 0.0 {
            right += 1;
        } else {
            println!(
                "  direction {} {} → {} {}, {}: {:+.1}% simulated, {:+.1}% measured",
                before.page,
                before.protocol.name(),
                after.page,
                after.protocol.name(),
                after.link.name,
                simulated * 100.0,
                seen * 100.0
            );
        }
    }
    targets.line(
        "page-load-directions",
        &format!("{right} of {all}"),
        "the right direction of every change of LCP by more than 3%",
        right == all,
    );
}

/// What a simulated load takes.
fn cost(targets: &mut Targets, measured: &Measured, graphs: &Graphs) {
    let began = std::time::Instant::now();
    let times = 5;
    for _ in 0..times {
        for cell in &measured.cells {
            std::hint::black_box(load_of(graphs, cell, measured.paced));
        }
    }
    let ms = began.elapsed().as_secs_f64() * 1e3 / (times * measured.cells.len().max(1)) as f64;
    targets.line("page-load-cost", &format!("{ms:.3} ms"), "a simulated load takes < 1 ms", ms < 1.0);
}
