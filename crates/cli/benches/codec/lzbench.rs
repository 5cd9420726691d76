//! lzbench, where it is on `PATH`, for the libraries of which it has our version.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::common::worker::{Content, Worker};
use crate::common::{Targets, compile, progress};
use crate::{Best, Pairs, TOLERANCE, TURNS, begins, both};

/// Codecs whose calls mean the same there as here, and the levels compared.
const CODECS: [(&str, &[i32]); 3] =
    [("zstd", &[1, 3, 9, 19]), ("zlib", &[1, 6, 9]), ("libdeflate", &[1, 6, 12])];
const LOOP_NS: u64 = 100_000_000;

/// Prints a line for each content, setting and direction, or one on stderr that says why there is none: the target
/// holds where lzbench is found.
pub fn compare(targets: &mut Targets, ours: &mut Worker, contents: &[Content], rounds: usize) -> Result<()> {
    let Some(peer) = Peer::find()? else { return Ok(()) };
    let settings = peer.same_versions(ours, &contents[0])?;
    let mut pairs: BTreeMap<(usize, &str, i32), Pairs> = BTreeMap::new();
    for round in 0..rounds {
        begins("lzbench", round, rounds);
        for (at, content) in contents.iter().enumerate() {
            for &(codec, level) in &settings {
                let (mut o, mut p) = (Best::default(), Best::default());
                for turn in 0..TURNS {
                    let (ours, told) = both(
                        turn,
                        || ours.run(&format!("{codec}:{level}"), content, LOOP_NS),
                        || peer.run(codec, level, content),
                    )?;
                    o.see(ours.encode, ours.decode);
                    p.see(told.encode, told.decode);
                }
                pairs.entry((at, codec, level)).or_default().push(&p, &o);
            }
        }
    }
    for ((at, codec, level), pair) in &pairs {
        let name = |what| format!("{codec} level {level} {what} against lzbench, {}", contents[*at].name);
        targets.ratio(&name("compression"), &pair.encode, TOLERANCE, "ours ÷ lzbench");
        targets.ratio(&name("decompression"), &pair.decode, TOLERANCE, "ours ÷ lzbench");
    }
    Ok(())
}

struct Peer {
    program: PathBuf,
    clock: PathBuf,
}

struct ToolLine {
    name: String,
    encode: f64,
    decode: f64,
}

impl Peer {
    fn find() -> Result<Option<Peer>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let Some(program) = std::env::split_paths(&path).map(|f| f.join("lzbench")).find(|p| p.is_file())
        else {
            progress("lzbench: not found on PATH, left out");
            return Ok(None);
        };
        // A static program takes no preloaded clock; its wall time would be compared with CPU time.
        if Command::new("ldd").arg(&program).stderr(Stdio::null()).output().is_ok_and(|o| !o.status.success())
        {
            progress("lzbench: linked statically, so that it cannot be given a CPU clock; left out");
            return Ok(None);
        }
        let clock = compile("cpu-clock.c", "cpu-clock.so", &["-shared", "-fPIC"])?;
        Ok(Some(Peer { program, clock }))
    }

    /// The settings to compare: those of a codec whose version is ours there too.
    fn same_versions(&self, ours: &Worker, content: &Content) -> Result<Vec<(&'static str, i32)>> {
        let mut settings = Vec::new();
        for (codec, levels) in CODECS {
            // Its rows are called by library, version and level: `zstd 1.5.7 -3`.
            let row = self.run(codec, levels[0], content)?.name;
            let version = ours.library(codec).and_then(|l| l.split(' ').nth(1)).unwrap_or_default();
            if row.split(' ').nth(1) == Some(version) {
                settings.extend(levels.iter().map(|level| (codec, *level)));
            } else {
                progress(&format!("lzbench has {row}, we have {version}: left out"));
            }
        }
        Ok(settings)
    }

    fn run(&self, codec: &str, level: i32, content: &Content) -> Result<ToolLine> {
        // CSV; loops of a tenth of a second each way, of which it prints the fastest.
        let output = Command::new(&self.program)
            .args([&format!("-e{codec},{level}"), "-o4", "-t0.1,0.1"])
            .arg(&content.path)
            .env("LD_PRELOAD", &self.clock)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .context("lzbench cannot be started")?;
        ensure!(output.status.success(), "lzbench ended with {}", output.status);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let row =
            text.lines().find(|l| l.starts_with(codec)).with_context(|| format!("lzbench has no {codec}"))?;
        let fields: Vec<&str> = row.split(',').collect();
        let ns = |field: usize| -> Result<f64> {
            let rate: f64 = fields.get(field).context("a short row of lzbench")?.trim().parse()?;
            Ok(content.bytes as f64 * 1e3 / rate)
        };
        Ok(ToolLine { name: fields[0].to_owned(), encode: ns(1)?, decode: ns(2)? })
    }
}
