//! Measures a link before anything else goes over it: round trips, the bandwidth each way, and losses where they were asked for.

mod train;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use weigh_stats::{median, quantile};

use super::{Link, hurry};
use weigh_model::link::{LinkSpec, MTU, Measured, Rate, RoundTrip, TCP_PAYLOAD, Way};
use weigh_os::network;

/// Real-time priority of those who measure: they never keep the emulator waiting.
const PRIORITY: u8 = 10;
/// Exchanges, and after what time fewer will do; but never fewer than this many.
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
/// How long a stream is sent; what arrives in the second half counts.
const STREAM: Duration = Duration::from_millis(1_600);
/// Bytes written at once.
const CHUNK: usize = 64 << 10;
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

/// Measures a link that something can go over.
pub(super) fn measure(link: &Link) -> Result<Measured> {
    let spec = link.spec();
    let has_packets = matches!(link.way(), Way::Netem | Way::Tun | Way::Rate);
    let rate = |direction: Direction| match limit(spec, direction).filter(|_| has_packets) {
        Some(kbps) => train::rate(link, direction, kbps),
        None => stream(link, direction),
    };
    let round_trip = Some(summary(spec, &times(link, EXCHANGES, LONGEST)?));
    let (down, up) = (Some(rate(Direction::Down)?), Some(rate(Direction::Up)?));
    let is_lossy = spec.loss > 0.0 && matches!(link.way(), Way::Netem | Way::Tun);
    let lost = if is_lossy { Some(train::lost(link)?) } else { None };
    Ok(Measured { round_trip, down, up, lost, ..Measured::nothing(link.way(), Vec::new()) })
}

/// The bandwidth of one TCP connection after its start, as the bandwidth of the full packets that carry it.
pub(super) fn stream(link: &Link, direction: Direction) -> Result<Rate> {
    let (payload_kbps, seconds) = payload(link, direction)?;
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

/// A socket that listens at the far end, and where the near end reaches it.
fn listener(link: &Link) -> Result<(TcpListener, SocketAddr)> {
    let address = SocketAddr::from((link.far_address(), 0));
    let listener = link.far().within(|| TcpListener::bind(address))?.context("the far end cannot listen")?;
    let reached = link.reach(listener.local_addr().context("the far end has no address")?.port())?;
    Ok((listener, reached))
}

/// A connection over the link: its near end and its far end.
fn connection(link: &Link) -> Result<(TcpStream, TcpStream)> {
    let (listener, reached) = listener(link)?;
    listener.set_nonblocking(true).context("the far end cannot be polled")?;
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

/// Packets that a new connection's far end may have under way before the first acknowledgement; none: the kernel does not say.
pub(super) fn initial_window(link: &Link) -> Option<u32> {
    let (_near, far) = connection(link).ok()?;
    let port = far.local_addr().ok()?.port();
    link.far().within(|| network::window(port)).ok()?
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

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Milliseconds by which round trips are longer than they should be, before anything is mended: what the machine adds by itself.
pub(super) fn added_ms(link: &Link) -> Result<f64> {
    let low = quantile(&times(link, LOOK, LONGEST_LOOK)?, LOW).unwrap_or(f64::NAN);
    Ok(low - expected_ms(link.spec()))
}

/// Milliseconds of this many exchanges, or of fewer when they take longer.
fn times(link: &Link, most: usize, longest: Duration) -> Result<Vec<f64>> {
    let (near, far) = connection(link)?;
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| echo(far));
        let exchange = scope.spawn(|| exchange(&near, most, longest));
        let times = joined(exchange);
        let _ = near.shutdown(Shutdown::Both);
        let echoed = joined(echo);
        times.and_then(|times| echoed.map(|()| times)).context("an exchange over the link has failed")
    })
}

