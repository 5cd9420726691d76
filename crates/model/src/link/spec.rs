//! What a link should be: two bandwidths, a round trip, loss and a queue.

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::suggest::readable;

/// The version of the file format that this program reads.
const SCHEMA: u32 = 1;
/// The slowest and the fastest link in kbit/s.
const SPEEDS: std::ops::RangeInclusive<f64> = 8.0..=10e6;
/// The longest round trip in milliseconds.
pub const LONGEST_MS: f64 = 10_000.0;
/// The largest share of packets that may be lost.
const MOST_LOST: f64 = 0.5;
/// The shortest and the longest queue in bytes: two packets, and an amount that fits into memory.
const QUEUES: std::ops::RangeInclusive<u64> = 3_000..=64 << 20;
/// The largest product of bandwidth and round trip, in bytes.
const MOST_ON_THE_WAY: f64 = 256e6;
/// The default queue holds at least this much time, and at least `QUEUE_LEAST` bytes.
const QUEUE_MS: f64 = 50.0;
const QUEUE_LEAST: u64 = 64_000;

/// A link. Down is towards the client, up is away from the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// `cable`, or the ad-hoc form such as `100mbit/20ms`.
    pub name: String,
    /// Bandwidth towards the client in kbit/s (1,000 bits per second), counted in IP packets with their headers; null:
    /// not limited.
    pub down_kbps: Option<f64>,
    /// Bandwidth away from the client, likewise.
    pub up_kbps: Option<f64>,
    /// The round trip of an empty packet in milliseconds, half of it in each direction. The transmission time of a
    /// packet's bytes comes on top.
    pub rtt_ms: f64,
    /// The share of packets (0 to 1) that is lost in each direction.
    pub loss: f64,
    /// Bytes that may wait in each direction before packets are dropped; null: bandwidth × the larger of the round trip
    /// and 50 ms, at least 64 KB.
    pub queue_bytes: Option<u64>,
    /// Whether the server's kernel spreads what it sends over round trips, as bbr does; absent: as the kernel here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced: Option<bool>,
    /// Who published these figures, or `assumed`.
    pub source: String,
}

/// A definition as written: `links/NAME.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkFile {
    schema: u32,
    down_kbps: Option<f64>,
    up_kbps: Option<f64>,
    #[serde(default)]
    rtt_ms: f64,
    #[serde(default)]
    loss: f64,
    queue_bytes: Option<u64>,
    paced: Option<bool>,
    source: String,
}

impl LinkSpec {
    /// Reads the ad-hoc form: `100mbit/20ms`, `10mbit:1mbit/50ms/0.1%/queue=100KB`.
    ///
    /// # Errors
    /// One line that says what is wrong and what to write.
    pub fn parse(text: &str) -> Result<LinkSpec> {
        super::text::parse(text)?.sound()
    }

    /// Reads a definition; `whence` names it in errors.
    ///
    /// # Errors
    /// One line with the place.
    pub fn read(name: &str, text: &str, whence: &str) -> Result<LinkSpec> {
        let file: LinkFile = toml::from_str(text).map_err(|error| readable(&error, text, whence))?;
        ensure!(
            file.schema == SCHEMA,
            "{whence}: schema {} is not known; this program reads {SCHEMA}",
            file.schema
        );
        ensure!(
            !file.source.trim().is_empty(),
            "{whence}: `source` must say where the figures come from, or \"assumed\""
        );
        let LinkFile { down_kbps, up_kbps, rtt_ms, loss, queue_bytes, paced, source, .. } = file;
        let spec =
            LinkSpec { name: name.into(), down_kbps, up_kbps, rtt_ms, loss, queue_bytes, paced, source };
        spec.sound().with_context(|| whence.to_owned())
    }

    /// Whether the link has no limit, no delay and no loss, like loopback.
    pub fn is_loopback(&self) -> bool {
        self.down_kbps.is_none() && self.up_kbps.is_none() && self.rtt_ms == 0.0 && self.loss == 0.0
    }

    /// Bytes that may wait in a direction with this bandwidth.
    pub fn queue(&self, kbps: Option<f64>) -> u64 {
        let ms = self.rtt_ms.max(QUEUE_MS);
        let held = |kbps: f64| (kbps * ms / 8.0).ceil() as u64;
        let default = || kbps.map_or(*QUEUES.end(), |kbps| held(kbps).clamp(QUEUE_LEAST, *QUEUES.end()));
        self.queue_bytes.unwrap_or_else(default)
    }

    /// The link itself, if its values are possible.
    fn sound(self) -> Result<LinkSpec> {
        let name = &self.name;
        for kbps in [self.down_kbps, self.up_kbps].into_iter().flatten() {
            if !SPEEDS.contains(&kbps) {
                bail!(
                    "link `{name}`: the bandwidth is {kbps} kbit/s; it must be between 8 kbit/s and 10 Gbit/s"
                );
            }
            if kbps * self.rtt_ms / 8.0 > MOST_ON_THE_WAY {
                bail!("link `{name}`: bandwidth × round trip is above the limit of 256 MB");
            }
        }
        if !(0.0..=LONGEST_MS).contains(&self.rtt_ms) {
            bail!("link `{name}`: the round trip is {} ms; it must be between 0 and 10 s", self.rtt_ms);
        }
        if !(0.0..=MOST_LOST).contains(&self.loss) {
            bail!("link `{name}`: the loss is {}%; it must be between 0% and 50%", self.loss * 100.0);
        }
        if let Some(queue) = self.queue_bytes.filter(|queue| !QUEUES.contains(queue)) {
            bail!(
                "link `{name}`: the queue is {queue} bytes; it must be between 3 KB (two packets) and 64 MiB"
            );
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
