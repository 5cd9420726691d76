//! Names of clients in sentences.

use weigh_model::cell::Cell;
use weigh_model::client::{Keys, Mix};
use weigh_model::units;

use crate::finding::client::clients::{Candidate, of_work};
use crate::group::Group;
use crate::label;
use crate::metric::client::over;
use crate::names::store_and_driver;
use crate::report::finding::Evidence;
use crate::verdict::Ratio;

pub(crate) use label::{change, content, owned, range, runtime, seconds, share, shares, some};

/// `Redis, phpredis`, over a link `Redis, phpredis over 100mbit/20ms`.
pub(super) fn describe_client(of: &Candidate) -> String {
    format!("{}{}", store_and_driver((&of.client.store, &of.client.driver)), over(of.client.link.as_deref()))
}

/// `igbinary with zstd 3`, `serialize alone`; `the driver's own encoding` where the worker does not encode.
pub(super) fn setting(cell: &Cell) -> String {
    if cell.setting.codec == "none" { "the driver's own encoding".into() } else { label::of_cell(cell) }
}

/// `9 reads per write`, `reads only`, `writes only`.
pub(super) fn mix(mix: Mix) -> String {
    match mix.write_every {
        0 => "reads only".into(),
        1 => "writes only".into(),
        2 => "1 read per write".into(),
        every => format!("{} reads per write", every - 1),
    }
}

/// `1 key per worker`, `1,000 keys`, …
fn keys(keys: Keys) -> String {
    let number = |count: u64| units::count(usize::try_from(count).unwrap_or(usize::MAX), "key", "keys");
    match keys {
        Keys::One => "1 key per worker".into(),
        Keys::Uniform { count } => format!("{}, uniform", number(count)),
        Keys::Zipf { count, .. } => format!("{}, Zipf", number(count)),
        Keys::New => "new keys".into(),
    }
}

/// `integer, 9 reads per write, 1 key per worker`, with what else there is.
pub(super) fn work(evidence: &Evidence, of: &Candidate) -> String {
    let content = content(evidence, &of.row.cell.payload);
    let several = super::candidates(evidence).any(|c| c.client.workers != of.client.workers);
    let mut text = format!("{content}, {}, {}", mix(of.client.mix), keys(of.client.keys));
    if several {
        text.push_str(&format!(", {}", units::count(of.client.workers as usize, "worker", "workers")));
    }
    if let Some(rate) = of.client.rate {
        text.push_str(&format!(", {}/s", units::trimmed_number(rate)));
    }
    text
}

/// The work that all clients of a group do.
pub(super) fn group(evidence: &Evidence, group: &Group) -> String {
    of_work(evidence, group).first().map(|first| work(evidence, first)).unwrap_or_default()
}

pub(super) fn interval(ratio: &Ratio) -> String {
    units::times_interval(ratio.value, ratio.low, ratio.high)
}
