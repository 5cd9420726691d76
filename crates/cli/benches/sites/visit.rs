//! Visits to a site: its front page with the assets that it names, and the pages that it links to. The server's log tells of them.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use regex::Regex;
use weigh_load::target::{Resolver, Target};
use weigh_os::interrupt::Interrupt;
use weigh_rig::http::{self, LONGEST, Peer, Reply, Security};

/// Pages that are visited beside the front page.
const PAGES: usize = 12;
/// Visits to each.
const TIMES: usize = 3;
/// How long an answer may take: the installer makes tables.
const PATIENCE: Duration = Duration::from_secs(120);

/// A response.
pub struct PageResponse {
    pub path: String,
    pub bytes: u64,
    pub took: Duration,
}

/// What was visited.
pub struct Visited {
    /// The front page as it was last.
    pub front: PageResponse,
    /// What the front page names: scripts, style sheets, images, fonts.
    pub assets: Vec<PageResponse>,
    /// Pages beside the front page.
    pub pages: usize,
    /// What did not answer 200, with what it answered.
    pub wrong: Vec<String>,
}

/// Sends a request, and reads its answer.
pub fn send(target: &Target, request: &str) -> Result<Reply> {
    let address = *target.addresses.first().context("it has no address")?;
    let peer = Peer { address, security: Security::Plain };
    let reply = http::exchange(peer, request.as_bytes(), false, LONGEST, (PATIENCE, &Interrupt::new()));
    reply.map_err(|fault| anyhow!("{}: {}", target.location.path, fault.message))
}

fn get(origin: &str, path: &str) -> Result<Reply> {
    let target = Resolver::default().target(&format!("{origin}{path}"))?;
    let authority = &target.location.authority;
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {agent}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    );
    send(&target, &request)
}

/// The front page without a content coding.
pub fn front(url: &str) -> Result<Vec<u8>> {
    plain(&get(url.trim_end_matches('/'), "/")?)
}

/// Visits a site by the URL of its front page, which ends with a slash.
pub fn all(url: &str) -> Result<Visited> {
    let host = url.find("://").map_or(0, |at| at + 3);
    let slash = url[host..].find('/').map_or(url.len(), |at| host + at);
    let (origin, base) = url.split_at(slash);
    let place = (origin, base);
    let mut wrong = Vec::new();
    let mut see = |path: &str| -> Result<(PageResponse, Vec<u8>)> {
        let reply = get(origin, path)?;
        if reply.status != 200 {
            let to = reply.shown_field("location").map_or(String::new(), |to| format!(" to {to}"));
            wrong.push(format!("{path} ({}{to})", reply.status));
        }
        let bytes = reply.body.len() as u64;
        Ok((PageResponse { path: path.to_owned(), bytes, took: reply.took }, plain(&reply)?))
    };
    let (_, html) = see(base)?;
    let html = String::from_utf8_lossy(&html).into_owned();
    // A block theme names its fonts in a style sheet within the page.
    let mut assets = found(&html, place, r#"url\(["']?([^"')]+)["']?\)"#)?;
    assets.extend(found(&html, place, r#"<(?:link|script|img)\b[^>]*?\b(?:href|src)=["']([^"']+)["']"#)?);
    let assets: BTreeSet<String> = assets.into_iter().filter(|path| is_asset(path)).collect();
    let pages = found(&html, place, r#"<a\b[^>]*?\bhref=["']([^"'#]+)["']"#)?;
    let pages: Vec<String> =
        pages.into_iter().filter(|path| !is_asset(path) && path != base).take(PAGES).collect();
    let mut last = Vec::new();
    for _ in 0..TIMES {
        last = assets.iter().map(|path| Ok(see(path)?.0)).collect::<Result<_>>()?;
        for page in &pages {
            see(page)?;
        }
    }
    let front = see(base)?.0;
    wrong.dedup();
    Ok(Visited { front, assets: last, pages: pages.len(), wrong })
}

/// The body of an answer without its content coding.
fn plain(reply: &Reply) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    match reply.field("content-encoding").as_deref() {
        Some(b"gzip") => {
            std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(reply.body.as_slice()), &mut body)?;
        }
        _ => body.clone_from(&reply.body),
    }
    Ok(body)
}

/// Paths of this origin that an expression finds, each once; relative ones are below the front page's.
fn found(html: &str, (origin, base): (&str, &str), expression: &str) -> Result<BTreeSet<String>> {
    let links = Regex::new(expression)?;
    let paths = links.captures_iter(html).filter_map(|link| {
        let link = link[1].replace("&amp;", "&").replace("&#038;", "&");
        match link.strip_prefix(origin) {
            Some(path) => Some(if path.is_empty() { "/".to_owned() } else { path.to_owned() }),
            None if link.starts_with('/') && !link.starts_with("//") => Some(link),
            None if !link.contains(':') => Some(format!("{base}{}", link.trim_start_matches("./"))),
            None => None,
        }
    });
    Ok(paths.collect())
}

fn is_asset(path: &str) -> bool {
    let name = path.split('?').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["css", "js", "svg", "png", "jpg", "jpeg", "webp", "gif", "ico", "woff", "woff2"].contains(&extension)
}
