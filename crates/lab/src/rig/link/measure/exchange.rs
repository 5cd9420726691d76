//! Round trips: small exchanges over one TCP connection.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use weigh_stats::{median, quantile};

use super::connection;
use crate::rig::link::Link;
use crate::rig::link::priority::{MEASURE, hurry};
use weigh_model::link::{LinkSpec, RoundTrip};

/// Exchanges, and after what time fewer will do; but never fewer than so many.
const EXCHANGES: usize = 50;
const LONGEST: Duration = Duration::from_secs(2);
const LEAST: usize = 5;
/// The same for a first look.
const LOOK: usize = 20;
const LONGEST_LOOK: Duration = Duration::from_millis(500);
/// The quantile of a first look that tells what the machine adds when nobody disturbs it.
const LOW: f64 = 0.25;
/// Bytes that are sent and come back.
const SIZE: usize = 16;
/// The same as an IP packet, with the headers of IP and TCP and its time stamps.
const PACKET: f64 = (SIZE + 52) as f64;

/// Measures them.
pub(super) fn round_trips(link: &Link) -> Result<RoundTrip> {
    Ok(summary(link.spec(), &times(link, EXCHANGES, LONGEST)?))
}

/// Milliseconds by which they are longer than they should be.
pub(super) fn added_ms(link: &Link) -> Result<f64> {
    let low = quantile(&times(link, LOOK, LONGEST_LOOK)?, LOW).unwrap_or(f64::NAN);
    Ok(low - expected_ms(link.spec()))
}

/// Milliseconds of so many exchanges, or of fewer when they take longer.
fn times(link: &Link, most: usize, longest: Duration) -> Result<Vec<f64>> {
    let (near, far) = connection(link)?;
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| echo(far));
        let exchange = scope.spawn(|| exchange(&near, most, longest));
        let times = exchange.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let _ = near.shutdown(Shutdown::Both);
        let echoed = echo.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        times.and_then(|times| echoed.map(|()| times)).context("an exchange over the link has failed")
    })
}

fn exchange(mut near: &TcpStream, most: usize, longest: Duration) -> std::io::Result<Vec<f64>> {
    hurry(MEASURE);
    let mut bytes = [0; SIZE];
    let mut times = Vec::with_capacity(most + 1);
    let began = Instant::now();
    // The first one warms up.
    while times.len() <= most && (times.len() <= LEAST || began.elapsed() < longest) {
        let sent = Instant::now();
        near.write_all(&bytes)?;
        near.read_exact(&mut bytes)?;
        times.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    times.remove(0);
    Ok(times)
}

/// Sends back what comes until the other end closes.
fn echo(mut far: TcpStream) -> std::io::Result<()> {
    hurry(MEASURE);
    let mut bytes = [0; SIZE];
    loop {
        match far.read_exact(&mut bytes) {
            Ok(()) => far.write_all(&bytes)?,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// The round trip of an empty packet, and the time that both packets of an exchange take on the line.
fn expected_ms(spec: &LinkSpec) -> f64 {
    let sending = |kbps: Option<f64>| kbps.map_or(0.0, |kbps| PACKET * 8.0 / kbps);
    spec.rtt_ms + sending(spec.down_kbps) + sending(spec.up_kbps)
}

fn summary(spec: &LinkSpec, times: &[f64]) -> RoundTrip {
    let middle = median(times).unwrap_or(f64::NAN);
    let off: Vec<f64> = times.iter().map(|time| (time - middle).abs()).collect();
    RoundTrip {
        expected_ms: expected_ms(spec),
        median_ms: middle,
        mad_ms: median(&off).unwrap_or(f64::NAN),
        p99_ms: quantile(times, 0.99).unwrap_or(f64::NAN),
        exchanges: u32::try_from(times.len()).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_has_the_time_of_both_packets() {
        // 68 bytes at 68 kbit/s are 8 ms, at 680 kbit/s 0.8 ms.
        let spec = LinkSpec::parse("680kbit:68kbit/20ms").unwrap();
        let trip = summary(&spec, &[28.0, 29.0, 30.0, 29.5, 40.0]);
        assert!((trip.expected_ms - 28.8).abs() < 1e-9);
        assert_eq!((trip.median_ms, trip.mad_ms, trip.exchanges), (29.5, 0.5, 5));
        assert!(trip.is_off());
    }
}
