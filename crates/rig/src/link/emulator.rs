//! Our own emulator of a link: `agent --link SPEC --near NETWORK --far NETWORK`, a process that the lab starts. It opens a TUN device in each network and
//! carries packets from one to the other through a [`Lane`] each way.
//!
//! It is one thread that sleeps until a packet comes or is due, with real-time priority where that is permitted: on a busy machine the
//! delay would wander otherwise. It says one line when it is ready. Each line that it is told holds nanoseconds to take off the delay of either
//! direction, and is answered with the same line again. It ends with its stdin, and its devices with it.

use std::ffi::OsString;
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use tun_rs::{DeviceBuilder, SyncDevice};

use super::lane::{Lane, LaneSpec};
use super::{DEVICE, FAR, NEAR, hurry};
use weigh_model::link::MTU;
use weigh_os::network::{self, Network, set_up};
use weigh_os::process::{NO_LOG, Silence, Worker, WorkerSpec};

/// Its real-time priority: above everything ordinary, below what the kernel itself runs.
const PRIORITY: u8 = 20;
/// Packets that the kernel holds until they are read: some milliseconds at the highest rates.
const TRANSMIT_QUEUE: &str = "4000";
/// Packets taken from one device before the other is looked at.
const BATCH: usize = 32;

/// How long it may take until it is ready, and until it answers.
const PATIENCE: Duration = Duration::from_secs(10);

/// What an emulator is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub down: LaneSpec,
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
pub fn serve(task: &str, near: &Path, far: &Path) -> Result<()> {
    let task: Task = serde_json::from_str(task).context("not a link's task")?;
    // This process has one thread, and stays in the network that it enters last.
    let mut near = End::open(near, task.near, task.far, task.up)?;
    let mut far = End::open(far, task.far, task.near, task.down)?;
    let ready = Ready { realtime: hurry(PRIORITY) };
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
            let Some(ns) = read_adjustment()? else { return Ok(()) };
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
        let mtu = MTU.to_string();
        set_up(DEVICE, own, other, &["mtu", &mtu, "txqueuelen", TRANSMIT_QUEUE])
            .with_context(|| format!("the TUN device gets no address {own}"))?;
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
            // What the kernel says by itself over IPv6 is not traffic of the link's.
            if packet.first().is_none_or(|first| first >> 4 != 4) {
                continue;
            }
            let packet = Box::from(packet);
            self.lane.offer(clock(), length as u64, packet);
        }
        Ok(true)
    }
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
fn read_adjustment() -> Result<Option<u64>> {
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

/// The lab's half: a running emulator. It is killed when this is dropped, and with the lab.
#[derive(Debug)]
pub(super) struct Emulator {
    /// Only so that a link can be looked at from several threads.
    worker: Mutex<Worker>,
    /// Whether it runs with real-time priority.
    pub realtime: bool,
}

impl Emulator {
    /// Starts one between two networks; `launcher` is this same program.
    pub fn start(
        lanes: &[LaneSpec; 2],
        launcher: &OsString,
        (near, far): (&Network, &Network),
    ) -> Result<Emulator> {
        let [down, up] = lanes.clone();
        let task = Task { down, up, near: NEAR, far: FAR };
        let mut args: Vec<OsString> =
            vec!["agent".into(), "--link".into(), serde_json::to_string(&task)?.into()];
        for (flag, network) in [("--near", near), ("--far", far)] {
            args.extend([flag.into(), network.path().into_os_string()]);
        }
        let worker = WorkerSpec::program("link", launcher.clone(), args, PathBuf::from(NO_LOG));
        let worker = WorkerSpec { launcher: launcher.clone(), ..worker };
        let mut worker = Worker::start(&worker).context("the emulator cannot be started")?;
        let ready = listen(&mut worker)?;
        Ok(Emulator { worker: Mutex::new(worker), realtime: ready.realtime })
    }

    /// Takes this many nanoseconds off the delay of either direction.
    pub fn shorten(&mut self, ns: u64) -> Result<()> {
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner);
        worker.say(ns.to_string().into_bytes()).map_err(silent)?;
        listen(worker).map(drop)
    }
}

fn listen(worker: &mut Worker) -> Result<Ready> {
    let line = worker.hear(PATIENCE).map_err(silent)?.ok_or_else(|| silent(Silence::Timeout))?;
    serde_json::from_slice(&line).context("the emulator said what is no answer")
}

fn silent(silence: Silence) -> anyhow::Error {
    match silence {
        Silence::Ended(how) => anyhow!("the emulator ended: {how}"),
        Silence::Timeout => anyhow!("the emulator said nothing for {} s", PATIENCE.as_secs()),
        Silence::TooLong(_) => anyhow!("the emulator said a line that is too long"),
        Silence::Interrupted => anyhow!("interrupted"),
    }
}
