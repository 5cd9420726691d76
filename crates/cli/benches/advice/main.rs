//! Is the advice good, and how much measuring does it take? Five small sites, drawn from a seed: every configuration of a site's studies is measured
//! to the last round, and then `weigh advise` gets a quarter of that time. What it decides is valued by the figures of the exhaustive
//! run, and compared with the best that these figures know.

#[path = "../common/mod.rs"]
mod common;
mod draw;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use common::{Targets, WEIGH, progress, rounds};
use draw::{MIXES, Mix};
use weigh_answer::policy::{Valued, valued};
use weigh_answer::report::Report;
use weigh_model::policy::Policy;
use weigh_model::record::Record;
use weigh_model::site::Site;
use weigh_run::dir::StoredRun;
use weigh_run::lab::Lab;
use weigh_run::list::FOLDER;

/// The longest time to measure, as a share of the exhaustive run's.
const SHARE: f64 = 0.25;
/// What is asked for: a visit that has begun ends after its time.
const ASKED: f64 = 0.24;
/// The most by which the advised settings may be worse than the best.
const REGRET: f64 = 0.02;

fn main() -> ExitCode {
    common::end(measure())
}

/// All sites, or those that are named by their numbers: `cargo bench -p weigh --bench advice -- 2 4`. With `again`, the exhaustive runs of the last
/// time, which stay below `target/`, are used once more.
fn measure() -> Result<Targets> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_again = words.iter().any(|word| word == "again");
    let named: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    ensure!(named.len() + usize::from(is_again) == words.len(), "advice: numbers of sites, `again`");
    let home = tempfile::tempdir()?;
    let folder = sample_site(home.path())?;
    let (mut targets, lab, mut lines) = (Targets::default(), Lab::open(None)?, Vec::new());
    for (at, mix) in MIXES.iter().enumerate().take(rounds(MIXES.len())) {
        let number = at + 1;
        if !named.is_empty() && !named.contains(&number) {
            continue;
        }
        let site = draw::site(number, mix, &folder)?;
        let file = folder.join(format!("{}.toml", site.name));
        fs::write(&file, weigh_site::text(&site)?)?;
        let place =
            SitePaths { file: &file, kept: common::kept("advice")?.join(&site.name), home: home.path() };
        let judged = place.judge(&lab, &site, mix, is_again)?;
        judged.lines(&mut targets, &site.name);
        lines.push(judged.row(&site.name, mix));
    }
    println!(
        "\n| Site | Server | Minimised | Configurations | Exhaustive | Advice | Share of the time | Regret as it is | Regret of the advice |"
    );
    println!("|---|---|---|--:|--:|--:|--:|--:|--:|");
    lines.iter().for_each(|line| println!("{line}"));
    Ok(targets)
}

/// The sample site, from what is available of the corpus.
fn sample_site(home: &Path) -> Result<PathBuf> {
    let fetched = Command::new(WEIGH).args(["lab", "corpus", "fetch"]).stdout(Stdio::null()).status()?;
    if !fetched.success() {
        progress("the corpus is not complete; synthetic content stands for what is missing");
    }
    let folder = home.join("sample");
    ended_well(Command::new(WEIGH).args(["lab", "corpus", "site"]).arg(&folder))?;
    Ok(folder)
}

fn ended_well(command: &mut Command) -> Result<()> {
    let said = command.stdin(Stdio::null()).output().context("weigh cannot be started")?;
    let error = String::from_utf8_lossy(&said.stderr);
    ensure!(said.status.success(), "{:?} ended with {}: {error}", command.get_args(), said.status);
    Ok(())
}

/// A site's file, where its exhaustive runs are kept, and where everything else goes.
struct SitePaths<'a> {
    file: &'a Path,
    kept: PathBuf,
    home: &'a Path,
}

