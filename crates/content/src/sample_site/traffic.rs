//! A week of requests to the sample site: page views that load their assets, returning visitors, downloads, bots.

use std::collections::{BTreeMap, BTreeSet};

use super::agents::{self, Bot, BotPurpose, weighted};
use super::files::{COMMON, MORE, Size};
use crate::synthetic::text::Random;

/// Articles; visitors want the first most, by Zipf's law.
pub(super) const ARTICLES: usize = 40;
/// Visits by hour, from midnight on, and by day, from Monday on.
const HOURS: [u64; 24] =
    [9, 6, 4, 3, 3, 4, 8, 15, 24, 30, 33, 34, 33, 34, 35, 34, 33, 32, 33, 36, 38, 33, 24, 15];
const DAYS: [u64; 7] = [16, 17, 17, 16, 14, 10, 10];
/// Of 100 visits, those of bots; of visits by people, those of people who were here before.
const BOTS: u64 = 22;
const RETURNING: u64 = 35;
/// Of 100 assets that a returning visitor's browser has, those that it uses without a question.
const FRESH: u64 = 60;
/// Of 100 page views, those after a static page, and those with a download.
const GUIDES: u64 = 6;
const DOWNLOADS: u64 = 5;
/// Bytes of the answer to a path that is not there.
const NOT_FOUND: u64 = 10;

/// One request with its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Seconds from the begin of the week.
    pub at: u64,
    pub client: u64,
    pub method: &'static str,
    pub path: String,
    pub status: u16,
    /// Bytes of the body.
    pub bytes: u64,
    /// The path of the page that led here; empty: none.
    pub referrer: String,
    pub agent: &'static str,
}

/// So many requests of a week, in the order in which they are answered. `files` are those of the document root, `texts` the sizes of pages.
pub(super) fn week(files: &BTreeMap<String, Size>, texts: &[Size], count: usize, seed: u64) -> Vec<Hit> {
    let mut site = Site { files, texts, random: Random::new(seed), hits: Vec::with_capacity(count + 100) };
    while site.hits.len() < count {
        let visit = Visit {
            at: site.begin(),
            // So many that some come again, as behind one address there are several.
            client: site.random.below(1 << 15),
            agent: "",
            gzip: true,
        };
        if site.random.below(100) < BOTS {
            let bot = agents::bot(&mut site.random);
            site.bot(Visit { agent: bot.name, gzip: bot.gzip, ..visit }, bot);
        } else {
            let agent = agents::browser(&mut site.random);
            site.person(Visit { agent, ..visit });
        }
    }
    site.hits.truncate(count);
    site.hits.sort_by_key(|hit| hit.at);
    site.hits
}

/// A visit as far as it has come.
struct Visit {
    at: u64,
    client: u64,
    agent: &'static str,
    gzip: bool,
}

struct Site<'a> {
    files: &'a BTreeMap<String, Size>,
    texts: &'a [Size],
    random: Random,
    hits: Vec<Hit>,
}

