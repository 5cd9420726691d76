//! Links: what lies between clients and a store or a server, made in the best way available here and measured before use.
//!
//! A link has two ends, a network each with an address. It owns what carries packets between them and nothing that sends them: clients are
//! started in the near network, stores and servers in the far one. All of it goes with the value, and with the lab.

mod cable;
mod emulator;
mod lane;
mod measure;
mod proxy;

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;

use anyhow::{Context, Result, bail};
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

use cable::Discipline;
use emulator::Emulator;
pub use emulator::serve;
use lane::LaneSpec;
use proxy::Proxy;
use weigh_model::link::{LinkSpec, Measured, Rate, Way};
use weigh_os::lifeline;
use weigh_os::network::{self, Network};

/// The addresses of the ends of a link whose ends are networks of their own. They are of a private range, and exist inside the two
/// networks alone.
const NEAR: Ipv4Addr = Ipv4Addr::new(10, 153, 0, 1);
pub const FAR: Ipv4Addr = Ipv4Addr::new(10, 153, 0, 2);
/// The device's name in either network.
const DEVICE: &str = "weigh0";

/// Ways in order of preference, for a link that something is asked of.
const WAYS: [Way; 5] = [Way::Netem, Way::Tun, Way::Rate, Way::Proxy, Way::Model];

/// Milliseconds of a round trip that may be taken for the machine's own; more than that is a disturbance.
const MOST_TAKEN_OFF: f64 = 1.0;

/// How a link is to be made.
#[derive(Clone, Debug)]
pub struct Making {
    /// By this method alone; none: by the best that is available.
    pub way: Option<Way>,
    /// What losses are drawn from.
    pub seed: u64,
    /// The emulator's program: this same program, except in tests.
    pub launcher: OsString,
    /// A link without any requirement is the loopback of a private network, if one is available; else the machine's own.
    pub private: bool,
}

impl Default for Making {
    fn default() -> Making {
        Making { way: None, seed: 1, launcher: lifeline::this_program(), private: false }
    }
}

/// A link that stands and has been measured.
#[derive(Debug)]
pub struct Link {
    spec: LinkSpec,
    way: Way,
    measured: Measured,
    /// Before the ends: what carries packets goes first.
    carrier: Carrier,
    near: Network,
    /// None: both ends are one network.
    far: Option<Network>,
}

/// What carries bytes from end to end.
#[derive(Debug)]
enum Carrier {
    /// The kernel by itself, or nothing at all.
    Kernel,
    Emulator(Emulator),
    Proxy(Proxy),
}

impl Link {
    /// Makes one in the best way available here, and measures it, which takes some seconds.
    ///
    /// # Errors
    /// It stands and nothing gets through. That no link can be made is not an error: its way is [`Way::Model`] then.
    pub fn make(spec: &LinkSpec) -> Result<Link> {
        Link::make_with(spec, &Making::default())
    }

    /// The same with a say in how.
    ///
    /// # Errors
    /// As [`Link::make`], and that the one way that was requested is not available.
    pub fn make_with(spec: &LinkSpec, making: &Making) -> Result<Link> {
        let mut passed_over = Vec::new();
        let ways: &[Way] = match &making.way {
            Some(way) => std::slice::from_ref(way),
            None if spec.is_loopback() => &[Way::Loopback],
            None => &WAYS,
        };
        for way in ways {
            match Link::stand(spec, *way, making) {
                Ok(mut link) => {
                    link.take_measure(passed_over)
                        .with_context(|| format!("link `{}` ({})", spec.name, way.name()))?;
                    return Ok(link);
                }
                Err(error) => passed_over.push(format!("{}: {error:#}", way.name())),
            }
        }
        bail!("link `{}`: {}", spec.name, passed_over.join("; "))
    }

    /// Makes one in this way, without measuring it.
    fn stand(spec: &LinkSpec, way: Way, making: &Making) -> Result<Link> {
        let (near, far) = match way {
            Way::Netem | Way::Tun | Way::Rate => (Network::plain()?, Some(Network::plain()?)),
            // Other users of the machine can connect to what listens in its own network.
            Way::Proxy => (Network::private().or_else(|_| Network::outside())?, None),
            Way::Loopback if making.private => (Network::private().or_else(|_| Network::outside())?, None),
            Way::Loopback | Way::Model => (Network::outside()?, None),
        };
        let ends = (&near, far.as_ref().unwrap_or(&near));
        if let (Some(paced), Some(far)) = (spec.paced, &far) {
            far.within(|| network::pace(paced))??;
        }
        let carrier = match way {
            Way::Netem => cable::lay(spec, Discipline::Netem, ends).map(|()| Carrier::Kernel)?,
            Way::Rate => cable::lay(spec, Discipline::Rate, ends).map(|()| Carrier::Kernel)?,
            Way::Tun => {
                Carrier::Emulator(Emulator::start(&lanes(spec, making.seed), &making.launcher, ends)?)
            }
            Way::Proxy => {
                let [down, up] = lanes(spec, making.seed);
                Carrier::Proxy(Proxy::new(&down, &up, near.try_clone()?))
            }
            Way::Loopback | Way::Model => Carrier::Kernel,
        };
        let measured = Measured::nothing(way, Vec::new());
        Ok(Link { spec: spec.clone(), way, measured, carrier, near, far })
    }

