//! Apache's type maps: `NAME.var` lists the variants of `NAME`. The template is the one that the studies measure with.

use std::path::Path;

use anyhow::Result;

use super::manifest::{Entry, Manifest, Variant};
use super::names::MAP_ENDING;
use super::sum::{Short, Sum, short, sum};
use weigh_content::types;
use weigh_rig::server::docroot;

/// What makes it, in the manifest.
pub const BY: &str = "type-map";

/// The map of a source with these variants; none where there is nothing to choose, or where its name would be read as something else.
///
/// # Errors
/// The template cannot be rendered.
pub fn text(path: &Path, entry: &Entry, template: &str) -> Result<Option<String>> {
    let is_plain = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || "._-+@~".contains(c));
    let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(is_plain) else {
        return Ok(None);
    };
    let there = |(coding, ending): &(&'static str, &'static str)| {
        entry.variant(ending).is_some_and(|variant| variant.sum.is_some()).then_some((*coding, *ending))
    };
    let variants: Vec<(&str, &str)> = types::VARIANTS.iter().filter_map(there).collect();
    if variants.is_empty() {
        return Ok(None);
    }
    docroot::map_text(name, name, &variants, ("type-map", template)).map(Some)
}

/// What the manifest has of a map.
pub fn variant(manifest: &mut Manifest, text: &str) -> (Variant, Short) {
    let whole: Sum = sum(text.as_bytes());
    let sum = short(&whole);
    let (ending, by) = (manifest.word(MAP_ENDING), manifest.word(BY));
    (
        Variant {
            ending,
            by,
            bytes: text.len() as u64,
            sum: Some(sum),
            former: Vec::new(),
            is_theirs: false,
        },
        sum,
    )
}
