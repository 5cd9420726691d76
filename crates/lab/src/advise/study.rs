//! Studies of a site's sample: every setting that could be advised, on every file that it would be used for.

mod proofs;

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::located;
use crate::lab::FILE;
use crate::rig::server::{Definition, WayRow};
pub use proofs::{LEAST_SHARE, proofs};
use weigh_model::site::{Kind, Site, Stratum};
use weigh_model::way::{CONFIG, WayKind};

/// Shares of the time for responses, for cached values, for decoding, and for slow clients.
const SHARES: [f64; 4] = [0.55, 0.17, 0.06, 0.22];
/// Levels of filters that are tried, by coding: others differ little from them, and each costs time on every file.
const FILTERS: [(&str, &str); 3] = [("gzip", "1|6"), ("br", "4"), ("zstd", "3")];
/// Files of a kind that are measured: those that stand for most requests.
const MOST: usize = 10;
/// Pages that are measured: each has every method of PHP and of the server, and pages of one size are much alike.
const MOST_PAGES: usize = 3;
/// Methods of PHP for pages. Of those that make gzip, the one that is a setting and no code: the others differ little from it.
const PAGE_WAYS: [&str; 4] = ["none", "zlib.output_compression:1|6", "zstd:1|3", "brotli:1|4"];
/// Serializers of PHP for cached values.
const SERIALIZERS: [&str; 2] = ["serialize", "igbinary"];
/// Serializers of which the values of a site can be.
const STORED: [&str; 3] = ["serialize", "igbinary", "msgpack"];
/// Codecs of PHP for cached values.
const VALUE_CODECS: [&str; 4] = ["identity", "zstd:1|3", "lz4", "gzdeflate:1|6"];
/// Native codecs whose decoding stands for that of a browser.
const DECODERS: [&str; 3] = ["zlib:6", "brotli:4", "zstd:3"];
/// Slow clients at a time, beside none.
const SLOW: u32 = 8;

/// A study as it is written.
#[derive(Debug, Serialize)]
pub struct Written {
    schema: u32,
    /// Its name.
    pub name: String,
    title: String,
    question: String,
    reading: String,
    budget: Budget,
    precision: Precision,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deliveries: Vec<Deliveries>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cells: Vec<Cells>,
}

#[derive(Debug, Serialize)]
struct Budget {
    seconds: f64,
    quick_seconds: f64,
    cell_seconds: f64,
}

