//! Names of clients in sentences.

use super::{Candidate, of_work};
use crate::finding::{Evidence, label};
use crate::group::Group;
use crate::subject::client::over;
use crate::verdict::Ratio;
use weigh_model::cell::Cell;
use weigh_model::client::{Keys, Mix};
use weigh_model::units;

pub(super) use label::{content, range, seconds, share};

/// `redis by phpredis`, over a link `redis by phpredis over 100mbit/20ms`.
pub(super) fn place(of: &Candidate) -> String {
    format!("{} by {}{}", of.client.store, of.client.driver, over(of.client.link.as_deref()))
}

/// `igbinary + zstd 3`, `serialize alone`; `its driver's way` where the worker does not encode.
pub(super) fn setting(cell: &Cell) -> String {
    if cell.setting.codec == "none" { "its driver's way".into() } else { label::of_cell(cell) }
}

/// `9 reads for each write`, `reads alone`, `writes alone`.
pub(super) fn mix(mix: Mix) -> String {
    match mix.write_every {
        0 => "reads alone".into(),
        1 => "writes alone".into(),
        2 => "a read for each write".into(),
        every => format!("{} reads for each write", every - 1),
    }
}

/// `one key a worker`, `1,000 keys, all alike`, …
fn keys(keys: Keys) -> String {
    let number = |count: u64| units::count(usize::try_from(count).unwrap_or(usize::MAX), "key", "keys");
    match keys {
        Keys::One => "one key a worker".into(),
        Keys::Uniform { count } => format!("{}, all alike", number(count)),
        Keys::Zipf { count, .. } => format!("{} by Zipf", number(count)),
        Keys::New => "a new key each time".into(),
    }
}

/// `integer, 9 reads for each write, one key a worker`, with what else there is.
pub(super) fn work(evidence: &Evidence, of: &Candidate) -> String {
    let content = content(evidence, &of.row.cell.payload);
    let several = super::candidates(evidence).any(|c| c.client.workers != of.client.workers);
    let mut text = format!("{content}, {}, {}", mix(of.client.mix), keys(of.client.keys));
    if several {
        text.push_str(&format!(", {}", units::count(of.client.workers as usize, "worker", "workers")));
    }
    if let Some(rate) = of.client.rate {
        text.push_str(&format!(", {} a second", units::trimmed_number(rate)));
    }
    text
}

/// The work that all clients of a group do.
pub(super) fn group(evidence: &Evidence, group: &Group) -> String {
    of_work(evidence, group).first().map(|first| work(evidence, first)).unwrap_or_default()
}

/// A ratio with its interval.
pub(super) fn interval(ratio: &Ratio) -> String {
    units::times_interval(ratio.value, ratio.low, ratio.high)
}
