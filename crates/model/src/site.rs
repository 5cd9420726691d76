//! A site, as `site.toml` describes it: what it sends, to whom, and how today. Each figure says where it comes from.

mod cached;
mod check;
mod figure;
mod front;
mod page_php;
mod visitors;
mod worker;

use serde::{Deserialize, Serialize};
use weigh_load::verify::is_text_type;

use crate::page::PageGraph;
use crate::way::is_php_setting;

pub use cached::{CacheablePage, CachedPages};
pub use figure::{Figure, From};
pub use front::Front;
pub use page_php::{AtRate, Brings, PageParts, PhpPage, SAME};
pub use visitors::{Accept, Limits, LinkShare, MachinePrice, Prices, StoreLink, Visitors};
pub use worker::{WorkerMode, WorkerPage};

/// The version of the file that this program reads and writes.
pub const SCHEMA: u32 = 1;

/// Content of which zstd 1 saves less than this share is not worth encoding.
pub const WORTH_ENCODING: f64 = 0.05;

/// `site.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The version of this form: 1.
    pub schema: u32,
    /// The site's name: lower-case letters, digits, hyphens and dots.
    pub name: String,
    /// The day on which the program looked at the site: `2026-11-24`.
    pub looked: String,
    /// Where the program looked.
    #[serde(default)]
    pub sources: Sources,
    /// Who visits, and over which links.
    #[serde(default)]
    pub visitors: Visitors,
    /// The link between PHP and the store of cached values.
    #[serde(default)]
    pub store_link: StoreLink,
    /// Prices.
    #[serde(default)]
    pub prices: Prices,
    /// What may not be exceeded.
    #[serde(default)]
    pub limits: Limits,
    /// What the site does today, one entry per kind of content.
    #[serde(default)]
    pub today: Vec<Today>,
    /// The content, in strata: one per kind, format and size band.
    #[serde(default)]
    pub strata: Vec<Stratum>,
    /// Pages that were loaded in a browser. They stand for all pages: how long visitors wait for a page and what belongs to it follows from their loads.
    /// None: from single responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<LoadedPage>,
    /// What a cache of pages in front of PHP would have answered, by how long it holds them; none: no log, or no script in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_cache: Vec<CachedPages>,
    /// Pages that were asked whether a cache in front of PHP may hold them; none: nobody asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cacheable: Vec<CacheablePage>,
    /// The site's pages as each of several PHPs makes them (`--render` with `--php` twice or more); none: not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub page_php: Vec<PhpPage>,
    /// What PHP that lives on from request to request keeps (`--worker`); none: not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerMode>,
}

/// A page that was loaded in a browser.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadedPage {
    /// The path of its URL.
    pub page: String,
    /// What it loads, as a graph: a file below the folder of `site.toml`.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
    /// The share of page views that it stands for. The shares of all add up to 1.
    pub share: f64,
    /// The graph, once it has been read.
    #[serde(skip)]
    pub graph: Option<PageGraph>,
}

/// Where the program looked. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// The document root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docroot: Option<String>,
    /// The web server: `nginx`, `apache`, `caddy`, `lighttpd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_config: Option<String>,
    /// Which of its sites, by a name; absent: the only one, or the one with the document root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// PHPs, as binaries or names of runtimes: the first serves the site, others are compared with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub php: Vec<String>,
    /// The php.ini of the PHP that serves the site, or the file of its pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_config: Option<String>,
    /// The account that server and PHP run as wherever the application is started; absent: a user without rights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_as: Option<String>,
    /// Access logs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<String>,
    /// URLs that were requested, without passwords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// A folder of cached values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// The store of cached values, as a URL without its password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Folders beside the document root that files are sent from, in the order in which the server looks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Alias>,
    /// Folders outside of those that links in them lead to: their files are precompressed by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<String>,
    /// The proxy or CDN between visitors and the server, by its name or in words: `cloudflare`, `a proxy (set_real_ip_from, nginx.conf:12)`.
    /// Absent: none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<String>,
}

