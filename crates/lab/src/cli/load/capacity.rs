//! The highest rate that a server holds within a limit of its response time.

use std::process::ExitCode;
use std::time::{Instant, SystemTime};

use anyhow::{Result, bail};
use weigh_load::capacity::{Limit, SLICES, Search, find_capacity, start_below};
use weigh_load::units;

use super::args::{Args, Arrival};
use super::conductor::Conductor;
use super::plan;
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
    let wrong = || "write it as p99=50ms: a percentile and the time that it may come to".to_owned();
    let (percentile, time) = text.split_once('=').ok_or_else(wrong)?;
    let percent: f64 = percentile.trim().strip_prefix('p').and_then(|p| p.parse().ok()).ok_or_else(wrong)?;
    let seconds = units::seconds(time).ok().filter(|s| *s > 0.0).ok_or_else(wrong)?;
    if !(percent > 0.0 && percent < 100.0) {
        return Err(wrong());
    }
    Ok(Limit { quantile: percent / 100.0, seconds })
}

/// The model of arrivals that a search offers its rates in.
fn arrival(text: Option<&str>) -> Result<&str> {
    match text {
        None => Ok("poisson"),
        Some(name @ ("poisson" | "constant")) => Ok(name),
        Some(other) => bail!(
            "--arrival {}: --find-capacity chooses the rates; give poisson (independent visitors) or constant (evenly spaced)",
            weigh_model::text::clean(other)
        ),
    }
}

/// Searches.
pub fn run(args: &Args, limit: Limit) -> Result<ExitCode> {
    if args.load.requests.is_some() {
        bail!("--find-capacity and -n: steps are as long as their limit needs; -d bounds the whole search");
    }
    let arrival = arrival(args.arrival.text.as_deref())?;
    let mut args = args.clone();
    args.arrival.text = None;
    let longest = args.load.duration;
    args.load.connections.get_or_insert(CONNECTIONS);
    args.load.duration = Some(CLOSED);
    let closed = plan::build(&args, &args.urls)?;
    let mut conductor = Conductor::start(&args, &closed)?;
    let (began, start) = (SystemTime::now(), Instant::now());
    let first = match conductor.block(&closed, "a closed block first") {
        Ok(result) => result,
        Err(stopped) => return conductor.stopped(stopped),
    };
    let search = Search {
        start: start_below(&first),
        step_seconds: args.other.block.unwrap_or(STEP),
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
    let faults = searched.closed.faults();
    conductor.finish(Measured::Capacity(Box::new(searched)), began)?;
    Ok(super::code(false, faults))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visitors_are_independent_unless_said_otherwise() {
        assert_eq!(arrival(None).unwrap(), "poisson");
        assert_eq!(arrival(Some("constant")).unwrap(), "constant");
        assert!(arrival(Some("constant:200")).unwrap_err().to_string().contains("chooses the rates"));
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
