//! A site: what its owner's folders, logs, pages and stores say about it, as `site.toml` holds it. Looks, counts and samples; changes
//! nothing, and runs nothing of what it finds but the site's own application, where that is asked for.

mod application;
mod assumed;
mod cached;
mod choose;
pub(crate) mod class;
mod configured;
mod content;
pub mod folder;
pub mod here;
mod hits;
mod keep;
mod links;
pub(crate) mod local;
pub mod log;
mod open;
mod pages;
mod sample;
mod served;
mod store;
mod strata;
mod text;
mod traffic;
mod values;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

pub use hits::MONTH_DAYS;
pub use open::{Opened, folder_of, located, open, read};
pub use text::text;

use crate::interrupt::{INTERRUPTED, Interrupt};
use crate::lab::{Lab, Progress};
use crate::rig::fpm::own::{self, OwnPhp};
use crate::rig::machine::Machine;
use crate::rig::server::{Definition, types};
use crate::rig::service::FolderDefinition;
use crate::rig::store::url::hidden;
use application::Application;
use cached::Cached;
use configured::Configured;
use folder::Draft;
use hits::{Asked, Hits};
use pages::{RUNNING, Seen, Visited, Visitor};
use sample::Origin;
use served::Served;
use strata::Strata;
use traffic::Traffic;
use weigh_model::site::{Alias, Figure, From, Kind, Limits, SCHEMA, Site, Sources, Stratum, Today, Visitors};
use weigh_model::text::{clean, clean_path};

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The document root.
    pub docroot: Option<PathBuf>,
    /// The web server's configuration.
    pub server_config: Option<PathBuf>,
    /// The web server, as the user says.
    pub server: Option<String>,
    /// Access logs.
    pub logs: Vec<PathBuf>,
    /// URLs of pages.
    pub urls: Vec<String>,
    /// Whether the site's own application makes its pages, in a private instance.
    pub render: bool,
    /// Hosts that are not this machine and may be asked.
    pub allow_remote: Vec<String>,
    /// A folder of cached values.
    pub values: Option<PathBuf>,
    /// The URL of a store.
    pub store: Option<String>,
    /// PHPs.
    pub php: Vec<PathBuf>,
    /// The settings of the PHP that serves the site: a php.ini, or a pool of PHP-FPM.
    pub php_config: Option<PathBuf>,
    /// The site's name.
    pub name: Option<String>,
}

