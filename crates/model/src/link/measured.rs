//! What a link was measured as, compared with what was requested; kept in the records of the cells that used it.

use serde::{Deserialize, Serialize};

use super::LinkSpec;
use crate::units;

/// The largest accepted difference between requested and measured bandwidth, as a share.
pub const RATE_OFF: f64 = 0.03;
/// The largest accepted difference between requested and measured median round trip, in milliseconds.
pub const ROUND_TRIP_OFF: f64 = 0.5;
/// Lost packets may differ from the expected number by this many standard deviations.
const LOST_OFF: f64 = 3.3;

/// How a link is made, from the most faithful method to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The machine's loopback, with nothing emulated.
    Loopback,
    /// The kernel's own emulation on a pair of network devices.
    Netem,
    /// The program's own emulator between two TUN devices.
    Tun,
    /// The kernel limits the rate; the round trip is that of the machine, and no packet is lost.
    Rate,
    /// A proxy copies connections with rate and delay; handshake, slow start and loss are hidden.
    Proxy,
    /// No link can be made: times over the link are computed.
    Model,
}

impl Way {
    pub const ALL: &[Way] = &[Way::Loopback, Way::Netem, Way::Tun, Way::Rate, Way::Proxy, Way::Model];

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Way::Loopback => "loopback",
            Way::Netem => "netem",
            Way::Tun => "tun",
            Way::Rate => "rate",
            Way::Proxy => "proxy",
            Way::Model => "model",
        }
    }

    /// A warning that says what the method does not show; none where it shows everything.
    pub fn hides(self) -> Option<&'static str> {
        match self {
            Way::Loopback | Way::Netem | Way::Tun => None,
            Way::Rate => Some(
                "only the rate is emulated: the round trip is that of the machine, and no packet is lost",
            ),
            Way::Proxy => Some("a proxy emulates the link: handshake, slow start and loss are hidden"),
            Way::Model => Some("no link can be made here: times over the link are computed"),
        }
    }
}

/// A link as measured before its first use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measured {
    /// How it was made.
    pub way: Way,
    /// More faithful methods that are unavailable here, each with the reason.
    pub passed_over: Vec<String>,
    /// Whether the program's own emulator runs with real-time priority, without which the delay varies on a busy
    /// machine; null with other methods.
    pub realtime: Option<bool>,
    /// Milliseconds subtracted from the requested delay, because this machine adds them to each round trip of an idle
    /// link.
    pub taken_off_ms: f64,
    /// Small exchanges over one TCP connection; null without a link.
    pub round_trip: Option<RoundTrip>,
    /// Bandwidth towards the client; null without a link.
    pub down: Option<Rate>,
    /// Bandwidth away from the client.
    pub up: Option<Rate>,
    /// How the server's end sends: `cubic`, `bbr`; absent: the kernel does not say, or there is no link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Packets that the server's end sends on a new connection before the first acknowledgement; absent: the kernel does not say, or there is no link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// Whether the server's end starts with that window again after a pause; absent: the kernel does not say, or there is no link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_start_after_idle: Option<bool>,
    /// Packets lost in both directions; null where no loss was requested, or where the method hides packets.
    pub lost: Option<Lost>,
}

/// Round trips in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoundTrip {
    /// The requested round trip plus the transmission time of the two packets of an exchange.
    pub expected_ms: f64,
    /// The median.
    pub median_ms: f64,
    /// The median of the absolute differences from the median: the jitter.
    pub mad_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// Number of exchanges.
    pub exchanges: u32,
}

/// The bandwidth of one direction, counted in IP packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rate {
    /// The requested bandwidth, less the share that is lost on purpose, in kbit/s; null: not limited.
    pub expected_kbps: Option<f64>,
    /// The bandwidth at the receiver, in kbit/s.
    pub measured_kbps: f64,
    /// The part of it that TCP can use for payload in full packets, in kbit/s.
    pub payload_kbps: f64,
    /// Measured with a train of UDP packets that exceeds the bandwidth; false: with the payload of one TCP connection.
    pub by_packets: bool,
    /// Duration of the measurement, in seconds.
    pub seconds: f64,
}

/// Lost packets of a train that stays below the bandwidth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Lost {
    /// Packets sent in both directions.
    pub sent: u64,
    /// Packets of these that never arrived.
    pub lost: u64,
}

impl Measured {
    /// A link without measurements, because there is nothing to measure.
    pub fn nothing(way: Way, passed_over: Vec<String>) -> Measured {
        Measured {
            way,
            passed_over,
            realtime: None,
            taken_off_ms: 0.0,
            round_trip: None,
            down: None,
            up: None,
            congestion_control: None,
            initial_window: None,
            slow_start_after_idle: None,
            lost: None,
        }
    }

    /// Differences from what was requested, one sentence each: more than 3% of a bandwidth, 0.5 ms of the round trip,
    /// or more loss or less than chance explains.
    pub fn off(&self, asked: &LinkSpec) -> Vec<String> {
        let mut off = Vec::new();
        if let Some(trip) = self.round_trip.as_ref().filter(|trip| trip.is_off()) {
            off.push(format!(
                "the round trip is {:.3} ms instead of {:.3} ms",
                trip.median_ms, trip.expected_ms
            ));
        }
        for (name, rate) in [("down", &self.down), ("up", &self.up)] {
            if let Some((rate, expected)) = rate.as_ref().and_then(|r| Some((r, r.expected_kbps?)))
                && rate.is_off()
            {
                let (is, should) = (units::mbit(rate.measured_kbps / 1e3), units::mbit(expected / 1e3));
                off.push(format!("the {name} bandwidth is {is} instead of {should}"));
            }
        }
        match &self.lost {
            Some(lost) if lost.is_off(asked.loss) => off.push(format!(
                "{} of {} packets were lost, which does not fit a loss of {}",
                lost.lost,
                lost.sent,
                units::percent(asked.loss)
            )),
            None if asked.loss > 0.0 => off.push("no packet is lost".into()),
            _ => {}
        }
        off
    }
}

impl RoundTrip {
    /// Whether the difference is larger than [`ROUND_TRIP_OFF`].
    pub fn is_off(&self) -> bool {
        (self.median_ms - self.expected_ms).abs() > ROUND_TRIP_OFF
    }
}

impl Rate {
    /// Whether the difference is larger than [`RATE_OFF`]; false without a limit.
    pub fn is_off(&self) -> bool {
        let far = |expected: f64| (self.measured_kbps / expected - 1.0).abs() > RATE_OFF;
        self.expected_kbps.is_some_and(far)
    }
}

impl Lost {
    /// Whether chance does not explain the difference from this share.
    pub fn is_off(&self, share: f64) -> bool {
        let sent = self.sent as f64;
        let deviation = (sent * share * (1.0 - share)).sqrt();
        (self.lost as f64 - sent * share).abs() > LOST_OFF * deviation + 1.0
    }
}
