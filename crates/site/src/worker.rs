//! Whether PHP that lives on from request to request (worker mode: FrankenPHP, RoadRunner, Swoole) keeps something of one in the next: what shows in
//! pages, and memory. A running site on this machine is asked for each page as one visitor, before and after requests of another.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use weigh_load::target::{Resolver, Target};
use weigh_model::protocol::client::Address;
use weigh_model::site::{WorkerMode, WorkerPage};
use weigh_model::text::clean;
use weigh_os::group::Group;
use weigh_os::interrupt::{INTERRUPTED, Interrupt};
use weigh_rig::asker::{Asker, Question};
use weigh_rig::store::local::listener_at;
use weigh_run::lab::Progress;

use crate::bodies::{difference, parts};
use crate::pages::{MOST_PAGES, Visited};
use crate::request::SiteRequest;

/// After how many requests of others each page is compared.
const OTHERS: [usize; 3] = [1, 10, 1_000];
/// Times that memory is read, and the requests before each.
const READINGS: usize = 41;
const BETWEEN: usize = 50;
/// The longest body that is compared.
const LONGEST: usize = 8 << 20;

/// What a visitor sends that no other one does.
#[derive(Clone, Debug)]
struct WorkerVisitor {
    token: String,
    fields: [(&'static str, String); 2],
}

impl WorkerVisitor {
    fn new() -> WorkerVisitor {
        let token = format!("weigh{:016x}", rand::random::<u64>());
        let fields =
            [("Cookie", format!("visitor={token}")), ("User-Agent", format!("Mozilla/5.0 ({token})"))];
        WorkerVisitor { token, fields }
    }
}

/// A body, with how many requests for its page and for all there had been.
type Answer = (f64, f64, Vec<u8>);

struct AskedPage<'a> {
    path: &'a str,
    requests: f64,
    answers: Vec<Answer>,
    keeps: Option<String>,
}

struct Asking<'a> {
    asker: Asker<'a>,
    pages: Vec<AskedPage<'a>>,
    visitors: [WorkerVisitor; 2],
    requests: u64,
    until: Instant,
}

/// What the site of the first URL keeps, if the user asks that.
///
/// # Errors
/// It is not on this machine, has no pages or does not answer; the user wants an end.
pub fn kept(ask: &SiteRequest, visited: &Visited, progress: &mut dyn Progress) -> Result<Option<WorkerMode>> {
    if !ask.worker {
        return Ok(None);
    }
    let url = ask.urls.first().context("--worker: give --url of the running site")?;
    let target = Resolver::default().target(url)?;
    ensure!(
        target.is_loopback(),
        "--worker: {} is not this machine, and would be asked thousands of times",
        clean(url)
    );
    let asker = Asker::of_target(&target).map_err(|fault| anyhow!(fault.message))?;
    let page = |path| AskedPage { path, requests: 0.0, answers: Vec::new(), keeps: None };
    let pages: Vec<_> = visited.pages.iter().take(MOST_PAGES).map(|one| page(one.url.as_str())).collect();
    ensure!(!pages.is_empty(), "--worker: no page was answered");
    let visitors = [WorkerVisitor::new(), WorkerVisitor::new()];
    let until = Instant::now() + Duration::from_secs_f64(ask.seconds);
    let mut asking = Asking { asker, pages, visitors, requests: 0, until };
    progress.doing("asking what PHP keeps from one request to the next");
    asking.compare()?;
    progress.doing("watching its memory");
    let readings = asking.memory(&target)?;
    let pages = asking.pages.into_iter().map(|one| WorkerPage { page: clean(one.path), keeps: one.keeps });
    let bytes = readings.first().map(|(_, bytes)| *bytes as u64);
    Ok(Some(WorkerMode {
        requests: asking.requests,
        pages: pages.collect(),
        bytes,
        bytes_per_request: slope(&readings),
    }))
}

