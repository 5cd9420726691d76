//! A/B: both sides in short blocks that alternate.

use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};
use weigh_load::compare::{Side, compare};
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

use super::args::Args;
use super::conductor::Conductor;
use super::plan;
use crate::exit::OrRefuse;
use weigh_answer::load::{Compared, Measured, Run, merge};

/// Seconds of a block where nothing is said.
const BLOCK: f64 = 1.0;
/// Blocks of each side where nothing is said.
const BLOCKS: u32 = 10;

/// Compares what the arguments name with `other`, and shows the figures of load.
pub fn run(args: &Args, other: &str) -> Result<ExitCode> {
    Ok(match measured(args, other, true)? {
        Ok(compared) => super::exit(false, compared.faults()).into(),
        Err(stopped) => stopped,
    })
}

/// Measures both sides and keeps what it came to; or how the program ends, because it was stopped.
pub fn measured(args: &Args, other: &str, is_shown: bool) -> Result<Result<Box<Compared>, ExitCode>> {
    let (plan_a, plan_b) = plans(args, other).or_usage_error()?;
    let conductor = Conductor::start(args, &plan_a)?;
    let mut conductor = if is_shown { conductor } else { conductor.unseen() };
    let began = SystemTime::now();
    let count = args.other.blocks.unwrap_or_else(|| blocks(args));
    let (mut a, mut b): (Vec<LoadResult>, Vec<LoadResult>) = (Vec::new(), Vec::new());
    let compared = compare(count, args.machine.seed, |side, index| {
        let (name, plan, kept) = match side {
            Side::A => ("A", &plan_a, &mut a),
            Side::B => ("B", &plan_b, &mut b),
        };
        let result = conductor.block(plan, &format!("block {} of {count}, {name}", index + 1))?;
        kept.push(result.clone());
        Ok(result)
    });
    let comparison = match compared {
        Ok(comparison) => comparison,
        Err(stopped) => return conductor.stopped(stopped).map(Err),
    };
    let nothing = || anyhow!("there was no block");
    let side =
        |plan, results| Ok::<Run, anyhow::Error>(Run::of(plan, merge(results).ok_or_else(nothing)?, false));
    let compared = Box::new(Compared { a: side(plan_a, a)?, b: side(plan_b, b)?, comparison });
    conductor.finish(Measured::Comparison(compared.clone()), began)?;
    Ok(Ok(compared))
}

/// `-d` is the time of both sides together.
fn blocks(args: &Args) -> u32 {
    let block = args.other.block_time.unwrap_or(BLOCK);
    args.load.duration.map_or(BLOCKS, |all| ((all / block / 2.0).round() as u32).max(2))
}

fn plans(args: &Args, other: &str) -> Result<(LoadPlan, LoadPlan)> {
    if args.load.requests.is_some() {
        bail!("-n with --vs: --block-time sets the length of blocks, --blocks their number");
    }
    let mut args = args.clone();
    args.load.duration = Some(args.other.block_time.unwrap_or(BLOCK));
    let plan_a = plan::build(&args, &args.urls)?;
    let plan_b = match (&args.request.requests_file, args.urls.len()) {
        (Some(_), _) => {
            args.request.base = Some(other.to_owned());
            plan::build(&args, &[])?
        }
        (None, 1) => plan::build(&args, &[other.to_owned()])?,
        (None, urls) => {
            bail!(
                "--vs compares one URL with another, not {urls}; for several use --requests-file with --base"
            )
        }
    };
    Ok((plan_a, plan_b))
}
