//! What a link was measured as, beside what was asked of it; kept with the records of what went over it.

use serde::{Deserialize, Serialize};

use super::LinkSpec;
use crate::units;

/// How far a bandwidth may be from the one that was asked for, as a share of it.
pub const RATE_OFF: f64 = 0.03;
/// How far the median round trip may be from the one that was asked for, in milliseconds.
pub const ROUND_TRIP_OFF: f64 = 0.5;
/// Standard deviations by which counted losses may be off before they are called wrong.
const LOST_OFF: f64 = 3.3;

/// How a link is made, from what holds all of it to what holds none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The machine's own loopback: nothing is asked of it.
    Loopback,
    /// The kernel's own emulation on a pair of network devices.
    Netem,
    /// An emulator of our own between two TUN devices.
    Tun,
    /// The kernel limits the rate; the round trip is the machine's own and nothing is lost.
    Rate,
    /// Connections are copied by a proxy with rate and delay; handshake, slow start and loss are hidden.
    Proxy,
    /// None of them can be had: times over the link can only be computed.
    Model,
}

impl Way {
    /// All of them.
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

    /// What it does not show, as a warning; none where it shows all.
    pub fn hides(self) -> Option<&'static str> {
        match self {
            Way::Loopback | Way::Netem | Way::Tun => None,
            Way::Rate => {
                Some("the rate alone is emulated: the round trip is the machine's own, and nothing is lost")
            }
            Way::Proxy => Some("a proxy stands in: handshake, slow start and loss are hidden"),
            Way::Model => Some("no link can be made here: times over it are computed"),
        }
    }
}

/// A link, measured before anything else went over it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Measured {
    /// How it was made.
    pub way: Way,
    /// Ways before it that cannot be had here, each with its reason.
    pub passed_over: Vec<String>,
    /// Whether our emulator runs with real-time priority, without which the delay wanders on a busy machine; null where it is not ours.
    pub realtime: Option<bool>,
    /// Milliseconds taken off the delay that was asked for, because this machine adds them by itself to each round trip of an idle link.
    pub taken_off_ms: f64,
    /// Small exchanges over one TCP connection; null where there is no link.
    pub round_trip: Option<RoundTrip>,
    /// Bandwidth towards the client; null where there is no link.
    pub down: Option<Rate>,
    /// Bandwidth away from the client.
    pub up: Option<Rate>,
    /// Packets lost, both ways together; null where no loss was asked for, or where packets are hidden.
    pub lost: Option<Lost>,
}

/// Round trips in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RoundTrip {
    /// As asked, with the time that the two packets of an exchange take on the line.
    pub expected_ms: f64,
    /// The median.
    pub median_ms: f64,
    /// The median of the absolute differences from the median: the jitter.
    pub mad_ms: f64,
    /// 99 of 100 took no longer.
    pub p99_ms: f64,
    /// How many were made.
    pub exchanges: u32,
}

/// The bandwidth of one direction, counted in IP packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rate {
    /// As asked, less the share that is lost on purpose, in kbit/s; null: not limited.
    pub expected_kbps: Option<f64>,
    /// As it arrived, in kbit/s.
    pub measured_kbps: f64,
    /// What of it TCP can carry as payload in full packets, in kbit/s.
    pub payload_kbps: f64,
    /// By a train of UDP packets that overfills the line; false: by one TCP connection, whose payload was measured.
    pub by_packets: bool,
    /// For how long it was measured, in seconds.
    pub seconds: f64,
}

/// Packets of a train that leaves room on the line, counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Lost {
    /// Sent, both ways together.
    pub sent: u64,
    /// Of them never arrived.
    pub lost: u64,
}

impl Measured {
    /// One that was not measured, because there is nothing to measure.
    pub fn nothing(way: Way, passed_over: Vec<String>) -> Measured {
        Measured {
            way,
            passed_over,
            realtime: None,
            taken_off_ms: 0.0,
            round_trip: None,
            down: None,
            up: None,
            lost: None,
        }
    }

    /// What is not as asked, a sentence each: beyond 3% of a bandwidth, 0.5 ms of the round trip, or what chance allows for loss.
    pub fn off(&self, asked: &LinkSpec) -> Vec<String> {
        let mut off = Vec::new();
        if let Some(trip) = self.round_trip.as_ref().filter(|trip| trip.is_off()) {
            off.push(format!(
                "the round trip is {:.3} ms and should be {:.3} ms",
                trip.median_ms, trip.expected_ms
            ));
        }
        for (name, rate) in [("down", &self.down), ("up", &self.up)] {
            if let Some((rate, expected)) = rate.as_ref().and_then(|r| Some((r, r.expected_kbps?)))
                && rate.is_off()
            {
                let (is, should) = (units::mbit(rate.measured_kbps / 1e3), units::mbit(expected / 1e3));
                off.push(format!("{name} is {is} and should be {should}"));
            }
        }
        match &self.lost {
            Some(lost) if lost.is_off(asked.loss) => off.push(format!(
                "{} of {} packets were lost, which is not {}",
                lost.lost,
                lost.sent,
                units::percent(asked.loss)
            )),
            None if asked.loss > 0.0 => off.push("nothing is lost".into()),
            _ => {}
        }
        off
    }
}

impl RoundTrip {
    /// Beyond [`ROUND_TRIP_OFF`].
    pub fn is_off(&self) -> bool {
        (self.median_ms - self.expected_ms).abs() > ROUND_TRIP_OFF
    }
}

impl Rate {
    /// Beyond [`RATE_OFF`]; never where there is no limit.
    pub fn is_off(&self) -> bool {
        let far = |expected: f64| (self.measured_kbps / expected - 1.0).abs() > RATE_OFF;
        self.expected_kbps.is_some_and(far)
    }
}

impl Lost {
    /// Further from this share than chance explains.
    pub fn is_off(&self, share: f64) -> bool {
        let sent = self.sent as f64;
        let deviation = (sent * share * (1.0 - share)).sqrt();
        (self.lost as f64 - sent * share).abs() > LOST_OFF * deviation + 1.0
    }
}