impl Site<'_> {
    /// When a visit begins, early enough that it ends within the week.
    fn begin(&mut self) -> u64 {
        let (day, hour) = (weighted(&mut self.random, &DAYS), weighted(&mut self.random, &HOURS));
        ((day * 24 + hour) * 3600) as u64 + self.random.below(3600)
    }

    fn hit(&mut self, visit: &Visit, path: &str, status: u16, bytes: u64, referrer: &str) {
        let (path, referrer, method) = (path.to_owned(), referrer.to_owned(), "GET");
        // What begins late on Sunday ends with the log.
        let at = visit.at.min(7 * 86_400 - 1);
        let (client, agent) = (visit.client, visit.agent);
        self.hits.push(Hit { at, client, method, path, status, bytes, referrer, agent });
    }

    /// The number of a page: 0 is the front page.
    fn page(&mut self, front: u64) -> usize {
        if self.random.below(100) < front {
            return 0;
        }
        let weights: Vec<u64> = (1..=ARTICLES as u64).map(|rank| 1_000_000 / rank).collect();
        1 + weighted(&mut self.random, &weights)
    }

    fn view(&mut self, visit: &Visit, page: usize, referrer: &str) -> String {
        let path = if page == 0 { "/".to_owned() } else { format!("/article/{page}") };
        let articles = self.texts.len() - 1;
        let size = if page == 0 { self.texts[0] } else { self.texts[1 + page % articles] };
        self.hit(visit, &path, 200, if visit.gzip { size.sent } else { size.plain }, referrer);
        path
    }

    /// A static page is read; for how long.
    fn guide(&mut self, visit: &Visit, referrer: &str) -> u64 {
        let guides: Vec<_> = self.files.iter().filter(|(path, _)| path.starts_with("/docs/")).collect();
        let at = self.random.below(guides.len() as u64) as usize;
        if let Some((path, size)) = guides.get(at) {
            self.hit(visit, path, 200, size.sent, referrer);
        }
        5 + self.random.below(60)
    }

    /// A person reads some pages.
    fn person(&mut self, mut visit: Visit) {
        let is_returning = self.random.below(100) < RETURNING;
        let mut seen = BTreeSet::new();
        let mut referrer = String::new();
        let mut front = 40;
        loop {
            if self.random.below(100) < GUIDES {
                visit.at += self.guide(&visit, &referrer);
            }
            let page = self.page(front);
            let path = self.view(&visit, page, &referrer);
            self.load(&mut visit, page, &path, is_returning, &mut seen);
            if referrer.is_empty() && !is_returning && self.random.below(100) < 30 {
                self.hit(&visit, "/favicon.ico", 404, NOT_FOUND, &path);
            }
            if self.random.below(100) < DOWNLOADS {
                visit.at += 2 + self.random.below(20);
                self.download(&mut visit, &path);
            }
            if self.random.below(100) < 45 {
                return;
            }
            visit.at += 5 + self.random.below(180);
            (referrer, front) = (path, 15);
        }
    }

    /// The browser loads what a page needs and it does not have yet.
    fn load(
        &mut self,
        visit: &mut Visit,
        page: usize,
        from: &str,
        is_returning: bool,
        seen: &mut BTreeSet<&'static str>,
    ) {
        for path in COMMON.iter().chain(MORE[page % MORE.len()]) {
            if !seen.insert(path) || is_returning && self.random.below(100) < FRESH {
                continue;
            }
            visit.at += u64::from(self.random.below(8) == 0);
            let file = path.split('?').next().unwrap_or(path);
            let Some(size) = self.files.get(file).copied() else { continue };
            if is_returning && self.random.below(100) < 90 {
                self.hit(visit, path, 304, 0, from);
            } else {
                self.hit(visit, path, 200, size.sent, from);
            }
        }
    }

    /// A file is saved: whole, in ranges as readers of documents do, or only in part.
    fn download(&mut self, visit: &mut Visit, from: &str) {
        let all = self.files.iter().filter(|(path, _)| path.starts_with("/downloads/"));
        let all: Vec<(String, Size)> = all.map(|(path, size)| (path.clone(), *size)).collect();
        let weights: Vec<u64> = (1..=all.len() as u64).map(|rank| 1_000 / rank).collect();
        let Some((path, size)) = all.get(weighted(&mut self.random, &weights)) else { return };
        match self.random.below(100) {
            0..10 => {
                let count = 2 + self.random.below(5);
                for _ in 0..count {
                    self.hit(visit, path, 206, size.plain / count, from);
                    visit.at += 1;
                }
            }
            10..16 => {
                let part = self.random.below(size.sent);
                self.hit(visit, path, 200, part, from);
            }
            _ => self.hit(visit, path, 200, size.sent, from),
        }
    }

    fn bot(&mut self, mut visit: Visit, bot: Bot) {
        match bot.does {
            BotPurpose::Crawl => {
                let size = self.files.get("/robots.txt").map_or(0, |size| size.sent);
                self.hit(&visit, "/robots.txt", 200, size, "");
                for _ in 0..1 + self.random.below(12) {
                    visit.at += 2 + self.random.below(30);
                    let page = self.page(5);
                    self.view(&visit, page, "");
                }
            }
            BotPurpose::Scan => {
                for path in ["/wp-login.php", "/xmlrpc.php", "/.env", "/.git/config"] {
                    self.hit(&visit, path, 404, NOT_FOUND, "");
                    visit.at += 1;
                }
                self.view(&visit, 0, "");
            }
            BotPurpose::Watch => {
                self.hit(&visit, "/", 200, 0, "");
                if let Some(hit) = self.hits.last_mut() {
                    hit.method = "HEAD";
                }
            }
        }
    }
}
