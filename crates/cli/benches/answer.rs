//! Does stopping early change the answer? Every codec on three contents: once exhaustively, each cell to the last round, and
//! once as a user would, with the same seed. A round of this benchmark is one content.
//!
//! Two runs on a shared machine never have the same numbers, so that two cells of nearly the same encode time and bytes may
//! swap places on the front even between two exhaustive runs. A cell that is on one of the two fronts only is therefore
//! explained when its rival on the other front does not differ significantly from it in the exhaustive run's own numbers, or the ratio is
//! nearer to 1 than the exactness that was asked for. What is not explained is an answer that stopping early has changed.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Result, ensure};
use common::{Targets, WEIGH, progress, rounds};
use weigh_answer::estimate::Estimate;
use weigh_answer::report::Report;
use weigh_answer::row::Row;
use weigh_answer::verdict;
use weigh_run::dir::StoredRun;

/// The adaptive run's part of the exhaustive one's CPU time.
const SHARE: f64 = 0.25;
/// 130 to 260 KB each, so that an exhaustive run takes about two minutes.
const CONTENTS: [&str; 3] =
    ["corpus:bootstrap-5.3.3.min.css", "corpus:react-dom-18.3.1.min", "value:tree-256k"];

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let home = tempfile::tempdir()?;
    let mut targets = Targets::default();
    let contents = common::content(&CONTENTS, home.path())?;
    for (name, path) in contents.iter().take(rounds(CONTENTS.len())) {
        progress(&format!("{name}: the exhaustive run"));
        let all = Answer::of(path, &home.path().join(format!("{name}-all")), &["--exhaustive"])?;
        progress(&format!("{name}: {:.1} s; the adaptive run", all.seconds));
        // Until it ends by itself: what the usual few seconds allow is an answer so far.
        let quick = Answer::of(path, &home.path().join(format!("{name}-quick")), &["--budget", "10m"])?;
        let share = quick.cpu / all.cpu;
        let measured = format!(
            "{share:.3} of the CPU time [{:.3} of the wall time: {:.1} s of {:.1} s]",
            quick.seconds / all.seconds,
            quick.seconds,
            all.seconds
        );
        targets.line(
            &format!("answer-time {name}"),
            &measured,
            &format!("at most {SHARE:.2}"),
            share <= SHARE,
        );
        fronts(&mut targets, name, &all, &quick)?;
    }
    Ok(targets)
}

/// One run and what it answers.
struct Answer {
    /// Seconds of wall time of the whole command.
    seconds: f64,
    /// Seconds of CPU time of the command and its workers: what a neighbour that comes and goes between the two runs
    /// changes least.
    cpu: f64,
    stored: StoredRun,
    report: Report,
}

impl Answer {
    fn of(content: &Path, out: &Path, flags: &[&str]) -> Result<Answer> {
        let (begun, before) = (Instant::now(), children_cpu_seconds()?);
        let mut command = Command::new(WEIGH);
        command.arg("codec").arg(content).args(flags).args(["--seed", "1", "--out"]).arg(out);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        ensure!(status.success(), "weigh codec {} ended with {status}", content.display());
        let (seconds, cpu) = (begun.elapsed().as_secs_f64(), children_cpu_seconds()? - before);
        let stored = StoredRun::read(out)?;
        let report = Report::of(&stored.facts(), &stored.plan, &stored.records);
        Ok(Answer { seconds, cpu, stored, report })
    }

    fn front(&self) -> BTreeSet<&str> {
        self.report.groups.iter().flat_map(|g| g.front.iter().map(String::as_str)).collect()
    }
}

/// CPU time of all processes that this one has waited for, and of those that they have waited for.
fn children_cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The fields after the name, see proc(5): `cutime` and `cstime` are the 16th and 17th of the line.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = fields.iter().skip(13).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Encode times of a run by cell, and the rule of its report.
struct Ratios {
    times: BTreeMap<String, Estimate>,
    /// The exactness that was asked for.
    half_width: f64,
}

impl Ratios {
    fn of(answer: &Answer) -> Ratios {
        let encode = |row: &Row| Some((row.cell.id.clone(), row.get("encode")?.clone()));
        Ratios {
            times: answer.report.rows.iter().filter_map(encode).collect(),
            half_width: answer.stored.plan.policy.half_width,
        }
    }

    /// What the ratio of the two is, and whether they differ significantly.
    fn tell(&self, a: &str, b: &str) -> (String, bool) {
        match self.times.get(a).zip(self.times.get(b)).and_then(|(a, b)| verdict::ratio(a, b)) {
            None => ("?".into(), true),
            Some(r) => {
                let apart = r.claimed && (r.value - 1.0).abs() >= self.half_width;
                (format!("{:.3} [{:.3}, {:.3}]", r.value, r.low, r.high), apart)
            }
        }
    }
}

fn fronts(targets: &mut Targets, name: &str, all: &Answer, quick: &Answer) -> Result<()> {
    let ratios = Ratios::of(all);
    let (expected, found) = (all.front(), quick.front());
    let mut unexplained = Vec::new();
    for id in expected.symmetric_difference(&found) {
        // Whichever run does not have it on the front has others that beat it there.
        let beaten_in = if expected.contains(id) { quick } else { all };
        let Some(rival) = beaten_in.report.row(id).and_then(|row| row.dominated_by.as_deref()) else {
            // One that was not measured at all has no rival, and stays unexplained.
            unexplained.push(*id);
            continue;
        };
        let (ratio, apart) = ratios.tell(id, rival);
        let whose = if expected.contains(id) { "exhaustive" } else { "adaptive" };
        progress(&format!(
            "  {id} is on the {whose} front only; {rival} keeps it off in the other; their ratio: {ratio}"
        ));
        if apart {
            unexplained.push(*id);
        }
    }
    let differ = expected.symmetric_difference(&found).count();
    let which = if unexplained.is_empty() { String::new() } else { format!(": {}", unexplained.join(", ")) };
    let measured = format!(
        "{} unexplained{which} [{differ} of {} cells on one front only]",
        unexplained.len(),
        expected.union(&found).count()
    );
    targets.line(&format!("answer-front {name}"), &measured, "0 unexplained", unexplained.is_empty());
    Ok(())
}
