//! Trains of UDP packets: one that overfills the line tells its bandwidth, one that leaves it room tells what is lost.

use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;

use super::{Direction, PRIORITY, joined, limit};
use crate::link::{Link, hurry};
use weigh_model::link::{Lost, MTU, Rate, TCP_PAYLOAD};

/// How long a train is.
const LENGTH: Duration = Duration::from_secs(1);
/// The headers of IP and UDP.
const HEADERS: u64 = 28;
/// On a slow line packets are so small that this many pass in the time, as far as they can be.
const PACKETS: f64 = 100.0;
const SMALLEST: f64 = 128.0;
/// What is sent of what the line takes: to overfill it, and to leave it room.
const MORE: f64 = 1.2;
const LESS: f64 = 0.5;
/// The line is given so much at once at the start that a sender who comes late does not let it idle.
const AHEAD: f64 = 0.025;
/// Packets that are counted for losses at most.
const MOST: u64 = 5_000;
/// How often the sender looks at the time.
const TICK: Duration = Duration::from_millis(1);
/// A train is over when nothing has come for so long beyond the round trip.
const QUIET: Duration = Duration::from_millis(250);
/// What a receiver holds while it is kept from reading.
const BUFFER: usize = 16 << 20;

/// Where a train leaves, and where it arrives.
struct Track {
    sender: UdpSocket,
    receiver: UdpSocket,
}

/// How a train is sent.
struct Timetable {
    /// Bytes of a packet with its headers.
    packet: u64,
    /// Bytes per second.
    speed: f64,
    /// Bytes that leave at once at the start.
    ahead: f64,
    most: u64,
}

#[derive(Debug, Default)]
struct Arrived {
    packets: u64,
    /// Packets after the first one and within the time of the train, and the time from the first to the last of them.
    counted: u64,
    seconds: f64,
}

/// The bandwidth of a direction that is limited to so much.
pub(super) fn rate(link: &Link, direction: Direction, kbps: f64) -> Result<Rate> {
    let line = kbps * 1e3 / 8.0;
    let packet = (line / PACKETS).clamp(SMALLEST, MTU as f64) as u64;
    let timetable = Timetable { packet, speed: line * MORE, ahead: line * AHEAD, most: u64::MAX };
    let (_, arrived) = Track::lay(link, direction)?.run(&timetable, quiet(link))?;
    ensure!(arrived.seconds > 0.0, "next to nothing comes over the link");
    let measured_kbps = (arrived.counted * packet) as f64 * 8.0 / 1e3 / arrived.seconds;
    Ok(Rate {
        expected_kbps: Some(kbps * (1.0 - link.spec().loss)),
        measured_kbps,
        payload_kbps: measured_kbps * TCP_PAYLOAD as f64 / MTU as f64,
        by_packets: true,
        seconds: arrived.seconds,
    })
}

/// What is lost both ways.
pub(super) fn lost(link: &Link) -> Result<Lost> {
    let mut lost = Lost { sent: 0, lost: 0 };
    for direction in [Direction::Down, Direction::Up] {
        let line = limit(link.spec(), direction).map_or(f64::INFINITY, |kbps| kbps * 1e3 / 8.0);
        let speed = (line * LESS).min(MOST as f64 * SMALLEST / LENGTH.as_secs_f64());
        let timetable = Timetable { packet: SMALLEST as u64, speed, ahead: 0.0, most: MOST };
        let (sent, arrived) = Track::lay(link, direction)?.run(&timetable, quiet(link))?;
        lost.sent += sent;
        lost.lost += sent.saturating_sub(arrived.packets);
    }
    Ok(lost)
}

fn quiet(link: &Link) -> Duration {
    QUIET + Duration::from_secs_f64(link.spec().rtt_ms / 1e3)
}

impl Track {
    fn lay(link: &Link, direction: Direction) -> Result<Track> {
        let (near, far) = (link.near(), link.far());
        let (from, to) = if direction == Direction::Down { (far, near) } else { (near, far) };
        let (near, far) = link.addresses();
        let (start, end) = if direction == Direction::Down { (far, near) } else { (near, far) };
        let bind = |at| move || UdpSocket::bind(SocketAddr::from((at, 0)));
        let receiver = to.within(bind(end))?.context("an end of the link takes no packets")?;
        let sender = from.within(bind(start))?.context("an end of the link sends no packets")?;
        let address = receiver.local_addr().context("an end of the link has no address")?;
        sender.connect(address).context("an end of the link sends no packets")?;
        // Beyond the system's bound where that is permitted.
        if rustix::net::sockopt::set_socket_recv_buffer_size_force(&receiver, BUFFER).is_err() {
            let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&receiver, BUFFER);
        }
        Ok(Track { sender, receiver })
    }

    /// Sends a train and takes it in to its end: packets sent, and what arrived.
    fn run(&self, timetable: &Timetable, quiet: Duration) -> Result<(u64, Arrived)> {
        self.receiver.set_read_timeout(Some(quiet)).context("an end of the link takes no packets")?;
        let stamped = setsockopt(&self.receiver, ReceiveTimestampns, &true);
        stamped.context("the kernel does not stamp packets with their time")?;
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| send(&self.sender, timetable));
            let arrived = scope.spawn(|| receive(&self.receiver));
            let sent = joined(sent);
            let arrived = joined(arrived);
            Ok((sent, arrived.context("an end of the link takes no packets")?))
        })
    }
}

/// Packets that left. One that the system has no room for was sent as one that the line drops.
fn send(sender: &UdpSocket, timetable: &Timetable) -> u64 {
    hurry(PRIORITY);
    let packet = vec![0x5a; usize::try_from(timetable.packet - HEADERS).unwrap_or(0)];
    let began = Instant::now();
    let mut sent = 0;
    loop {
        let elapsed = began.elapsed();
        if elapsed >= LENGTH || sent >= timetable.most {
            return sent;
        }
        let due = timetable.ahead + timetable.speed * elapsed.as_secs_f64();
        while sent < timetable.most && (sent * timetable.packet) as f64 <= due {
            let _ = sender.send(&packet);
            sent += 1;
        }
        std::thread::sleep(TICK);
    }
}

fn receive(receiver: &UdpSocket) -> nix::Result<Arrived> {
    hurry(PRIORITY);
    let mut arrived = Arrived::default();
    let mut first: Option<Duration> = None;
    loop {
        let now = match stamp(receiver) {
            Ok(now) => now,
            Err(Errno::EAGAIN) => return Ok(arrived),
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error),
        };
        arrived.packets += 1;
        let since = now.saturating_sub(*first.get_or_insert(now));
        if arrived.packets > 1 && since <= LENGTH {
            arrived.counted += 1;
            arrived.seconds = since.as_secs_f64();
        }
    }
}

/// Takes one packet in: when the kernel had it, whenever it is looked at.
fn stamp(receiver: &UdpSocket) -> nix::Result<Duration> {
    let mut packet = [0; MTU as usize];
    let mut control = nix::cmsg_space!(TimeSpec);
    let mut parts = [IoSliceMut::new(&mut packet)];
    let message = recvmsg::<()>(receiver.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())?;
    let stamps = message.cmsgs()?.filter_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
        _ => None,
    });
    stamps.last().ok_or(Errno::ENOMSG)
}
