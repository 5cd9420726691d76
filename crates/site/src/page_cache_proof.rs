//! A policy's cache of pages in a private instance of the site, beside one without it: what PHP and server take for the same requests, which of them PHP
//! makes pages for, and whether visitors of many kinds are answered as without it.

use std::thread::Scope;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::cacheable::{FORWARDED, VISITORS};
use super::page_proof::as_it_is;
use super::private::{MeteredPool, Private};
use super::regression::{Subject, make_every_page};
use super::side::Side;
use weigh_answer::policy::MeasuredCache;
use weigh_model::page_cache::{CacheAnswer, CacheSetup, PageCache};
use weigh_model::policy::{PageCaching, Policy};
use weigh_model::site::{CacheablePage, Site};
use weigh_model::text::clean;
use weigh_os::digest::sha256;
use weigh_os::group::Group;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_rig::asker::{Asker, CLASSES, Question};
use weigh_rig::http::Reply;
use weigh_run::lab::{Lab, Progress};

/// Rounds, of which the first does not count: its caches are cold.
const ROUNDS: usize = 13;
/// The share of the time for rounds; the rest is for comparing answers.
const FOR_ROUNDS: f64 = 0.75;
/// Pairs of answers that are compared at most.
const PAIRS: usize = 1_000;
/// The share of its time that one side is busy without the cache, and requests per second at most.
const BUSY: f64 = 0.4;
const MOST_PER_SECOND: f64 = 50.0;
/// How many lives of a page the rounds of a side have time for.
const LIVES: f64 = 8.0;
/// Seconds for which a cache is tried before it is offered.
const TRIED: f64 = 24.0;
/// The longest page, in bytes.
const LONGEST: usize = 4 << 20;
/// Fields of visitors whom the application may know, and of scripts of other sites.
const PERSONAL: [(&str, &str); 6] = [
    ("Cookie", "PHPSESSID=4f2a9c1e7b"),
    ("Cookie", "_ga=GA1.1.1.2; session=c0ffee"),
    ("Cookie", "wordpress_logged_in_1=x; wp_woocommerce_session_1=y"),
    ("Authorization", "Basic dTpw"),
    ("Origin", "https://other.example"),
    ("Origin", "null"),
];

/// A policy whose cache of pages is to be proved.
pub struct PageCacheProof<'a> {
    pub lab: &'a Lab,
    pub site: &'a Site,
    pub policy: &'a Policy,
    pub seconds: f64,
    pub seed: u64,
}

/// A request: the number of the page, its visitor's fields, and when it is sent after the begin.
#[derive(Clone)]
struct Visit {
    page: usize,
    fields: Vec<(&'static str, &'static str)>,
    accept: &'static str,
    at: Duration,
}

/// What was answered.
#[derive(Clone, PartialEq)]
struct Answered {
    status: u16,
    /// None: it cannot be decoded.
    digest: Option<String>,
    coding: Option<String>,
    sets_cookie: bool,
}

impl Answered {
    fn of(reply: &Reply) -> Answered {
        Answered {
            status: reply.status,
            digest: reply.decoded_within(LONGEST).ok().map(|body| sha256(&body)),
            coding: reply.shown_field("content-encoding"),
            sets_cookie: reply.field("set-cookie").is_some(),
        }
    }
}

/// What a side did.
#[derive(Default)]
struct Block {
    /// None: there was none in time.
    answers: Vec<Option<Answered>>,
    /// The second in which each was asked, since 1970, and the milliseconds that its answer took.
    seconds: Vec<u64>,
    ms: Vec<f64>,
    cpu_ns: u64,
    /// Requests that PHP had meanwhile.
    made: Option<u64>,
}