impl Ask {
    /// Whether there is nowhere to look.
    pub fn is_empty(&self) -> bool {
        let none = self.docroot.is_none() && self.server_config.is_none() && self.values.is_none();
        none && self.php_config.is_none()
            && self.store.is_none()
            && self.logs.is_empty()
            && self.urls.is_empty()
            && !self.render
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Looked {
    /// The site.
    pub site: Site,
    /// How much was looked at.
    pub facts: Facts,
}

/// How much was looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Files that visitors ask for.
    pub files: u64,
    /// Requests in the logs, the days that they cover, and lines that could not be read.
    pub log: Option<(u64, f64, u64)>,
    /// Pages that were fetched.
    pub pages: usize,
    /// Cached values that were read, and how many there are.
    pub values: Option<(u64, u64)>,
    /// Figures that were kept from the file that stood there.
    pub kept: usize,
}

/// Looks at a site. `earlier`: what stood in its file, of which the user's own figures are kept.
///
/// # Errors
/// One line: a place that cannot be looked at, or a file that cannot be written.
pub fn look(
    lab: &Lab,
    ask: &Ask,
    earlier: Option<&Site>,
    draft: &mut Draft,
    progress: &mut dyn Progress,
) -> Result<Looked> {
    let given = ask.docroot.as_deref().map(root).transpose()?;
    if let Some(name) = &ask.server {
        let definitions = Definition::load(&lab.definitions)?;
        let server = crate::rig::server::own::named(&definitions, name)?;
        ensure!(server.policy.is_some(), "--server {}: no policy can be written for it", server.name);
    }
    let read = |file: &PathBuf| {
        progress.doing(&format!("reading {}", clean_path(file)));
        Configured::read(lab, file, ask.server.as_deref(), given.as_deref())
    };
    let configured = ask.server_config.as_ref().map(read).transpose()?;
    let docroot = given.or_else(|| configured.as_ref().and_then(|one| one.docroot.clone()));
    let places = configured.as_ref().map(Configured::places).unwrap_or_default();
    let served =
        Served::new(docroot.as_deref(), configured.as_ref().map(|one| (one.root(), places.as_slice())));
    let served = docroot.as_ref().map(|_| served);
    let mut facts = Facts::default();
    let php = php(lab, &ask.php)?;
    let own_php = ask.php_config.as_deref().map(own::read).transpose().context("--php-config")?;
    let visited = visited(lab, ask, served.as_ref(), docroot.as_deref(), progress)?;
    facts.pages = visited.pages.len();
    let traffic = match ask.logs.as_slice() {
        [] => None,
        logs => Some(Traffic::read(logs, served.as_ref(), progress)?),
    };
    let views = page_views(earlier, traffic.as_ref());
    let asked =
        traffic.as_ref().map(|traffic| traffic.asked.clone()).or_else(|| of_pages(&visited, views.value));
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
        Some(traffic) => content::add_pages(&visited, asked.as_ref(), traffic.pages, &mut strata),
        None => {
            if asked.is_none() {
                assumed::mix(&mut strata, views.value);
            }
            assumed::downloads(&mut strata, views.value);
            content::add_pages(
                &visited,
                None,
                Hits { requests: views.value, ..Hits::default() },
                &mut strata,
            );
        }
    }
    let origin = Origin {
        served: served.as_ref(),
        visited: &visited,
        from: traffic.as_ref().map_or(From::Assumed, |_| From::Counted),
        made_ms: traffic.as_ref().and_then(|traffic| traffic.made_ms),
    };
    let mut layers = origin.strata(&strata, draft, progress)?;
    let (cached, stored) = values(lab, ask, progress)?;
    facts.values = stored.as_ref().map(|stored| (cached.seen, stored.keys));
    if ask.values.is_some() {
        facts.values = Some((cached.seen, cached.seen));
    }
    facts.log = traffic.as_ref().map(|traffic| (traffic.requests, traffic.days, traffic.unreadable));
    let mut today = seen_today(&visited);
    if let Some(configured) = &configured {
        add_configured(configured, &layers, &visited, &mut today, progress);
    }
    if let (Some(own), Some(file)) = (&own_php, &ask.php_config) {
        add_php(own, file, &mut today, progress);
    }
    let server = configured.map(|one| one.server).or(ask.server.clone());
    if let Some(server) = server.as_deref().filter(|_| ask.server_config.is_none()) {
        assumed::today(server, &layers, &mut today);
    }
    today.extend(cached.today());
    layers.extend(cached.strata(stored.as_ref(), views.value, draft)?);
    if layers.is_empty() {
        bail!("nothing was found: no file, page or cached value; give --docroot, --url or --values");
    }
    let visitors = visitors(&visited, traffic.as_ref(), views, earlier);
    let mut site = Site {
        schema: SCHEMA,
        name: name(ask, docroot.as_deref()),
        looked: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: Sources {
            server: server.or_else(|| seen_server(&visited)),
            aliases: used(served.as_ref(), &layers),
            ..sources(ask, docroot.as_deref(), stored.as_ref(), php)
        },
        visitors,
        limits: Limits { cores: Figure::measured(cores()), ..Limits::default() },
        prices: Default::default(),
        today,
        strata: layers,
    };
    if let Some(earlier) = earlier {
        facts.kept = keep::keep(earlier, &mut site);
    }
    if let Some(name) = &ask.name {
        site.name.clone_from(name);
    }
    Ok(Looked { site, facts })
}

/// The pages: those of the site's own application, of URLs, or of the document root.
fn visited(
    lab: &Lab,
    ask: &Ask,
    served: Option<&Served>,
    docroot: Option<&Path>,
    progress: &mut dyn Progress,
) -> Result<Visited> {
    if ask.render {
        let docroot = docroot.context("--render: give --docroot, the folder of the site's front page")?;
        let server_config = ask.server_config.as_deref();
        let application = Application { lab, served, docroot, server_config, php: &ask.php };
        match application.look(progress) {
            Ok(visited) => return Ok(visited),
            Err(_) if Interrupt::caught().is_set() => bail!(INTERRUPTED),
            Err(error) => progress.note(&rendered(&error)),
        }
    }
    Visitor { urls: &ask.urls, allowed: &ask.allow_remote, served, instance: None }.look(progress)
}

