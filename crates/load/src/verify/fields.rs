//! What the fields of responses tell the reader of a preflight.

use std::collections::BTreeMap;

use super::examine::Captured;
use crate::escape::shown;

/// Fields that differ by their nature.
const PASSING: [&[u8]; 5] = [b"date", b"age", b"expires", b"connection", b"keep-alive"];
/// Names that are listed at most.
const LISTED: usize = 8;

/// The value of a field, its lines joined by commas, escaped and bounded.
pub(super) fn value(captured: &Captured, name: &str) -> Option<String> {
    let named = captured.fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
    let lines: Vec<&[u8]> = named.map(|(_, value)| value.as_slice()).collect();
    (!lines.is_empty()).then(|| shown(&lines.join(&b", "[..])))
}

/// Whether Vary names Accept-Encoding, or everything.
pub(super) fn varies_by_encoding(captured: &Captured) -> bool {
    let vary = captured.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case(b"vary"));
    let mut names = vary.flat_map(|(_, value)| value.split(|b| *b == b',')).map(<[u8]>::trim_ascii);
    names.any(|name| name == b"*" || name.eq_ignore_ascii_case(b"accept-encoding"))
}

/// The names of fields whose values are not those of the first response in every other one, in one line; those that
/// `known` names are left out. None: there are none.
pub(super) fn differing(first: &Captured, others: &[Captured], known: &[String]) -> Option<String> {
    let passing = |name: &[u8]| {
        PASSING.iter().any(|p| name.eq_ignore_ascii_case(p))
            || known.iter().any(|k| name.eq_ignore_ascii_case(k.as_bytes()))
    };
    let reference = by_name(first);
    let mut names: Vec<Vec<u8>> = Vec::new();
    for other in others.iter().map(by_name) {
        for name in reference.keys().chain(other.keys()) {
            if reference.get(name) != other.get(name) && !passing(name) && !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    let mut listed: Vec<String> = names.iter().take(LISTED).map(|name| shown(name)).collect();
    if names.len() > LISTED {
        listed.push(format!("{} more", names.len() - LISTED));
    }
    (!listed.is_empty()).then(|| listed.join(", "))
}

/// Values by the name in lower case.
fn by_name(captured: &Captured) -> BTreeMap<Vec<u8>, Vec<&[u8]>> {
    let mut fields: BTreeMap<Vec<u8>, Vec<&[u8]>> = BTreeMap::new();
    for (name, value) in &captured.fields {
        fields.entry(name.to_ascii_lowercase()).or_default().push(value);
    }
    fields
}
