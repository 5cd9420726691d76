//! The ceiling of this machine: the generator against a target that does next to nothing.

use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Result, anyhow};
use weigh_load::calibrate::{CalibrationError, Setup, calibrate, loads};

use super::args::Args;
use super::conductor::{Conductor, Stopped};
use crate::exit::{Exit, OrRefuse};
use weigh_answer::load::Measured;
use weigh_os::cores::usable;
use weigh_run::loading::target::Target;

/// Repetitions of everything.
const ROUNDS: u32 = 3;
/// Seconds of a block where nothing is said.
const BLOCK: f64 = 0.5;

pub fn run(args: &Args) -> Result<ExitCode> {
    if !args.urls.is_empty() || args.request.requests_file.is_some() {
        return Err(anyhow!("--calibrate uses its own target: leave the URL out")).or_usage_error();
    }
    let cpus = if args.machine.cpus.is_empty() { cpus() } else { args.machine.cpus.clone() };
    let target_cpu = cpus.last().copied();
    let mut setup = Setup {
        target: ([127, 0, 0, 1], 0).into(),
        target_cpu,
        cpus,
        rounds: ROUNDS,
        seconds: args.other.block_time.unwrap_or(BLOCK),
        seed: args.machine.seed,
    };
    let first =
        loads(&setup).first().map(|load| load.plan(&setup)).ok_or_else(|| anyhow!("there is no load"))?;
    let mut conductor = Conductor::start(args, &first)?;
    let target = Target::start(&conductor.log("target"), target_cpu)?;
    setup.target = target.address;
    let began = SystemTime::now();
    let found = calibrate(&setup, |plan, block, blocks| {
        conductor.block(plan, &format!("block {} of {blocks}", block + 1))
    });
    drop(target);
    let calibration = match found {
        Ok(calibration) => calibration,
        Err(CalibrationError::Run(stopped)) => return conductor.stopped(stopped),
        Err(CalibrationError::Faulted { load, why }) => {
            let sound = "the built-in target answers correctly, so the machine or the generator is at fault";
            return conductor.stopped(Stopped::Failed(anyhow!("{load}: {why}; {sound}")));
        }
    };
    conductor.finish(Measured::Calibration(calibration), began)?;
    Ok(Exit::Fine.into())
}

/// A processor of each core that this process may use.
fn cpus() -> Vec<u32> {
    let cores = usable(Path::new("/"));
    cores.iter().filter_map(|threads| threads.first().copied()).collect()
}
