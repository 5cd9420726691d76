//! A site: what its owner's folders, logs, pages and stores say about it, as `site.toml` holds it. Looks, counts and samples; changes
//! nothing, and runs nothing of what it finds but the site's own application, where that is asked for.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod application;
mod asked;
mod assumed;
mod bodies;
mod budget;
mod by_program;
mod cacheable;
mod cached;
mod choose;
mod configured;
mod content;
mod current;
mod encoder;
mod error_page;
pub mod folder;
mod followed;
pub mod here;
mod hits;
mod keep;
mod links;
pub(crate) mod local;
mod located;
pub mod log;
mod markup;
mod named;
mod open;
mod own_php;
pub mod page_cache_proof;
mod page_head;
pub mod page_loads;
mod page_php;
pub mod page_proof;
mod pages;
mod predicted;
pub(crate) mod private;
pub mod recorder;
pub mod refused;
mod request;
mod sample;
mod scripts;
mod served;
pub mod server_config;
mod side;
mod store;
mod strata;
mod text;
mod traffic;
mod values;
mod worker;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

pub use hits::MONTH_DAYS;
pub use open::{Opened, folder_of, located, open, read};
pub use request::{NamedPhp, SiteRequest};
pub use text::text;

use application::{Application, Instances};
use cached::Cached;
use configured::Configured;
use current::{Current, seen_server};
use folder::Draft;
use hits::{Hits, RequestsByPath};
use pages::{RUNNING, Visited, Visitor};
use predicted::{predicted, recorded};
use sample::Origin;
use served::Served;
use strata::Strata;
use traffic::{SiteHosts, Traffic};
use weigh_answer::page_load::PredictedLoad;
use weigh_model::site::{Figure, From, Limits, SCHEMA, Site, Sources, Visitors};
use weigh_model::text::{clean, clean_path};
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_os::machine::Machine;
use weigh_os::network;
use weigh_rig::server::Definition;
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::url::hidden;
use weigh_run::lab::{Home, Lab, Progress};
use weigh_serverconf::php;
use weigh_serverconf::site::Wanted;

#[derive(Clone, Debug)]
pub struct Looked {
    pub site: Site,
    /// How much was looked at.
    pub facts: Facts,
    /// Loads of pages over the links of visitors, as predicted from loads in a browser.
    pub loads: Vec<PredictedLoad>,
}

/// How much was looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Files that visitors ask for.
    pub files: u64,
    /// Requests in the logs, the days that they cover, and lines that could not be read.
    pub log: Option<(u64, f64, u64)>,
    pub pages: usize,
    /// Why there are none, where `--render` or `--url` asked for some: a line with what to do.
    pub no_pages: Option<String>,
    /// Cached values that were read, and how many there are.
    pub values: Option<(u64, u64)>,
    /// Figures that were kept from the file that stood there.
    pub kept: usize,
}

