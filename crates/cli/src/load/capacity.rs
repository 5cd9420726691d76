//! The highest rate that a server holds within a limit of its response time.

use std::process::ExitCode;
use std::time::{Instant, SystemTime};

use anyhow::{Result, bail};
use weigh_load::capacity::{Ended, Limit, SLICES, Search, find_capacity, start_below};
use weigh_load::units;

use super::args::{Args, Arrival};
use super::conductor::Conductor;
use super::plan;
use crate::exit::{Exit, OrRefuse};
use weigh_answer::load::{Measured, Run, Searched};

/// Seconds of the closed block before the search.
const CLOSED: f64 = 2.0;
/// Seconds of a step where nothing is said.
const STEP: f64 = 3.0;
/// Seconds of the whole search at most where nothing is said.
const LONGEST: f64 = 900.0;
/// Connections at most where nothing is said.
const CONNECTIONS: u32 = 100;

/// Reads `p99=50ms`.
pub fn limit(text: &str) -> Result<Limit, String> {
    let wrong = || "write it as p99=50ms: a percentile, and the longest response time for it".to_owned();
    let (percentile, time) = text.split_once('=').ok_or_else(wrong)?;
    let percent: f64 = percentile.trim().strip_prefix('p').and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
    let seconds = units::seconds(time).ok().filter(|s| *s > 0.0).ok_or_else(wrong)?;
    if !(percent > 0.0 && percent < 100.0) {
        return Err(wrong());
    }
    Ok(Limit { quantile: percent / 100.0, seconds })
}

/// The model of arrivals that a search offers its rates in.
fn arrival(args: &Args) -> Result<&str> {
    if args.load.requests.is_some() {
        bail!("-n with --find-capacity: the limit sets the length of steps; -d bounds the whole search");
    }
    chosen(args.arrival.text.as_deref())
}

fn chosen(text: Option<&str>) -> Result<&str> {
    match text {
        None => Ok("poisson"),
        Some(name @ ("poisson" | "constant")) => Ok(name),
        Some(other) => bail!(
            "--arrival {}: --find-capacity chooses the rates; give poisson (at random) or constant (evenly spaced)",
            weigh_model::text::clean(other)
        ),
    }
}

pub fn run(args: &Args, limit: Limit) -> Result<ExitCode> {
    let arrival = arrival(args).or_usage_error()?;
    let mut args = args.clone();
    args.arrival.text = None;
    let longest = args.load.duration;
    args.load.connections.get_or_insert(CONNECTIONS);
    args.load.duration = Some(CLOSED);
    let closed = plan::build(&args, &args.urls).or_usage_error()?;
    let mut conductor = Conductor::start(&args, &closed)?;
    let (began, start) = (SystemTime::now(), Instant::now());
    let first = match conductor.block(&closed, "one closed block first") {
        Ok(result) => result,
        Err(stopped) => return conductor.stopped(stopped),
    };
    let search = Search {
        start: start_below(&first),
        step_seconds: args.other.block_time.unwrap_or(STEP),
        most_seconds: longest.unwrap_or(LONGEST),
        ..Search::new(limit)
    };
    let drain = args.check.drain;
    let found = find_capacity(
        &search,
        || start.elapsed().as_secs_f64(),
        |rate, seconds| {
            args.arrival = Arrival { text: Some(format!("{arrival}:{rate}")), ..args.arrival.clone() };
            args.load.duration = Some(seconds);
            // The next step is to find no queue.
            args.check.drain = drain.max(seconds);
            args.machine.slice = Some(seconds / SLICES);
            // Two tries of a rate are two samples.
            args.machine.seed = args.machine.seed.wrapping_add(1);
            let plan = plan::build(&args, &args.urls).map_err(super::conductor::Stopped::Failed)?;
            conductor.block(&plan, &format!("offering {} requests/s", weigh_model::units::significant(rate)))
        },
    );
    let capacity = match found {
        Ok(capacity) => capacity,
        Err(stopped) => return conductor.stopped(stopped),
    };
    let searched = Searched { closed: Run::of(closed, first, false), capacity };
    let (failures, held) = (searched.closed.faults(), searched.capacity.ended != Ended::NothingHeld);
    conductor.finish(Measured::Capacity(Box::new(searched)), began)?;
    match super::exit(false, failures) {
        Exit::Fine if !held => Ok(Exit::Worse.into()),
        exit => Ok(exit.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_at_random_unless_told_otherwise() {
        assert_eq!(chosen(None).unwrap(), "poisson");
        assert_eq!(chosen(Some("constant")).unwrap(), "constant");
        assert!(chosen(Some("constant:200")).unwrap_err().to_string().contains("chooses the rates"));
    }

    #[test]
    fn limits() {
        assert_eq!(limit("p99=50ms"), Ok(Limit { quantile: 0.99, seconds: 0.05 }));
        assert_eq!(limit("p99.9 = 1s").map(|l| l.seconds), Ok(1.0));
        for wrong in ["", "99=50ms", "p99", "p100=1s", "p0=1s", "p99=0", "p99=-1s", "pnan=1s"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }
}
