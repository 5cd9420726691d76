//! Studies of a site's sample: every setting that could be advised, on every file that it would be used for.

mod files;
mod proofs;
mod rate;

use std::path::Path;

use anyhow::Result;

use files::{chosen, content, files};
pub use proofs::proofs;
use rate::at_rate;
use weigh_model::cell::{Cell, Subject};
use weigh_model::site::{Accept, Kind, Sample, Site, Stratum};
use weigh_model::way::{CONFIG, WayKind};
use weigh_rig::server::{Definition, WayRow};
use weigh_run::study::{Budget, Precision, SCHEMA, Study};
use weigh_run::subject::codec::study::CellBlock;
use weigh_run::subject::delivery::study::{DeliveryBlock, Served, SlowClients};

/// Shares of the time for responses, for cached values, for decoding, and for slow clients.
const SHARES: [f64; 4] = [0.55, 0.17, 0.06, 0.22];
/// Levels of filters that are tried, by coding: others differ little from them, and each costs time on every file.
const FILTERS: [(&str, &str); 3] = [("gzip", "1|6"), ("br", "4"), ("zstd", "3")];
/// Clients with a smaller share of the requests are not asked for what they get today.
const LEAST_CLASS: f64 = 0.01;
/// Methods of PHP for pages. Of those that make gzip, the one that is a setting and no code: the others differ little from it.
const PAGE_WAYS: [&str; 4] = ["none", "zlib.output_compression:1|6", "zstd:1|3", "brotli:1|4"];
/// Serializers of PHP for cached values.
const SERIALIZERS: [&str; 2] = ["serialize", "igbinary"];
/// Serializers that the values of a site may come from.
const STORED: [&str; 3] = ["serialize", "igbinary", "msgpack"];
/// Codecs of PHP for cached values.
const VALUE_CODECS: [&str; 4] = ["identity", "zstd:1|3", "lz4", "gzdeflate:1|6"];
/// Native codecs whose decoding stands for that of a browser.
const DECODERS: [&str; 3] = ["zlib:6", "brotli:4", "zstd:3"];
/// The content codings that browsers accept over HTTPS.
const BROWSERS: [&str; 3] = ["zstd", "br", "gzip"];
/// Slow clients at a time, beside none.
const SLOW: u32 = 8;

fn new(site: &Site, what: &str, seconds: f64) -> Study {
    Study {
        schema: SCHEMA,
        // A study's name has no dots.
        name: format!("{}-{what}", site.name.replace('.', "-")),
        title: format!("{}: {what}", site.name),
        question: format!("What do the settings for {what} cost on this site's own content?"),
        reading: "Generated from a site's description. Each figure is of one file of the site's sample."
            .into(),
        budget: Budget { seconds, quick_seconds: seconds, cell_seconds: (seconds / 10.0).max(5.0) },
        precision: Precision { max_rounds: 20, min_samples: 5, half_width: 0.015 },
        ..Study::default()
    }
}

fn cells(
    about: &str,
    content: Vec<String>,
    runtime: &str,
    serializers: Vec<String>,
    codecs: Vec<String>,
) -> CellBlock {
    CellBlock {
        about: about.to_owned(),
        content,
        runtimes: to_strings(&[runtime]),
        serializers,
        codecs,
        keep: false,
        block_bytes: None,
        quick: None,
    }
}

/// The serializer and the codec of cached values today; none if no study has them.
fn stored_today(site: &Site) -> Option<(String, String)> {
    let method = &site.today(Kind::Value)?.method;
    let (serializer, codec) = method.split_once('+').unwrap_or((method, "identity"));
    STORED.contains(&serializer).then(|| (serializer.to_owned(), codec.to_owned()))
}

/// Whether a configuration is what the site does today: every change is one from it, so that it is measured to the end.
pub fn is_today(site: &Site, cell: &Cell) -> bool {
    let Some(delivery) = &cell.delivery else {
        let own = (cell.serializer.clone(), cell.setting.to_string());
        return stored_today(site).is_some_and(|(serializer, codec)| own == (Some(serializer), codec));
    };
    let kinds =
        [(Subject::ASSET, Kind::Asset), (Subject::PAGE, Kind::Page), (Subject::DOWNLOAD, Kind::Download)];
    let kind = kinds.into_iter().find(|(subject, _)| *subject == cell.subject);
    let way = kind.and_then(|(_, kind)| today(site, kind));
    cell.setting.codec == CONFIG || way == Some(delivery.way(&cell.setting))
}

/// Whether a codec with its level is among those that are tried.
fn is_tried(setting: &str) -> bool {
    let (name, level) = setting.split_once(':').unwrap_or((setting, ""));
    VALUE_CODECS.iter().any(|codec| {
        let (tried, levels) = codec.split_once(':').unwrap_or((codec, ""));
        tried == name && levels.split('|').any(|own| own == level)
    })
}

