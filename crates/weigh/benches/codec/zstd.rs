//! `zstd -b` of the library version that we are built with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::common::worker::{Content, Worker};
use crate::common::{Targets, compile, kept, progress, source};
use crate::{Pairs, TOLERANCE, begins, both};

const LEVELS: [i32; 4] = [1, 3, 9, 19];
/// The suite of the system's distribution that has the version we are built with.
const SUITE: &str = "trixie";
const TARGET: &str = "same throughput within 3%";

/// A level's loop. The peer counts the calls of one second, and its clock is told to run faster, so that it is a shorter
/// one: the two sides alternate more often, and what happens to the machine meanwhile cancels. Slow levels keep
/// the second, for a loop should have several calls.
fn faster(level: i32) -> u32 {
    if level > 9 { 1 } else { 5 }
}

/// Prints a line for each content, level and direction.
pub fn compare(
    targets: &mut Targets,
    ours: &mut Worker,
    contents: &[Content],
    rounds: usize,
) -> Result<()> {
    let version = ours.library("zstd").and_then(|l| l.split(' ').nth(1)).unwrap_or_default().to_owned();
    let peer = match Peer::find(&version) {
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
            for level in LEVELS {
                let setting = format!("zstd:{level}");
                let ns = 1_000_000_000 / u64::from(faster(level));
                let (o, p) =
                    both(round, || ours.run(&setting, content, ns), || peer.run(level, content))?;
                let pair = pairs.entry((at, level)).or_default();
                pair.encode.push((p.encode, o.encode));
                pair.decode.push((p.decode, o.decode));
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

/// Nanoseconds of CPU time a call, as the peer tells.
struct Told {
    encode: f64,
    decode: f64,
}

struct Peer {
    program: PathBuf,
    /// A program of another suite is started by that suite's own loader with its own libraries.
    libraries: Option<PathBuf>,
    clock: PathBuf,
}

impl Peer {
    /// The one on `PATH` when it has this version, else one from another suite.
    fn find(version: &str) -> Result<Peer> {
        let clock = compile("cpu-clock.c", "cpu-clock.so", &["-shared", "-fPIC"])?;
        let own = Peer { program: "zstd".into(), libraries: None, clock };
        if own.has(version) {
            return Ok(own);
        }
        let root = other_suite()?;
        let libraries = root.join("usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
        let peer = Peer { program: root.join("usr/bin/zstd"), libraries: Some(libraries), ..own };
        ensure!(peer.has(version), "neither PATH nor the suite {SUITE} has zstd {version}");
        Ok(peer)
    }

    fn has(&self, version: &str) -> bool {
        let Ok(mut command) = self.command(1) else { return false };
        let output = command.arg("--version").stderr(Stdio::null()).output();
        let whole = |text: &str| {
            text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|word| word == version)
        };
        output.is_ok_and(|o| o.status.success() && whole(&String::from_utf8_lossy(&o.stdout)))
    }

    fn command(&self, faster: u32) -> Result<Command> {
        let mut command = match &self.libraries {
            None => Command::new(&self.program),
            Some(libraries) => {
                let mut command = Command::new(loader(libraries)?);
                command.arg("--library-path").arg(libraries).arg("--preload").arg(&self.clock);
                command.arg(&self.program);
                command
            }
        };
        if self.libraries.is_none() {
            command.env("LD_PRELOAD", &self.clock);
        }
        command.env("CPU_CLOCK_FASTER", faster.to_string()).env("LC_ALL", "C").stdin(Stdio::null());
        Ok(command)
    }

    fn run(&self, level: i32, content: &Content) -> Result<Told> {
        let faster = faster(level);
        let mut command = self.command(faster)?;
        // One thread, as our coder; quiet, so that it prints one plain line.
        let output = command
            .args([&format!("-b{level}"), "-i1", "--single-thread", "-q"])
            .arg(&content.path)
            .output()
            .with_context(|| format!("{} cannot be started", self.program.display()))?;
        ensure!(output.status.success(), "zstd -b ended with {}", output.status);
        let text = String::from_utf8_lossy(&output.stdout);
        let rates: Vec<f64> = text.split(" MB/s").filter_map(|part| part.split(' ').next_back()?.parse().ok()).collect();
        let [encode, decode, ..] = rates[..] else { bail!("zstd -b printed no rates: {text}") };
        let ns = |rate: f64| content.bytes as f64 * 1e3 / (rate * f64::from(faster));
        Ok(Told { encode: ns(encode), decode: ns(decode) })
    }
}

/// Unpacked once into a folder below `target/`.
fn other_suite() -> Result<PathBuf> {
    let folder = kept(SUITE)?;
    let root = folder.join("root");
    if !root.join("usr/bin/zstd").exists() {
        progress(&format!("unpacking zstd of {SUITE} into {}", folder.display()));
        let output = Command::new(source("other-suite")).arg(SUITE).arg(&folder).arg("zstd").output()?;
        let last = String::from_utf8_lossy(&output.stderr).trim().lines().last().unwrap_or_default().to_owned();
        ensure!(output.status.success(), "zstd of {SUITE} cannot be had: {last}");
    }
    Ok(root)
}

fn loader(libraries: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(libraries)?.flatten().map(|e| e.path());
    let is_loader = |p: &PathBuf| {
        p.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with("ld-linux-") && n.contains(".so"))
    };
    entries.into_iter().find(is_loader).context("the unpacked suite has no dynamic loader")
}
