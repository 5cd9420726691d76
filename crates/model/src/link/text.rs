//! The ad-hoc form of a link: `DOWN[:UP]/ROUND-TRIP[/LOSS%][/queue=BYTES]`.

use anyhow::{Result, anyhow};

use super::LinkSpec;

/// The longest text that is accepted.
const LONGEST: usize = 100;
/// Units; a unit comes before the units that it ends in.
const SPEEDS: &[(&str, f64)] = &[("kbit", 1.0), ("mbit", 1e3), ("gbit", 1e6)];
const TIMES: &[(&str, f64)] = &[("ms", 1.0), ("us", 1e-3), ("s", 1e3)];
const SIZES: &[(&str, f64)] = &[("kb", 1e3), ("mb", 1e6), ("b", 1.0)];
/// A bandwidth without a limit.
const UNLIMITED: &str = "unlimited";

/// Reads the text. Whether its values are possible is checked elsewhere.
pub(super) fn parse(text: &str) -> Result<LinkSpec> {
    let lower = text.trim().to_ascii_lowercase();
    let spec = || read(&lower).filter(|_| lower.len() <= LONGEST);
    spec().ok_or_else(|| {
        let start: String = text.chars().take(LONGEST).collect();
        anyhow!(
            "`{start}` is not a link; write DOWN[:UP]/ROUND-TRIP[/LOSS%][/queue=BYTES] with kbit, mbit or gbit, us, ms or s, and KB or MB, \
             such as 100mbit/20ms or 10mbit:1mbit/50ms/0.1%/queue=100KB"
        )
    })
}

fn read(text: &str) -> Option<LinkSpec> {
    let mut parts = text.split('/');
    let speeds = parts.next()?;
    let (down, up) = speeds.split_once(':').unwrap_or((speeds, speeds));
    let (down_kbps, up_kbps) = (speed(down)?, speed(up)?);
    let rtt_ms = quantity(parts.next()?, TIMES)?;
    let (mut loss, mut queue_bytes) = (None, None);
    for part in parts {
        if let Some(percent) = part.strip_suffix('%') {
            let share = number(percent)? / 100.0;
            loss.replace(share).is_none().then_some(())?;
        } else {
            let bytes = quantity(part.strip_prefix("queue=")?, SIZES)?.round();
            queue_bytes.replace(bytes as u64).is_none().then_some(())?;
        }
    }
    let loss = loss.unwrap_or(0.0);
    Some(LinkSpec {
        name: text.into(),
        down_kbps,
        up_kbps,
        rtt_ms,
        loss,
        queue_bytes,
        paced: None,
        source: "given".into(),
    })
}

fn speed(text: &str) -> Option<Option<f64>> {
    if text == UNLIMITED { Some(None) } else { quantity(text, SPEEDS).map(Some) }
}

/// A number with one of these units.
fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (digits, unit) = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)))?;
    Some(number(digits)? * unit)
}

/// Digits with at most one decimal point; no sign, no exponent.
fn number(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    plain.then(|| text.parse().ok()).flatten()
}