/// Looks at a site. `earlier`: what stood in its file, of which the user's own figures are kept.
///
/// # Errors
/// One line: a place that cannot be looked at, or a file that cannot be written.
pub fn inspect_site(
    lab: &Lab,
    ask: &SiteRequest,
    earlier: Option<&Site>,
    draft: &mut Draft,
    progress: &mut dyn Progress,
) -> Result<Looked> {
    ask.values.as_deref().map_or(Ok(()), values::check_folder)?;
    let given = ask.docroot.as_deref().map(root).transpose()?;
    if let Some(name) = &ask.server {
        let definitions = Definition::load(&lab.definitions)?;
        let server = weigh_rig::server::own::named(&definitions, name)?;
        ensure!(server.policy.is_some(), "--server {}: no policy can be written for it", server.name);
    }
    let read = |file: &PathBuf| {
        progress.doing(&format!("reading {}", clean_path(file)));
        let wanted = Wanted { name: ask.site.clone(), docroot: given.clone() };
        Configured::read(lab, file, ask.server.as_deref(), &wanted)
    };
    let configured = ask.server_config.as_ref().map(read).transpose()?;
    let docroot = given.or_else(|| configured.as_ref().and_then(|one| one.docroot.clone()));
    let places = configured.as_ref().map(Configured::places).unwrap_or_default();
    let mut served =
        Served::new(docroot.as_deref(), configured.as_ref().map(|one| (one.root(), places.as_slice())));
    served.types = configured.as_ref().map(Configured::types).unwrap_or_default();
    let served = docroot.as_ref().map(|_| served);
    let mut facts = Facts::default();
    let php = own_php::binaries(lab, &ask.php)?;
    let own_php = ask.php_config.as_deref().map(php::read).transpose().context("--php-config")?;
    let account = own_php::account(ask.render_as.as_ref(), own_php.as_ref())?;
    let mut traffic = match ask.logs.as_slice() {
        [] => None,
        logs => Some(Traffic::read(logs, &hosts(ask, configured.as_ref())?, served.as_ref(), progress)?),
    };
    let logged = traffic.as_ref().map(Traffic::logged_pages).unwrap_or_default();
    let application = docroot.as_deref().map(|docroot| Application {
        lab,
        served: served.as_ref(),
        docroot,
        server_config: ask.server_config.as_deref(),
        server: ask.server.as_deref(),
        site: ask.site.as_deref(),
        php: &ask.php,
        php_config: own_php.as_ref(),
        account: account.as_ref().map(|(name, account)| (name.as_str(), *account)),
        logged: &logged,
        browser: ask.browser,
    });
    let instances = Instances::new(application);
    let running = Visitor {
        urls: &ask.urls,
        allowed: &ask.allow_remote,
        served: served.as_ref(),
        instance: None,
        logged: &logged,
    };
    let mut visited = visited(ask, &running, &instances, progress)?;
    let recorded = recorded(ask, &visited, progress);
    let mut made = HashMap::new();
    if let Some(traffic) = &mut traffic {
        made = current::ask_scripts(ask, &instances, &visited, traffic, progress)?;
    }
    // A script that sends a style sheet is not a page, though the log names it as one; nor is a feed.
    let is_made = |format: &str| made.values().any(|one| !one.is_html() && one.format == format);
    visited.pages.retain(|page| !scripts::is_loaded(&page.format) && !is_made(&page.format));
    facts.pages = visited.pages.len();
    facts.no_pages.clone_from(&visited.problem);
    if let Some(traffic) = &mut traffic {
        let asked = (&mut traffic.asked, traffic.scripts.as_slice());
        for (path, hits, file) in current::locate(ask, &instances, draft.folder(), asked, progress)? {
            traffic.take_for_file(&path, &hits, &file);
        }
        let is_unlogged = |path: &str| configured.as_ref().is_some_and(|one| one.is_unlogged(path));
        traffic.assume_unlogged(&visited.loads, &is_unlogged, progress);
    }
    let per_second = traffic.as_ref().and_then(|traffic| traffic.php_peak).map(|peak| peak.value);
    let worker = worker::kept(ask, &visited, progress)?;
    let page_php = page_php::compared(ask, &instances, (&visited, per_second), progress)?;
    let views = page_views(earlier, traffic.as_ref());
    let mut asked =
        traffic.as_ref().map(|traffic| traffic.asked.clone()).or_else(|| of_pages(&visited, views.value));
    if let (None, Some(asked)) = (&traffic, &mut asked) {
        current::locate(ask, &instances, draft.folder(), (asked, &[]), progress)?;
    }
    let mut strata = Strata::default();
    match &served {
        Some(served) => {
            facts.files = content::add_files(served, draft.folder(), asked.as_ref(), &mut strata, progress)?;
        }
        None => content::add_fetched(&visited, asked.as_ref(), &mut strata),
    }
    match &traffic {
        Some(traffic) if visited.pages.is_empty() => {
            content::add_logged_pages(traffic.page_paths, traffic.pages, &mut strata);
        }
        Some(traffic) => {
            content::add_pages(&visited, &traffic.logged_pages(), traffic.pages, &mut strata);
        }
        None => {
            if asked.is_none() {
                assumed::mix(&mut strata, views.value);
            }
            assumed::downloads(&mut strata, views.value);
            content::add_pages(&visited, &[], Hits { requests: views.value, ..Hits::default() }, &mut strata);
        }
    }
    if let Some(traffic) = &traffic {
        content::add_made(&traffic.made, &made, &mut strata);
        assumed::unlogged(&mut strata, &traffic.assumed, views.value);
    }
    let origin = Origin {
        served: served.as_ref(),
        visited: &visited,
        made: &made,
        from: traffic.as_ref().map_or(From::Assumed, |_| From::Counted),
        is_without_bytes: traffic.as_ref().is_some_and(|traffic| traffic.bytes.is_none()),
        made_ms: traffic.as_ref().and_then(|traffic| traffic.made_ms),
    };
    let mut layers = origin.strata(&strata, draft, progress)?;
    let (cached, stored) = values(lab, ask, progress)?;
    let of_folder = ask.values.as_ref().map(|_| cached.seen);
    let all = of_folder.or(stored.as_ref().map(|stored| stored.keys));
    facts.values = all.map(|all| (cached.seen, all));
    facts.log = traffic.as_ref().map(|traffic| (traffic.requests, traffic.days, traffic.unreadable));
    let mut today = Vec::new();
    let current = Current {
        lab,
        ask,
        configured: configured.as_ref(),
        instances: &instances,
        served: served.as_ref(),
        logged: &logged,
        visited: &visited,
        made: &made,
    };
    current.add(&mut layers, &mut today, progress)?;
    if let (Some(own), Some(file)) = (&own_php, &ask.php_config) {
        own_php::add(own, file, &mut today, progress);
    }
    let front = ask.front.clone().or_else(|| configured.as_ref().and_then(Configured::front));
    let front = front.or_else(|| traffic.as_ref().and_then(|traffic| traffic.front.clone()));
    let front = front.or_else(|| earlier.and_then(|site| site.sources.front.clone()));
    // What is in front may speak TLS where the configuration does not.
    let configured_tls = configured.as_ref().map(Configured::is_secure).filter(|tls| *tls || front.is_none());
    let tls = visited.tls.or(configured_tls);
    let server = configured.map(|one| one.server).or(ask.server.clone());
    today.extend(cached.today());
    layers.extend(cached.strata(stored.as_ref(), views.value, draft)?);
    if layers.is_empty() {
        let none =
            "nothing was found: no file, page or cached value; give --docroot, --url, --render or --values";
        bail!("{}", visited.problem.unwrap_or_else(|| none.into()));
    }
    let visitors = visitors(tls, traffic.as_ref(), views, earlier);
    let by_cache = traffic.as_ref().map(|traffic| &traffic.cached);
    let mut site = Site {
        schema: SCHEMA,
        name: name(ask, docroot.as_deref()),
        looked: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: Sources {
            server: server.or_else(|| seen_server(&visited)),
            aliases: served.as_ref().map(|served| served.used(&layers)).unwrap_or_default(),
            linked: served.as_ref().map(|served| served.linked(&layers)).unwrap_or_default(),
            front,
            render_as: account.as_ref().map(|(name, _)| name.clone()),
            ..sources(ask, docroot.as_deref(), stored.as_ref(), php)
        },
        visitors,
        limits: Limits { cores: Figure::measured(cores()), ..Limits::default() },
        store_link: Default::default(),
        prices: Default::default(),
        today,
        strata: layers,
        loaded: Vec::new(),
        page_php,
        worker,
        page_cache: by_cache.map(|cached| cached.all.clone()).unwrap_or_default(),
        cacheable: match ask.page_cache {
            true => cacheable::asked(&instances, (&visited, &made), by_cache, progress)?,
            false => Vec::new(),
        },
    };
    if let Some(earlier) = earlier {
        facts.kept = keep::keep(earlier, &mut site);
    }
    if let Some(name) = &ask.name {
        site.name.clone_from(name);
    }
    let asked = traffic.as_ref().map(Traffic::logged_pages).unwrap_or_default();
    let loads = predicted(lab, &mut site, &recorded, &asked, draft)?;
    Ok(Looked { site, facts, loads })
}

