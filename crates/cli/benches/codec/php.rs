//! Compression inside PHP beside native zlib, at PHP's parameters and on the same bytes.
//!
//! The target is against the very library that PHP is linked to, called as PHP calls it (`bench/native-zlib.c`):
//! what differs then is what PHP adds. Our own native codec is another build of another version of zlib, whose encoder
//! has changed since, so that a ratio against it would say more of the two libraries than of PHP; it has to give the same
//! bytes, and its ratio is printed for comparison, without a target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use weigh_os::process::WorkerSpec;
use weigh_rig::runtime;
use weigh_run::lab::Lab;

use crate::common::worker::{Content, Worker, digest};
use crate::common::{Targets, compile, low_ratio, progress};
use crate::{TOLERANCE, TURNS, begins, both};

const LEVELS: [i32; 3] = [1, 6, 9];
const LOOP_NS: u64 = 100_000_000;
const TARGET: &str = "same bytes, and the same throughput within 3%";
const OURS: &str = "zlib";

/// (CPU nanoseconds natively, in PHP) in each round, and whether every output had the same bytes.
#[derive(Default)]
struct RoundTimes {
    same_library: Vec<(f64, f64)>,
    our_library: Vec<(f64, f64)>,
    other_bytes: Option<String>,
}

impl RoundTimes {
    fn round(
        &mut self,
        level: i32,
        content: &Content,
        php: &mut Worker,
        zlib: &Native,
        ours: &mut Worker,
    ) -> Result<()> {
        let (mut inside, mut native) = (f64::INFINITY, f64::INFINITY);
        for turn in 0..TURNS {
            let ((ns, bytes), told) = both(
                turn,
                || php.encode(&format!("gzdeflate:{level}"), content, LOOP_NS),
                || zlib.run(level, content),
            )?;
            (inside, native) = (inside.min(ns), native.min(told.encode));
            if bytes != told.sha256_encoded {
                self.other_bytes = Some(format!("not those of zlib {}", told.version));
            }
        }
        // For comparison only, and for its bytes: one turn will do.
        let setting = format!("{OURS}:{level},container=raw,memlevel=9");
        let ((own, own_bytes), (ns, bytes)) = (
            ours.encode(&setting, content, LOOP_NS)?,
            php.encode(&format!("gzdeflate:{level}"), content, LOOP_NS)?,
        );
        if bytes != own_bytes {
            self.other_bytes = Some("not those of our own zlib".into());
        }
        self.same_library.push((native, inside));
        self.our_library.push((own, ns));
        Ok(())
    }
}

/// Prints two lines for each content and level: bytes and throughput against PHP's own zlib.
pub fn compare(
    targets: &mut Targets,
    ours: &mut Worker,
    contents: &[Content],
    folder: &Path,
    rounds: usize,
) -> Result<()> {
    let (mut php, zlib) = match start(folder) {
        Ok(found) => found,
        Err(why) => {
            targets.missing("gzdeflate in PHP against native zlib", &format!("{why:#}"), TARGET);
            return Ok(());
        }
    };
    let linked = php.library("gzdeflate").unwrap_or("zlib").to_owned();
    progress(&format!(
        "PHP {} with {linked}; ours is {}",
        php.description.version,
        ours.library(OURS).unwrap_or("?")
    ));
    let mut seen: BTreeMap<(usize, i32), RoundTimes> = BTreeMap::new();
    for round in 0..rounds {
        begins("gzdeflate", round, rounds);
        for (at, content) in contents.iter().enumerate() {
            for level in LEVELS {
                seen.entry((at, level)).or_default().round(level, content, &mut php, &zlib, ours)?;
            }
        }
    }
    for ((at, level), seen) in &seen {
        let content = &contents[*at].name;
        let bytes = seen.other_bytes.clone().unwrap_or_else(|| "the same".into());
        let name = format!("gzdeflate level {level} bytes, {content}");
        targets.line(&name, &bytes, "those of native zlib, PHP's and ours", seen.other_bytes.is_none());
        let name = format!("gzdeflate level {level} compression, {content}");
        targets.ratio(&name, &seen.same_library, TOLERANCE, &format!("PHP ÷ native {linked}"));
        if let Some(r) = low_ratio(&seen.our_library) {
            progress(&format!(
                "  beside our {}: {:.3} [{:.3}, {:.3}]",
                ours.library(OURS).unwrap_or("?"),
                r.value,
                r.low,
                r.high
            ));
        }
    }
    Ok(())
}

/// The PHP worker on the first PHP of `PATH`, and the zlib that this PHP is linked to.
fn start(folder: &Path) -> Result<(Worker, Native)> {
    let lab = Lab::open(None)?;
    let home = lab.php_home()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let binary = runtime::on_path(&path).into_iter().next().context("there is no PHP on PATH")?;
    let arguments = runtime::worker_arguments(&home.join("worker.php"));
    let worker = Worker::start(WorkerSpec::program("php", &binary, arguments, folder.join("php.log")))?;
    let program = compile("native-zlib.c", "native-zlib", &[])?;
    let native = Native { program, library: linked_zlib(&binary)?, encoded: folder.join("native-zlib.out") };
    Ok((worker, native))
}

/// What the dynamic loader gives this binary for `libz`.
fn linked_zlib(binary: &Path) -> Result<PathBuf> {
    let output = Command::new("ldd").arg(binary).output().context("ldd cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|l| l.trim_start().starts_with("libz.so"));
    let path = line.and_then(|l| l.split_whitespace().nth(2)).map(PathBuf::from);
    path.with_context(|| format!("{} is not linked to a shared zlib", binary.display()))
}

struct Native {
    program: PathBuf,
    library: PathBuf,
    encoded: PathBuf,
}

struct WorkerReply {
    version: String,
    encode: f64,
    sha256_encoded: String,
}

impl Native {
    fn run(&self, level: i32, content: &Content) -> Result<WorkerReply> {
        let mut command = Command::new(&self.program);
        command.arg(&self.library).arg(&content.path).arg(level.to_string()).arg(LOOP_NS.to_string());
        let output = command.arg(&self.encoded).output().context("native-zlib cannot be started")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}", said.trim());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (version, ns) = text.trim().split_once(' ').context("native-zlib printed no figure")?;
        let sha256_encoded = digest(&std::fs::read(&self.encoded)?);
        Ok(WorkerReply { version: version.into(), encode: ns.parse()?, sha256_encoded })
    }
}
