//! Small sites, drawn from a seed: a few files of the sample site each, with requests, prices and links of their own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_content::types;
use weigh_model::policy::Objective;
use weigh_model::site::{
    Accept, Figure, From, Kind, Limits, LinkShare, Prices, SCHEMA, Sample, Site, Sources, Stratum, Today,
    Visitors,
};
use weigh_os::digest;

/// What a site has: its server, what is minimised, and how many files of each kind.
pub struct Mix {
    pub server: &'static str,
    pub objective: Objective,
    files: [(Kind, usize); 4],
}

const fn mix(server: &'static str, objective: Objective, files: [usize; 4]) -> Mix {
    let [assets, pages, downloads, values] = files;
    let files =
        [(Kind::Asset, assets), (Kind::Page, pages), (Kind::Download, downloads), (Kind::Value, values)];
    Mix { server, objective, files }
}

/// Assets, pages, downloads and values: as many as an exhaustive run takes in about three minutes.
pub const MIXES: [Mix; 5] = [
    mix("nginx", Objective::Time, [1, 1, 0, 0]),
    mix("apache", Objective::Money, [1, 1, 0, 3]),
    mix("nginx", Objective::Money, [2, 0, 1, 2]),
    mix("apache", Objective::Time, [2, 0, 1, 3]),
    mix("nginx", Objective::Time, [1, 1, 0, 4]),
];

/// Profiles of links that visitors may have.
const LINKS: [&str; 7] = ["fibre", "cable", "dsl", "4g", "lte", "3g-fast", "3g"];
/// The sizes at which strata begin, as in a `site.toml` that `weigh site` writes.
const BANDS: [u64; 6] = [0, 1_000, 10_000, 50_000, 250_000, 1_000_000];
/// The longest file that is drawn: responses of longer ones would take most of the time.
const LONGEST: u64 = 150_000;

/// A site's generator: other numbers for each.
fn generator(number: usize) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(crate::common::SEED + number as u64)
}

/// The site with this number. Its files are those of the sample site in `folder`, which its own file is to be put into.
pub fn site(number: usize, mix: &Mix, folder: &Path) -> Result<Site> {
    let mut random = generator(number);
    let mut strata = Vec::new();
    for (kind, count) in mix.files {
        strata.extend(drawn(kind, count, folder, &mut random)?);
    }
    let docroot = folder.join("public").to_str().context("a path is not in UTF-8")?.to_owned();
    let with = |kind: &Kind| strata.iter().any(|stratum: &Stratum| stratum.kind == *kind);
    let today = Kind::ALL.into_iter().filter(with).map(|kind| today(kind, mix.server, &mut random)).collect();
    Ok(Site {
        schema: SCHEMA,
        name: format!("drawn-{number}"),
        looked: "2026-01-01".into(),
        sources: Sources { docroot: Some(docroot), server: Some(mix.server.into()), ..Sources::default() },
        visitors: visitors(&mut random),
        store_link: Default::default(),
        prices: prices(&mut random),
        limits: Limits::default(),
        today,
        strata,
        loaded: Vec::new(),
        page_cache: Vec::new(),
        cacheable: Vec::new(),
        page_php: Vec::new(),
        worker: None,
    })
}

/// A number between two, each magnitude as likely as another.
fn between(low: f64, high: f64, random: &mut ChaCha8Rng) -> f64 {
    let exact = random.random_range(low.ln()..high.ln()).exp();
    let digits = 10f64.powf(exact.log10().floor() - 2.0);
    (exact / digits).round() * digits
}

fn figure(low: f64, high: f64, random: &mut ChaCha8Rng) -> Figure {
    Figure { value: between(low, high, random), from: From::Given }
}