/// The pages: those of the site's own application, of URLs, or of the document root.
fn visited(
    ask: &SiteRequest,
    running: &Visitor<'_>,
    instances: &Instances<'_>,
    progress: &mut dyn Progress,
) -> Result<Visited> {
    if !ask.render {
        return running.look(progress);
    }
    let application = instances.application.as_ref();
    let application = application.context("--render: give --docroot, the folder of the site's front page")?;
    match instances.get(true, progress).and_then(|private| application.look(private, progress)) {
        Ok(visited) if ask.urls.is_empty() => Ok(visited),
        Ok(mut visited) => {
            running.look_at_running(&mut visited, progress)?;
            Ok(visited)
        }
        Err(_) if Interrupt::caught().is_set() => bail!(INTERRUPTED),
        Err(error) => {
            let visited = running.look(progress)?;
            if !visited.pages.is_empty() {
                progress.note(&rendered(&error));
                return Ok(visited);
            }
            Ok(Visited { problem: Some(rendered(&error)), ..visited })
        }
    }
}

/// Why the application made no pages: a line with the flag and what to do.
fn rendered(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let line = if text.starts_with("--") { text } else { format!("--render: {text}") };
    if line.contains(RUNNING) { line } else { format!("{line}; {RUNNING}") }
}

/// Names of the site's hosts: those that the user gives, else those of the configuration, else those of the URLs.
///
/// # Errors
/// One line: what the user gives names no host.
fn hosts(ask: &SiteRequest, configured: Option<&Configured>) -> Result<SiteHosts> {
    let names_none = |name: &&String| log::Names::new([name.as_str()]).is_empty();
    if let Some(wrong) = ask.hosts.iter().find(names_none) {
        bail!("--host {}: no name by which logs tell hosts; give one such as shop.example", clean(wrong));
    }
    let of_configuration = configured.map(Configured::hosts).unwrap_or_default();
    let given = if ask.hosts.is_empty() { of_configuration } else { &ask.hosts };
    if !log::Names::new(given.iter().map(String::as_str)).is_empty() {
        return Ok(SiteHosts { names: given.to_vec(), is_sure: true });
    }
    let url = |url: &String| weigh_load::target::Location::parse(url).ok();
    let names =
        ask.urls.iter().filter_map(url).map(|location| location.host.trim_start_matches("www.").to_owned());
    Ok(SiteHosts { names: names.flat_map(|name| [format!("www.{name}"), name]).collect(), is_sure: false })
}

