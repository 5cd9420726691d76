//! Is a link what was asked for, and do calls over it take what the model says? Links are made in the best way available here and measured as before any
//! use; each round makes each link anew. What TCP carries over them is told beside it, and has no target: it is TCP's own affair.
//!
//! `cargo bench -p weigh --bench link -- asked` or `calls` takes one part alone.

mod common;

use std::process::ExitCode;

use anyhow::Result;
use common::{Targets, WEIGH, progress, rounds};
use weigh_model::link::{LinkSpec, Measured, RATE_OFF, ROUND_TRIP_OFF, Rate, Way};
use weigh_model::transfer::{Connection, Path};
use weigh_rig::link::{Link, Making};
use weigh_stats::median;

/// What is asked for.
const LINKS: [&str; 4] = ["100mbit/20ms", "10mbit/50ms", "1gbit/1ms", "9mbit/170ms"];

/// Links that calls go over: round trips in milliseconds, and bandwidths in Mbit/s.
const ROUND_TRIPS: [f64; 3] = [0.5, 5.0, 40.0];
const BANDWIDTHS: [f64; 3] = [10.0, 100.0, 1000.0];
/// Bytes of the answer of a call: of one window to six.
const SIZES: [usize; 7] = [2_500, 5_000, 12_000, 20_000, 50_000, 140_000, 500_000];
/// Calls of a size in a round.
const CALLS: usize = 9;
/// How far the model may be from what a call takes: a part of it, and the time in which a busy machine wakes those who wait.
const CALL_OFF: f64 = 0.1;
const WAKING_NS: f64 = 2e5;
/// Milliseconds of coding that the smaller of two sizes takes more.
const CODING_MS: [f64; 8] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
/// The share of cells in which the model has to name the winner.
const SAME_WINNER: f64 = 0.95;

fn main() -> ExitCode {
    let mut targets = Targets::default();
    let wanted = |part: &str| {
        let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
        named.is_empty() || named.iter().any(|name| name == part)
    };
    let measured = || {
        if wanted("asked") {
            asked(&mut targets)?;
        }
        if wanted("calls") {
            calls(&mut targets)?;
        }
        Ok(targets)
    };
    common::end(measured())
}

fn make(text: &str) -> Result<Link> {
    Link::make_with(&LinkSpec::parse(text)?, &Making { launcher: WEIGH.into(), ..Making::default() })
}

fn asked(targets: &mut Targets) -> Result<()> {
    let rounds = rounds(5);
    let mut seen: Vec<Vec<Measured>> = vec![Vec::new(); LINKS.len()];
    for round in 1..=rounds {
        for (text, seen) in LINKS.iter().zip(&mut seen) {
            let link = make(text)?;
            let tcp = link.stream()?;
            explain(round, text, link.measured(), &tcp);
            seen.push(link.measured().clone());
        }
    }
    for (text, seen) in LINKS.iter().zip(&seen) {
        judge(targets, text, seen);
    }
    Ok(())
}

/// Calls over one link: by size the nanoseconds measured, and those of the model for what the link was measured as.
struct Called {
    text: String,
    measured: Vec<f64>,
    model: Vec<f64>,
    /// Bytes ÷ bandwidth and one round trip alone: what the model was.
    bytes_alone: Vec<f64>,
}

/// New connections that fetch this many bytes each: measured and by the model, and which of two settings wins.
fn calls(targets: &mut Targets) -> Result<()> {
    let rounds = rounds(3);
    let mut all = Vec::new();
    for round_trip in ROUND_TRIPS {
        for bandwidth in BANDWIDTHS {
            match called(&format!("{bandwidth}mbit/{round_trip}ms"), rounds)? {
                Some(called) => all.push(called),
                None => targets.missing(
                    &format!("link-calls-{round_trip}ms"),
                    "no link with delay can be made here",
                    "a link",
                ),
            }
        }
    }
    for called in &all {
        for (size, (measured, model)) in SIZES.iter().zip(called.measured.iter().zip(&called.model)) {
            let is_near = (measured - model).abs() <= (CALL_OFF * measured).max(WAKING_NS);
            let name = format!("link-call-{}-{size}", called.text.replace('/', "-"));
            let figures =
                format!("{:.3}, {:.3} ms ÷ {:.3} ms", measured / model, measured / 1e6, model / 1e6);
            targets.line(
                &name,
                &figures,
                "measured ÷ model; the model within 10% of the call, or 0.2 ms",
                is_near,
            );
        }
    }
    let (same, cells) = same_winners(&all, |called| &called.model);
    let (before, _) = same_winners(&all, |called| &called.bytes_alone);
    progress(&format!("bytes ÷ bandwidth alone names the winner in {:.3} of {cells} cells", before));
    let target = format!("the same winner in ≥ {SAME_WINNER} of {cells} cells");
    targets.line("link-winners", &format!("{same:.3}"), &target, same >= SAME_WINNER);
    Ok(())
}