/// Strata with a file each, no two of one type and size band.
fn drawn(kind: Kind, count: usize, folder: &Path, random: &mut ChaCha8Rng) -> Result<Vec<Stratum>> {
    let (below, within) = match kind {
        Kind::Asset => ("public", "public"),
        Kind::Download => ("public", "public/downloads"),
        Kind::Page => ("", "pages/content"),
        Kind::Value => ("", "values"),
    };
    let mut paths = paths(&folder.join(within))?;
    paths.retain(|path| kind != Kind::Asset || !path.starts_with(folder.join("public/downloads")));
    paths.shuffle(random);
    let mut found: Vec<Stratum> = Vec::new();
    for path in paths {
        let content = fs::read(&path)?;
        let bytes = content.len() as u64;
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let format = if kind == Kind::Value { "serialize" } else { types::of_extension(extension) };
        let at = BANDS.iter().rposition(|from| bytes >= *from).unwrap_or(0);
        let is_new = found.iter().all(|own| own.format != format || own.from_bytes != BANDS[at]);
        let is_meant = kind != Kind::Asset || types::is_compressible(format);
        let is_short = kind == Kind::Download || bytes <= LONGEST;
        if found.len() < count && is_new && is_meant && is_short {
            let path = path.strip_prefix(folder.join(below))?.to_str().context("a path is not in UTF-8")?;
            let sample = Sample {
                path: path.into(),
                bytes,
                sha256: digest::sha256(&content),
                share: 1.0,
                sent: Vec::new(),
            };
            found.push(stratum(kind, format, at, sample, random));
        }
    }
    Ok(found)
}

fn stratum(kind: Kind, format: &str, at: usize, sample: Sample, random: &mut ChaCha8Rng) -> Stratum {
    let files = between(1.0, 300.0, random).round();
    Stratum {
        kind,
        format: format.into(),
        from_bytes: BANDS[at],
        to_bytes: BANDS.get(at + 1).copied(),
        files: Figure::counted(files),
        bytes: Figure::counted(files * sample.bytes as f64),
        requests: figure(1e3, 1e6, random),
        not_modified: None,
        ranges: None,
        sent_bytes: None,
        writes: (kind == Kind::Value).then(|| figure(1e3, 1e5, random)),
        made_ms: None,
        saving: None,
        sample: vec![sample],
    }
}

/// Files in a folder and all below it, in the order of their names.
fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_file() && entry.path().extension().is_none_or(|e| e != "php") {
            found.push(entry.into_path());
        }
    }
    Ok(found)
}

/// What a site does today: nothing, or gzip on the fly as the server does it.
fn today(kind: Kind, server: &str, random: &mut ChaCha8Rng) -> Today {
    let is_encoded = random.random_bool(0.5);
    let filter = if server == "nginx" { "server/gzip:1" } else { "server/mod_deflate:6" };
    let method = match kind {
        Kind::Asset if is_encoded => filter,
        Kind::Asset => "server/plain",
        Kind::Page if is_encoded => filter,
        Kind::Page => "php/none",
        Kind::Download => "php/readfile",
        Kind::Value => "serialize",
    };
    Today { kind, method: method.into(), about: method.into(), from: From::Given }
}

fn visitors(random: &mut ChaCha8Rng) -> Visitors {
    let mut links = LINKS;
    links.shuffle(random);
    let shares = shares(3, random);
    let links = links.iter().zip(shares);
    let links = links.map(|(link, share)| LinkShare { link: (*link).into(), share, from: From::Given });
    let codings: [&[&str]; 4] = [&["zstd", "br", "gzip"], &["br", "gzip"], &["gzip"], &[]];
    let codings = codings.into_iter().zip(shares_of_clients(random));
    let accept = codings.map(|(codings, share)| Accept {
        codings: codings.iter().map(|coding| (*coding).to_owned()).collect(),
        share,
        from: From::Given,
    });
    Visitors {
        accept: accept.collect(),
        links: links.collect(),
        tls: random.random_bool(0.8),
        new_connections: figure(0.02, 0.4, random),
        slower_devices: figure(1.0, 8.0, random),
        ..Visitors::default()
    }
}

/// Shares of several, which add up to 1.
fn shares(count: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let drawn: Vec<f64> = (0..count).map(|_| random.random_range(0.1..1.0)).collect();
    let sum: f64 = drawn.iter().sum();
    drawn.iter().map(|one| one / sum).collect()
}

/// Most clients accept Brotli, and a few take content as it is.
fn shares_of_clients(random: &mut ChaCha8Rng) -> Vec<f64> {
    let two = shares(2, random);
    vec![two[0] * 0.95, two[1] * 0.95, 0.04, 0.01]
}

/// From traffic that is nearly free to dear traffic; a visitor's second has a price for half of the sites.
fn prices(random: &mut ChaCha8Rng) -> Prices {
    let mut waited = figure(1e-6, 1e-3, random);
    if random.random_bool(0.5) {
        waited.value = 0.0;
    }
    Prices {
        currency: "EUR".into(),
        machines: Vec::new(),
        core_hour: figure(0.01, 0.3, random),
        gb_out: figure(0.0005, 0.15, random),
        gb_month: figure(0.5, 20.0, random),
        visitor_second: waited,
    }
}
