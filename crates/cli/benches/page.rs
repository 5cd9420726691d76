//! The page of a run with a million samples: how long it takes to make, its size, and in Chromium how long its first paint and a slider's move
//! take. A round of this benchmark makes it once.
//!
//! The run is the stored one of cached values with its rounds and samples repeated, each a little different.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use common::{Targets, progress, rounds};
use nix::sys::resource::{UsageWho, getrusage};
use weigh_answer::format::{Options, named};
use weigh_answer::page;
use weigh_answer::report::Report;
use weigh_model::record::{Record, VisitRecord};
use weigh_os::programs::first_of;
use weigh_run::dir::StoredRun;
use weigh_run::log::LogWriter;
use weigh_stats::median;

/// Records of the longest run.
const RECORDS: usize = 1_000_000;
/// Samples of the run.
const SAMPLES: usize = 1_000_000;
/// Samples of a visit, so that rounds are as many as in a long run.
const OF_A_VISIT: usize = 60;
const SECONDS: f64 = 3.0;
const BYTES: usize = 2_000_000;
const PAINT_MS: f64 = 1000.0;
const MOVE_MS: f64 = 16.0;

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    ensure!(page::is_built_in(), "this build has no page; `make web` makes it");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stored = StoredRun::read(&checkout.join("docs/runs/cache-levels"))?;
    let records = enlarged(&stored.records);
    let samples: usize = visits(&records).flat_map(|v| v.phases.values()).map(|s| s.cpu_ns.len()).sum();
    ensure!(samples >= SAMPLES, "{samples} samples only");
    progress(&format!("{} records with {samples} samples", records.len()));
    let home = tempfile::tempdir()?;
    let file = home.path().join("page.html");
    let mut seconds = Vec::new();
    let mut bytes = 0;
    for _ in 0..rounds(5) {
        let begin = Instant::now();
        let report = Report::of(&stored.facts(), &stored.plan, &records);
        let page = named("html")?.render(&report, &Options::default())?.remove(0).bytes;
        seconds.push(begin.elapsed().as_secs_f64());
        bytes = page.len();
        std::fs::write(&file, page)?;
    }
    let mut targets = Targets::default();
    let middle = median(&seconds).context("no round")?;
    targets.line(
        "page-build",
        &format!("{middle:.2} s of {samples} samples"),
        "at most 3 s",
        middle <= SECONDS,
    );
    targets.line("page-bytes", &format!("{bytes} bytes"), "at most 2 MB", bytes <= BYTES);
    in_browser(&checkout, &file, &mut targets)?;
    of_many_records(&stored, &mut targets)?;
    Ok(targets)
}

/// The report of a run of a million records, by the program itself: seconds, and memory at its most.
fn of_many_records(stored: &StoredRun, targets: &mut Targets) -> Result<()> {
    let home = tempfile::tempdir()?;
    for name in ["run.json", "plan.json"] {
        std::fs::copy(stored.path.join(name), home.path().join(name))?;
    }
    let first: Vec<&VisitRecord> = visits(&stored.records).collect();
    let last = first.iter().map(|v| v.round).max().unwrap_or(1);
    let mut log = LogWriter::open(&home.path().join("records.ndjson"), 0)?;
    for number in 0..RECORDS {
        let (again, at) = (number / first.len(), number % first.len());
        let mut visit = first[at].clone();
        visit.round += u32::try_from(again)? * last;
        log.append(&Record::Visit(visit))?;
    }
    let begun = Instant::now();
    let mut report = Command::new(env!("CARGO_BIN_EXE_weigh"));
    let ended = report.args(["runs", "show"]).arg(home.path()).stdout(Stdio::null()).status()?;
    let seconds = begun.elapsed().as_secs_f64();
    ensure!(ended.success(), "weigh runs show: {ended}");
    let most = u64::try_from(getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss())? * 1024;
    let of = format!("of {RECORDS} records");
    targets.line("records-report", &format!("{seconds:.1} s {of}"), "at most 10 s", seconds <= 10.0);
    let told = format!("{} {of}", weigh_model::units::bytes(most));
    targets.line("records-memory", &told, "at most 200 MB", most <= 200_000_000);
    Ok(())
}

fn visits(records: &[Record]) -> impl Iterator<Item = &VisitRecord> {
    records.iter().filter_map(|record| match record {
        Record::Visit(visit) => Some(visit),
        _ => None,
    })
}

/// The visits with more samples each, again and again as later rounds.
fn enlarged(records: &[Record]) -> Vec<Record> {
    let first: Vec<&VisitRecord> = visits(records).collect();
    let (last, end) =
        (first.iter().map(|v| v.round).max().unwrap_or(1), first.iter().map(|v| v.at).fold(0.0, f64::max));
    let mut all: Vec<Record> = Vec::new();
    let mut samples = 0;
    for again in 0.. {
        if samples >= SAMPLES {
            break;
        }
        for (at, visit) in first.iter().enumerate() {
            let mut visit = (*visit).clone();
            visit.round += again * last;
            visit.at += f64::from(again) * end;
            for of in visit.phases.values_mut() {
                let noise = |n: usize| 1.0 + 0.003 * ((n * 7 + at * 13 + again as usize * 29) % 17) as f64;
                let known = of.cpu_ns.clone();
                of.cpu_ns =
                    known.iter().cycle().take(OF_A_VISIT).enumerate().map(|(n, ns)| ns * noise(n)).collect();
                samples += of.cpu_ns.len();
            }
            all.push(Record::Visit(visit));
        }
    }
    all.extend(records.iter().filter(|record| !matches!(record, Record::Visit(_))).cloned());
    all
}

/// What the page's own test measures.
fn in_browser(checkout: &Path, file: &PathBuf, targets: &mut Targets) -> Result<()> {
    let Some(chromium) = first_of(&["chromium", "chromium-browser", "google-chrome"].map(str::to_owned))
    else {
        progress("no Chromium: apt install chromium");
        return Ok(());
    };
    let out = Command::new("node")
        .current_dir(checkout.join("web"))
        .args(["--test", "--test-name-pattern", "how long", "test/browser.test.mjs"])
        .env("PAGE", file)
        .env("PAGE_HOSTILE", file)
        .env("CHROMIUM", chromium)
        .output()
        .context("node cannot be started")?;
    let told = String::from_utf8_lossy(&out.stdout).into_owned();
    let figure = |name: &str| {
        let line = told.lines().find_map(|line| line.split_once(name).map(|(_, rest)| rest.to_owned()));
        let number =
            line.and_then(|rest| rest.trim_start_matches(':').split_whitespace().next().map(str::to_owned));
        number.and_then(|number| number.parse::<f64>().ok()).with_context(|| format!("no {name} in: {told}"))
    };
    let (paint, moved) = (figure("page-first-paint")?, figure("page-slider-move")?);
    targets.line("page-first-paint", &format!("{paint} ms"), "at most 1 s", paint <= PAINT_MS);
    targets.line("page-slider-move", &format!("{moved} ms"), "at most 16 ms", moved <= MOVE_MS);
    Ok(())
}