/// A folder with a path of its own: `Alias`, or `alias` and `root` in a `location`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// What the paths of its URLs begin with, without a slash at the end: `/wp-content`.
    pub url: String,
    /// The folder.
    pub folder: String,
}

impl Alias {
    /// The rest of a path that begins with this one's; both without a slash at the begin.
    pub fn rest<'p>(&self, path: &'p str) -> Option<&'p str> {
        let rest = path.strip_prefix(self.url.trim_matches('/'))?;
        rest.strip_prefix('/').filter(|rest| !rest.is_empty())
    }
}

impl Sources {
    /// The folder that a URL's path leads into, and the rest of the path below it. The path has no slash at its begin.
    pub fn folder<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        let alias = self.aliases.iter().find_map(|alias| Some((alias.folder.as_str(), alias.rest(path)?)));
        alias.or_else(|| Some((self.docroot.as_deref()?, path)))
    }
}

/// A kind of content.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A static file that is part of a page: script, style sheet, font, image.
    Asset,
    /// A response that PHP makes.
    Page,
    /// A file that a visitor saves.
    Download,
    /// A value in a cache.
    Value,
}

impl Kind {
    /// All, in the order of reports.
    pub const ALL: [Kind; 4] = [Kind::Asset, Kind::Page, Kind::Download, Kind::Value];

    /// `assets`.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Asset => "assets",
            Kind::Page => "pages",
            Kind::Download => "downloads",
            Kind::Value => "values",
        }
    }
}

/// Content of one kind, one format and one size band.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stratum {
    /// The kind.
    pub kind: Kind,
    /// The media type, such as `text/javascript`; of values the form, such as `serialize`.
    pub format: String,
    /// The smallest size in bytes, uncompressed.
    pub from_bytes: u64,
    /// The size in bytes that ends the band, itself not in it; absent: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_bytes: Option<u64>,
    /// How many files, pages or keys there are.
    pub files: Figure,
    /// Their bytes together, uncompressed.
    pub bytes: Figure,
    /// Responses with this content to visitors per month; of values: reads.
    pub requests: Figure,
    /// Responses with status 304 per month, which are not among the requests; absent: none, or not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_modified: Option<Figure>,
    /// Responses with a range (status 206) per month, which are not among the requests; absent: none, or not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Figure>,
    /// Bytes that these responses had in their content codings, per month; absent: not counted. Of values: bytes in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_bytes: Option<Figure>,
    /// How often content is written per month: deployments of files, writes of values. Absent: seldom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Figure>,
    /// Of pages: milliseconds that the application takes to make one, without encoding. Absent: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_ms: Option<Figure>,
    /// The share of its bytes that zstd 1 saves, from 0 to 1, over the files that stand for it. Absent: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saving: Option<f64>,
    /// The files that are measured for the stratum.
    #[serde(default)]
    pub sample: Vec<Sample>,
}

/// A file that stands for its stratum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The file. Of assets and downloads it is the path of the URL, which leads to the file through an alias or below the document
    /// root, if the site has one; else it is below the folder of `site.toml`.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
    /// The share of the stratum's requests that it stands for. The shares of a stratum add up to 1.
    pub share: f64,
    /// What the site answers today, one entry per class of clients that it was asked as; absent: it was not asked, and today is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Sent>,
}

impl Sample {
    /// Whether a program makes it: the site has no file of it, and nothing can be made of it beforehand. Such answers are kept in the folder `made` of a
    /// site's sample.
    pub fn is_made(&self) -> bool {
        let mut folders = self.path.rsplit('/').skip(1);
        folders.next() == Some("made") && folders.next().is_some_and(|folder| folder.ends_with("-sample"))
    }

    /// What clients that accept these codings get today; none: the site was not asked as one of them.
    pub fn sent_to(&self, codings: &[String]) -> Option<&Sent> {
        self.sent.iter().find(|sent| is_same(&sent.accept, codings))
    }
}

/// Whether two lists have the same content codings, in any order.
fn is_same(a: &[String], b: &[String]) -> bool {
    a.iter().all(|one| b.contains(one)) && b.iter().all(|one| a.contains(one))
}

