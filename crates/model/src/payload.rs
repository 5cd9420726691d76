//! A payload: one input, as a blob of bytes that is cut into items; each item is encoded on its own.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where a payload's bytes came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Origin {
    /// Pinned by digest in the corpus.
    Corpus {
        /// Its identifier in `corpus.toml`.
        id: String,
        /// Its licence, SPDX where there is an identifier.
        licence: String,
        /// Where a package registry keeps it, `npm:name@version:path`.
        source: String,
        /// Set when the content is real but differs from the pinned bytes: the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unpinned: Option<String>,
    },
    /// The user's own file or folder.
    User {
        /// The path as given.
        path: PathBuf,
        /// Set when only some of its blocks are measured: which ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sampled: Option<String>,
    },
    /// The response of a URL when the run was planned.
    Url {
        /// The URL.
        url: String,
    },
    /// Made by the workers; the blob holds only its name.
    #[default]
    Made,
    /// Small and generated; every table labels it so.
    Synthetic {
        /// What the generator imitates.
        imitates: String,
    },
}

/// One input of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Payload {
    /// Unique in its plan: `tree-2.4m`, `index.html`, `css/`.
    pub name: String,
    /// What kind of content it is: `html`, `js`, `css`, `json`, `php-value` …
    pub kind: String,
    /// The bytes of all items, one after the other. Relative paths are relative to the run directory.
    pub blob: PathBuf,
    /// SHA-256 of the blob, hexadecimal.
    pub sha256: String,
    /// Length of the blob in bytes.
    pub bytes: u64,
    /// Lengths in bytes of the items, in order; they add up to `bytes`. Each item is encoded on its own.
    pub items: Vec<u64>,
    /// Whether the items are instances of one shape. Then a pass covers all of them, and figures are the mean of one
    /// instance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub family: bool,
    /// `Some("serialize")`: each item is one PHP value in that form, so that cells with a serializer apply.
    pub value: Option<String>,
    /// Consecutive items that are measured by themselves and then added up, as tasks are and as strata of a sample are; together they are
    /// all items. Empty: all items are measured together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PayloadPart>,
    /// Where it came from.
    pub origin: Origin,
}

/// Consecutive items of a payload that are measured by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename = "Part")]
pub struct PayloadPart {
    /// How many items.
    pub items: u32,
    /// Their bytes.
    pub bytes: u64,
    /// SHA-256 of their bytes, hexadecimal.
    pub sha256: String,
    /// The files that they stand for, themselves among them: as many as there are items, unless they are a sample.
    pub stands_for_items: u64,
    /// The bytes of those files. A part's times and sizes count in proportion to them.
    pub stands_for_bytes: u64,
}

impl PayloadPart {
    /// How often its times and sizes count.
    pub fn weight(&self) -> f64 {
        self.stands_for_bytes as f64 / self.bytes.max(1) as f64
    }

    /// Whether it stands for more than itself.
    pub fn is_sample(&self) -> bool {
        self.stands_for_bytes != self.bytes
    }
}

impl Payload {
    /// Instances of a family; 1 for other payloads, whose figures cover all items together.
    pub fn instances(&self) -> usize {
        if self.family { self.items.len().max(1) } else { 1 }
    }

    /// Operations that a figure covers: one for a family, otherwise one per item.
    pub fn operations(&self) -> usize {
        if self.family { 1 } else { self.items.len().max(1) }
    }

    /// Bytes that a figure covers: the mean of one instance for a family, otherwise all bytes, of a sample those that it stands for.
    pub fn size(&self) -> u64 {
        match self.parts.is_empty() {
            true => self.bytes / self.instances() as u64,
            false => self.parts.iter().map(|part| part.stands_for_bytes).sum(),
        }
    }
}

/// Instances of a value of this size that are measured together; 1: the value is measured alone.
///
/// A processor learns the branches of one small input. It then runs a codec over that input up to twice as fast as over
/// the next input of the same kind. The limit of what it can learn is a number of bytes rather than of instances:
/// docs/dev/SIMULATIONS.md has the measurement behind the constants.
pub fn family_of(bytes: u64) -> usize {
    if bytes == 0 || bytes > LARGEST_OF_FAMILY {
        return 1;
    }
    (FAMILY_BYTES.div_ceil(bytes) as usize).clamp(FEWEST_OF_FAMILY, MOST_OF_FAMILY)
}

/// Cuts of this size that are sent in turn; 1: only the start of the content.
pub fn cuts_of(bytes: u64) -> usize {
    if bytes > LARGEST_OF_FAMILY { 1 } else { FEWEST_OF_FAMILY }
}

/// Larger values, in bytes, are too long to be learned and are measured alone.
const LARGEST_OF_FAMILY: u64 = 256 << 10;
/// The least bytes of a family, within the limits of its instances.
const FAMILY_BYTES: u64 = 384 << 10;
/// The fewest instances of a family, and the number that requests cycle through: other code runs between two requests,
/// so that less is learned.
pub const FEWEST_OF_FAMILY: usize = 24;
/// The most instances of a family: each adds a line to requests and plans.
const MOST_OF_FAMILY: usize = 384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_families_and_large_ones_are_not() {
        assert_eq!([300, 1_024, 4_096, 16_384, 65_536, 262_144].map(family_of), [384, 384, 96, 24, 24, 24]);
        assert_eq!([0, 262_145, 2_400_000].map(family_of), [1, 1, 1]);
    }

    #[test]
    fn figures_of_a_family_are_of_one_instance() {
        let all = Payload { bytes: 90, items: vec![20, 30, 40], ..Payload::default() };
        assert_eq!((all.instances(), all.operations(), all.size()), (1, 3, 90));
        let family = Payload { family: true, ..all };
        assert_eq!((family.instances(), family.operations(), family.size()), (3, 1, 30));
    }

    #[test]
    fn figures_of_a_sample_are_of_what_it_stands_for() {
        let part =
            |bytes, stands_for_bytes| PayloadPart { bytes, stands_for_bytes, ..PayloadPart::default() };
        let parts = vec![part(20, 20), part(70, 350)];
        assert_eq!(parts.iter().map(PayloadPart::weight).collect::<Vec<_>>(), [1.0, 5.0]);
        let sample = Payload { bytes: 90, items: vec![20, 30, 40], parts, ..Payload::default() };
        assert_eq!(sample.size(), 370);
    }
}
