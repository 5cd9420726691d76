//! Measures a link before anything else goes over it: round trips, the bandwidth each way, and losses where they were asked for.

mod exchange;
mod stream;
mod train;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::Link;
use weigh_model::link::{LinkSpec, MTU, Measured, Rate, TCP_PAYLOAD, Way};

/// How long a connection, and any answer on it, may take: the slowest link with losses.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is sent which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the far end to the near one.
    Down,
    /// From the near end to the far one.
    Up,
}

/// Milliseconds by which round trips are longer than they should be, before anything is mended: what the machine adds by itself.
///
/// # Errors
/// Nothing gets through.
pub(super) fn added_ms(link: &Link) -> Result<f64> {
    exchange::added_ms(link)
}

/// Measures a link that something can go over.
///
/// # Errors
/// Nothing gets through.
pub(super) fn measure(link: &Link) -> Result<Measured> {
    let spec = link.spec();
    let has_packets = matches!(link.way(), Way::Netem | Way::Tun | Way::Rate);
    let rate = |direction: Direction| match limit(spec, direction).filter(|_| has_packets) {
        Some(kbps) => train::rate(link, direction, kbps),
        None => stream(link, direction),
    };
    let round_trip = Some(exchange::round_trips(link)?);
    let (down, up) = (Some(rate(Direction::Down)?), Some(rate(Direction::Up)?));
    let is_lossy = spec.loss > 0.0 && matches!(link.way(), Way::Netem | Way::Tun);
    let lost = if is_lossy { Some(train::lost(link)?) } else { None };
    Ok(Measured { round_trip, down, up, lost, ..Measured::nothing(link.way(), Vec::new()) })
}

/// The bandwidth of one TCP connection after its start, as the bandwidth of the full packets that carry it.
///
/// # Errors
/// Nothing gets through.
pub(super) fn stream(link: &Link, direction: Direction) -> Result<Rate> {
    let (payload_kbps, seconds) = stream::payload(link, direction)?;
    let measured_kbps = payload_kbps * MTU as f64 / TCP_PAYLOAD as f64;
    let expected_kbps = limit(link.spec(), direction);
    Ok(Rate { expected_kbps, measured_kbps, payload_kbps, by_packets: false, seconds })
}

/// What was asked for in a direction.
fn limit(spec: &LinkSpec, direction: Direction) -> Option<f64> {
    match direction {
        Direction::Down => spec.down_kbps,
        Direction::Up => spec.up_kbps,
    }
}

/// A connection over the link: its near end and its far end.
fn connection(link: &Link) -> Result<(TcpStream, TcpStream)> {
    let address = SocketAddr::from((link.far_address(), 0));
    let listener = link.far().within(|| TcpListener::bind(address))?.context("the far end cannot listen")?;
    listener.set_nonblocking(true).context("the far end cannot be polled")?;
    let reached = link.reach(listener.local_addr().context("the far end has no address")?.port())?;
    let near = link.near().within(|| TcpStream::connect_timeout(&reached, PATIENCE))?;
    let near = near.context("the far end is not reached over the link")?;
    let far = accept(&listener)?;
    for stream in [&near, &far] {
        stream
            .set_nodelay(true)
            .and(stream.set_read_timeout(Some(PATIENCE)))
            .context("a connection cannot be set up")?;
    }
    Ok((near, far))
}

fn accept(listener: &TcpListener) -> Result<TcpStream> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).context("a connection cannot be set up")?;
                return Ok(stream);
            }
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => {
                return Err(error).context("the far end cannot accept");
            }
            Err(_) if Instant::now() > deadline => bail!("the link lets no connection through"),
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
