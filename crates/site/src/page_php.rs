//! The site's pages as each of several PHPs makes them: each runs the application in a private instance of its own. All run at the same time and are
//! asked in turn, in random order, one request at a time. They are started anew some times, for starts of one PHP differ by more than blocks of one
//! start do: a start is what counts once.

mod block;
mod rows;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rand::SeedableRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;
use weigh_load::target::Location;
use weigh_model::site::PhpPage;
use weigh_model::text::{clean, clean_path};
use weigh_model::units::{self, count};
use weigh_os::cores;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_rig::fpm::embedded;
use weigh_run::lab::Progress;
use weigh_stats::ROUNDS;

use super::application::{Application, Instances, RecordedNotes, with_fpm};
use super::pages::{MOST_PAGES, Page, Visited};
use super::private::Private;
use super::request::{NamedPhp, SiteRequest};
use crate::bodies::difference;
use block::{About, Block, Order, PhpSide};
use rows::{Blocks, Measured, rows};

/// How often each PHP is started at most.
const MOST_STARTS: usize = 100;
/// How often there has to be time for, else pages are left out.
const LEAST_STARTS: usize = 8;
/// Requests before those that are timed, by which PHP's workers have compiled the scripts.
const WARMING: u32 = 4;
/// Milliseconds that a block takes at least, its most requests, and the blocks of a start: more of them would be of one start again.
const BLOCK_MS: f64 = 5.0;
const MOST_REQUESTS: f64 = 50.0;
const BLOCKS: usize = 8;
/// Milliseconds that reading the meters takes around a block.
const METER_MS: f64 = 5.0;
/// Milliseconds that a start takes before its first request.
const STARTING_MS: f64 = 600.0;
/// Requests at the site's rate in a start, the least rate per second that there is time for, and how many times the longest time of a page lies between
/// two requests at least.
const PACED: u32 = 4;
const SLOWEST: f64 = 2.0;
const LEAST_GAP: f64 = 1.25;
/// How many times the given time it may take, where pages are slower than they were.
const PATIENCE: f64 = 2.0;
/// Milliseconds of CPU time that PHP takes at least for a page that it makes.
const LEAST_CPU_MS: f64 = 0.01;
/// Extensions that are named.
const NAMED: usize = 8;
/// Letters of what PHP logs that are shown.
const SHOWN: usize = 200;

/// The pages as each of several PHPs makes them, where a private instance made them.
///
/// # Errors
/// The user wants an end.
pub fn compared(
    ask: &SiteRequest,
    instances: &Instances<'_>,
    (visited, per_second): (&Visited, Option<f64>),
    progress: &mut dyn Progress,
) -> Result<Vec<PhpPage>> {
    let is_asked = ask.render && ask.php.len() > 1 && visited.server.is_some() && !visited.pages.is_empty();
    let Some(application) = instances.application.as_ref().filter(|_| is_asked) else {
        return Ok(Vec::new());
    };
    let pages = PagesByPhp { application, pages: &visited.pages, seconds: ask.seconds, per_second };
    match pages.rows(progress) {
        Err(_) if Interrupt::caught().is_set() => bail!(INTERRUPTED),
        Err(error) => {
            progress.note(&format!("pages by PHP: {error:#}"));
            Ok(Vec::new())
        }
        measured => measured,
    }
}

struct PagesByPhp<'a> {
    /// With the PHPs, the first of which the others are compared with.
    application: &'a Application<'a>,
    pages: &'a [Page],
    /// How long it may take.
    seconds: f64,
    /// Requests that PHP has in its busiest hour; none: not known.
    per_second: Option<f64>,
}

/// A PHP that takes part.
struct Subject {
    name: String,
    private: Private,
    about: About,
    /// Why it takes no part any more.
    failure: Option<String>,
}

/// What goes on from one start to the next.
struct Comparison {
    subjects: Vec<Subject>,
    pages: Vec<Location>,
    /// By page and PHP.
    measured: Vec<Vec<Measured>>,
    /// The longest time of a page, by page, in milliseconds.
    slowest: Vec<f64>,
    random: ChaCha8Rng,
    begun: Instant,
    seconds: f64,
    /// Requests that PHP has in its busiest hour; none: not known.
    per_second: Option<f64>,
    interrupt: Interrupt,
}

