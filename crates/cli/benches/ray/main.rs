//! What a Ray cluster costs beside a local run: CPU time of a sweep over 10,000 files, wall time of a study of 40 configurations, and what
//! becomes of a sweep whose worker is killed. Ray is installed into an environment of the benchmark's own (300 MB, once).

#[path = "../common/mod.rs"]
mod common;
mod processes;
mod study;
mod sweep;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use common::{Targets, WEIGH, kept, rounds};
use processes::Meter;

/// Between two looks at the processes that run: what one uses in its last such time is missed.
const LOOK: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    processes::adopt()?;
    let home = tempfile::tempdir()?;
    let ground = Ground { home: home.path().to_owned(), cache: kept("ray")? };
    let mut targets = Targets::default();
    let rounds = rounds(3);
    sweep::measure(&ground, rounds, &mut targets)?;
    study::measure(&ground, rounds, &mut targets)?;
    Ok(targets)
}

/// Where runs are, and Ray.
pub struct Ground {
    home: PathBuf,
    cache: PathBuf,
}

/// What a run cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// CPU seconds of the program and of everything that it started, Ray's own processes among them.
    pub cpu: f64,
    /// Wall seconds.
    pub wall: f64,
}

impl Ground {
    /// A command of `weigh` here.
    pub fn weigh(&self, args: &[&str]) -> Command {
        let mut command = Command::new(WEIGH);
        command.args(args).current_dir(&self.home).env("WEIGH_CACHE", &self.cache);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Runs `weigh` to its end.
    pub fn run(&self, args: &[&str]) -> Result<Cost> {
        let (mut meter, begun) = (Meter::default(), Instant::now());
        let mut child = self.weigh(args).spawn()?;
        let status = loop {
            meter.look();
            if let Some(status) = child.try_wait()? {
                break status;
            }
            sleep(LOOK);
        };
        let wall = begun.elapsed().as_secs_f64();
        ensure!(status.success(), "weigh {} ended with {status}", args.join(" "));
        meter.look();
        processes::reap();
        Ok(Cost { cpu: meter.seconds(), wall })
    }

    /// Its folder.
    pub fn home(&self) -> &Path {
        &self.home
    }
}
