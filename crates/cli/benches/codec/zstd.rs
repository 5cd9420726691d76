//! `zstd -b`, built from the source of the library version that we are built with.
//!
//! A distribution's binary will not do, even of the same version: Debian's of 1.5.7, with its compiler and its flags, took
//! from 7% (decompression) to 18% (compression) more CPU time here than the same source built as its authors build it with
//! this machine's compiler, which is also the one that built ours. Against that the target would be met by chance.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::common::worker::{Content, Worker};
use crate::common::{Targets, compile, kept, progress, source};
use crate::{Best, Pairs, TOLERANCE, begins, both};

/// A level, how much faster the peer's clock is told to run, and turns in a round. The peer counts the calls of one second; a
/// shorter loop lets the two sides alternate more often. A slow level keeps more of its second, so that a loop has
/// several calls, and takes fewer turns.
const LEVELS: [(i32, u32, usize); 4] = [(1, 20, 8), (3, 20, 8), (9, 20, 8), (19, 2, 3)];
/// The suite of the distribution that has the version we are built with.
const SUITE: &str = "trixie";
const TARGET: &str = "same throughput within 3%";

/// Prints a line for each content, level and direction. The peer is a new process each turn, and so is our worker: where
/// its buffers come to lie is drawn anew for both, which is worth several percent at the quick levels.
pub fn compare(
    targets: &mut Targets,
    ours: &Worker,
    folder: &Path,
    contents: &[Content],
    rounds: usize,
) -> Result<()> {
    let version = ours.library("zstd").and_then(|l| l.split(' ').nth(1)).unwrap_or_default().to_owned();
    let peer = match Peer::build(&version) {
        Ok(peer) => peer,
        Err(why) => {
            targets.missing(&format!("zstd {version} against zstd -b"), &format!("{why:#}"), TARGET);
            return Ok(());
        }
    };
    progress(&format!("zstd {version}: the peer is {}", peer.program.display()));
    let mut pairs: BTreeMap<(usize, i32), Pairs> = BTreeMap::new();
    for round in 0..rounds {
        begins("zstd -b", round, rounds);
        for (at, content) in contents.iter().enumerate() {
            for (level, faster, turns) in LEVELS {
                let ns = 1_000_000_000 / u64::from(faster);
                let (mut o, mut p) = (Best::default(), Best::default());
                for turn in 0..turns {
                    let (ours, told) = both(
                        turn,
                        || Worker::native(folder)?.run(&format!("zstd:{level}"), content, ns),
                        || peer.run(level, faster, content),
                    )?;
                    o.see(ours.encode, ours.decode);
                    p.see(told.0, told.1);
                }
                pairs.entry((at, level)).or_default().push(&p, &o);
            }
        }
    }
    for ((at, level), pair) in &pairs {
        let name = |what| format!("zstd {version} level {level} {what}, {}", contents[*at].name);
        targets.ratio(&name("compression"), &pair.encode, TOLERANCE, "ours ÷ zstd -b");
        targets.ratio(&name("decompression"), &pair.decode, TOLERANCE, "ours ÷ zstd -b");
    }
    Ok(())
}

struct Peer {
    program: PathBuf,
    clock: PathBuf,
}

impl Peer {
    /// Builds it once, below `target/`, as its authors do: one `make`, with the optimisation that they chose.
    fn build(version: &str) -> Result<Peer> {
        let clock = compile("cpu-clock.c", "cpu-clock.so", &["-shared", "-fPIC"])?;
        let folder = kept("zstd")?;
        let peer = Peer { program: folder.join("source/programs/zstd"), clock };
        if !peer.has(version) {
            progress(&format!("building zstd from the source package of {SUITE} in {}", folder.display()));
            let mut get = Command::new(source("other-suite"));
            succeed(get.arg(SUITE).arg(&folder).args(["--source", "zstd"]))?;
            let mut make = Command::new("make");
            make.args(["-s", "zstd", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0", "-C"]);
            succeed(make.arg(folder.join("source/programs")))?;
        }
        ensure!(peer.has(version), "the suite {SUITE} has another version than {version}");
        Ok(peer)
    }

    fn has(&self, version: &str) -> bool {
        let output = Command::new(&self.program).arg("--version").stderr(Stdio::null()).output();
        let is_it =
            |text: &str| text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|word| word == version);
        output.is_ok_and(|o| o.status.success() && is_it(&String::from_utf8_lossy(&o.stdout)))
    }

    /// Nanoseconds of CPU time per call, to compress and to decompress, as the peer tells.
    fn run(&self, level: i32, faster: u32, content: &Content) -> Result<(f64, f64)> {
        let mut command = Command::new(&self.program);
        command.env("LD_PRELOAD", &self.clock).env("CPU_CLOCK_FASTER", faster.to_string()).env("LC_ALL", "C");
        // One thread, as our coder; quiet, so that it prints one plain line.
        command.args([&format!("-b{level}"), "-i1", "--single-thread", "-q"]).arg(&content.path);
        let output = succeed(&mut command)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let rate = |part: &str| part.split(' ').next_back()?.parse::<f64>().ok();
        let rates: Vec<f64> = text.split(" MB/s").filter_map(rate).collect();
        let [encode, decode, ..] = rates[..] else { bail!("zstd -b printed no rates: {text}") };
        let ns = |rate: f64| content.bytes as f64 * 1e3 / (rate * f64::from(faster));
        Ok((ns(encode), ns(decode)))
    }
}

/// Runs a command to its end; its last line on stderr is the reason when it fails.
fn succeed(command: &mut Command) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("{program} cannot be started"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.trim().lines().last().unwrap_or_default();
    ensure!(output.status.success(), "{program} ended with {}: {last}", output.status);
    Ok(output)
}