/// Why the application made no pages: a line with the flag and what to do.
fn rendered(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let line = if text.starts_with("--") { text } else { format!("--render: {text}") };
    if line.contains(RUNNING) { line } else { format!("{line}; {RUNNING}") }
}

/// Page views per month: those of the log, else those that the user gave, else assumed.
fn page_views(earlier: Option<&Site>, traffic: Option<&Traffic>) -> Figure {
    let given = earlier.and_then(|site| site.visitors.page_views).filter(|views| views.from == From::Given);
    let counted = traffic.map(|traffic| Figure::counted(traffic.pages.requests.round()));
    counted.filter(|views| views.value > 0.0).or(given).unwrap_or(Figure::assumed(assumed::PAGE_VIEWS))
}

/// Who visits.
fn visitors(visited: &Visited, traffic: Option<&Traffic>, views: Figure, earlier: Option<&Site>) -> Visitors {
    let assumed = Visitors::default();
    let accept = traffic.map(|traffic| traffic.accept.clone()).filter(|accept| !accept.is_empty());
    Visitors {
        accept: accept.unwrap_or(assumed.accept),
        page_views: Some(views),
        peak: traffic.and_then(|traffic| traffic.peak),
        tls: visited.tls.or(earlier.map(|site| site.visitors.tls)).unwrap_or(assumed.tls),
        ..assumed
    }
}

/// What is asked per month as the pages' own links say, if they load anything.
fn of_pages(visited: &Visited, page_views: f64) -> Option<Asked> {
    let hits = |per_view: &f64| Hits { requests: per_view * page_views, ..Hits::default() };
    let paths = visited.loads.iter().map(|(path, per_view)| (path.clone(), hits(per_view))).collect();
    (!visited.loads.is_empty()).then_some(Asked { paths, from: From::Assumed })
}

