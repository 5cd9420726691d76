//! What clients store: a number, a record of many bins, or contents by name.

use anyhow::{Context, Result, ensure};

use crate::planner::build::ContentSource;
use weigh_model::client::ValueKind;
use weigh_model::payload::Payload;

/// Bins of a record at most.
const MOST_BINS: u32 = 1000;

/// Whether workers make what this name stands for by themselves.
pub fn is_made(name: &str) -> bool {
    name == "integer" || name.starts_with("record:")
}

/// The payloads that a name of a study stands for, each with what it is to a worker. A number and a record are made by the worker:
/// their payload is the name.
///
/// # Errors
/// A name that nothing answers to.
pub fn payload_of(name: &str, contents: &mut ContentSource<'_>) -> Result<Vec<(Payload, ValueKind)>> {
    let made =
        |kind: ValueKind, payloads: Vec<Payload>| Ok(payloads.into_iter().map(|p| (p, kind)).collect());
    if name == "integer" {
        return made(ValueKind::Integer, contents(name, None)?);
    }
    if let Some(bins) = name.strip_prefix("record:") {
        let bins: u32 =
            bins.parse().ok().with_context(|| format!("`{name}`: `{bins}` is no number of bins"))?;
        ensure!((1..=MOST_BINS).contains(&bins), "`{name}`: a record has 1 to {MOST_BINS} bins");
        return made(ValueKind::Record { bins }, contents(name, None)?);
    }
    let kind = |p: &Payload| if p.value.is_some() { ValueKind::Value } else { ValueKind::Text };
    Ok(contents(name, None)?.into_iter().map(|p| (p.clone(), kind(&p))).collect())
}