#[derive(Debug, Serialize)]
struct Precision {
    max_rounds: u32,
    min_samples: u32,
    half_width: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Deliveries {
    about: String,
    subject: &'static str,
    content: Vec<String>,
    servers: Vec<String>,
    runtimes: Vec<&'static str>,
    ways: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accept: Option<String>,
    negotiation: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    slow: Option<Slow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Slow {
    clients: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct Cells {
    about: String,
    content: Vec<String>,
    runtimes: Vec<&'static str>,
    serializers: Vec<String>,
    codecs: Vec<String>,
}

impl Written {
    fn new(site: &Site, what: &str, seconds: f64) -> Written {
        Written {
            schema: 1,
            name: format!("{}-{what}", slug(&site.name)),
            title: format!("{}: {what}", site.name),
            question: format!("What do the settings for {what} cost on this site's own content?"),
            reading: "Generated from a site's description. Each figure is of one file of the site's sample."
                .into(),
            budget: Budget { seconds, quick_seconds: seconds, cell_seconds: (seconds / 10.0).max(5.0) },
            precision: Precision { max_rounds: 20, min_samples: 5, half_width: 0.03 },
            deliveries: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None is known.
    pub fn text(&self) -> Result<String> {
        toml::to_string(self).context("the study cannot be written")
    }
}

/// The serializer and the codec of cached values today; none if no study has them.
fn stored_today(site: &Site) -> Option<(String, String)> {
    let method = &site.today(Kind::Value)?.method;
    let (serializer, codec) = method.split_once('+').unwrap_or((method, "identity"));
    STORED.contains(&serializer).then(|| (serializer.to_owned(), codec.to_owned()))
}

/// Whether a codec with its level is among those that are tried.
fn is_tried(setting: &str) -> bool {
    let (name, level) = setting.split_once(':').unwrap_or((setting, ""));
    VALUE_CODECS.iter().any(|codec| {
        let (tried, levels) = codec.split_once(':').unwrap_or((codec, ""));
        tried == name && levels.split('|').any(|own| own == level)
    })
}

/// A study's name has no dots.
fn slug(name: &str) -> String {
    name.replace('.', "-")
}

/// The studies that a site's decisions need, within this many seconds together. `folder` is that of its file; `server` is the
/// definition of its web server.
///
/// # Errors
/// A sample's path that cannot be written into a study.
pub fn studies(
    site: &Site,
    folder: &Path,
    server: Option<&Definition>,
    seconds: f64,
) -> Result<Vec<Written>> {
    let deliveries = server.map(|server| deliveries(site, folder, server)).transpose()?.unwrap_or_default();
    let values = files(site, folder, Kind::Value, &|_| true)?;
    let decoded =
        [files(site, folder, Kind::Asset, &is_encodable)?, files(site, folder, Kind::Page, &|_| true)?]
            .concat();
    let slow = server.map(|server| slow(site, folder, server)).transpose()?.flatten();
    let is_asked = [
        !deliveries.is_empty(),
        !values.is_empty(),
        !decoded.is_empty() && !deliveries.is_empty(),
        slow.is_some(),
    ];
    let all: f64 = SHARES.iter().zip(is_asked).filter(|(_, asked)| *asked).map(|(share, _)| share).sum();
    let part = |at: usize| (seconds * SHARES[at] / all.max(f64::EPSILON)).round().max(1.0);
    let mut found = Vec::new();
    if is_asked[0] {
        found.push(Written { deliveries, ..Written::new(site, "responses", part(0)) });
    }
    if is_asked[1] {
        let (mut serializers, mut codecs) = (words(&SERIALIZERS), words(&VALUE_CODECS));
        if let Some((serializer, codec)) = stored_today(site) {
            serializers.extend(Some(serializer).filter(|own| !SERIALIZERS.contains(&own.as_str())));
            codecs.extend(Some(codec).filter(|own| !is_tried(own)));
        }
        let cells = Cells {
            about: "serializers and codecs on the site's cached values".into(),
            content: values,
            runtimes: vec!["php"],
            serializers,
            codecs,
        };
        found.push(Written { cells: vec![cells], ..Written::new(site, "values", part(1)) });
    }
    if is_asked[2] {
        let cells = Cells {
            about: "decoding, as a browser does it".into(),
            content: decoded,
            runtimes: vec!["native"],
            serializers: words(&["-"]),
            codecs: words(&DECODERS),
        };
        found.push(Written { cells: vec![cells], ..Written::new(site, "decoding", part(2)) });
    }
    if let Some(block) = slow {
        let precision = Precision { max_rounds: 2, min_samples: 1, half_width: 1.0 };
        let own = Written::new(site, "slow-clients", part(3));
        found.push(Written { deliveries: vec![block], precision, ..own });
    }
    Ok(found)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn block(
    server: &Definition,
    about: &str,
    subject: &'static str,
    content: Vec<String>,
    runtimes: &[&'static str],
    ways: Vec<String>,
) -> Deliveries {
    Deliveries {
        about: about.to_owned(),
        subject,
        content,
        servers: vec![server.name.clone()],
        runtimes: runtimes.to_vec(),
        ways,
        accept: None,
        negotiation: false,
        slow: None,
        links: Vec::new(),
    }
}

/// Slow clients that download the first of the site's downloads.
fn slow(site: &Site, folder: &Path, server: &Definition) -> Result<Option<Deliveries>> {
    let first = files(site, folder, Kind::Download, &|_| true)?.into_iter().next();
    Ok(first.map(|first| Deliveries {
        slow: Some(Slow { clients: vec![SLOW] }),
        ..block(server, "slow clients", "download", vec![first], &["php"], downloads(server))
    }))
}

/// The blocks of responses.
fn deliveries(site: &Site, folder: &Path, server: &Definition) -> Result<Vec<Deliveries>> {
    let today = |kind| today(site, kind);
    let mut all = vec![
        block(
            server,
            "assets that encoding makes smaller",
            "asset",
            files(site, folder, Kind::Asset, &is_encodable)?,
            &["-"],
            with(assets(server), today(Kind::Asset), "server/"),
        ),
        block(
            server,
            "other assets",
            "asset",
            files(site, folder, Kind::Asset, &|stratum| !is_encodable(stratum))?,
            &["-"],
            with(vec!["plain".into()], today(Kind::Asset), "server/"),
        ),
        block(
            server,
            "pages",
            "page",
            files(site, folder, Kind::Page, &|_| true)?,
            &["php"],
            with(pages(server), today(Kind::Page), "php/"),
        ),
        block(
            server,
            "downloads",
            "download",
            files(site, folder, Kind::Download, &|_| true)?,
            &["php"],
            with(downloads(server), today(Kind::Download).filter(|way| !is_of_server(way)), "php/"),
        ),
    ];
    all.extend(as_files(site, folder, server)?);
    all.retain(|block| !block.content.is_empty());
    Ok(all)
}

/// What the site does today with a kind, as studies measure it.
fn today(site: &Site, kind: Kind) -> Option<String> {
    site.today(kind).map(|today| today.way().to_owned())
}

/// Whether a method of a download is the server's own, without PHP.
fn is_of_server(way: &str) -> bool {
    way.starts_with("server/") && !way.ends_with(CONFIG)
}

/// Downloads that the server sends without PHP, where the site does that today.
fn as_files(site: &Site, folder: &Path, server: &Definition) -> Result<Option<Deliveries>> {
    let Some(way) = today(site, Kind::Download).filter(|way| is_of_server(way)) else { return Ok(None) };
    let way = way.trim_start_matches("server/").to_owned();
    let content = files(site, folder, Kind::Download, &|_| true)?;
    Ok(Some(block(server, "downloads that the server sends", "download", content, &["-"], vec![way])))
}

/// The ways with that of today, which a study may name without who carries it out.
fn with(mut ways: Vec<String>, today: Option<String>, by: &str) -> Vec<String> {
    if let Some(today) = today {
        let short = today.strip_prefix(by).unwrap_or(&today).to_owned();
        if !ways.contains(&short) && !ways.contains(&today) && short != "config" && today != "server/config" {
            ways.push(short);
        }
    }
    ways
}

/// Everything that a server can do with a file: as it is, filters at low levels, and precompressed variants.
fn assets(server: &Definition) -> Vec<String> {
    let own = server.ways.iter().filter(|way| way.subjects.iter().any(|subject| subject == "asset"));
    let mut before: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for way in own {
        match way.kind {
            WayKind::Plain => all.push(way.name.clone()),
            WayKind::OnTheFly => all.push(filter(way)),
            // Of several methods for one coding, the first that needs no files but the variants.
            WayKind::PreEncoded if way.mirror.is_none() => {
                let codings = way.codings.iter().map(String::as_str);
                let codings: Vec<&str> =
                    codings.filter(|c| ["br", "gzip", "zstd"].contains(c) && !before.contains(c)).collect();
                all.extend(codings.iter().map(|coding| variant(way, coding)));
                before.extend(codings);
            }
            // A delta is for those who have the last version: what a first visit gets is decided here.
            WayKind::PreEncoded | WayKind::Delta | WayKind::Offload | WayKind::Transparent => {}
        }
    }
    all
}

/// `gzip:1|6`.
fn filter(way: &WayRow) -> String {
    let levels = FILTERS.iter().find(|(coding, _)| way.codings.iter().any(|own| own == coding));
    match levels.filter(|_| way.levels.is_some()) {
        Some((_, levels)) => format!("{}:{levels}", way.name),
        None => way.name.clone(),
    }
}

/// `type-map,coding=gzip,encoder=libdeflate`.
fn variant(way: &WayRow, coding: &str) -> String {
    let mut text = way.name.clone();
    if way.codings.len() > 1 {
        text.push_str(&format!(",coding={coding}"));
    }
    if coding == "gzip" {
        text.push_str(",encoder=libdeflate");
    }
    text
}

/// Methods for pages: PHP's own, and the server's filters.
fn pages(server: &Definition) -> Vec<String> {
    let filters = server
        .ways
        .iter()
        .filter(|way| way.kind == WayKind::OnTheFly && way.subjects.iter().any(|subject| subject == "page"));
    let filters = filters.map(|way| format!("server/{}", filter(way)));
    PAGE_WAYS.iter().map(|way| (*way).to_owned()).chain(filters).collect()
}

/// Methods for downloads: PHP sends, or hands over.
fn downloads(server: &Definition) -> Vec<String> {
    let handed = server.ways.iter().filter(|way| way.kind == WayKind::Offload);
    let handed = handed.map(|way| way.name.clone());
    ["readfile".to_owned()].into_iter().chain(handed).collect()
}

/// Whether encoding may make content of this type smaller.
fn is_encodable(stratum: &Stratum) -> bool {
    let types = crate::rig::server::types::compressible();
    types.contains(&stratum.format.as_str()) || stratum.format.starts_with("text/")
}

/// The sample files of a kind as contents of a study, each once: at most [`MOST`], of pages [`MOST_PAGES`]; those that stand for most
/// requests.
fn files(site: &Site, folder: &Path, kind: Kind, is_meant: &dyn Fn(&Stratum) -> bool) -> Result<Vec<String>> {
    let strata = site.of(kind).filter(|stratum| is_meant(stratum));
    let weighed = |stratum: &'_ Stratum| {
        let own = stratum.sample.iter();
        own.map(|sample| (sample.path.clone(), sample.share * stratum.requests.value)).collect::<Vec<_>>()
    };
    let (mut all, mut rest) = (Vec::new(), Vec::new());
    let by_requests = |a: &(String, f64), b: &(String, f64)| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0));
    for stratum in strata {
        let mut own = weighed(stratum);
        own.sort_by(by_requests);
        // Of pages and values, each size has one before any has two.
        let first = if matches!(kind, Kind::Page | Kind::Value) { own.len().min(1) } else { own.len() };
        rest.extend(own.split_off(first));
        all.extend(own);
    }
    all.sort_by(by_requests);
    rest.sort_by(by_requests);
    let most = if kind == Kind::Page { MOST_PAGES } else { MOST };
    let mut found: Vec<String> = Vec::new();
    for (path, _) in all.into_iter().chain(rest) {
        let content = format!("{FILE}{}", located(site, folder, kind, &path)?);
        if !found.contains(&content) && found.len() < most {
            found.push(content);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