/// The studies that a site's decisions need, within this many seconds together. `folder` is that of its file; `server` is the
/// definition of its web server.
///
/// # Errors
/// A sample's path that cannot be written into a study.
pub fn studies(site: &Site, folder: &Path, server: Option<&Definition>, seconds: f64) -> Result<Vec<Study>> {
    let deliveries = server.map(|server| deliveries(site, folder, server)).transpose()?.unwrap_or_default();
    let values = files(site, folder, Kind::Value, &|_| true)?;
    let decoded = [
        files(site, folder, Kind::Asset, &Stratum::is_worth_encoding)?,
        files(site, folder, Kind::Page, &|_| true)?,
    ]
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
        found.push(Study { deliveries, ..new(site, "responses", part(0)) });
    }
    if is_asked[1] {
        let (mut serializers, mut codecs) = (to_strings(&SERIALIZERS), to_strings(&VALUE_CODECS));
        if let Some((serializer, codec)) = stored_today(site) {
            serializers.extend(Some(serializer).filter(|own| !SERIALIZERS.contains(&own.as_str())));
            codecs.extend(Some(codec).filter(|own| !is_tried(own)));
        }
        let about = "serializers and codecs on the site's cached values";
        let cells = cells(about, values, "php", serializers, codecs);
        found.push(Study { cells: vec![cells], ..new(site, "values", part(1)) });
    }
    if is_asked[2] {
        let about = "decoding, as a browser does it";
        let cells = cells(about, decoded, "native", to_strings(&["-"]), to_strings(&DECODERS));
        found.push(Study { cells: vec![cells], ..new(site, "decoding", part(2)) });
    }
    if let Some(block) = slow {
        let precision = Precision { max_rounds: 2, min_samples: 1, half_width: 1.0 };
        let own = new(site, "slow-clients", part(3));
        found.push(Study { deliveries: vec![block], precision, ..own });
    }
    Ok(found)
}

fn to_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn block(
    server: &Definition,
    about: &str,
    subject: Served,
    content: Vec<String>,
    runtime: &str,
    ways: Vec<String>,
) -> DeliveryBlock {
    DeliveryBlock::new(about, subject, content, vec![server.name.clone()], to_strings(&[runtime]), ways)
}

/// Slow clients that download the first of the site's downloads.
fn slow(site: &Site, folder: &Path, server: &Definition) -> Result<Option<DeliveryBlock>> {
    let first = files(site, folder, Kind::Download, &|_| true)?.into_iter().next();
    Ok(first.filter(|_| !handed(site, server).is_empty()).map(|first| DeliveryBlock {
        slow: Some(SlowClients::new(vec![SLOW])),
        ..block(server, "slow clients", Served::Download, vec![first], "php", handed(site, server))
    }))
}