impl Asking<'_> {
    fn is_late(&self) -> bool {
        Instant::now() > self.until
    }

    /// Asks for a page as one of the visitors.
    fn ask(&mut self, at: usize, visitor: usize) -> Result<()> {
        if Interrupt::caught().is_set() {
            bail!(INTERRUPTED);
        }
        let fields = self.visitors[visitor].fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let question = Question { path: self.pages[at].path, fields: &fields, ..Question::default() };
        let reply = self.asker.ask(&question).map_err(|fault| anyhow!(fault.message))?;
        let body = reply.decoded_within(LONGEST)?;
        self.requests += 1;
        let (all, page) = (self.requests as f64, &mut self.pages[at]);
        page.requests += 1.0;
        let other = self.visitors[1 - visitor].token.as_bytes();
        let told = match () {
            () if reply.status != 200 => Some(format!("status {} after {all} requests", reply.status)),
            () if body.windows(other.len()).any(|part| part == other) => {
                Some(format!("it has what another visitor sent, after {all} requests"))
            }
            () => None,
        };
        page.keeps = page.keeps.take().or(told);
        if visitor == 0 {
            page.answers.push((page.requests, all, body));
        }
        Ok(())
    }

    fn compare(&mut self) -> Result<()> {
        let pages = self.pages.len();
        (0..pages * 2).try_for_each(|at| self.ask(at / 2, 0))?;
        let mut differ = vec![None; pages];
        for others in OTHERS {
            let before = self.requests;
            for number in 0..others {
                if !self.is_late() {
                    self.ask(number % pages, 1)?;
                }
            }
            let others = self.requests - before;
            for (at, differs) in differ.iter_mut().enumerate() {
                (0..2).try_for_each(|_| self.ask(at, 0))?;
                let [(.., a), (.., b), .., (.., c), (.., d)] = self.pages[at].answers.as_slice() else {
                    continue;
                };
                let told = difference([a, b], [c, d], "the first request");
                *differs =
                    differs.take().or(told.map(|what| format!("after {others} other requests {what}")));
            }
        }
        for (page, differs) in self.pages.iter_mut().zip(differ) {
            page.keeps = page.keeps.take().or(counted(&page.answers)).or(differs);
        }
        Ok(())
    }

    /// Requests and bytes of memory, as often as there is time for; none: it may not be read. Pages of files (the program's own) are not in it: they come and
    /// go with other processes of the same program.
    fn memory(&mut self, target: &Target) -> Result<Vec<(f64, f64)>> {
        let (host, port) = (Some(target.location.host.clone()), Some(target.location.port));
        let Some(group) = listener_at(&Address { host, port, ..Address::default() }).map(Group::of) else {
            return Ok(Vec::new());
        };
        let mut readings = Vec::new();
        let pages = self.pages.len();
        while let Some(memory) = group.memory().filter(|_| readings.len() < READINGS && !self.is_late()) {
            readings.push((self.requests as f64, memory.anonymous as f64));
            (0..BETWEEN).try_for_each(|number| self.ask(number % pages, 1))?;
        }
        Ok(readings)
    }
}

/// The first number in the answers that counts requests for the page, or for all; and so a length that grows with them.
fn counted(answers: &[Answer]) -> Option<String> {
    let law = |values: &[f64]| {
        let each = |at: fn(&Answer) -> f64| {
            let more = |n: usize| (values[n] - values[0], at(&answers[n]) - at(&answers[0]));
            let by = more(1).0 / more(1).1;
            let is_law = (1..answers.len()).all(|n| more(n).0 == by * more(n).1);
            (by >= 1.0 && is_law).then_some(by)
        };
        each(|answer| answer.0).or(each(|answer| answer.1))
    };
    let all: Vec<Vec<&[u8]>> = answers.iter().map(|answer| parts(&answer.2)).collect();
    let (first, second) = (all.first()?, all.get(1)?);
    // What is the same twice counts nothing.
    for at in (0..first.len()).filter(|at| second.get(*at) != first.get(*at)) {
        let rows: Vec<Vec<f64>> =
            all.iter().filter_map(|one| one.get(at).map(|part| numbers(part))).collect();
        for slot in 0..rows[0].len() {
            let values: Vec<f64> = rows.iter().filter_map(|row| row.get(slot).copied()).collect();
            if values.len() == answers.len() && law(&values).is_some() {
                let line = first[..at].iter().filter(|part| part.ends_with(b"\n")).count() + 1;
                let [from, to] = [values[0], values[values.len() - 1]];
                return Some(format!("line {line} counts requests: {from}, later {to}"));
            }
        }
    }
    let lengths: Vec<f64> = answers.iter().map(|answer| answer.2.len() as f64).collect();
    law(&lengths).map(|by| format!("it grows by {by} bytes with each request"))
}