impl PageCacheProof<'_> {
    /// Measures; none: the policy has no cache of pages.
    ///
    /// # Errors
    /// One line: what is missing for it, or what an instance came to.
    pub fn measure(&self, progress: &mut dyn Progress) -> Result<Option<MeasuredCache>> {
        let Some(caching) = self.policy.page_cache.as_ref().filter(|cache| !cache.keep) else {
            return Ok(None);
        };
        let is_held = |page: &&CacheablePage| page.cpu_ms.is_some() && caching.pages.contains(&page.page);
        let pages: Vec<&CacheablePage> = self.site.cacheable.iter().filter(is_held).collect();
        progress.doing("preparing the site with and without the cache of pages");
        let before = as_it_is(self.lab, self.site, progress)?;
        let own = before.own.as_ref().context("the configuration cannot be run privately")?;
        // So short that pages are made anew while it is measured.
        let life = (self.seconds * FOR_ROUNDS / 2.0 / LIVES).max(1.0) as u64;
        let seconds = caching.seconds.min(life);
        let alone = Policy {
            decisions: Vec::new(),
            page_cache: Some(PageCaching { seconds, ..caching.clone() }),
            ..self.policy.clone()
        };
        let after = Subject { policy: &alone, site: self.site, own }.carried_out()?;
        let after = before.configured(after, None);
        let run = Run { pages: &pages, seconds, time: self.seconds, seed: self.seed };
        let measured = Interrupt::during(|interrupt| {
            interrupt.ended(run.between(&[before, after], interrupt, progress))
        });
        measured?.map(Some)
    }
}

/// Tries a policy's cache of pages, and takes it back where a visitor is answered otherwise with it, or where it cannot be tried.
///
/// # Errors
/// The user wants an end.
pub fn judge_page_cache(
    lab: &Lab,
    site: &Site,
    policy: &mut Policy,
    progress: &mut dyn Progress,
) -> Result<()> {
    let tried = PageCacheProof { lab, site, policy, seconds: TRIED, seed: 1 }.measure(progress);
    let why = match tried {
        Ok(None) => return Ok(()),
        Ok(Some(measured)) => match against(&measured) {
            None => return Ok(()),
            Some(why) => why,
        },
        Err(error) if error.to_string() == INTERRUPTED => return Err(error),
        Err(error) => format!("it could not be tried: {error:#}"),
    };
    make_every_page(policy, &why);
    Ok(())
}

/// What a trial has against a cache of pages.
fn against(measured: &MeasuredCache) -> Option<String> {
    if measured.compared == 0 {
        return Some("no answer could be compared with it".into());
    }
    if let Some(first) = measured.differing.first() {
        return Some(format!("with it, {first}"));
    }
    let held = |made: u64| measured.requests.saturating_sub(made);
    let (seen, said) = (held(measured.made?), held(measured.simulated));
    (seen * 2 < said).then(|| {
        format!(
            "the server answers {seen} of {} requests from it, where {said} were predicted",
            measured.requests
        )
    })
}

/// What is sent to both sides.
struct Run<'a> {
    pages: &'a [&'a CacheablePage],
    /// Seconds that pages are held.
    seconds: u64,
    /// Seconds of measuring.
    time: f64,
    seed: u64,
}

/// A running side: what it is to send, and what came of that.
type CacheSide<'s> = Side<'s, Vec<Visit>, Block, ()>;

/// Sends these to a side.
fn send(side: &CacheSide<'_>, visits: &[Visit]) -> Result<Block> {
    side.ask(visits.to_vec()).context("an instance of the site ended")
}