/// The medians over rounds of the medians of each round; none where the link has no delay of its own.
fn called(text: &str, rounds: usize) -> Result<Option<Called>> {
    let mut seen: Vec<[Vec<f64>; 3]> = vec![Default::default(); SIZES.len()];
    for round in 1..=rounds {
        let link = make(text)?;
        if !matches!(link.way(), Way::Netem | Way::Tun) {
            return Ok(None);
        }
        let measured = link.measured();
        let trip = measured.round_trip.as_ref().map_or(f64::NAN, |trip| trip.median_ms);
        let mbit = measured.down.as_ref().map_or(f64::NAN, |rate| rate.measured_kbps / 1e3);
        progress(&format!(
            "round {round}, {text} by {}: {trip:.3} ms, {mbit:.2} Mbit/s",
            measured.way.name()
        ));
        let path = Path::shared(mbit, trip, 1.0);
        for (size, [times, model, bytes_alone]) in SIZES.iter().zip(&mut seen) {
            times.extend(median(&link.calls(*size, CALLS)?));
            model.push(path.call_ns(*size as f64, Connection::New, false));
            bytes_alone.push(path.call_ns(*size as f64, Connection::Warm, false));
        }
    }
    let of = |which: usize| seen.iter().filter_map(|of| median(&of[which])).collect::<Vec<f64>>();
    Ok(Some(Called { text: text.into(), measured: of(0), model: of(1), bytes_alone: of(2) }))
}

/// The share of cells in which these times name the winner that was measured: of each pair of sizes the smaller, which takes some time of coding more, or
/// the larger. And the number of cells.
fn same_winners(all: &[Called], of: fn(&Called) -> &Vec<f64>) -> (f64, usize) {
    let mut same = Vec::new();
    for called in all {
        for large in 0..SIZES.len() {
            for small in 0..large {
                for coding in CODING_MS {
                    let smaller_wins = |times: &[f64]| times[small] + coding * 1e6 < times[large];
                    same.push(smaller_wins(&called.measured) == smaller_wins(of(called)));
                }
            }
        }
    }
    let count = same.iter().filter(|same| **same).count();
    (count as f64 / same.len().max(1) as f64, same.len())
}

/// How one link came out, on stderr.
fn explain(round: usize, text: &str, measured: &Measured, tcp: &Rate) {
    let trip = measured.round_trip.as_ref().map_or(f64::NAN, |trip| trip.median_ms);
    let mbit = |rate: &Option<Rate>| rate.as_ref().map_or(f64::NAN, |rate| rate.measured_kbps / 1e3);
    progress(&format!(
        "round {round}, {text} by {}: {trip:.3} ms, {:.3} ms of them the machine's; down {:.2} and up {:.2} Mbit/s; one TCP connection carries \
         {:.2} Mbit/s of payload",
        measured.way.name(),
        measured.taken_off_ms,
        mbit(&measured.down),
        mbit(&measured.up),
        tcp.payload_kbps / 1e3,
    ));
}

fn judge(targets: &mut Targets, text: &str, seen: &[Measured]) {
    let name = format!("link-{}", text.replace('/', "-"));
    let whole = |measured: &&Measured| matches!(measured.way, Way::Netem | Way::Tun);
    let seen: Vec<&Measured> = seen.iter().filter(whole).collect();
    let rates = [
        ("down", &(|m: &Measured| m.down.clone()) as &dyn Fn(&Measured) -> Option<Rate>),
        ("up", &|m| m.up.clone()),
    ];
    for (direction, rate) in rates {
        let ratio = |rate: Rate| Some(rate.measured_kbps / rate.expected_kbps?);
        let ratios: Vec<f64> = seen.iter().filter_map(|m| ratio(rate(m)?)).collect();
        let target = format!("measured ÷ asked within {:.0}%", RATE_OFF * 100.0);
        line(targets, &format!("{name}-{direction}"), &ratios, &target, |ratio| {
            (ratio - 1.0).abs() <= RATE_OFF
        });
    }
    let trips = seen.iter().filter_map(|m| m.round_trip.as_ref());
    let off: Vec<f64> = trips.map(|trip| trip.median_ms - trip.expected_ms).collect();
    let target = format!("measured − asked within {ROUND_TRIP_OFF} ms");
    line(targets, &format!("{name}-round-trip"), &off, &target, |off| off.abs() <= ROUND_TRIP_OFF);
}

/// The median over rounds with its range.
fn line(targets: &mut Targets, name: &str, values: &[f64], target: &str, met: impl Fn(f64) -> bool) {
    let Some(middle) = median(values) else {
        return targets.missing(name, "no link with delay can be made here", target);
    };
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    targets.line(name, &format!("{middle:.3} [{low:.3}, {high:.3}]"), target, met(middle));
}
