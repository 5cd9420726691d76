//! `weigh pack`, killed with SIGKILL at random instants while a watcher looks at every file with the name of a variant: none is ever half
//! written, the next run completes, and what is the user's stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_codec::{Format, independent};

use crate::common::{SEED, Targets, progress};
use crate::{ATTEMPTS, weigh, whole};

const FILES: usize = 40;
const FORMATS: [(&str, Format); 3] = [("gz", Format::Gzip), ("br", Format::Brotli), ("zst", Format::Zstd)];
/// Files of the user's that have the names of variants, or of drafts.
const THEIRS: [&str; 3] = ["0/f0.js.gz", "mine.css.br", ".weigh-pack-notes"];

/// What the kills found.
#[derive(Default)]
struct Tally {
    kills: usize,
    late: usize,
    looks: usize,
    wrong: Vec<String>,
}

/// Kills it so often, and prints a line for each target.
pub fn measure(wanted: usize, targets: &mut Targets) -> Result<()> {
    let home = tempfile::tempdir()?;
    fs::create_dir(home.path().join("tmp"))?;
    let fresh = |name: &str| -> Result<PathBuf> {
        let tree = home.path().join(name);
        make(&tree)?;
        Ok(tree)
    };
    let whole = whole("kill-pack", &[0], |name| start(home.path(), &fresh(name)?))?;
    let mut draw = ChaCha8Rng::seed_from_u64(SEED);
    let mut tally = Tally::default();
    for attempt in 0..wanted * ATTEMPTS {
        if tally.kills == wanted {
            break;
        }
        let tree = fresh(&format!("tree-{attempt}"))?;
        let after = whole.mul_f64(draw.random_range(0.0..1.0));
        one(home.path(), &tree, after, &mut tally)?;
        fs::remove_dir_all(tree)?;
    }
    let Tally { kills, late, looks, wrong } = &tally;
    let measured = format!(
        "{kills} kills ({late} more came after the end), {looks} variants looked at meanwhile{}",
        wrong.iter().map(|what| format!("; {what}")).collect::<String>()
    );
    let target =
        format!("{wanted} of {wanted}: nothing half-written, the next run completes, the user's files stay");
    targets.line("kill-pack", &measured, &target, *kills == wanted && wrong.is_empty() && *looks > 0);
    Ok(())
}

fn start(home: &Path, tree: &Path) -> Result<Child> {
    let mut command = weigh(home);
    command.args(["pack", "--effort", "balanced"]).arg(tree).stderr(Stdio::null());
    command.spawn().context("weigh cannot be started")
}

fn make(tree: &Path) -> Result<()> {
    for number in 0..FILES {
        let folder = tree.join((number % 4).to_string());
        fs::create_dir_all(&folder)?;
        let line =
            |line: usize| format!("function f{number}_{line}(a) {{ return a * {}; }}\n", line * 7919 % 1001);
        fs::write(folder.join(format!("f{number}.js")), (0..600).map(line).collect::<String>())?;
    }
    THEIRS.iter().try_for_each(|name| Ok(fs::write(tree.join(name), "mine")?))
}

fn one(home: &Path, tree: &Path, after: std::time::Duration, tally: &mut Tally) -> Result<()> {
    let (ends, looks) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (is_late, mut seen) = std::thread::scope(|scope| -> Result<(bool, Vec<String>)> {
        let watcher = scope.spawn(|| {
            let mut wrong = Vec::new();
            while !ends.load(Ordering::SeqCst) && wrong.is_empty() {
                looks.fetch_add(look(tree, &mut wrong), Ordering::SeqCst);
            }
            wrong
        });
        let mut run = start(home, tree)?;
        std::thread::sleep(after);
        let is_late = run.try_wait()?.is_some();
        run.kill()?;
        run.wait()?;
        ends.store(true, Ordering::SeqCst);
        Ok((is_late, watcher.join().ok().context("the watcher failed")?))
    })?;
    look(tree, &mut seen);
    tally.wrong.append(&mut seen);
    tally.looks += looks.into_inner();
    tally.kills += usize::from(!is_late);
    tally.late += usize::from(is_late);
    progress(&format!("kill {} after {:.2} s", tally.kills, after.as_secs_f64()));
    for more in [&[][..], &["--check"], &["--clean"]] {
        let done = weigh(home)
            .args(["pack", "--effort", "balanced"])
            .args(more)
            .arg(tree)
            .stderr(Stdio::null())
            .status()?;
        ensure!(done.code().is_some(), "the next run ended by a signal");
        if !done.success() {
            tally.wrong.push(format!("weigh pack {} afterwards: {done}", more.join(" ")));
        }
        let mut wrong = Vec::new();
        let variants = look(tree, &mut wrong);
        tally.wrong.append(&mut wrong);
        let all = if more.contains(&"--clean") { 0 } else { FORMATS.len() * FILES - 1 };
        if variants != all {
            tally
                .wrong
                .push(format!("{variants} variants instead of {all} after weigh pack {}", more.join(" ")));
        }
    }
    let left = files(tree)?.len();
    if left != FILES + THEIRS.len() {
        tally.wrong.push(format!("{left} files are left of {}", FILES + THEIRS.len()));
    }
    Ok(())
}

/// Looks at every file with the name of a variant: how many there are. One that is gone when it is read is none.
fn look(tree: &Path, wrong: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for path in files(tree).unwrap_or_default() {
        let name = path.strip_prefix(tree).unwrap_or(&path).to_string_lossy().into_owned();
        let Ok(bytes) = fs::read(&path) else { continue };
        if THEIRS.contains(&name.as_str()) {
            if bytes != b"mine" {
                wrong.push(format!("{name} was the user's"));
            }
            continue;
        }
        let Some((_, format)) =
            FORMATS.iter().find(|(ending, _)| path.extension().is_some_and(|own| own == *ending))
        else {
            continue;
        };
        let source = fs::read(path.with_extension("")).unwrap_or_default();
        seen += 1;
        if !independent::decode(*format, &bytes, source.len(), None)
            .is_ok_and(|(decoded, _)| decoded == source)
        {
            wrong.push(format!("{name} is half-written"));
        }
    }
    seen
}

fn files(tree: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)?.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => all.push(entry.path()),
            }
        }
    }
    Ok(all)
}