impl Run<'_> {
    /// Starts both sides, and sends them the same in turn.
    fn between(
        &self,
        sides: &[Private; 2],
        interrupt: &Interrupt,
        progress: &mut dyn Progress,
    ) -> Result<MeasuredCache> {
        progress.doing("starting the site with and without the cache of pages");
        std::thread::scope(|scope| {
            let running = sides.each_ref().map(|private| self.start(scope, private, interrupt));
            let measured = self.measured(&running, interrupt, progress);
            for (side, name) in running.into_iter().zip(["without", "with"]) {
                side.end().with_context(|| format!("the site {name} the cache of pages"))?;
            }
            measured
        })
    }

    fn start<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        private: &'s Private,
        interrupt: &'s Interrupt,
    ) -> CacheSide<'s> {
        Side::start(scope, move |orders| {
            private.with_php(interrupt, move |asker, php| {
                let meters = php.meters(asker)?;
                orders.each(|visits: Vec<Visit>| self.block(&visits, asker, (php, meters), interrupt));
                Ok(())
            })
        })
    }

    fn block(
        &self,
        visits: &[Visit],
        asker: &Asker<'_>,
        (php, meters): (&MeteredPool, [Group; 2]),
        interrupt: &Interrupt,
    ) -> Block {
        let cpu = || meters.iter().map(|group| group.usage().cpu_ns).sum::<u64>();
        let (cpu_before, made_before, begun) = (cpu(), php.requests(), Instant::now());
        let mut block = Block::default();
        for visit in visits {
            std::thread::sleep(visit.at.saturating_sub(begun.elapsed()));
            if interrupt.is_set() {
                break;
            }
            let path = &self.pages[visit.page].page;
            let question =
                Question { path, accept: visit.accept, fields: &visit.fields, ..Question::default() };
            block.seconds.push(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs()));
            let asked = Instant::now();
            let reply = asker.ask(&question).ok();
            block.ms.push(asked.elapsed().as_secs_f64() * 1e3);
            block.answers.push(reply.as_ref().map(Answered::of));
        }
        block.cpu_ns = cpu().saturating_sub(cpu_before);
        block.made = php.requests().zip(made_before).map(|(now, then)| now.saturating_sub(then));
        block
    }

    fn measured(
        &self,
        sides: &[CacheSide<'_>; 2],
        interrupt: &Interrupt,
        progress: &mut dyn Progress,
    ) -> Result<MeasuredCache> {
        let begun = Instant::now();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut measured = MeasuredCache { made: Some(0), ..MeasuredCache::default() };
        let mut caches: Vec<PageCache> = self.pages.iter().map(|page| self.cache(page)).collect();
        for round in 0..ROUNDS {
            progress.doing(&format!("round {} of {ROUNDS}, with and without the cache of pages", round + 1));
            let visits = self.drawn(&mut random);
            let is_first = random.random::<bool>();
            let [first, second] = if is_first { [0, 1] } else { [1, 0] };
            let blocks = [(first, send(&sides[first], &visits)?), (second, send(&sides[second], &visits)?)];
            if interrupt.is_set() {
                break;
            }
            let [mut before, mut after] = [Block::default(), Block::default()];
            blocks
                .into_iter()
                .for_each(|(side, block)| if side == 0 { before = block } else { after = block });
            let (predicted, hits) = self.predicted(&visits, &after, &mut caches);
            if round == 0 {
                continue;
            }
            let ms = |block: &Block| block.cpu_ns as f64 / 1e6 / visits.len() as f64;
            measured.rounds.push([ms(&before), ms(&after)]);
            measured.predicted.push(predicted);
            measured.requests += visits.len() as u64;
            measured.simulated += hits.iter().filter(|is_hit| !**is_hit).count() as u64;
            for (is_hit, ms) in hits.iter().zip(&after.ms) {
                measured.answer_ms[usize::from(!is_hit)].push(*ms);
            }
            measured.made = measured.made.zip(after.made).map(|(all, made)| all + made);
        }
        progress.doing("comparing answers with and without the cache of pages");
        self.compare(sides, (begun, interrupt), &mut measured)?;
        measured.seconds = begun.elapsed().as_secs_f64();
        Ok(measured)
    }

    fn cache(&self, page: &CacheablePage) -> PageCache {
        PageCache::new(CacheSetup::nginx(page.seconds.unwrap_or(self.seconds)))
    }

    /// Requests of visitors without cookies, at random times.
    fn drawn(&self, random: &mut ChaCha8Rng) -> Vec<Visit> {
        let seconds = self.time * FOR_ROUNDS / (2 * ROUNDS) as f64;
        let share = |page: &CacheablePage| page.share.unwrap_or_default();
        let all: f64 = self.pages.iter().map(|page| share(page)).sum();
        let ms: f64 =
            self.pages.iter().map(|page| share(page) / all * page.cpu_ms.iter().flatten().sum::<f64>()).sum();
        let rate = (BUSY * 1e3 / ms.max(0.01)).min(MOST_PER_SECOND);
        let (mut at, mut visits) = (0.0, Vec::new());
        while visits.is_empty() || at < seconds {
            let mut left = random.random::<f64>() * all;
            let page = self.pages.iter().position(|page| {
                left -= share(page);
                left <= 0.0
            });
            let (fields, accept) = (Vec::new(), CLASSES[2].header);
            visits.push(Visit {
                page: page.unwrap_or_default(),
                fields,
                accept,
                at: Duration::from_secs_f64(at),
            });
            at += -random.random::<f64>().max(1e-9).ln() / rate;
        }
        visits
    }

    /// CPU milliseconds per request without and with the cache, by what the site's pages take, and which of them the cache answers.
    fn predicted(&self, visits: &[Visit], after: &Block, caches: &mut [PageCache]) -> ([f64; 2], Vec<bool>) {
        let (mut ms, mut hits) = ([0.0; 2], Vec::new());
        for (visit, second) in visits.iter().zip(&after.seconds) {
            let page = self.pages[visit.page];
            let is_hit = caches[visit.page].ask(*second, 0, 1) == CacheAnswer::Hit;
            hits.push(is_hit);
            let [php, server] = page.cpu_ms.unwrap_or_default();
            ms[0] += php + server;
            ms[1] += server + if is_hit { 0.0 } else { php };
        }
        (ms.map(|ms| ms / visits.len() as f64), hits)
    }

    /// Asks both sides for all pages as visitors of all kinds, again and again.
    fn compare(
        &self,
        sides: &[CacheSide<'_>; 2],
        (begun, interrupt): (Instant, &Interrupt),
        measured: &mut MeasuredCache,
    ) -> Result<()> {
        let (visits, mut asked) = (self.of_all_kinds(), 0);
        loop {
            let [before, after] = [send(&sides[0], &visits)?, send(&sides[1], &visits)?];
            if interrupt.is_set() {
                return Ok(());
            }
            for ((visit, before), after) in visits.iter().zip(&before.answers).zip(&after.answers) {
                // Without an answer there is nothing to compare with.
                let Some(before) = before else { continue };
                measured.compared += 1;
                if Some(before) == after.as_ref() {
                    continue;
                }
                // A page that differs by itself differs without a cache, too.
                let again = send(&sides[0], &[visit.clone(), visit.clone()])?;
                if again.answers.iter().all(|one| one.as_ref() == Some(before)) {
                    measured.differing.push(self.told(visit, before, after.as_ref()));
                }
            }
            let is_over = begun.elapsed().as_secs_f64() > self.time;
            asked += visits.len();
            if asked + visits.len() > PAIRS || is_over {
                return Ok(());
            }
        }
    }

    fn of_all_kinds(&self) -> Vec<Visit> {
        let known = VISITORS.into_iter().chain([FORWARDED]);
        let kinds: Vec<Vec<_>> = known.chain(PERSONAL.chunks(1)).map(<[_]>::to_vec).collect();
        let classes = [CLASSES[0].header, CLASSES[2].header, CLASSES[3].header];
        let of = |page: usize| {
            let visit = |(at, fields): (usize, &Vec<_>)| {
                let accept = classes[(at + page) % classes.len()];
                Visit { page, fields: fields.clone(), accept, at: Duration::ZERO }
            };
            kinds.iter().enumerate().map(visit).collect::<Vec<Visit>>()
        };
        (0..self.pages.len()).flat_map(of).collect()
    }

    fn told(&self, visit: &Visit, before: &Answered, after: Option<&Answered>) -> String {
        let to = visit
            .fields
            .first()
            .map_or("nobody in particular".to_owned(), |(name, value)| format!("{name}: {value}"));
        let coding = |of: &Answered| of.coding.clone().unwrap_or_else(|| "identity".to_owned());
        let what = match after {
            None => "no answer with the cache".to_owned(),
            Some(after) if before.status != after.status => {
                format!("status {} without the cache, {} with it", before.status, after.status)
            }
            Some(after) if before.coding != after.coding => {
                format!("{} without the cache, {} with it", coding(before), coding(after))
            }
            Some(after) if before.sets_cookie != after.sets_cookie => "Set-Cookie is not on both".to_owned(),
            Some(_) => "another body".to_owned(),
        };
        clean(&format!("{} to {to}: {what}", self.pages[visit.page].page))
    }
}