fn exchange(mut near: &TcpStream, most: usize, longest: Duration) -> std::io::Result<Vec<f64>> {
    hurry(PRIORITY);
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
    hurry(PRIORITY);
    let mut bytes = [0; SIZE];
    loop {
        match far.read_exact(&mut bytes) {
            Ok(()) => far.write_all(&bytes)?,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// See [`Link::calls`].
pub(super) fn calls(link: &Link, bytes: usize, calls: usize) -> Result<Vec<f64>> {
    let (listener, reached) = listener(link)?;
    let answer = vec![0x5a; bytes];
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| (0..calls).try_for_each(|_| answer_one(&listener, &answer)));
        let calling = || -> std::io::Result<Vec<f64>> {
            hurry(PRIORITY);
            (0..calls).map(|_| call(reached, bytes)).collect()
        };
        let times = link.near().within(calling)?;
        if times.is_err() {
            // Whoever still listens is let go.
            let _ = link.near().within(|| TcpStream::connect(reached));
        }
        let answered = joined(answering);
        times.and_then(|times| answered.map(|()| times)).context("a call over the link has failed")
    })
}

/// Nanoseconds of one call.
fn call(reached: SocketAddr, bytes: usize) -> std::io::Result<f64> {
    let mut buffer = vec![0; CHUNK];
    let began = Instant::now();
    let mut near = TcpStream::connect_timeout(&reached, PATIENCE)?;
    near.set_nodelay(true)?;
    near.set_read_timeout(Some(PATIENCE))?;
    near.write_all(&[0; SIZE])?;
    let mut left = bytes;
    while left > 0 {
        match near.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            length => left = left.saturating_sub(length),
        }
    }
    Ok(began.elapsed().as_secs_f64() * 1e9)
}

/// Takes a connection, reads a request, answers it, and waits until the other end closes.
fn answer_one(listener: &TcpListener, answer: &[u8]) -> std::io::Result<()> {
    hurry(PRIORITY);
    let (mut far, _) = listener.accept()?;
    far.set_nodelay(true)?;
    far.set_read_timeout(Some(PATIENCE))?;
    far.read_exact(&mut [0; SIZE])?;
    far.write_all(answer)?;
    far.read(&mut [0]).map(|_| ())
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

/// Payload in kbit/s, and the seconds over which it was counted.
fn payload(link: &Link, direction: Direction) -> Result<(f64, f64)> {
    let (near, far) = connection(link)?;
    let (sender, receiver) = if direction == Direction::Down { (far, near) } else { (near, far) };
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| send(&sender, &ended));
        let counted = count(&receiver);
        ended.store(true, Ordering::SeqCst);
        // A sender that waits for room finds that nobody takes anything.
        let _ = receiver.shutdown(Shutdown::Both);
        let _ = sender.shutdown(Shutdown::Both);
        let (bytes, seconds) = counted.context("nothing more comes over the link")?;
        if seconds <= 0.0 {
            bail!("too little comes over the link");
        }
        Ok((bytes as f64 * 8.0 / 1e3 / seconds, seconds))
    })
}

fn send(mut sender: &TcpStream, ended: &AtomicBool) {
    let chunk = vec![0x5a; CHUNK];
    while !ended.load(Ordering::SeqCst) && sender.write_all(&chunk).is_ok() {}
}

/// Bytes after the first reading of the second half, and the time from it to the last reading.
fn count(mut receiver: &TcpStream) -> std::io::Result<(u64, f64)> {
    let mut buffer = vec![0; CHUNK];
    let began = Instant::now();
    let mut from: Option<Instant> = None;
    let (mut bytes, mut last) = (0, began);
    while began.elapsed() < STREAM {
        let length = receiver.read(&mut buffer)?;
        last = Instant::now();
        match from {
            Some(_) => bytes += length as u64,
            None if began.elapsed() > STREAM / 2 => from = Some(last),
            None => {}
        }
        if length == 0 {
            break;
        }
    }
    Ok((bytes, from.map_or(0.0, |from| (last - from).as_secs_f64())))
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