fn deliveries(site: &Site, folder: &Path, server: &Definition) -> Result<Vec<DeliveryBlock>> {
    let today = |kind| today(site, kind);
    let mut all = vec![
        block(
            server,
            "assets that encoding makes smaller",
            Served::Asset,
            files(site, folder, Kind::Asset, &Stratum::is_worth_encoding)?,
            "-",
            with(assets(server, &site.classes()), today(Kind::Asset), "server/"),
        ),
        block(
            server,
            "other assets",
            Served::Asset,
            files(site, folder, Kind::Asset, &|stratum| !stratum.is_worth_encoding())?,
            "-",
            with(vec!["plain".into()], today(Kind::Asset), "server/"),
        ),
        block(
            server,
            "pages",
            Served::Page,
            files(site, folder, Kind::Page, &|_| true)?,
            "php",
            with(pages(server, &site.classes()), today(Kind::Page), "php/"),
        ),
        block(
            server,
            "downloads",
            Served::Download,
            files(site, folder, Kind::Download, &|_| true)?,
            "php",
            handed(site, server),
        ),
    ];
    all.extend(as_files(site, folder, server)?);
    all.extend(by_class(site, folder, server, Kind::Asset)?);
    all.extend(by_class(site, folder, server, Kind::Page)?);
    all.retain(|block| !block.content.is_empty() && !block.ways.is_empty());
    let quiet: Vec<DeliveryBlock> = all.iter().filter_map(|block| at_rate(site, server, block)).collect();
    all.extend(quiet);
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
fn as_files(site: &Site, folder: &Path, server: &Definition) -> Result<Option<DeliveryBlock>> {
    let Some(way) = today(site, Kind::Download).filter(|way| is_of_server(way)) else { return Ok(None) };
    let way = way.trim_start_matches("server/").to_owned();
    let content = files(site, folder, Kind::Download, &|_| true)?;
    Ok(Some(block(server, "downloads that the server sends", Served::Download, content, "-", vec![way])))
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

/// What clients get from the site's own configuration that accept less than browsers do: a block for each class of them, with the files of which
/// it is not known that they get the same as others.
fn by_class(site: &Site, folder: &Path, server: &Definition, kind: Kind) -> Result<Vec<DeliveryBlock>> {
    let is_by_php = today(site, kind).is_some_and(|way| way.starts_with("php/"));
    if site.sources.server_config.is_none() || is_by_php {
        return Ok(Vec::new());
    }
    let (subject, runtime) = if kind == Kind::Page { (Served::Page, "php") } else { (Served::Asset, "-") };
    let is_meant = |stratum: &Stratum| kind == Kind::Page || Stratum::is_worth_encoding(stratum);
    let samples = chosen(site, kind, &is_meant);
    let classes = site.classes();
    let browsers: Vec<String> = to_strings(&BROWSERS);
    let mut found = Vec::new();
    for (at, client) in classes.iter().enumerate() {
        let is_asked =
            client.codings.len() == BROWSERS.len() && client.codings.iter().all(|one| browsers.contains(one));
        if is_asked || client.codings.is_empty() || client.share < LEAST_CLASS {
            continue;
        }
        // What is sent to others in the same coding and length is the same.
        let before = || classes[..at].iter().map(|other| &other.codings).chain([&browsers]);
        let is_same = |sample: &Sample, other: &[String]| {
            let pair = sample.sent_to(&client.codings).zip(sample.sent_to(other));
            pair.is_some_and(|(own, other)| own.coding == other.coding && own.bytes == other.bytes)
        };
        let open = samples.iter().filter(|sample| !before().any(|other| is_same(sample, other)));
        let content = open.map(|sample| content(site, folder, kind, sample)).collect::<Result<_>>()?;
        let accept = client.codings.join(", ");
        let about = format!("{} as they are today, for clients that accept {accept}", kind.plural());
        let own = block(server, &about, subject, content, runtime, vec![format!("server/{CONFIG}")]);
        found.push(DeliveryBlock { accept: Some(accept), ..own });
    }
    Ok(found)
}

/// Everything that a server can do with a file for these clients: as it is, filters at low levels, and precompressed variants; these only where a
/// file that has none yet is sent all the same.
fn assets(server: &Definition, classes: &[Accept]) -> Vec<String> {
    let is_accepted = |coding: &str| is_accepted(classes, coding);
    let needs_every = server.policy.as_ref().is_some_and(|emission| emission.every);
    let own = server.ways.iter().filter(|way| way.subjects.iter().any(|subject| subject == "asset"));
    let mut before: Vec<&str> = Vec::new();
    let mut all = Vec::new();
    for way in own {
        match way.kind {
            WayKind::Plain => all.push(way.name.clone()),
            WayKind::OnTheFly if !way.codings.iter().any(|coding| is_accepted(coding)) => {}
            WayKind::OnTheFly => all.push(filter(way)),
            // Of several methods for one coding, the first that needs no files but the variants.
            WayKind::PreEncoded if way.mirror.is_none() && !needs_every => {
                let codings = way.codings.iter().map(String::as_str);
                let codings: Vec<&str> = codings
                    .filter(|c| BROWSERS.contains(c) && is_accepted(c) && !before.contains(c))
                    .collect();
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

/// Methods for pages: PHP's own, and the server's filters, for content codings that clients accept.
fn pages(server: &Definition, classes: &[Accept]) -> Vec<String> {
    let is_refused = |way: &str| {
        let coding = if way.starts_with("brotli") { "br" } else { way.split(':').next().unwrap_or(way) };
        BROWSERS.contains(&coding) && !is_accepted(classes, coding)
    };
    let filters = server
        .ways
        .iter()
        .filter(|way| way.kind == WayKind::OnTheFly && way.subjects.iter().any(|subject| subject == "page"))
        .filter(|way| way.codings.iter().any(|coding| is_accepted(classes, coding)));
    let filters = filters.map(|way| format!("server/{}", filter(way)));
    let own = PAGE_WAYS.iter().filter(|way| !is_refused(way)).map(|way| (*way).to_owned());
    own.chain(filters).collect()
}

/// Whether clients accept a content coding. Of gzip that is never ruled out: who asks is not known so well.
fn is_accepted(classes: &[Accept], coding: &str) -> bool {
    coding == "gzip" || classes.iter().any(|client| client.codings.iter().any(|own| own == coding))
}

/// Methods for downloads: PHP sends, or hands over, and what it does today. None where the server sends them without PHP: it keeps doing it.
fn handed(site: &Site, server: &Definition) -> Vec<String> {
    let today = today(site, Kind::Download);
    if today.as_deref().is_some_and(|way| way.starts_with("server/")) {
        return Vec::new();
    }
    let handed = server.ways.iter().filter(|way| way.kind == WayKind::Offload);
    let handed = handed.map(|way| way.name.clone());
    with(["readfile".to_owned()].into_iter().chain(handed).collect(), today, "php/")
}

#[cfg(test)]
pub(super) mod tests;
