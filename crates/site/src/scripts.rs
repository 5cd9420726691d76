//! The script URLs that a log names most: what PHP answers is not always a page, so that they can be asked, and counted as what they are.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::followed::acts;
use super::hits::Hits;
use super::log::{self, PathTraffic};
use weigh_model::site::Kind;
use weigh_os::interrupt::Interrupt;
use weigh_rig::asker::{Asker, Question};
use weigh_rig::http::Reply;

/// How long all of them may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of answers that are kept in all.
const LARGEST: usize = 32 << 20;
/// What a path of a URL cannot have as it is.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'%');

/// Last parts of paths, and keys of query strings, that show no page: feeds, programs' interfaces, periodic tasks, style sheets and scripts by PHP.
const NOT_SHOWN: &str = "feed rss rss2 atom rdf xmlrpc.php wp-cron.php admin-ajax.php ajax.php api.php rest.php load.php \
    css.php js.php fetch.php taskrunner.php manifest.php messages.php thumb.php cron.php graphql ajax heartbeat doing_wp_cron wc-ajax rest_route indexer.php";
/// First parts of paths of programs' interfaces.
const INTERFACES: [&str; 3] = ["wp-json", "api", "_wdt"];

/// A script, or its requests with query strings of the same keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The path below the site's root; behind `?` the keys in order: `index.php?action&title`. It can be written anywhere.
    pub key: String,
    /// An example, from the first slash on. Its query string may be of a person: it is for asking only, and written nowhere.
    pub url: String,
    /// What is asked of it per month.
    pub hits: Hits,
    /// URLs as [`Script::url`] with what is asked of them and of those with responses of about the same length.
    pub(super) examples: Vec<(String, Hits)>,
    /// Page views in the log, if it is a page.
    pub(super) viewed: u64,
    /// Its page views per month, likewise.
    pub(super) views: f64,
}

impl Script {
    /// The script of a path, and those with query strings.
    pub(super) fn of(name: &str, traffic: &PathTraffic, factor: f64) -> Vec<Script> {
        let url = format!("/{}", utf8_percent_encode(name, ESCAPED));
        let script = |key: String, url: String, hits: &log::Hits| Script {
            key,
            examples: vec![(url.clone(), Hits::per_month(hits, factor))],
            url,
            hits: Hits::per_month(hits, factor),
            viewed: hits.views,
            views: hits.views as f64 * factor,
        };
        let mut all: Vec<Script> = Vec::new();
        for one in &traffic.variants {
            let own = script(format!("{name}?{}", one.keys), format!("{url}?{}", one.query), &one.hits);
            match all.iter_mut().find(|known| known.key == own.key) {
                Some(known) => {
                    known.hits.add(&own.hits);
                    known.viewed += own.viewed;
                    known.views += own.views;
                    known.examples.extend(own.examples);
                }
                None => all.push(own),
            }
        }
        let mut rest = script(name.to_owned(), url, &traffic.hits);
        for one in &all {
            rest.hits.subtract(&one.hits);
            rest.viewed = rest.viewed.saturating_sub(one.viewed);
            rest.views = (rest.views - one.views).max(0.0);
        }
        rest.examples[0].1 = rest.hits;
        all.extend(Some(rest).filter(|rest| rest.hits.any()));
        all
    }
}

/// Whether a file is a page.
pub(super) fn is_html(path: &str) -> bool {
    [".html", ".htm"].iter().any(|ending| path.to_ascii_lowercase().ends_with(ending))
}

/// Whether a script shows a page, as far as its name and the keys of its query string tell.
pub(super) fn is_shown(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (path, keys) = key.split_once('?').unwrap_or((&key, ""));
    let path = path.trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or_default();
    let first = path.split('/').next().unwrap_or_default();
    let is_listed = |name: &str| NOT_SHOWN.split(' ').any(|one| one == name);
    !is_listed(last) && !INTERFACES.contains(&first) && !keys.split('&').any(is_listed)
}

/// What a script answers that is not an HTML page, with its requests per month.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// As [`Script::key`].
    pub key: String,
    pub kind: Kind,
    pub format: String,
    /// What is asked of it.
    pub hits: Hits,
}

/// What the path of a candidate begins with that a script makes; no path of a file does.
pub const MADE: &str = "/made:";

/// The answer to a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    pub kind: Kind,
    pub format: String,
    /// The path that was asked for. It may be of a person, and is written nowhere.
    pub url: String,
    /// The content; of HTML pages, and of long answers and the last of many, nothing is kept.
    pub body: Vec<u8>,
}

impl Answered {
    /// Whether it is a page for visitors: feeds and data that a program makes are encoded as other types.
    pub fn is_html(&self) -> bool {
        self.kind == Kind::Page && ["text/html", "application/xhtml+xml"].contains(&self.format.as_str())
    }
}

/// Asks for scripts what they are: the type of their answer tells. What changes something by being asked for is not.
pub fn ask(asker: &Asker<'_>, scripts: &[Script]) -> HashMap<String, Answered> {
    let until = Instant::now() + PATIENCE;
    let (mut answers, mut room) = (HashMap::new(), LARGEST);
    for script in scripts {
        if Instant::now() >= until || Interrupt::caught().is_set() {
            break;
        }
        if acts(&script.url) {
            continue;
        }
        let Ok(reply) = asker.ask(&Question { path: &script.url, ..Question::default() }) else { continue };
        let Some((kind, format)) = kind_of(&reply).filter(|_| reply.status == 200) else { continue };
        let mut answered = Answered { kind, format, url: script.url.clone(), body: Vec::new() };
        if !answered.is_html() && reply.body.len() <= room {
            room -= reply.body.len();
            answered.body = reply.body;
        }
        answers.insert(script.key.clone(), answered);
    }
    answers
}

/// Whether a media type is that of what pages load.
pub(super) fn is_loaded(format: &str) -> bool {
    const LOADED: [&str; 8] = [
        "text/css",
        "text/javascript",
        "application/javascript",
        "application/x-javascript",
        "application/manifest+json",
        "application/wasm",
        "image/",
        "font/",
    ];
    LOADED.iter().any(|begin| format.starts_with(begin))
}

/// What an answer is, by its type: what a page loads, what a visitor saves, else a page.
fn kind_of(reply: &Reply) -> Option<(Kind, String)> {
    let value = String::from_utf8_lossy(&reply.field("content-type")?).to_lowercase();
    let format = value.split(';').next()?.trim().to_owned();
    let is_plain = format.contains('/') && format.len() < 100 && format.bytes().all(|b| b.is_ascii_graphic());
    let is_saved = reply.field("content-disposition").is_some_and(|value| value.starts_with(b"attachment"));
    let begins = |types: &[&str]| types.iter().any(|begin| format.starts_with(begin));
    let kind = if is_saved
        || begins(&["application/pdf", "application/zip", "application/octet-stream", "video/"])
    {
        Kind::Download
    } else if is_loaded(&format) {
        Kind::Asset
    } else {
        Kind::Page
    };
    is_plain.then_some((kind, format))
}
