//! A pair of network devices of the kernel's, with what the kernel has for limiting them.

use anyhow::{Context, Result};

use super::{DEVICE, FAR, NEAR};
use weigh_model::link::{LinkSpec, MTU};
use weigh_os::network::{Network, carry_out, set_up};

/// The header that the kernel counts beside an IP packet.
const FRAME: u64 = 14;
/// Packets that may be on the way where no bandwidth bounds them.
const MOST_PACKETS: u64 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    /// Rate, delay, loss and queue: `netem`.
    Netem,
    /// Rate and queue alone: `tbf`.
    Rate,
}

/// Lays it between two networks. It goes with either of them.
///
/// # Errors
/// The kernel has no such device or discipline, or the privilege is missing.
pub(super) fn lay(spec: &LinkSpec, discipline: Discipline, (near, far): (&Network, &Network)) -> Result<()> {
    let there = far.path();
    let there = there.to_str().context("the far network has no name")?;
    near.within(|| {
        carry_out("ip", &["link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", there])
    })??;
    for (network, own, other, kbps) in [(near, NEAR, FAR, spec.up_kbps), (far, FAR, NEAR, spec.down_kbps)] {
        network.within(|| {
            // Packets as they are on a line: none that stands for many.
            set_up(DEVICE, own, other, &["mtu", &MTU.to_string(), "gso_max_segs", "1"])?;
            let words = discipline.words(spec, kbps);
            let Some(kind) = words.first() else { return Ok(()) };
            let mut args = vec!["qdisc", "add", "dev", DEVICE, "root"];
            args.extend(words.iter().map(String::as_str));
            carry_out("tc", &args).with_context(|| format!("the kernel does not limit a device by `{kind}`"))
        })??;
    }
    Ok(())
}

impl Discipline {
    /// What `tc` is told for one direction; nothing where there is nothing to limit.
    fn words(self, spec: &LinkSpec, kbps: Option<f64>) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut say = |parts: &[&str]| words.extend(parts.iter().map(|part| (*part).to_owned()));
        match (self, kbps) {
            (Discipline::Netem, kbps) => {
                say(&["netem", "limit", &packets(spec, kbps).to_string()]);
                say(&["delay", &format!("{}us", spec.rtt_ms * 1e3 / 2.0)]);
                if spec.loss > 0.0 {
                    say(&["loss", &format!("{}%", spec.loss * 100.0)]);
                }
                if let Some(kbps) = kbps {
                    // The last number is what is counted beside a frame: less than nothing, so that IP packets count.
                    say(&["rate", &format!("{}bit", (kbps * 1e3).round()), &format!("-{FRAME}")]);
                }
            }
            (Discipline::Rate, Some(kbps)) => {
                // It counts frames: full packets pass at the rate that was asked for.
                let frames = kbps * 1e3 * (MTU + FRAME) as f64 / MTU as f64;
                say(&["tbf", "rate", &format!("{}bit", frames.round())]);
                say(&[
                    "burst",
                    &format!("{}b", 2 * (MTU + FRAME)),
                    "limit",
                    &format!("{}b", spec.queue(Some(kbps))),
                ]);
            }
            (Discipline::Rate, None) => {}
        }
        words
    }
}

/// Packets in the queue and on the way, which `netem` counts together.
fn packets(spec: &LinkSpec, kbps: Option<f64>) -> u64 {
    let on_the_way = |kbps: f64| (kbps * spec.rtt_ms / 2.0 / 8.0).ceil() as u64;
    kbps.map_or(MOST_PACKETS, |kbps| (spec.queue(Some(kbps)) + on_the_way(kbps)).div_ceil(MTU))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discipline_is_told_what_was_asked() {
        let spec = LinkSpec::parse("12mbit:unlimited/20ms/0.5%/queue=15KB").unwrap();
        let words = |discipline: Discipline, kbps| discipline.words(&spec, kbps).join(" ");
        assert_eq!(
            words(Discipline::Netem, spec.down_kbps),
            "netem limit 20 delay 10000us loss 0.5% rate 12000000bit -14"
        );
        assert_eq!(words(Discipline::Netem, None), "netem limit 100000 delay 10000us loss 0.5%");
        assert_eq!(words(Discipline::Rate, spec.down_kbps), "tbf rate 12112000bit burst 3028b limit 15000b");
        assert_eq!(words(Discipline::Rate, None), "");
    }
}
