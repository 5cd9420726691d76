//! `weigh site`: what a site sends, to whom, and how today, in one file that can be read and edited.

mod by_php;
mod screen;
mod worker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use serde::Serialize;

use crate::exit::{Exit, OrRefuse};
use crate::live::Preparing;
use crate::{quantity, terminal};
use weigh_answer::page_load::PredictedLoad;
use weigh_model::site::Site;
use weigh_model::text::clean;
use weigh_run::lab::Lab;
use weigh_site::folder::SiteFile;
use weigh_site::{Looked, NamedPhp, SiteRequest, here};

/// Flags of `weigh site`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The document root: its files are counted by type and size
    #[arg(long, value_name = "DIR", help_heading = "Where to look")]
    docroot: Option<PathBuf>,
    /// The web server's configuration
    #[arg(long, value_name = "FILE", help_heading = "Where to look")]
    server_config: Option<PathBuf>,
    /// The web server, where neither its configuration nor a URL tells: nginx, apache, caddy, lighttpd
    #[arg(long, value_name = "SERVER", help_heading = "Where to look")]
    server: Option<String>,
    /// The site by its name, where the configuration has several of one document root
    #[arg(long, value_name = "NAME", requires = "server_config", help_heading = "Where to look")]
    site: Option<String>,
    /// Access logs, plain or compressed (repeatable): requests are counted, personal data is not kept
    #[arg(long = "log", value_name = "FILE", num_args = 1.., help_heading = "Where to look")]
    logs: Vec<PathBuf>,
    /// A host whose lines of the logs count, such as shop.example or *.shop.example (repeatable); without it, those of the configuration or of the URLs
    #[arg(long = "host", value_name = "NAME", help_heading = "Where to look")]
    hosts: Vec<String>,
    /// A page of the running site (repeatable): it, pages that it links to and what they load are requested
    #[arg(long = "url", value_name = "URL", help_heading = "Where to look")]
    urls: Vec<String>,
    /// Make the pages here: the site's own PHP code runs for them as for a visitor, in a private instance of its server and PHP-FPM
    #[arg(long, help_heading = "Where to look")]
    render: bool,
    /// Load the pages in headless Chromium: predicts FCP, LCP and load over visitors' links
    #[arg(long, help_heading = "Where to look")]
    browser: bool,
    /// Ask up to 2,000 times: which pages may a cache hold?
    #[arg(long, requires = "render", help_heading = "Where to look")]
    page_cache: bool,
    /// Ask --url 3,000 times: does its worker mode leak?
    #[arg(long, requires = "urls", help_heading = "Where to look")]
    worker: bool,
    /// Make them as this user, such as www-data; without a name, as the user of the pool that --php-config names. Root only
    #[arg(long, value_name = "USER", num_args = 0..=1, requires = "render", help_heading = "Where to look")]
    render_as: Option<Option<String>>,
    /// A folder of cached values: serialize, igbinary, MessagePack or JSON, a file each
    #[arg(long, value_name = "DIR", help_heading = "Where to look")]
    values: Option<PathBuf>,
    /// A running store, such as redis://127.0.0.1:6379/0 or redis:///run/redis.sock: some of its values are read, nothing is written
    #[arg(long, value_name = "URL", help_heading = "Where to look")]
    store: Option<String>,
    /// A PHP, binary or fetched runtime (repeatable): the first serves the site, --render compares others
    #[arg(long, value_name = "BINARY", help_heading = "Where to look")]
    php: Vec<NamedPhp>,
    /// How long pages by several PHPs may be measured, such as 60s or 5m
    #[arg(long, value_name = "TIME", default_value = "1m", help_heading = "Where to look", value_parser = quantity::time)]
    budget: f64,
    /// The php.ini of the PHP that serves the site, or the file of its pool of PHP-FPM
    #[arg(long, value_name = "FILE", help_heading = "Where to look")]
    php_config: Option<PathBuf>,
    /// Allow requests to this remote host (repeatable)
    #[arg(long, value_name = "HOST", help_heading = "Where to look")]
    allow_remote: Vec<String>,
    /// The proxy or CDN that visitors reach the server through: cloudflare, cloudfront, fastly, nginx, varnish, or its name in your words
    #[arg(long, value_name = "NAME", help_heading = "Where to look")]
    front: Option<String>,
    /// The site's name; without it, that of its folder or host
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The file to write; pages and values go to a folder beside it
    #[arg(long, value_name = "FILE", default_value = "site.toml")]
    out: PathBuf,
    /// Look again: replace the file, and keep the figures in it that you gave
    #[arg(long)]
    force: bool,
    /// Print the site as JSON too
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize, schemars::JsonSchema)]
pub struct Document<'s> {
    #[serde(flatten)]
    site: &'s Site,
    /// Loads of pages, as predicted from loads in a browser (`--browser`).
    #[serde(skip_serializing_if = "<[PredictedLoad]>::is_empty")]
    #[schemars(default)]
    page_loads: &'s [PredictedLoad],
}