    /// Takes what the machine adds off the delay, and measures what stands then.
    fn take_measure(&mut self, passed_over: Vec<String>) -> Result<()> {
        let taken_off_ms = self.shorten()?;
        let measured = match self.way {
            Way::Model => Measured::nothing(self.way, Vec::new()),
            _ => measure::measure(self)?,
        };
        let realtime = match &self.carrier {
            Carrier::Emulator(emulator) => Some(emulator.realtime),
            Carrier::Kernel | Carrier::Proxy(_) => None,
        };
        self.measured = Measured { passed_over, realtime, taken_off_ms, ..measured };
        if let Some(far) = &self.far {
            self.measured.congestion_control = far.within(network::congestion_control)?;
            self.measured.slow_start_after_idle = far.within(network::slow_start_after_idle)?;
            self.measured.initial_window = measure::initial_window(self);
        }
        Ok(())
    }

    /// Where the delay is ours, shortens it by what threads that have to be woken add: milliseconds of a round trip.
    fn shorten(&mut self) -> Result<f64> {
        if matches!(self.carrier, Carrier::Kernel) {
            return Ok(0.0);
        }
        let added = measure::added_ms(self)?.clamp(0.0, self.spec.rtt_ms.min(MOST_TAKEN_OFF));
        let each_way = (added * 1e6 / 2.0) as u64;
        match &mut self.carrier {
            Carrier::Kernel => {}
            Carrier::Emulator(emulator) => emulator.shorten(each_way)?,
            Carrier::Proxy(proxy) => proxy.shorten(each_way),
        }
        Ok(added)
    }

    pub fn spec(&self) -> &LinkSpec {
        &self.spec
    }

    pub fn way(&self) -> Way {
        self.way
    }

    /// What it was measured as, before use.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    pub fn near(&self) -> &Network {
        &self.near
    }

    /// The network of stores and servers; the same as [`Link::near`] where there is no link, or a proxy.
    pub fn far(&self) -> &Network {
        self.far.as_ref().unwrap_or(&self.near)
    }

    /// The address that stores and servers listen on. Clients ask [`Link::reach`] for theirs.
    pub fn far_address(&self) -> Ipv4Addr {
        self.addresses().1
    }

    /// Where clients reach a TCP port of the far end over the link.
    ///
    /// # Errors
    /// There is no link ([`Way::Model`]), or the proxy cannot listen.
    pub fn reach(&self, port: u16) -> Result<SocketAddr> {
        match (&self.carrier, self.way) {
            (_, Way::Model) => bail!("no link can be made here: nothing goes over `{}`", self.spec.name),
            (Carrier::Proxy(proxy), _) => proxy.reach(port),
            _ => Ok(SocketAddr::from((self.far_address(), port))),
        }
    }

    /// The bandwidth towards the client of one TCP connection after its start; its payload is what counts.
    pub fn stream(&self) -> Result<Rate> {
        measure::stream(self, measure::Direction::Down)
    }

    /// Calls over new connections, one after the other: nanoseconds from the first packet of the handshake until the near end has the last of this many
    /// bytes, which the far end sends for a request of 16.
    ///
    /// # Errors
    /// Nothing goes over the link, or something ends before its time.
    pub fn calls(&self, bytes: usize, calls: usize) -> Result<Vec<f64>> {
        measure::calls(self, bytes, calls)
    }

    /// The addresses of the near and of the far end.
    fn addresses(&self) -> (Ipv4Addr, Ipv4Addr) {
        match self.far {
            Some(_) => (NEAR, FAR),
            None => (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST),
        }
    }
}

fn lanes(spec: &LinkSpec, seed: u64) -> [LaneSpec; 2] {
    let delay_ns = (spec.rtt_ms * 1e6 / 2.0).round() as u64;
    [(spec.down_kbps, seed), (spec.up_kbps, !seed)].map(|(kbps, seed)| LaneSpec {
        kbps,
        delay_ns,
        queue: spec.queue(kbps),
        loss: spec.loss,
        seed,
    })
}

/// Gives this thread real-time priority for ever: to the emulator, whose delay wanders on a busy machine without it, and to those who measure
/// a link, so that it is the link that they measure and not who else runs. Where that is not permitted, timers that are as exact as can be. Whether it has it.
fn hurry(priority: u8) -> bool {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let set = |priority| set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok();
    let has =
        ThreadPriorityValue::try_from(priority).is_ok_and(|value| set(ThreadPriority::Crossplatform(value)));
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    has
}
