//! The emulator itself: `agent --link SPEC --near NETWORK --far NETWORK`, started by the lab. It opens a TUN device in each network and
//! carries packets from one to the other through a [`Lane`] each way.
//!
//! It is one thread that sleeps until a packet comes or is due, with real-time priority where that is permitted: on a busy machine the
//! delay would wander otherwise. It says one line when it is ready. Each line that it is told holds nanoseconds to take off the delay of either
//! direction, and is answered with the same line again. It ends with its stdin, and its devices with it.

use std::io::Write;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use tun_rs::{DeviceBuilder, SyncDevice};

use super::lane::{Lane, LaneSpec};
use super::priority::{self, hurry};
use crate::rig::network::{self, ip};
use weigh_model::link::MTU;

/// The device's name in either network.
const DEVICE: &str = "weigh0";
/// Packets that the kernel holds until they are read: some milliseconds at the highest rates.
const TRANSMIT_QUEUE: &str = "4000";
/// Packets taken from one device before the other is looked at.
const BATCH: usize = 32;

/// What an emulator is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// Far to near.
    pub down: LaneSpec,
    /// Near to far.
    pub up: LaneSpec,
    /// The address of the near end.
    pub near: Ipv4Addr,
    /// The address of the far end.
    pub far: Ipv4Addr,
}

/// What an emulator says when it is ready, and when it has done what it was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ready {
    /// It runs with real-time priority.
    pub realtime: bool,
}

/// Carries packets until stdin ends.
///
/// # Errors
/// A device cannot be made, or is lost.
pub fn serve(task: &str, near: &Path, far: &Path) -> Result<()> {
    let task: Task = serde_json::from_str(task).context("not a link's task")?;
    // This process has one thread, and stays in the network that it enters last.
    let mut near = End::open(near, task.near, task.far, task.up)?;
    let mut far = End::open(far, task.far, task.near, task.down)?;
    let ready = Ready { realtime: hurry(priority::EMULATOR) };
    say(&ready)?;
    let began = Instant::now();
    let clock = || u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    loop {
        near.deliver(&far.device, &clock);
        far.deliver(&near.device, &clock);
        let busy = near.take(&clock)? | far.take(&clock)?;
        if busy {
            continue;
        }
        let due = [near.lane.due(), far.lane.due()].into_iter().flatten().min();
        if wait(&near, &far, due.map(|due| due.saturating_sub(clock())))? {
            let Some(ns) = told()? else { return Ok(()) };
            near.lane.shorten(ns);
            far.lane.shorten(ns);
            say(&ready)?;
        }
    }
}

/// One end: its device, and the lane that leads away from it.
struct End {
    device: SyncDevice,
    lane: Lane<Box<[u8]>>,
    buffer: Vec<u8>,
}

impl End {
    fn open(network: &Path, own: Ipv4Addr, other: Ipv4Addr, lane: LaneSpec) -> Result<End> {
        network::join(network)?;
        let device = DeviceBuilder::new().name(DEVICE).inherit_enable_state().build_sync();
        let device = device.context("/dev/net/tun gives no device")?;
        device.set_nonblocking(true).context("the TUN device cannot be polled")?;
        address(own, other).with_context(|| format!("the TUN device gets no address {own}"))?;
        Ok(End { device, lane: Lane::new(&lane), buffer: vec![0; usize::from(u16::MAX)] })
    }

    /// Hands to the other device what has arrived by now.
    fn deliver(&mut self, other: &SyncDevice, clock: &impl Fn() -> u64) {
        while let Some(packet) = self.lane.release(clock()) {
            // A network without room drops it, as any other would.
            let _ = other.send(&packet);
        }
    }

    /// Takes in what was sent, some packets at most; whether there may be more.
    fn take(&mut self, clock: &impl Fn() -> u64) -> Result<bool> {
        for _ in 0..BATCH {
            let length = match self.device.recv(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error).context("the TUN device is lost"),
            };
            let packet = &self.buffer[..length];
            // What the kernel says by itself over IPv6 is no traffic of the link's.
            if packet.first().is_none_or(|first| first >> 4 != 4) {
                continue;
            }
            let packet = Box::from(packet);
            self.lane.offer(clock(), length as u64, packet);
        }
        Ok(true)
    }
}

/// Gives the device its addresses, and starts it.
fn address(own: Ipv4Addr, other: Ipv4Addr) -> Result<()> {
    ip(&["address", "add", &own.to_string(), "peer", &other.to_string(), "dev", DEVICE])?;
    ip(&["link", "set", "dev", DEVICE, "addrgenmode", "none"])?;
    ip(&["link", "set", "dev", DEVICE, "mtu", &MTU.to_string(), "txqueuelen", TRANSMIT_QUEUE, "up"])
}

/// Sleeps until a packet can be read, this many nanoseconds have passed, or the lab says something: whether it did.
fn wait(near: &End, far: &End, ns: Option<u64>) -> Result<bool> {
    let stdin = std::io::stdin();
    let mut watched = [
        PollFd::from_borrowed_fd(near.device.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(far.device.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN),
    ];
    let timeout =
        ns.map(|ns| Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ });
    match poll(&mut watched, timeout.as_ref()) {
        Ok(_) => Ok(!watched[2].revents().is_empty()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error).context("the TUN devices cannot be polled"),
    }
}

/// Nanoseconds that the lab wants off the delay; none when it has let go of stdin. A line is short enough to come whole.
fn told() -> Result<Option<u64>> {
    let mut line = [0; 64];
    let length = rustix::io::read(std::io::stdin(), &mut line).context("stdin cannot be read")?;
    let text = std::str::from_utf8(&line[..length]).unwrap_or_default().trim();
    if length == 0 {
        return Ok(None);
    }
    text.parse().map(Some).with_context(|| format!("not a number of nanoseconds: {text:?}"))
}

fn say(ready: &Ready) -> Result<()> {
    writeln!(std::io::stdout(), "{}", serde_json::to_string(ready)?).context("the lab does not listen")
}