/// The numbers in a text; those too long to count anything are 0.
fn numbers(part: &[u8]) -> Vec<f64> {
    let digits = part.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let short = |digits: &[u8]| std::str::from_utf8(digits).ok().filter(|text| text.len() < 12)?.parse().ok();
    digits.map(|digits| short(digits).unwrap_or_default()).collect()
}

/// Sen's slope with the ends of its 95% interval (P. K. Sen, 1968); none: too few readings. Less than one page of memory between two readings is no growth: a
/// process that keeps nothing grows by it, too, while it uses for the first time what it has.
fn slope(readings: &[(f64, f64)]) -> Option<[f64; 3]> {
    let n = readings.len() as f64;
    let pairs = readings
        .iter()
        .enumerate()
        .flat_map(|(at, from)| readings[at + 1..].iter().map(move |to| (from, to)));
    let mut slopes: Vec<f64> = pairs.map(|(from, to)| (to.1 - from.1) / (to.0 - from.0)).collect();
    slopes.sort_by(f64::total_cmp);
    let off = 1.96 * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let low = ((slopes.len() as f64 - off) / 2.0).floor();
    let ends = (n >= 10.0 && low >= 0.0).then_some((low as usize, slopes.len() - 1 - low as usize))?;
    let value = weigh_stats::median(&slopes)?;
    let least = rustix::param::page_size() as f64 / BETWEEN as f64;
    let low = if value < least { slopes[ends.0].min(0.0) } else { slopes[ends.0] };
    Some([value, low, slopes[ends.1]].map(|bytes| (bytes * 10.0).round() / 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_counts_only_if_it_goes_with_requests_and_not_with_time() {
        let answers = |text: &dyn Fn(f64, f64) -> String| -> Vec<Answer> {
            let at = [(1.0, 1.0), (2.0, 2.0), (3.0, 4.0), (4.0, 5.0), (9.0, 1006.0)];
            at.map(|(own, all)| (own, all, text(own, all).into_bytes())).into()
        };
        let told = |text: &dyn Fn(f64, f64) -> String| counted(&answers(text));
        let line = told(&|own, _| format!("<p>7</p>\n<p>Visit {}</p>", own + 3.0));
        assert_eq!(line.as_deref(), Some("line 2 counts requests: 4, later 12"));
        assert!(told(&|_, all| format!("<b>{all}</b>")).is_some());
        assert_eq!(told(&|own, _| format!("<i>{}</i>", (own * own * 7.0) % 31.0)), None);
        assert_eq!(told(&|_, _| "the same 12".into()), None);
        assert_eq!(
            told(&|own, _| "x".repeat(10 * own as usize)).as_deref(),
            Some("it grows by 10 bytes with each request")
        );
    }

    #[test]
    fn memory_that_grows_has_a_slope_and_noise_has_none() {
        let readings = |of: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
            (0..41).map(|at| (at as f64 * 50.0, of(at))).collect()
        };
        let noise = |at: usize| [0.0, 9e3, 4e3, 12e3, 1e3][at * 7 % 5];
        let [value, low, high] =
            slope(&readings(&|at| 8e6 + at as f64 * 50.0 * 2_048.0 + noise(at))).unwrap();
        assert!((2_000.0..2_100.0).contains(&value) && low <= value && value <= high && low > 1_900.0);
        let [_, low, high] = slope(&readings(&|at| 8e6 + noise(at))).unwrap();
        assert!(low <= 0.0 && high >= 0.0);
        let [value, low, _] = slope(&readings(&|at| 8e6 + at as f64 * 50.0 * 25.0)).unwrap();
        assert!((value - 25.0).abs() < 0.1 && low <= 0.0, "a page every third reading");
        assert_eq!(slope(&readings(&noise)[..5]), None);
    }
}
