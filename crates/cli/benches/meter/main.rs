//! Is the CPU time of a response what it really cost? PHP pages behind nginx burn a known CPU time, by what the kernel told their own
//! process; the lab measures them as it measures any delivery. What is compared is the difference to a page that burns little, in the
//! same round, because a page costs something beside its burning; and, for the longest, the whole.
//!
//! And whose is the kernel's work for `sendfile`? See [`sendfile`].

#[path = "../common/mod.rs"]
mod common;
mod sendfile;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use common::{Targets, WEIGH, progress, rounds};
use weigh_model::record::{Record, VisitRecord};
use weigh_run::dir::StoredRun;

/// What pages burn, in milliseconds.
const BURNS: [u32; 3] = [20, 50, 100];
/// What the page burns that they are compared with: long enough that PHP's start finds its caches as cold as theirs does.
const BASE: u32 = 2;
/// How far a metered time may be from the burnt one.
const OFF: f64 = 0.03;

fn main() -> ExitCode {
    common::end(measure())
}

/// Both parts, or those that are named: `cargo bench -p weigh --bench meter -- sendfile`.
fn measure() -> Result<Targets> {
    // cargo adds a flag of its own.
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |part: &str| named.is_empty() || named.iter().any(|n| n == part);
    let rounds = rounds(20);
    let mut targets = Targets::default();
    if wanted("pages") {
        burnt(&mut targets, rounds)?;
    }
    if wanted("sendfile") {
        sendfile::measure(&mut targets, rounds)?;
    }
    Ok(targets)
}

/// Pages that burn a known CPU time.
fn burnt(targets: &mut Targets, rounds: usize) -> Result<()> {
    let home = tempfile::tempdir()?;
    std::fs::create_dir_all(home.path().join("defs/php/ways"))?;
    for ms in BURNS.into_iter().chain([BASE]) {
        std::fs::write(home.path().join(format!("defs/php/ways/burn-{ms}.php")), way(home.path(), ms))?;
    }
    let stored = run(home.path(), rounds)?;
    let base = pages(&stored, home.path(), BASE)?;
    for ms in BURNS {
        let pages = pages(&stored, home.path(), ms)?;
        explain(ms, &pages);
        let more = |page: &Page| {
            let base = base.iter().find(|base| base.round == page.round)?;
            Some((page.cost() - base.cost(), page.burnt - base.burnt))
        };
        let more: Vec<_> = pages.iter().filter_map(more).collect();
        targets.ratio(&format!("meter-{ms}ms"), &more, OFF, "metered ÷ burnt, beyond a page of 2 ms,");
        if ms == BURNS[BURNS.len() - 1] {
            let whole: Vec<_> = pages.iter().map(|page| (page.cost(), page.burnt)).collect();
            targets.ratio(&format!("meter-{ms}ms-whole"), &whole, OFF, "metered ÷ burnt");
        }
    }
    Ok(())
}

/// A way that burns, and writes down in microseconds what it became.
fn way(home: &Path, ms: u32) -> String {
    format!(
        "<?php
return array('kind' => 'plain', 'subjects' => array('page'), 'about' => 'burns', 'send' => function ($delivery) {{
    $burnt = Weighbridge\\Burner::burn({ms})->figures();
    file_put_contents('{}/burnt-{ms}', $burnt['total'] . \"\\n\", FILE_APPEND);
    $delivery->sendPlain();
}});
",
        home.display()
    )
}

fn run(home: &Path, rounds: usize) -> Result<StoredRun> {
    let ways: Vec<String> = BURNS.into_iter().chain([BASE]).map(|ms| format!("\"burn-{ms}\"")).collect();
    let study = format!(
        "schema = 1\nname = \"meter\"\ntitle = \"Meter\"\nquestion = \"Is it what it cost?\"\nreading = \"\"\n[budget]\nseconds = 3600\n\
         [precision]\nmax_rounds = {rounds}\n[[deliveries]]\nsubject = \"page\"\ncontent = [\"synthetic:rows-4k\"]\nservers = [\"nginx\"]\n\
         runtimes = [\"php\"]\nways = [{}]\nkeep = true\n",
        ways.join(", ")
    );
    std::fs::write(home.join("meter.toml"), study)?;
    let mut weigh = Command::new(WEIGH);
    weigh.arg("--defs").arg(home.join("defs")).args(["run", "--exhaustive", "--php", "php", "--out"]);
    weigh.arg(home.join("run")).arg(home.join("meter.toml"));
    // The ways are this benchmark's own, so that the cache is, too.
    let ended = weigh.env("WEIGH_CACHE", home.join("cache")).stdout(Stdio::null()).output()?;
    let words = String::from_utf8_lossy(&ended.stderr);
    ensure!(
        ended.status.success(),
        "weigh run ended with {}: {}",
        ended.status,
        words.lines().last().unwrap_or("-")
    );
    StoredRun::read(&home.join("run"))
}

/// What a visit to a page came to, in nanoseconds a response.
struct Page {
    round: u32,
    server: f64,
    php: f64,
    /// What the page said that it burnt: the mean over all that the meters saw.
    burnt: f64,
}

impl Page {
    /// As metered: of server and PHP.
    fn cost(&self) -> f64 {
        self.server + self.php
    }
}

/// The visits to the page that burns so much, in the order in which they were made.
fn pages(stored: &StoredRun, home: &Path, ms: u32) -> Result<Vec<Page>> {
    let text = std::fs::read_to_string(home.join(format!("burnt-{ms}"))).context("no page burnt anything")?;
    let mut said = text.lines().map(str::parse::<f64>);
    let ending = format!("/burn-{ms}");
    let visits = stored.records.iter().filter_map(|record| match record {
        Record::Visit(visit) if visit.cell.ends_with(&ending) => Some(visit),
        _ => None,
    });
    let page = |visit: &VisitRecord| {
        let delivery = visit.delivery.as_ref().context("a visit has no delivery")?;
        // Before the first block.
        let _ = said.by_ref().take(usize::try_from(delivery.warmed)?).count();
        let burnt =
            said.by_ref().take(usize::try_from(delivery.metered)?).collect::<Result<Vec<f64>, _>>()?;
        ensure!(
            burnt.len() as u64 == delivery.metered,
            "{} of {} requests burnt",
            burnt.len(),
            delivery.metered
        );
        let cost = |ns: Option<u64>| delivery.a_response(ns? as f64);
        let (server, php) =
            cost(delivery.server_cpu_ns).zip(cost(delivery.php_cpu_ns)).context("nobody was metered")?;
        let mean = burnt.iter().sum::<f64>() / burnt.len() as f64;
        Ok(Page { round: visit.round, server, php, burnt: mean * 1e6 })
    };
    visits.map(page).collect()
}

/// The parts on stderr, as means.
fn explain(ms: u32, pages: &[Page]) {
    let mean = |of: fn(&Page) -> f64| pages.iter().map(of).sum::<f64>() / pages.len() as f64 / 1e6;
    let (server, php, burnt) = (mean(|p| p.server), mean(|p| p.php), mean(|p| p.burnt));
    progress(&format!("a page of {ms} ms: server {server:.3} ms, PHP {php:.3} ms, burnt {burnt:.3} ms"));
}
