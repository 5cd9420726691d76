//! One run of a peer, or of ours, on a fresh copy of a tree: what it takes, and how many bytes came of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::resource::UsageWho;
use serde_json::Value;

use super::tree;
use crate::common::{WEIGH, kept, peak_resident, progress};

/// The version of npm's precompress that runs with Node.js 18 and newer.
const PRECOMPRESS: &str = "precompress@12.0.7";

/// What a run took.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// CPU seconds.
    pub cpu: f64,
    /// Seconds.
    pub wall: f64,
    /// Bytes of the variants by coding.
    pub bytes: BTreeMap<&'static str, u64>,
    /// The most memory, of ours.
    pub peak: u64,
}

impl Cost {
    /// All bytes.
    pub fn sum(&self) -> u64 {
        self.bytes.values().sum()
    }
}

/// A program to compare with.
#[derive(Clone, Debug)]
pub enum Tool {
    /// Run by xargs, for two files at a time.
    Each(&'static [&'static str]),
    /// npm's precompress.
    Precompress(PathBuf),
}

const EACH: [&[&str]; 4] =
    [&["gzip", "-9", "-k", "-n"], &["zopfli"], &["brotli", "-q", "11", "-k"], &["zstd", "-19", "-k", "-q"]];

/// Those that are here.
pub fn all() -> Result<Vec<Tool>> {
    let is_here = |tool: &&[&str]| {
        let found =
            Command::new(tool[0]).arg("--help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
        if !found {
            progress(&format!("{} is not here: apt install {}", tool[0], tool[0]));
        }
        found
    };
    let mut all: Vec<Tool> = EACH.iter().copied().filter(|tool| is_here(tool)).map(Tool::Each).collect();
    match precompress() {
        Ok(script) => all.push(Tool::Precompress(script)),
        Err(error) => progress(&format!("precompress is not compared: {error:#}")),
    }
    Ok(all)
}

fn precompress() -> Result<PathBuf> {
    let folder = kept("precompress")?;
    let script = folder.join("node_modules/precompress/dist/precompress.js");
    if !script.is_file() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(&folder)
            .arg(PRECOMPRESS);
        ensure!(
            npm.stdout(Stdio::null()).status().context("npm cannot be started")?.success(),
            "npm install failed"
        );
    }
    Ok(script)
}

impl Tool {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Tool::Each(tool) => tool[0],
            Tool::Precompress(_) => "precompress",
        }
    }

    /// Whether its time is no comparison.
    pub fn is_slow(&self) -> bool {
        self.name() == "zopfli"
    }

    /// Whether it makes gzip and br in one run.
    pub fn is_pair(&self) -> bool {
        matches!(self, Tool::Precompress(_))
    }

    fn command(&self, tree: &Path) -> Command {
        match self {
            Tool::Each(tool) => {
                let mut command = Command::new("sh");
                command
                    .args([
                        "-c",
                        "find . '(' -name '*.js' -o -name '*.css' ')' -print0 | xargs -0 -n 8 -P 2 \"$@\"",
                        "sh",
                    ])
                    .args(*tool);
                command.current_dir(tree);
                command
            }
            Tool::Precompress(script) => {
                let mut command = Command::new("node");
                command.arg(script).arg(".").current_dir(tree);
                command
            }
        }
    }
}

/// A tree that is packed in copies.
#[derive(Clone, Copy)]
pub struct Peer<'a> {
    pub tree: &'a Path,
    pub home: &'a Path,
}

impl Peer<'_> {
    /// A fresh copy.
    pub fn copy(self) -> Result<PathBuf> {
        let copy = tempfile::tempdir_in(self.home)?.keep();
        for file in tree::files(self.tree)? {
            let to = copy.join(file.strip_prefix(self.tree)?);
            fs::create_dir_all(to.parent().context("no folder")?)?;
            fs::copy(&file, to)?;
        }
        Ok(copy)
    }

    /// A tool's run.
    pub fn run(self, tool: &Tool) -> Result<Cost> {
        let copy = self.copy()?;
        let mut command = tool.command(&copy);
        let mut cost = timed(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))?.0;
        cost.bytes = bytes(&copy)?;
        fs::remove_dir_all(copy)?;
        Ok(cost)
    }

    /// Ours, for every file that the others take.
    pub fn pack(self, args: &[&str]) -> Result<Cost> {
        let copy = self.copy()?;
        let every = [&["--every"], args].concat();
        let mut cost = self.weigh(&copy, &every)?.0;
        cost.bytes = bytes(&copy)?;
        fs::remove_dir_all(copy)?;
        Ok(cost)
    }

    /// Ours, on a copy that stays.
    pub fn weigh(self, copy: &Path, args: &[&str]) -> Result<(Cost, Value)> {
        let mut command = Command::new(WEIGH);
        command.arg("pack").arg(copy).arg("--json").args(args).stderr(Stdio::null()).stdout(Stdio::piped());
        let (cost, said) = timed(&mut command)?;
        Ok((cost, serde_json::from_slice(&said)?))
    }
}

/// Runs to the end.
fn timed(command: &mut Command) -> Result<(Cost, Vec<u8>)> {
    let (before, begun) = (tree::cpu(UsageWho::RUSAGE_CHILDREN)?, Instant::now());
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    let said = child.stdout.take().map(|mut out| {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            std::io::Read::read_to_end(&mut out, &mut said).map(|_| said)
        })
    });
    let (peak, wall) = watch(&mut child, begun)?;
    let said = match said {
        Some(reader) => reader.join().ok().context("the reader failed")??,
        None => Vec::new(),
    };
    let cpu = tree::cpu(UsageWho::RUSAGE_CHILDREN)? - before;
    Ok((Cost { cpu, wall, peak, ..Cost::default() }, said))
}

fn watch(child: &mut Child, begun: Instant) -> Result<(u64, f64)> {
    let mut peak = 0;
    loop {
        peak = peak_resident(Path::new(&format!("/proc/{}", child.id()))).unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait()? {
            let wall = begun.elapsed().as_secs_f64();
            if !status.success() {
                bail!("it ended with {status}");
            }
            return Ok((peak, wall));
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Bytes of the variants in a tree.
fn bytes(tree: &Path) -> Result<BTreeMap<&'static str, u64>> {
    let mut bytes = BTreeMap::new();
    for file in tree::files(tree)? {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let coding =
            [("gz", "gzip"), ("br", "br"), ("zst", "zstd")].into_iter().find(|(known, _)| *known == ending);
        if let Some((_, coding)) = coding {
            *bytes.entry(coding).or_default() += file.metadata()?.len();
        }
    }
    Ok(bytes)
}
