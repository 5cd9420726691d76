//! Does a run survive anything? The lab is killed with SIGKILL at random instants, and each run is resumed to its end.
//!
//! That at most one visit is measured again follows from what is checked: the lab asks one worker at a time and
//! appends the record of a visit before it asks for the next, so that of a killed lab's visits all but the one in
//! flight are in the log; every record in the log at the kill is still there after the resumption, byte for byte; and
//! no visit is there twice.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use common::{SEED, Targets, WEIGH, progress, rounds};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh::record::Record;
use weigh::run::dir::StoredRun;

/// Attempts for each kill that is wanted: a kill before the run directory exists or after the end does not count.
const ATTEMPTS: usize = 4;
/// A worker may take this long to be gone.
const GONE: Duration = Duration::from_secs(1);

const STUDY: &str = r#"schema = 1
name = "kill"
title = "Kill"
question = "Does a run survive anything?"
reading = ""
[budget]
seconds = 60
[precision]
max_rounds = 6
half_width = 0.0001
[[cells]]
content = ["synthetic:rows-64k"]
runtimes = ["native"]
codecs = ["zlib:1|6|9", "zstd:1|3|9", "brotli:1|5|9", "lz4", "snappy"]
keep = true
[[cells]]
content = ["synthetic:rows-64k"]
runtimes = ["php"]
serializers = ["serialize", "-"]
codecs = ["gzdeflate:1|6|9", "identity"]
keep = true
"#;

/// What the kills found.
#[derive(Default)]
struct Tally {
    kills: usize,
    resumed: usize,
    left: usize,
    torn: usize,
    early: usize,
    late: usize,
    again: usize,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let wanted = rounds(50);
    let home = tempfile::tempdir()?;
    std::fs::write(home.path().join("study.toml"), STUDY)?;
    let mut whole = Duration::ZERO;
    // The first run also fills the cache; how long the second one takes is what a killed one would have taken.
    for name in ["first", "second"] {
        let begun = Instant::now();
        let status = start(home.path(), &home.path().join(name))?.wait()?;
        ensure!(status.success(), "an uninterrupted run ended with {status}");
        whole = begun.elapsed();
    }
    progress(&format!("an uninterrupted run takes {:.1} s", whole.as_secs_f64()));
    let mut draw = ChaCha8Rng::seed_from_u64(SEED);
    let mut tally = Tally::default();
    for attempt in 0..wanted * ATTEMPTS {
        if tally.kills == wanted {
            break;
        }
        let after = whole.mul_f64(draw.random_range(0.0..1.0));
        one(home.path(), &home.path().join(format!("run-{attempt}")), after, &mut tally)?;
    }
    Ok(tally.targets(wanted))
}

fn start(home: &Path, out: &Path) -> Result<Child> {
    let child = Command::new(WEIGH)
        .args(["run", "--out"])
        .args([out, &home.join("study.toml")])
        .env("WEIGH_CACHE", home.join("cache"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.context("weigh cannot be started")
}

fn one(home: &Path, out: &Path, after: Duration, tally: &mut Tally) -> Result<()> {
    let mut lab = start(home, out)?;
    std::thread::sleep(after);
    lab.kill()?;
    lab.wait()?;
    let left = left_after(home, GONE);
    if !out.join("run.json").is_file() {
        tally.early += 1;
        tally.left += left;
        return Ok(());
    }
    let before = StoredRun::read(out).context("after the kill")?;
    if before.is_complete() {
        tally.late += 1;
        return Ok(());
    }
    tally.kills += 1;
    tally.left += left;
    tally.torn += usize::from(before.torn_bytes > 0);
    let bytes = std::fs::read(out.join("records.ndjson"))?;
    let valid = bytes.len() - usize::try_from(before.torn_bytes)?;
    progress(&format!(
        "kill {} after {:.2} s: {} records",
        tally.kills,
        after.as_secs_f64(),
        before.records.len()
    ));
    let resumed = Command::new(WEIGH)
        .args(["run", "--resume"])
        .arg(out)
        .env("WEIGH_CACHE", home.join("cache"))
        .stdout(Stdio::null())
        .output()?;
    if !resumed.status.success() {
        tally
            .wrong
            .push(String::from_utf8_lossy(&resumed.stderr).lines().last().unwrap_or_default().to_owned());
        return Ok(());
    }
    tally.judge(out, &bytes[..valid])
}

impl Tally {
    fn judge(&mut self, out: &Path, before: &[u8]) -> Result<()> {
        let stored = StoredRun::read(out).context("after the resumption")?;
        let visits = stored.records.iter().filter_map(|r| match r {
            Record::Visit(v) => Some((v.cell.clone(), v.round)),
            _ => None,
        });
        let visits: Vec<_> = visits.collect();
        self.again += visits.len() - visits.iter().collect::<BTreeSet<_>>().len();
        let kept = std::fs::read(out.join("records.ndjson"))?.starts_with(before);
        let tidy = !out.join("payloads").exists() && !out.join("scratch").exists();
        if stored.is_complete() && kept && tidy {
            self.resumed += 1;
        } else {
            let complete = stored.is_complete();
            self.wrong.push(format!("{}: complete {complete}, kept {kept}, tidy {tidy}", out.display()));
        }
        Ok(())
    }

    fn targets(&self, wanted: usize) -> Targets {
        let mut targets = Targets::default();
        let aside = format!(
            "{} more kills came before the run directory was there, {} after the end; {} logs had a torn last line",
            self.early, self.late, self.torn
        );
        let wrong =
            if self.wrong.is_empty() { String::new() } else { format!("; {}", self.wrong.join("; ")) };
        let measured = format!(
            "{} of {} kills, records kept and valid, nothing left over; {aside}{wrong}",
            self.resumed, self.kills
        );
        let met = self.resumed == wanted && self.kills == wanted;
        targets.line("kill-resumed", &measured, &format!("{wanted} of {wanted}"), met);
        targets.line("kill-visits-twice", &self.again.to_string(), "0", self.again == 0);
        targets.line("kill-processes-left", &format!("{} after 1 s", self.left), "0", self.left == 0);
        targets
    }
}

/// Workers of this benchmark's labs that are still there after `patience`.
fn left_after(home: &Path, patience: Duration) -> usize {
    let begun = Instant::now();
    loop {
        let left = workers(home);
        if left == 0 || begun.elapsed() > patience {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes that run the program under test, or a PHP worker from this benchmark's own cache folder.
fn workers(home: &Path) -> usize {
    let program = PathBuf::from(WEIGH).canonicalize().ok();
    let cache = home.join("cache").to_string_lossy().into_owned();
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    processes
        .flatten()
        .map(|p| p.path())
        .filter(|p| {
            let line = std::fs::read(p.join("cmdline")).unwrap_or_default();
            let exe = std::fs::read_link(p.join("exe")).ok();
            (exe.is_some() && exe == program) || String::from_utf8_lossy(&line).contains(&cache)
        })
        .count()
}