/// What the site answers today to clients that accept the same content codings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// The codings that these clients accept, as in `visitors.accept`.
    pub accept: Vec<String>,
    /// The content coding of the answer: `gzip`, `br`, `zstd`, `identity`.
    pub coding: String,
    /// Bytes of the body as it was sent.
    pub bytes: u64,
    /// The method that makes the same bytes, as a study names it: `server/gzip:6`, `server/gzip_static`, `server/plain`. Absent: the content
    /// coding is known, what made it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Whether the answer has `Vary: Accept-Encoding`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vary: bool,
    /// Cache-Control; absent: not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<String>,
}

/// What the site does today with content of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Today {
    /// The kind.
    pub kind: Kind,
    /// The method as a study names it: `server/gzip:1`, `server/config`, `php/readfile`, `serialize`.
    pub method: String,
    /// The same in words, with the place: `gzip 1 on the fly (nginx.conf, line 31)`.
    pub about: String,
    /// Where it comes from.
    pub from: From,
}

impl Stratum {
    /// Whether encoding makes its content smaller by enough, as measured; where it was not, text is taken to be so.
    pub fn is_worth_encoding(&self) -> bool {
        self.saving.map_or_else(|| is_text_type(&self.format), |saving| saving >= WORTH_ENCODING)
    }

    /// `text/javascript, 10–50 KB`.
    pub fn name(&self) -> String {
        use crate::units::bytes;
        match self.to_bytes {
            Some(to) => format!("{}, {} to {}", self.format, bytes(self.from_bytes), bytes(to)),
            None => format!("{}, from {}", self.format, bytes(self.from_bytes)),
        }
    }
}

impl Today {
    /// The method as studies measure it: a page that the server adds nothing to is PHP's own, and a download that it sends as a file
    /// is one that PHP has no part in.
    pub fn way(&self) -> &str {
        match (self.kind, self.method.as_str()) {
            (Kind::Page, "server/plain") => "php/none",
            (Kind::Download, "server/plain") => "server/transparent",
            (_, method) => method,
        }
    }

    /// Whether PHP compresses by a setting, and no code does.
    pub fn is_php_setting(&self) -> bool {
        let method = self.way().strip_prefix("php/").and_then(|way| way.split(':').next());
        method.is_some_and(is_php_setting)
    }
}

impl Site {
    /// The strata of a kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Stratum> {
        self.strata.iter().filter(move |stratum| stratum.kind == kind)
    }

    /// The classes of clients that ask the server, with their shares: those of [`Visitors::accept`], as they reach it. Over plain HTTP browsers
    /// offer neither br nor zstd; what a proxy or CDN in front asks for is its own. Classes that the owner gave stay as they are.
    pub fn classes(&self) -> Vec<Accept> {
        let front = self.sources.front.as_deref();
        let known = front.and_then(Front::named);
        let mut classes: Vec<Accept> = Vec::new();
        for client in &self.visitors.accept {
            let mut own = client.clone();
            if own.from != From::Given {
                own.codings = match known {
                    Some(known) => known.asks(&own.codings),
                    None if front.is_none() && !self.visitors.tls => own
                        .codings
                        .into_iter()
                        .filter(|coding| !["br", "zstd"].contains(&coding.as_str()))
                        .collect(),
                    None => own.codings,
                };
            }
            match classes.iter_mut().find(|other| is_same(&other.codings, &own.codings)) {
                Some(other) => other.share += own.share,
                None => classes.push(own),
            }
        }
        classes
    }

    /// Whether it is known of all pages that are requested what the application takes to make them.
    pub fn knows_made(&self) -> bool {
        self.of(Kind::Page).all(|page| page.made_ms.is_some() || page.requests.value == 0.0)
    }

    /// What the site does today with content of a kind.
    pub fn today(&self, kind: Kind) -> Option<&Today> {
        self.today.iter().find(|today| today.kind == kind)
    }
}

#[cfg(test)]
mod tests;
