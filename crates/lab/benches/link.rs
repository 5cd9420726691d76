//! Is a link what was asked for? Links are made in the best way that there is here and measured as before any use; each round makes each link
//! anew. What TCP carries over them is told beside it, and has no target: it is TCP's own affair.

mod common;

use std::process::ExitCode;

use anyhow::Result;
use common::{Targets, WEIGH, progress, rounds};
use weigh::rig::link::{Link, Making};
use weigh_model::link::{LinkSpec, Measured, RATE_OFF, ROUND_TRIP_OFF, Rate, Way};
use weigh_stats::median;

/// What is asked for.
const LINKS: [&str; 4] = ["100mbit/20ms", "10mbit/50ms", "1gbit/1ms", "9mbit/170ms"];

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let rounds = rounds(5);
    let mut seen: Vec<Vec<Measured>> = vec![Vec::new(); LINKS.len()];
    for round in 1..=rounds {
        for (text, seen) in LINKS.iter().zip(&mut seen) {
            let link = Link::make_with(
                &LinkSpec::parse(text)?,
                &Making { launcher: WEIGH.into(), ..Making::default() },
            )?;
            let tcp = link.stream()?;
            explain(round, text, link.measured(), &tcp);
            seen.push(link.measured().clone());
        }
    }
    let mut targets = Targets::default();
    for (text, seen) in LINKS.iter().zip(&seen) {
        judge(&mut targets, text, seen);
    }
    Ok(targets)
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
