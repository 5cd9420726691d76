//! Is the CPU time of a response what it really cost? PHP pages behind nginx burn a known CPU time, by what the kernel told their own
//! process; the lab measures them as it measures any delivery. What a page costs that burns nothing, in the same round, is taken off.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use common::{Targets, WEIGH, low_ratio, progress, rounds};
use weigh::record::{Record, VisitRecord};
use weigh::run::dir::StoredRun;

/// What pages burn, in milliseconds.
const BURNS: [u32; 3] = [5, 20, 50];
/// How far a metered time may be from the burnt one.
const OFF: f64 = 0.03;

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let rounds = rounds(20);
    let home = tempfile::tempdir()?;
    std::fs::create_dir_all(home.path().join("defs/php/ways"))?;
    for ms in BURNS.into_iter().chain([0]) {
        std::fs::write(home.path().join(format!("defs/php/ways/burn-{ms}.php")), way(home.path(), ms))?;
    }
    let stored = run(home.path(), rounds)?;
    let mut targets = Targets::default();
    let idle = visits(&stored, 0);
    for ms in BURNS {
        let name = format!("meter-{ms}ms");
        let burning = visits(&stored, ms);
        let mut burnt = Burnt::read(home.path(), ms)?;
        let mut pairs = Vec::new();
        for visit in &burning {
            let said = burnt.next(visit)?;
            let Some(idle) = idle.iter().find(|other| other.round == visit.round) else { continue };
            pairs.push((cpu_ns(visit)? - cpu_ns(idle)?, said));
        }
        explain(&name, &burning, &pairs)?;
        targets.ratio(&name, &pairs, OFF, "metered ÷ burnt");
    }
    Ok(targets)
}

/// A way that burns, and writes down in microseconds what it became.
fn way(home: &Path, ms: u32) -> String {
    format!(
        "<?php
return array('kind' => 'plain', 'subjects' => array('page'), 'about' => 'burns', 'send' => function ($delivery) {{
    if ({ms} > 0) {{
        $burnt = Weighbridge\\Burner::burn({ms})->figures();
        file_put_contents('{}/burnt-{ms}', $burnt['total'] . \"\\n\", FILE_APPEND);
    }}
    $delivery->sendPlain();
}});
",
        home.display()
    )
}

fn run(home: &Path, rounds: usize) -> Result<StoredRun> {
    let ways: Vec<String> = BURNS.into_iter().chain([0]).map(|ms| format!("\"burn-{ms}\"")).collect();
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

/// The visits to the page that burns so much, in the order of their rounds.
fn visits(stored: &StoredRun, ms: u32) -> Vec<&VisitRecord> {
    let ending = format!("/burn-{ms}");
    let its = stored.records.iter().filter_map(|record| match record {
        Record::Visit(visit) if visit.cell.ends_with(&ending) => Some((visit.round, visit)),
        _ => None,
    });
    its.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// CPU nanoseconds of server and PHP a response.
fn cpu_ns(visit: &VisitRecord) -> Result<f64> {
    visit.delivery.as_ref().and_then(|d| d.cpu_ns()).context("a visit has no CPU time")
}

/// What pages of one kind said that they burnt, in nanoseconds, in the order of their requests.
struct Burnt(std::vec::IntoIter<f64>);

impl Burnt {
    fn read(home: &Path, ms: u32) -> Result<Burnt> {
        let text =
            std::fs::read_to_string(home.join(format!("burnt-{ms}"))).context("no page burnt anything")?;
        let said: Result<Vec<f64>, _> =
            text.lines().map(|line| line.parse::<f64>().map(|ms| ms * 1e6)).collect();
        Ok(Burnt(said?.into_iter()))
    }

    /// The mean over all that the meters saw in the next visit.
    fn next(&mut self, visit: &VisitRecord) -> Result<f64> {
        let metered = visit.delivery.as_ref().map_or(0, |d| d.metered);
        let said: Vec<f64> = self.0.by_ref().take(usize::try_from(metered)?).collect();
        ensure!(!said.is_empty() && said.len() as u64 == metered, "{metered} requests, {} burnt", said.len());
        Ok(said.iter().sum::<f64>() / said.len() as f64)
    }
}

/// The parts on stderr: the server's, PHP's, and the ratio with what a page costs that burns nothing.
fn explain(name: &str, visits: &[&VisitRecord], pairs: &[(f64, f64)]) -> Result<()> {
    let mut parts = (0.0, 0.0, 0.0);
    let mut plain = Vec::new();
    for (visit, (_, burnt)) in visits.iter().zip(pairs) {
        let delivery = visit.delivery.as_ref().context("no delivery")?;
        let ms = |ns: Option<u64>| {
            delivery.a_response(ns.unwrap_or(0) as f64 / 1e6).unwrap_or(0.0) / pairs.len() as f64
        };
        parts = (
            parts.0 + ms(delivery.server_cpu_ns),
            parts.1 + ms(delivery.php_cpu_ns),
            parts.2 + burnt / 1e6 / pairs.len() as f64,
        );
        plain.push((cpu_ns(visit)?, *burnt));
    }
    let all = low_ratio(&plain).map_or(f64::NAN, |ratio| ratio.value);
    progress(&format!(
        "{name}: on the mean server {:.3} ms, PHP {:.3} ms, burnt {:.3} ms; ratio with the rest of the page {all:.3}",
        parts.0, parts.1, parts.2
    ));
    Ok(())
}
