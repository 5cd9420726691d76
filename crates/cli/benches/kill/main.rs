//! Does a run survive anything? The lab is killed with SIGKILL at random instants, and each run is resumed to its end: one of codecs,
//! and one of deliveries, under which servers and PHP stand.
//!
//! That at most one visit is measured again follows from what is checked: the lab asks one worker at a time and
//! appends the record of a visit before it asks for the next, so that of a killed lab's visits all but the one in
//! flight are in the log; every record in the log at the kill is still there after the resumption, byte for byte; and
//! no visit is there twice.

#[path = "../common/mod.rs"]
mod common;
mod left;
mod pack;
mod verbs;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use common::{SEED, Targets, WEIGH, progress, rounds};
use left::{Left, Watch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_model::record::Record;
use weigh_run::dir::StoredRun;

/// Attempts for each kill that is wanted: a kill before the run directory exists or after the end does not count.
const ATTEMPTS: usize = 4;

/// What is killed.
struct Kind {
    /// What its lines begin with, and its name on the command line.
    name: &'static str,
    study: &'static str,
    /// All of a killed lab is to be gone after this.
    gone: Duration,
}

const CODECS: Kind = Kind { name: "kill", gone: Duration::from_secs(1), study: include_str!("codecs.toml") };

const SERVERS: Kind =
    Kind { name: "kill-servers", gone: Duration::from_secs(5), study: include_str!("servers.toml") };

/// What the kills found.
#[derive(Default)]
struct Tally {
    kills: usize,
    resumed: usize,
    left: Left,
    torn: usize,
    early: usize,
    late: usize,
    again: usize,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    common::end(measure())
}

/// All, or the one that is named: `cargo bench -p weigh --bench kill -- kill-servers`; `kill-pack` is packing, `kill-verbs` is every verb, without resumption.
fn measure() -> Result<Targets> {
    let named: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let mut targets = Targets::default();
    for kind in [CODECS, SERVERS] {
        if named.is_empty() || named.iter().any(|name| name == kind.name) {
            let wanted = rounds(50);
            kills(&kind, wanted)?.tell(&kind, wanted, &mut targets);
        }
    }
    if named.is_empty() || named.iter().any(|name| name == "kill-pack") {
        pack::measure(rounds(50), &mut targets)?;
    }
    if named.is_empty() || named.iter().any(|name| name == "kill-verbs") {
        verbs::measure(rounds(verbs::KILLS), &mut targets)?;
    }
    Ok(targets)
}

fn kills(kind: &Kind, wanted: usize) -> Result<Tally> {
    let home = tempfile::tempdir()?;
    let watch = Watch::over(home.path());
    std::fs::create_dir(watch.tmp())?;
    std::fs::write(home.path().join("study.toml"), kind.study)?;
    let whole = whole(kind.name, &[0], |name| start(home.path(), &home.path().join(name)))?;
    let mut draw = ChaCha8Rng::seed_from_u64(SEED);
    let mut tally = Tally::default();
    for attempt in 0..wanted * ATTEMPTS {
        if tally.kills == wanted {
            break;
        }
        let after = whole.mul_f64(draw.random_range(0.0..1.0));
        one(kind, &watch, home.path(), &home.path().join(format!("run-{attempt}")), after, &mut tally)?;
    }
    Ok(tally)
}

/// How long a start takes that nobody kills, from its second one: the first one also fills the cache. `fine` are the exit codes that it may end with.
fn whole(name: &str, fine: &[i32], start: impl Fn(&str) -> Result<Child>) -> Result<Duration> {
    let mut whole = Duration::ZERO;
    for out in ["first", "second"] {
        let begun = Instant::now();
        let ended = start(out)?.wait_with_output()?;
        let said = String::from_utf8_lossy(&ended.stderr).lines().last().unwrap_or_default().to_owned();
        let is_fine = ended.status.code().is_some_and(|code| fine.contains(&code));
        ensure!(is_fine, "without a kill it ended with {}: {said}", ended.status);
        whole = begun.elapsed();
    }
    progress(&format!("{name}: {:.1} s without a kill", whole.as_secs_f64()));
    Ok(whole)
}

/// `weigh` in the surroundings of the labs below `home`.
fn weigh(home: &Path) -> Command {
    let mut command = Command::new(WEIGH);
    command.env("WEIGH_CACHE", home.join("cache")).env("TMPDIR", home.join("tmp")).stdout(Stdio::null());
    command
}

fn start(home: &Path, out: &Path) -> Result<Child> {
    let mut command = weigh(home);
    command.args(["run", "--out"]).args([out, &home.join("study.toml")]).stderr(Stdio::null());
    command.spawn().context("weigh cannot be started")
}

fn one(
    kind: &Kind,
    watch: &Watch,
    home: &Path,
    out: &Path,
    after: Duration,
    tally: &mut Tally,
) -> Result<()> {
    let mut lab = start(home, out)?;
    std::thread::sleep(after);
    lab.kill()?;
    lab.wait()?;
    let left = watch.left_after(kind.gone);
    if !left.is_nothing() {
        progress(&format!("a kill after {:.2} s left {left:?}", after.as_secs_f64()));
    }
    tally.left.add(left);
    if !out.join("run.json").is_file() {
        tally.early += 1;
        return Ok(());
    }
    let before = StoredRun::read(out).context("after the kill")?;
    if before.is_complete() {
        tally.late += 1;
        return Ok(());
    }
    tally.kills += 1;
    tally.torn += usize::from(before.torn_bytes > 0);
    let bytes = std::fs::read(out.join("records.ndjson"))?;
    let valid = bytes.len() - usize::try_from(before.torn_bytes)?;
    let (records, seconds) = (before.records.len(), after.as_secs_f64());
    progress(&format!("kill {} after {seconds:.2} s: {records} records", tally.kills));
    let resumed = weigh(home).args(["run", "--resume"]).arg(out).output()?;
    if !resumed.status.success() {
        let words = String::from_utf8_lossy(&resumed.stderr).lines().last().unwrap_or_default().to_owned();
        tally.wrong.push(words);
        return Ok(());
    }
    let after_all = watch.left_after(kind.gone);
    if after_all != Left::default() {
        tally.wrong.push(format!("{}: the resumption left {after_all:?}", out.display()));
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

    fn tell(&self, kind: &Kind, wanted: usize, targets: &mut Targets) {
        let name = |what: &str| format!("{}-{what}", kind.name);
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
        let met = self.resumed == wanted && self.kills == wanted && self.wrong.is_empty();
        targets.line(&name("resumed"), &measured, &format!("{wanted} of {wanted}"), met);
        targets.line(&name("visits-twice"), &self.again.to_string(), "0", self.again == 0);
        let Left { processes, directories, sockets, namespaces, mounts, devices, drafts, swept } = self.left;
        let left = format!(
            "{processes} processes, {directories} private directories, {sockets} unix sockets, {namespaces} network namespaces, {mounts} mounts, \
             {devices} devices, {drafts} drafts after {} s at most; {swept} temporary folders for the next start to remove",
            kind.gone.as_secs()
        );
        targets.line(&name("left"), &left, "0", self.left.is_nothing());
    }
}