impl PagesByPhp<'_> {
    /// Measures them.
    ///
    /// # Errors
    /// The user wants an end, or the first PHP does not make the pages any more.
    fn rows(&self, progress: &mut dyn Progress) -> Result<Vec<PhpPage>> {
        progress.doing("pages by PHP: starting");
        let (subjects, measured) = self.subjects(progress)?;
        if subjects.len() < 2 {
            return Ok(Vec::new());
        }
        let first = &subjects[0].private;
        let scheme = if first.is_secure() { "https" } else { "http" };
        let url = |page: &Page| Location::parse(&format!("{scheme}://{}{}", first.host(), page.url));
        let pages = self.pages.iter().take(MOST_PAGES).map(url).collect::<Result<Vec<_>, _>>()?;
        let compared = Interrupt::during(|interrupt| {
            let mut comparison = Comparison {
                subjects,
                slowest: vec![0.0; pages.len()],
                pages,
                measured,
                random: ChaCha8Rng::seed_from_u64(1),
                begun: Instant::now(),
                seconds: self.seconds,
                per_second: self.per_second,
                interrupt: interrupt.clone(),
            };
            comparison.measure(progress).map(|()| comparison)
        });
        let compared = compared.context("signals cannot be caught")??;
        Ok(compared.rows(progress))
    }

    /// The PHPs that have a PHP-FPM, and the places for what is measured of each page.
    fn subjects(&self, progress: &mut dyn Progress) -> Result<(Vec<Subject>, Vec<Vec<Measured>>)> {
        let application = self.application;
        let (mut subjects, mut rows) = (Vec::new(), Vec::new());
        for setting in NamedPhp::shared(application.php) {
            progress.note(&format!("pages by PHP: all with -d {}", clean(setting)));
        }
        for named in application.php {
            let binary = &named.binary;
            let php = match embedded::is_embedded(binary) {
                true => embedded::find(binary, &std::env::var_os("PATH").unwrap_or_default()),
                false => Ok(application.lab.php(std::slice::from_ref(binary))?.pop().context("no PHP")?),
            };
            let made = php.and_then(with_fpm).and_then(|php| {
                let (version, settings) =
                    (named.named(&php.version, application.php), named.settings.as_slice());
                let private = application.private_by(Some((php, settings)), &mut RecordedNotes::default());
                Ok((version, private?))
            });
            match made {
                Ok((version, private)) => {
                    let name = format!("PHP {version}");
                    subjects.push(Subject { name, private, about: About::default(), failure: None });
                    rows.push(PhpPage { php: version, binary: clean_path(binary), ..PhpPage::default() });
                }
                Err(error) => progress.note(&format!("--php {}: {error:#}", clean_path(binary))),
            }
        }
        let path = |page: &Page| clean(page.url.split('?').next().unwrap_or_default());
        let of_page = |page: &Page| -> Vec<Measured> {
            let row = |row: &PhpPage| PhpPage { page: path(page), ..row.clone() };
            rows.iter().map(|one| Measured { row: row(one), ..Measured::default() }).collect()
        };
        Ok((subjects, self.pages.iter().take(MOST_PAGES).map(of_page).collect()))
    }
}

impl Comparison {
    /// Starts all PHPs as often as the time allows.
    fn measure(&mut self, progress: &mut dyn Progress) -> Result<()> {
        for start in 0..MOST_STARTS {
            let spent = self.spent();
            let of_next = if start > 0 { spent / start as f64 } else { 0.0 };
            let is_over = spent + of_next > self.seconds;
            if is_over && (start >= ROUNDS || spent > self.seconds * PATIENCE) {
                break;
            }
            progress.doing(&format!(
                "pages by PHP: start {}, after {spent:.0} of {} s",
                start + 1,
                self.seconds
            ));
            for one in self.measured.iter_mut().flatten() {
                one.starts.push(Blocks::new());
                one.plain.push(Blocks::new());
            }
            let ended = self.start(start == 0, progress);
            for (subject, ended) in self.subjects.iter_mut().zip(ended) {
                match ended {
                    Some(Ok(about)) => subject.about = about,
                    Some(Err(error)) => subject.failure = Some(format!("{error:#}")),
                    None => {}
                }
            }
            if self.interrupt.is_set() {
                bail!(INTERRUPTED);
            }
            if let Some(failure) = &self.subjects[0].failure {
                bail!("{}: {failure}", self.subjects[0].name);
            }
            if (0..self.measured.len()).all(|page| !self.is_asked(page, 0)) {
                break;
            }
        }
        Ok(())
    }