const EXAMPLES: &str = "Examples:
  weigh site                       what runs here and could be looked at
  weigh site --docroot public --server-config nginx.conf --render
  weigh site --docroot public --log access.log --store redis://127.0.0.1/0";

pub fn run(args: &Args, defs: Option<&Path>) -> Result<ExitCode> {
    let ask = ask(args);
    if ask.is_empty() {
        terminal::print(&screen::here(&here::detect_software(Path::new("/"))))?;
        return Ok(Exit::Fine.into());
    }
    let looked = looked(&Lab::open(defs).or_usage_error()?, &ask, &args.out, args.force)?;
    let document = Document { site: &looked.site, page_loads: &looked.loads };
    terminal::show(args.json, &document, || screen::render_screen(&looked, &args.out))?;
    if let Some(problem) = &looked.facts.no_pages {
        terminal::error(&anyhow!("no page was looked at: {problem}"));
        return Ok(Exit::Failures.into());
    }
    Ok(Exit::Fine.into())
}

/// Looks, and writes the file.
///
/// # Errors
/// As the verb's.
pub fn looked(lab: &Lab, ask: &SiteRequest, out: &Path, force: bool) -> Result<Looked> {
    if let Some(name) = &ask.name {
        Site::check_name(name).or_usage_error()?;
    }
    let place = SiteFile { file: out.to_owned(), force };
    place.check().or_usage_error()?;
    let mut progress = Preparing::new();
    let earlier = if out.exists() { Some(earlier(out, &mut progress).or_usage_error()?) } else { None };
    let mut draft = place.begin().or_usage_error()?;
    let looked =
        weigh_site::inspect_site(lab, ask, earlier.as_ref(), &mut draft, &mut progress).or_usage_error()?;
    draft.finish(&weigh_site::text(&looked.site)?)?;
    Ok(looked)
}

/// The site that stands there; what of its files is gone is said.
fn earlier(file: &Path, progress: &mut Preparing) -> Result<Site> {
    use weigh_run::lab::Progress;
    let opened = weigh_site::open(file)?;
    opened.notes.iter().for_each(|note| progress.note(note));
    Ok(opened.site)
}

fn ask(args: &Args) -> SiteRequest {
    SiteRequest {
        docroot: args.docroot.clone(),
        server_config: args.server_config.clone(),
        server: args.server.clone(),
        site: args.site.clone(),
        logs: args.logs.clone(),
        hosts: args.hosts.clone(),
        urls: args.urls.clone(),
        render: args.render,
        browser: args.browser,
        page_cache: args.page_cache,
        worker: args.worker,
        render_as: args.render_as.clone(),
        allow_remote: args.allow_remote.clone(),
        values: args.values.clone(),
        store: args.store.clone(),
        php: args.php.clone(),
        seconds: args.budget,
        php_config: args.php_config.clone(),
        name: args.name.clone(),
        front: args.front.as_deref().map(clean),
    }
}
