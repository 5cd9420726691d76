//! Names of cells in sentences.

use crate::analysis::client::findings::{Candidate, Evidence};
use crate::analysis::client::model::{Work, is_settled};
use crate::analysis::findings::label;
use crate::analysis::model::Relative;
use weigh_model::cell::Cell;
use weigh_model::client::{Client, Keys, Mix};
use weigh_model::payload::Origin;
use weigh_model::units;

pub(super) use label::{range, share};

/// `redis by phpredis`, over a link `redis by phpredis over 100mbit/20ms`.
pub(super) fn place(of: &Candidate) -> String {
    format!("{} by {}{}", of.client.store, of.client.driver, over(of.client))
}

/// ` over 100mbit/20ms`; nothing without a link.
pub(super) fn over(client: &Client) -> String {
    client.link.as_ref().map_or(String::new(), |link| format!(" over {link}"))
}

/// `igbinary + zstd 3`, `serialize alone`; `its driver's way` where the worker does not encode.
pub(super) fn setting(cell: &Cell) -> String {
    let setting = label::setting(&cell.setting);
    match (&cell.serializer, setting.as_str()) {
        (_, "none") => "its driver's way".into(),
        (Some(serializer), "no compression") => format!("{serializer} alone"),
        (Some(serializer), _) => format!("{serializer} + {setting}"),
        (None, _) => setting,
    }
}

/// A payload's name; content that is not real is called so.
pub(super) fn content(evidence: &Evidence, name: &str) -> String {
    let payload = evidence.plan.payloads.iter().find(|p| p.name == name);
    let is_synthetic = payload.is_some_and(|p| matches!(p.origin, Origin::Synthetic { .. }));
    format!("{name}{}", if is_synthetic { " (synthetic)" } else { "" })
}

/// `9 reads a write`, `reads alone`, `writes alone`.
pub(super) fn mix(mix: Mix) -> String {
    match mix.write_every {
        0 => "reads alone".into(),
        1 => "writes alone".into(),
        2 => "a read for each write".into(),
        every => format!("{} reads for each write", every - 1),
    }
}

/// `one key a worker`, `1,000 keys alike`, …
pub(super) fn keys(keys: Keys) -> String {
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
    let content = content(evidence, &of.result.cell.payload);
    let several = evidence.all().any(|c| c.client.workers != of.client.workers);
    let mut text = format!("{content}, {}, {}", mix(of.client.mix), keys(of.client.keys));
    if several {
        text.push_str(&format!(", {}", units::count(of.client.workers as usize, "worker", "workers")));
    }
    if let Some(rate) = of.client.rate {
        text.push_str(&format!(", {} a second", units::trimmed_number(rate)));
    }
    text
}

/// The work that all cells of a table do.
pub(super) fn of_work(evidence: &Evidence, work: &Work) -> String {
    let first = work.cells.first().and_then(|id| evidence.cell(id));
    first.map_or_else(|| work.work.clone(), |first| self::work(evidence, &first))
}

/// A ratio with its interval; where it does not settle which is more, that is said.
pub(super) fn ratio(relative: &Relative, rounds: u32) -> String {
    let text = units::times_interval(relative.ratio, relative.low, relative.high);
    if is_settled(relative, rounds) { text } else { format!("{text} (cannot be told apart)") }
}

/// A time in seconds.
pub(super) fn seconds(seconds: f64) -> String {
    units::ns(seconds * 1e9)
}