    fn spent(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Starts all PHPs, lets them make the pages, and ends them; how each ended, but for those that had ended before.
    fn start(&mut self, is_first: bool, progress: &mut dyn Progress) -> Vec<Option<Result<About>>> {
        let (subjects, pages) = (std::mem::take(&mut self.subjects), std::mem::take(&mut self.pages));
        let interrupt = self.interrupt.clone();
        // Of two cores, other programs may slow down one for as long as a start lasts.
        let cores = cores::usable(Path::new("/"));
        let core = cores.choose(&mut self.random).filter(|_| cores.len() > 1).cloned().unwrap_or_default();
        let ended = std::thread::scope(|scope| {
            let mut sides = Vec::new();
            for Subject { private, failure, .. } in &subjects {
                let is_left = failure.is_none();
                sides.push(is_left.then(|| block::start(scope, private, (&pages, &core), &interrupt)));
            }
            self.warm(&sides, &subjects[0].name, is_first);
            if is_first {
                self.fit(progress);
            }
            (0..BLOCKS).take_while(|_| !interrupt.is_set()).for_each(|_| self.round(&sides));
            self.pace(&sides);
            sides.into_iter().map(|side| side.map(PhpSide::end)).collect()
        });
        (self.subjects, self.pages) = (subjects, pages);
        ended
    }

    /// Requests each page untimed; the first time the answers are compared.
    fn warm(&mut self, sides: &[Option<PhpSide<'_>>], of_first: &str, is_first: bool) {
        for page in 0..self.measured.len() {
            let mut first = None;
            for (php, side) in sides.iter().enumerate() {
                let Some(side) = side.as_ref().filter(|_| self.is_asked(page, php)) else { continue };
                let order = |requests| Order { page, requests, is_read: is_first, ..Order::default() };
                let two = [WARMING - 1, 1].map(|requests| side.ask(order(requests)));
                let [Some(earlier), Some(last)] = two else { continue };
                // One slow answer of a busy machine is not what the page takes.
                self.slowest[page] = self.slowest[page].max(last.took[1].min(earlier.took[1]));
                if is_first {
                    let two = [earlier, last];
                    compare(&mut self.measured[page][php].row, &two, first.as_ref(), of_first);
                    first.get_or_insert(two);
                }
            }
        }
    }

    /// Leaves out pages for which there is no time, the last ones first.
    fn fit(&mut self, progress: &mut dyn Progress) {
        let all = self.measured.len();
        let blocks = f64::from(WARMING) + BLOCKS as f64;
        // Of each PHP, and of the first without a content coding.
        let in_round = |at: usize| {
            (0..self.measured[at].len()).filter(|php| self.is_asked(at, *php)).count() as f64 + 1.0
        };
        let of_page = |at: usize| in_round(at) * blocks * (self.slowest[at].max(BLOCK_MS) + METER_MS);
        let mut ms = STARTING_MS;
        let fits = |at: &usize| {
            ms += of_page(*at);
            *at == 0 || ms * LEAST_STARTS as f64 <= self.seconds * 1e3
        };
        let kept = (0..all).take_while(fits).count();
        if kept < all {
            let pages = count(all - kept, "page", "pages");
            progress.note(&format!("pages by PHP: no time for {pages} of {all}; give a longer --budget"));
            self.measured.truncate(kept);
        }
    }

    /// Whether a PHP makes a page, and the first one does.
    fn is_asked(&self, page: usize, php: usize) -> bool {
        [0, php].iter().all(|php| self.measured[page][*php].row.problem.is_none())
    }

    /// A block of each page by each PHP, in random order.
    fn round(&mut self, sides: &[Option<PhpSide<'_>>]) {
        let mut pages: Vec<usize> = (0..self.measured.len()).collect();
        pages.shuffle(&mut self.random);
        for page in pages {
            let requests = (BLOCK_MS / self.slowest[page].max(1e-3)).ceil().clamp(1.0, MOST_REQUESTS);
            let mut phps: Vec<usize> = (0..sides.len()).collect();
            phps.shuffle(&mut self.random);
            for php in phps {
                let side = sides[php].as_ref().filter(|_| self.is_asked(page, php));
                let order = Order { page, requests: requests as u32, ..Order::default() };
                let Some(block) = side.and_then(|side| side.ask(order)) else { continue };
                let Measured { row, starts, .. } = &mut self.measured[page][php];
                row.problem = problem(&block).map(|what| format!("{what}, after it made the page"));
                if let Some(blocks) = starts.last_mut().filter(|_| row.problem.is_none()) {
                    blocks.push(block.took);
                }
            }
            // The first one's parts: what it takes without a content coding.
            let side = sides.first().and_then(Option::as_ref).filter(|_| self.is_asked(page, 0));
            let order = Order { page, requests: requests as u32, is_plain: true, ..Order::default() };
            let plain = side.and_then(|side| side.ask(order)).filter(|block| block.problem.is_none());
            if let Some((plain, blocks)) = plain.zip(self.measured[page][0].plain.last_mut()) {
                blocks.push(plain.took);
            }
        }
    }

    /// The rate at which the first page is asked for; none: it is not known, or one page at a time does not reach it.
    fn rate(&self) -> Option<f64> {
        let rate = self.per_second?.max(SLOWEST);
        (rate * self.slowest.first()? / 1e3 < 1.0 / LEAST_GAP).then_some(rate)
    }

    /// The first page at the site's rate, by each PHP.
    fn pace(&mut self, sides: &[Option<PhpSide<'_>>]) {
        let Some(rate) = self.rate() else { return };
        let mut phps: Vec<usize> = (0..sides.len()).collect();
        phps.shuffle(&mut self.random);
        for php in phps {
            let side = sides[php].as_ref().filter(|_| self.is_asked(0, php));
            let order = Order { requests: PACED, per_second: Some(rate), ..Order::default() };
            let block = side.and_then(|side| side.ask(order)).filter(|block| block.problem.is_none());
            self.measured[0][php].paced.push(block.map(|block| block.took[0]));
        }
    }

    /// The rows of all pages, with what each PHP says of itself; what it says beside the first one is told.
    fn rows(mut self, progress: &mut dyn Progress) -> Vec<PhpPage> {
        for (php, subject) in self.subjects.iter().enumerate() {
            let without = self.subjects[0].about.without(&subject.about);
            if !without.is_empty() {
                let named = units::list(&without[..without.len().min(NAMED)]);
                let (count, first) =
                    (count(without.len(), "extension", "extensions"), &self.subjects[0].name);
                progress.note(&format!("{} is without {count} of {first}: {named}", subject.name));
            }
            for Measured { row, starts, .. } in self.measured.iter_mut().map(|page| &mut page[php]) {
                row.opcache = subject.about.opcache;
                if !row.php.starts_with(&subject.about.version) {
                    row.php = format!("{} in {}", subject.about.version, row.php);
                }
                if starts.iter().all(Vec::is_empty) && row.problem.is_none() {
                    row.problem = subject.failure.as_ref().map(|why| clean(why));
                }
            }
        }
        for PhpPage { page, problem, .. } in self.measured.iter().map(|page| &page[0].row) {
            let left_out = problem.iter().map(|why| format!("pages by PHP: {page} is left out: {why}"));
            left_out.for_each(|line| progress.note(&line));
        }
        self.measured.retain(|page| page[0].row.problem.is_none());
        let rate = self.rate();
        rows(self.measured, rate)
    }
}

/// Puts into a row in what two blocks differ from those of the first PHP; none: they are its own.
fn compare(row: &mut PhpPage, two: &[Block; 2], first: Option<&[Block; 2]>, of_first: &str) {
    row.problem = two.iter().find_map(problem);
    if first.is_none() && two.iter().all(|block| block.took[0] < LEAST_CPU_MS) {
        row.problem.get_or_insert_with(|| "it is answered without PHP".into());
    }
    let Some(first) = first.filter(|_| row.problem.is_none()) else { return };
    let [first_bodies, bodies] = [first, two].map(|two| two.each_ref().map(|block| block.body.as_slice()));
    row.differs = difference(first_bodies, bodies, of_first);
    row.logs = logged(two).filter(|_| logged(first).is_none());
}

/// Why a block is not of the page, with what PHP logged.
fn problem(block: &Block) -> Option<String> {
    let what = block.problem.as_ref()?;
    let logged = block.logged.as_ref().map(|text| format!(": {}", shortened(text)));
    Some(what.clone() + &logged.unwrap_or_default())
}

fn logged(two: &[Block; 2]) -> Option<String> {
    two.iter().find_map(|block| block.logged.as_deref()).map(shortened)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