impl SitePaths<'_> {
    fn judge(&self, lab: &Lab, site: &Site, mix: &Mix, is_again: bool) -> Result<Judged> {
        if !is_again || !self.kept.join(FOLDER).is_dir() {
            progress(&format!("{}: the exhaustive run", site.name));
            self.exhaust(&site.name)?;
        }
        let all = Runs::read(&self.kept)?;
        let asked = (all.seconds * ASKED).floor();
        progress(&format!("{}: {:.1} s; the advice within {asked} s", site.name, all.seconds));
        let work = self.home.join(format!("advice-{}", site.name));
        fs::create_dir(&work)?;
        let objective = mix.objective.name();
        let budget = format!("{asked}s");
        let mut advise = Command::new(WEIGH);
        advise.arg("advise").arg(self.file).args([
            "--objective",
            objective,
            "--budget",
            &budget,
            "--seed",
            "2",
        ]);
        ended_well(advise.current_dir(&work))?;
        let policy: Policy = toml::from_str(&fs::read_to_string(work.join("advice/policy.toml"))?)?;
        for decision in &policy.decisions {
            progress(&format!("  {}", decision.text));
        }
        let own = Runs::read(&work)?;
        let links = weigh_site::advise::visitors_links(lab, site)?;
        let decided = valued(&policy, site, &links, &all.reports);
        let nothing = Policy { decisions: Vec::new(), ..policy };
        let today = valued(&nothing, site, &links, &all.reports);
        Ok(Judged { all, own, decided, today })
    }

    /// Every configuration of the site's studies, to the last round.
    fn exhaust(&self, name: &str) -> Result<()> {
        if self.kept.exists() {
            fs::remove_dir_all(&self.kept)?;
        }
        fs::create_dir_all(&self.kept)?;
        let studies = self.home.join(format!("studies-{name}"));
        ended_well(
            Command::new(WEIGH).args(["advise", "--dry-run"]).arg(self.file).arg("--save").arg(&studies),
        )?;
        let mut run = Command::new(WEIGH);
        run.args(["run", "--exhaustive", "--seed", "1"]).current_dir(&self.kept);
        for entry in fs::read_dir(&studies)? {
            run.arg(entry?.path());
        }
        ended_well(&mut run)
    }
}

/// The runs of a folder.
struct Runs {
    /// What measuring took.
    seconds: f64,
    configurations: usize,
    reports: Vec<Report>,
}

impl Runs {
    fn read(folder: &Path) -> Result<Runs> {
        let mut runs = Runs { seconds: 0.0, configurations: 0, reports: Vec::new() };
        for entry in fs::read_dir(folder.join(FOLDER))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                let stored = StoredRun::read(&entry.path())?;
                let mut ends = stored.records.iter().filter_map(|record| match record {
                    Record::End { seconds, .. } => Some(*seconds),
                    _ => None,
                });
                runs.seconds += ends.next_back().context("a run has not ended")?;
                runs.configurations += stored.plan.cells.len();
                runs.reports.push(stored.report());
            }
        }
        Ok(runs)
    }
}

/// What came of a site.
struct Judged {
    all: Runs,
    own: Runs,
    decided: Vec<Valued>,
    /// What the site does today.
    today: Vec<Valued>,
}

/// The value over the best one's, less 1: of all kinds together.
fn regret(valued: &[Valued]) -> Option<f64> {
    let own = valued.iter().map(|one| one.own).sum::<Option<f64>>()?;
    let least: f64 = valued.iter().map(|one| one.least).sum();
    (least > 0.0).then(|| own / least - 1.0)
}

impl Judged {
    fn share(&self) -> f64 {
        self.own.seconds / self.all.seconds
    }

    fn lines(&self, targets: &mut Targets, name: &str) {
        let share = self.share();
        let measured =
            format!("{share:.3} of the time: {:.1} s of {:.1} s", self.own.seconds, self.all.seconds);
        targets.line(
            &format!("advice-time {name}"),
            &measured,
            &format!("at most {SHARE:.2}"),
            share <= SHARE,
        );
        let kinds = self.decided.iter().map(|one| {
            let regret = one.own.map_or("not measured".into(), |own| percent(own / one.least - 1.0));
            progress(&format!("  best for {}: {}", one.kind.plural(), one.best));
            format!("{} {regret}", one.kind.plural())
        });
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        let (line, target) = (format!("advice-regret {name}"), format!("at most {}", percent(REGRET)));
        match regret(&self.decided) {
            Some(regret) => {
                targets.line(&line, &format!("{} [{kinds}]", percent(regret)), &target, regret <= REGRET);
            }
            None => targets.missing(&line, &kinds, &target),
        }
    }

    fn row(&self, name: &str, mix: &Mix) -> String {
        let [today, own] =
            [&self.today, &self.decided].map(|valued| regret(valued).map_or("not measured".into(), percent));
        format!(
            "| {name} | {} | {} | {} | {:.0} s | {:.0} s | {} | {today} | {own} |",
            mix.server,
            mix.objective.name(),
            self.all.configurations,
            self.all.seconds,
            self.own.seconds,
            percent(self.share()),
        )
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
