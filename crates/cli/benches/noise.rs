//! Do neighbours move the figures? `stress` loads both cores for the middle third of a run; the results of the whole run are
//! held against those of its quiet two thirds. Two runs, one quiet and one loaded, would show what the machine did between
//! them, which on a shared one is more than what the load does.

mod common;

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use common::{Targets, WEIGH, progress, rounds};
use rustix::process::{Pid, Signal, kill_process_group};
use weigh_answer::estimate::Estimate;
use weigh_answer::report::Report;
use weigh_answer::row::Row;
use weigh_answer::verdict::differ;
use weigh_model::record::Record;
use weigh_run::dir::StoredRun;

/// What a figure may move.
const MOVED: f64 = 0.10;
/// Settings that span the front without the slowest ones, which would only make the benchmark longer.
const CODECS: [&str; 10] = [
    "identity",
    "lz4",
    "snappy",
    "isal:0|3",
    "zstd:-5|1|3|6|9|15|19",
    "libdeflate:1|6|9|12",
    "zlib:1|6|9",
    "zlib-ng:1|6",
    "brotli:1|4|6|9",
    "xz:3",
];

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let rounds = rounds(30) as u32;
    let home = tempfile::tempdir()?;
    let files = common::content(&["corpus:bootstrap-5.3.3.min.css"], home.path())?;
    let (name, _) = files.first().context("no content")?;
    progress(&format!("{name}: both cores loaded for the middle third of {rounds} rounds"));
    let stored = run(&home.path().join("run"), rounds)?;
    let whole = Report::of(&stored.facts(), &stored.plan, &stored.records);
    let quiet: Vec<Record> = stored.records.iter().filter(|r| !in_loaded_round(r, rounds)).cloned().collect();
    let quiet = Report::of(&stored.facts(), &stored.plan, &quiet);
    let mut targets = Targets::default();
    figures(&mut targets, &quiet, &whole);
    front(&mut targets, &quiet, &whole);
    Ok(targets)
}

/// A study of these codecs on one file, with a fixed number of rounds.
fn study(rounds: u32) -> String {
    let codecs = CODECS.map(|c| format!("\"{c}\"")).join(", ");
    format!(
        "schema = 1\nname = \"noise\"\ntitle = \"Noise\"\nquestion = \"Do neighbours move the figures?\"\nreading = \"\"\n\
         [precision]\nmax_rounds = {rounds}\n[[cells]]\ncontent = [\"corpus:bootstrap-5.3.3.min.css\"]\n\
         runtimes = [\"native\"]\ncodecs = [{codecs}]\n"
    )
}

/// Rounds that `stress` is to load.
fn is_loaded(round: u32, rounds: u32) -> bool {
    rounds / 3 < round && round <= rounds * 2 / 3
}

fn in_loaded_round(record: &Record, rounds: u32) -> bool {
    matches!(record, Record::Visit(visit) if is_loaded(visit.round, rounds))
}

fn run(out: &Path, rounds: u32) -> Result<StoredRun> {
    let study_file = out.with_extension("toml");
    std::fs::write(&study_file, study(rounds))?;
    let mut weigh = Command::new(WEIGH)
        .args(["run", "--exhaustive", "--seed", "7", "--out"])
        .args([out, &study_file])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut stress: Option<Stress> = None;
    let status = loop {
        if let Some(status) = weigh.try_wait()? {
            break status;
        }
        let round = current_round(out);
        let wanted = is_loaded(round, rounds);
        if wanted && stress.is_none() {
            stress = Some(Stress::start()?);
        } else if !wanted {
            stress = None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    ensure!(status.success(), "weigh run ended with {status}");
    StoredRun::read(out)
}

/// The round that the last record speaks of.
fn current_round(out: &Path) -> u32 {
    let text = std::fs::read_to_string(out.join("records.ndjson")).unwrap_or_default();
    let field = text.rsplit("\"round\":").next().filter(|rest| rest.len() < text.len()).unwrap_or_default();
    field.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// `stress` on both cores, with its children in a group of their own, ended when dropped.
struct Stress(Child);

impl Stress {
    fn start() -> Result<Stress> {
        let mut command = Command::new("stress");
        command.args(["--cpu", "2", "--timeout", "900"]).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Stress(command.process_group(0).spawn().context("stress cannot be started: apt install stress")?))
    }
}

impl Drop for Stress {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.0.id().cast_signed()) {
            kill_process_group(group, Signal::TERM).ok();
        }
        self.0.wait().ok();
    }
}

fn by_id(report: &Report) -> BTreeMap<&str, &Row> {
    report.rows.iter().map(|row| (row.id(), row)).collect()
}

fn figures(targets: &mut Targets, quiet: &Report, loaded: &Report) {
    let after = by_id(loaded);
    for phase in ["encode", "decode"] {
        let mut moved: Vec<(f64, &str)> = quiet
            .rows
            .iter()
            .filter_map(|row| {
                let theirs = after.get(row.id())?.value(phase)?;
                Some(((theirs / row.value(phase)? - 1.0).abs(), row.id()))
            })
            .collect();
        moved.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((most, who)) = moved.last() else { continue };
        let middle = moved[moved.len() / 2].0;
        let name = format!("noise-{phase}");
        let measured = format!(
            "{} figures, middle one moved {:.1}%, most {:.1}% ({who})",
            moved.len(),
            middle * 100.0,
            most * 100.0
        );
        targets.line(&name, &measured, "under 10%", *most < MOVED);
    }
}

/// Every pair on the quiet run's front whose intervals are apart keeps its order.
fn front(targets: &mut Targets, quiet: &Report, loaded: &Report) {
    let (before, after) = (by_id(quiet), by_id(loaded));
    let encode =
        |rows: &BTreeMap<&str, &Row>, id: &str| -> Option<Estimate> { rows.get(id)?.get("encode").cloned() };
    let (mut pairs, mut close, mut changed) = (0, 0, Vec::new());
    for group in &quiet.groups {
        for (at, a) in group.front.iter().enumerate() {
            for b in &group.front[at + 1..] {
                let (Some(x), Some(y)) = (encode(&before, a), encode(&before, b)) else { continue };
                let (Some(u), Some(v)) = (encode(&after, a), encode(&after, b)) else { continue };
                if !differ(&x, &y) {
                    close += 1;
                    continue;
                }
                pairs += 1;
                if (x.value < y.value) != (u.value < v.value) {
                    changed.push(format!("{a} and {b}"));
                }
            }
        }
    }
    let which = if changed.is_empty() { String::new() } else { format!(": {}", changed.join(", ")) };
    let measured = format!(
        "{} of {pairs} pairs changed order{which}; {close} more did not differ significantly in the quiet run",
        changed.len()
    );
    targets.line("noise-front", &measured, "no pair changes order", changed.is_empty() && pairs > 0);
}