/// Page views per month: those of the log, else those that the user gave, else assumed.
fn page_views(earlier: Option<&Site>, traffic: Option<&Traffic>) -> Figure {
    let given = earlier.and_then(|site| site.visitors.page_views).filter(|views| views.from == From::Given);
    let counted = traffic.map(|traffic| Figure::counted(traffic.views.round()));
    counted.filter(|views| views.value > 0.0).or(given).unwrap_or(Figure::assumed(assumed::PAGE_VIEWS))
}

/// Who visits. `tls`: whether responses go over TLS; none: nothing tells.
fn visitors(tls: Option<bool>, traffic: Option<&Traffic>, views: Figure, earlier: Option<&Site>) -> Visitors {
    let assumed = Visitors::default();
    // Whether the kernel here, as a server's, spreads what it sends over round trips; none: it does not say.
    let is_paced = || network::congestion_control().map(|name| network::is_paced(&name));
    let accept = traffic.map(|traffic| traffic.accept.clone()).filter(|accept| !accept.is_empty());
    Visitors {
        accept: accept.unwrap_or(assumed.accept),
        page_views: Some(views),
        peak: traffic.and_then(|traffic| traffic.peak),
        php_peak: traffic.and_then(|traffic| traffic.php_peak),
        php_peak_ms: traffic.and_then(|traffic| traffic.php_peak_ms),
        tls: tls.or(earlier.map(|site| site.visitors.tls)).unwrap_or(assumed.tls),
        paced: earlier.and_then(|site| site.visitors.paced).or_else(is_paced),
        ..assumed
    }
}