/// The values of a folder and of a store.
fn values(lab: &Lab, ask: &Ask, progress: &mut dyn Progress) -> Result<(Cached, Option<store::Stored>)> {
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
    let mut stored = match &ask.store {
        Some(url) => Some(store::look(lab, url, &ask.allow_remote, progress)?),
        None => None,
    };
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

/// What was seen of what the site does today.
fn seen_today(visited: &Visited) -> Vec<Today> {
    let of = |kind, seen: &Option<Seen>| {
        let seen = seen.as_ref()?;
        let about = match seen.coding {
            Some(coding) => format!("{coding}, seen at {}", seen.url),
            None => format!("uncompressed, seen at {}", seen.url),
        };
        let server = if seen.server.is_empty() { String::new() } else { format!(" ({})", seen.server) };
        let by = seen_server(visited);
        let method = configured::method(by.as_deref(), seen.coding.unwrap_or("plain"), false);
        Some(Today { kind, method, about: about + &server, from: From::Measured })
    };
    [of(Kind::Asset, &visited.asset_seen), of(Kind::Page, &visited.page_seen)].into_iter().flatten().collect()
}

/// Adds what the configuration says of today. Where a URL was answered otherwise, what was seen stays, and the difference is said.
fn add_configured(
    configured: &Configured,
    layers: &[Stratum],
    visited: &Visited,
    today: &mut Vec<Today>,
    progress: &mut dyn Progress,
) {
    for kind in [Kind::Asset, Kind::Page, Kind::Download] {
        let page = || {
            let page = visited.pages.first();
            page.map_or(("index.php", 100_000), |page| (page.path.as_str(), page.body.len() as u64))
        };
        // The most requested file of a type that is worth encoding stands for its kind.
        let file = || {
            let own = layers.iter().filter(|stratum| stratum.kind == kind && !stratum.sample.is_empty());
            let best = own.max_by(|a, b| {
                let rank = |one: &Stratum| (types::is_compressible(&one.format), one.requests.value);
                rank(a).partial_cmp(&rank(b)).unwrap_or(std::cmp::Ordering::Equal)
            });
            best.map(|stratum| (stratum.sample[0].path.as_str(), stratum.sample[0].bytes))
        };
        let Some((path, bytes)) = (if kind == Kind::Page { Some(page()) } else { file() }) else { continue };
        let Some(found) = configured.today(kind, path, bytes) else { continue };
        let method = |one: &Today| one.method.split(':').next().unwrap_or_default().to_owned();
        match today.iter_mut().find(|seen| seen.kind == kind) {
            Some(seen) if method(seen) != method(&found) => {
                let (about, other) = (&seen.about, &found.about);
                progress.note(&format!("{}: {about}; the configuration says: {other}", kind.plural()));
            }
            Some(seen) => *seen = found,
            None => today.push(found),
        }
    }
    today.sort_by_key(|one| one.kind);
}

/// Adds what PHP's own settings encode. Where a page was sent otherwise, what was seen stays, and the difference is said.
fn add_php(own: &OwnPhp, file: &Path, today: &mut Vec<Today>, progress: &mut dyn Progress) {
    let Some(method) = own.encoder() else { return };
    let setting = method.trim_start_matches("php/").split(':').next().unwrap_or_default();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let about = clean(&format!("gzip in PHP ({setting}, {name})"));
    let page = today.iter().find(|one| one.kind == Kind::Page);
    if let Some(seen) = page.filter(|one| one.from == From::Measured && !one.about.starts_with("gzip")) {
        progress.note(&format!("pages: {}; PHP's settings say: {about}", seen.about));
        return;
    }
    today.retain(|one| one.kind != Kind::Page);
    today.push(Today { kind: Kind::Page, method, about, from: From::Configured });
    today.sort_by_key(|one| one.kind);
}

/// The PHPs, which have to be ones.
fn php(lab: &Lab, named: &[PathBuf]) -> Result<Vec<String>> {
    if named.is_empty() {
        return Ok(Vec::new());
    }
    lab.php(named)?;
    Ok(named.iter().map(|path| clean_path(path)).collect())
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

fn sources(ask: &Ask, docroot: Option<&Path>, stored: Option<&store::Stored>, php: Vec<String>) -> Sources {
    let text =
        |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned();
    Sources {
        docroot: docroot.map(text),
        server: None,
        aliases: Vec::new(),
        server_config: ask.server_config.as_deref().map(text),
        php,
        php_config: ask.php_config.as_deref().map(text),
        logs: ask.logs.iter().map(|path| text(path)).collect(),
        urls: ask.urls.iter().map(|url| hidden(url)).collect(),
        values: ask.values.as_deref().map(text),
        store: stored.map(|stored| stored.url.clone()),
    }
}

/// The aliases that lead to files of the sample.
fn used(served: Option<&Served>, layers: &[Stratum]) -> Vec<Alias> {
    let files = layers.iter().filter(|stratum| matches!(stratum.kind, Kind::Asset | Kind::Download));
    let paths: Vec<&str> =
        files.flat_map(|stratum| &stratum.sample).map(|sample| sample.path.as_str()).collect();
    let aliases = served.map(Served::aliases).unwrap_or_default();
    aliases.iter().filter(|alias| paths.iter().any(|path| alias.rest(path).is_some())).cloned().collect()
}

/// The server that sent the pages, if it says what it is.
fn seen_server(visited: &Visited) -> Option<String> {
    if visited.server.is_some() {
        return visited.server.clone();
    }
    let seen = visited.page_seen.as_ref().or(visited.asset_seen.as_ref());
    seen.and_then(|seen| server(&seen.server))
}

/// The server that a `Server` field names, as its folder is called.
fn server(said: &str) -> Option<String> {
    let word = said.split(['/', ' ']).next()?.to_lowercase();
    ["nginx", "apache", "caddy", "lighttpd"].contains(&word.as_str()).then_some(word)
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
fn name(ask: &Ask, docroot: Option<&Path>) -> String {
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

#[cfg(test)]
mod tests;