/// What is asked per month as the pages' own links say, if they load anything.
fn of_pages(visited: &Visited, page_views: f64) -> Option<RequestsByPath> {
    let hits = |per_view: &f64| Hits { requests: per_view * page_views, ..Hits::default() };
    let paths = visited.loads.iter().map(|(path, per_view)| (path.clone(), hits(per_view))).collect();
    (!visited.loads.is_empty()).then_some(RequestsByPath { paths, from: From::Assumed })
}

/// The values of a folder and of a store.
fn values(
    home: &Home,
    ask: &SiteRequest,
    progress: &mut dyn Progress,
) -> Result<(Cached, Option<store::Stored>)> {
    let mut cached = Cached::default();
    if let Some(folder) = &ask.values {
        progress.doing(&format!("reading {}", clean_path(folder)));
        values::of_folder(folder, progress, &mut |name, bytes| {
            cached.add(&name, bytes, None, 1.0);
        })?;
        if cached.seen == 0 {
            bail!("--values {}: no value in it; give the folder with the cached values", clean_path(folder));
        }
    }
    let store = ask.store.as_ref();
    let mut stored =
        store.map(|url| store::inspect_store(home, url, &ask.allow_remote, progress)).transpose()?;
    if let Some(stored) = &mut stored {
        if let Some(named) = stored.left_out() {
            progress.note(&format!("--store: of {} keys, {named} are no values and left out", stored.seen));
        }
        if stored.values.is_empty() {
            progress.note(&format!("--store {}: no value in it", stored.url));
        }
        stored.unread().into_iter().for_each(|(keys, mean)| cached.add_unread(keys, mean));
        stored.each(|read, weight| cached.add(&read.key, read.bytes, read.flags, weight));
    }
    Ok((cached, stored))
}

/// The document root, which has to be a folder.
fn root(path: &Path) -> Result<PathBuf> {
    if !path.is_dir() {
        let named = clean_path(path);
        bail!(
            "--docroot {named}: there is no such folder; give the folder that the web server sends files from"
        );
    }
    path.canonicalize().with_context(|| format!("--docroot {}", clean_path(path)))
}

fn sources(
    ask: &SiteRequest,
    docroot: Option<&Path>,
    stored: Option<&store::Stored>,
    php: Vec<String>,
) -> Sources {
    let text =
        |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned();
    Sources {
        docroot: docroot.map(text),
        server_config: ask.server_config.as_deref().map(text),
        site: ask.site.clone(),
        php,
        php_config: ask.php_config.as_deref().map(text),
        logs: ask.logs.iter().map(|path| text(path)).collect(),
        urls: ask.urls.iter().map(|url| hidden(url)).collect(),
        values: ask.values.as_deref().map(text),
        store: stored.map(|stored| stored.url.clone()),
        ..Sources::default()
    }
}

/// Cores of this machine, as far as they are granted.
fn cores() -> f64 {
    let machine = Machine::query();
    machine.cgroup_cores.unwrap_or(f64::from(machine.cores)).max(0.1)
}

/// Names of folders that say nothing about whose they are.
const PUBLIC: [&str; 9] =
    ["public", "html", "htdocs", "web", "www", "public_html", "httpdocs", "webroot", "docroot"];

/// The site's name, as far as the document root, the host or the folder of values tells it.
fn name(ask: &SiteRequest, docroot: Option<&Path>) -> String {
    let part = |path: &Path| {
        let names = path.iter().rev().map(|part| plain(&part.to_string_lossy()));
        names.into_iter().find(|name| !name.is_empty() && !PUBLIC.contains(&name.as_str()))
    };
    let host = || {
        let location = weigh_load::target::Location::parse(ask.urls.first()?).ok()?;
        Some(plain(&location.host)).filter(|host| !host.is_empty())
    };
    docroot.and_then(part).or_else(host).unwrap_or_else(|| "site".into())
}

fn plain(text: &str) -> String {
    let keep = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
    text.to_lowercase()
        .chars()
        .map(|c| if keep(c) { c } else { '-' })
        .collect::<String>()
        .trim_matches(['-', '.'])
        .to_owned()
}

pub mod advise;
pub mod configuration;
pub mod overrides;
pub mod regression;
#[cfg(test)]
mod tests;
