//! What a run came to.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::manifest::Manifest;
use super::names::MAP_ENDING;
use weigh_content::types;
use weigh_model::text::clean_path;

/// The version of the JSON.
pub const SCHEMA: u32 = 1;
/// More paths of one sort are counted, not kept.
const MOST: usize = 1000;

/// What `weigh pack --json` writes.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct PackOutcome {
    /// The version of this form.
    pub schema: u32,
    /// The tree.
    pub tree: String,
    /// Where the variants are.
    pub out: String,
    /// Whether nothing was written, because that was asked for.
    pub dry_run: bool,
    /// Files that should have variants.
    pub files: u64,
    /// Those of them for which nothing was to do.
    pub unchanged: u64,
    /// Variants that were written; with `dry_run`, those that would be tried.
    pub written: u64,
    /// Variants that were taken from a file with the same content instead of being encoded.
    pub taken: u64,
    /// Variants that were removed, because their source changed or is gone, or nobody asks for them now.
    pub removed: u64,
    /// All variants of the tree, by content coding.
    pub codings: Vec<Coding>,
    /// Files that are not from here and have the name of a variant: they stay as they are.
    pub kept: Listed,
    /// Files without any variant, by the reason.
    pub left_out: BTreeMap<String, Listed>,
    /// Links that are not followed.
    pub links: Listed,
    /// What could not be done.
    pub failures: Vec<Failure>,
    /// What is not as it should be: all that `--check` finds, else variants that are not from here and that servers would send.
    pub problems: Vec<Problem>,
    /// Remarks.
    pub notes: Vec<String>,
    /// Whether the user ended it.
    pub interrupted: bool,
}

/// Variants of a content coding.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Coding {
    /// The content coding; `type-map` for Apache's type maps.
    pub coding: String,
    /// What makes them.
    pub by: Vec<String>,
    /// How many there are.
    pub variants: u64,
    /// Bytes of their sources.
    pub source_bytes: u64,
    /// Their own bytes.
    pub bytes: u64,
    /// Files without one, because it saves too little.
    pub left_out: u64,
}

/// Paths; beyond a thousand they are only counted.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Listed {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub paths: Vec<String>,
}

/// What could not be done.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Failure {
    /// The file, below the tree.
    pub path: String,
    /// Why.
    pub why: String,
}

/// A variant that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Problem {
    /// The variant's file.
    pub path: String,
    /// What is wrong.
    pub what: Wrong,
}

/// What is wrong with a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wrong {
    /// It is not there.
    Missing,
    /// Its source changed or is gone, or it is made by other settings.
    Stale,
    /// It is not what was written.
    Damaged,
    /// Not from here: its window is larger than browsers accept.
    Window,
    /// Not from here: it cannot be decoded.
    Undecodable,
    /// Not from here: it decodes to something else than its file.
    Other,
}

impl Wrong {
    /// Whether the variant was not written here.
    pub fn is_foreign(self) -> bool {
        matches!(self, Wrong::Window | Wrong::Undecodable | Wrong::Other)
    }

    pub fn words(self) -> &'static str {
        match self {
            Wrong::Missing => "missing",
            Wrong::Stale => "stale",
            Wrong::Damaged => "not what was written",
            Wrong::Window => {
                "not from here, and browsers refuse it: its window is larger than they accept (zstd: 8 MB, RFC 9659; br: 16 MB, RFC 7932); delete it, and weigh pack makes one that they take"
            }
            Wrong::Undecodable => {
                "not from here, and browsers cannot decode it; delete it, and weigh pack makes a right one"
            }
            Wrong::Other => {
                "not from here, and it decodes to something else than its file (is it of an older version?); delete it, and weigh pack makes a right one"
            }
        }
    }
}

impl Listed {
    pub fn add(&mut self, path: &Path) {
        self.count += 1;
        if self.paths.len() < MOST {
            self.paths.push(clean_path(path));
        }
    }
}

/// What an ending ends in: `dcz` of `3f2a….dcz`.
fn last(ending: &str) -> &str {
    ending.rsplit('.').next().unwrap_or(ending)
}

impl PackOutcome {
    /// An empty one.
    pub fn of(tree: &Path, out: &Path) -> PackOutcome {
        PackOutcome { schema: SCHEMA, tree: clean_path(tree), out: clean_path(out), ..PackOutcome::default() }
    }

    pub fn fail(&mut self, path: &Path, why: impl Into<String>) {
        self.failures.push(Failure { path: clean_path(path), why: why.into() });
    }

    /// One more file without a variant.
    pub fn leave(&mut self, path: &Path, why: impl Into<String>) {
        self.left_out.entry(why.into()).or_default().add(path);
    }

    pub fn count(&mut self, manifest: &Manifest) {
        let mut rows: BTreeMap<(usize, &str), Coding> = BTreeMap::new();
        for (path, entry) in manifest.entries.iter().filter(|(_, entry)| entry.is_there) {
            let is_tried = entry.variants.iter().any(|variant| &*variant.ending != MAP_ENDING);
            if is_tried && entry.variants.iter().all(|variant| variant.sum.is_none() && !variant.is_theirs) {
                self.leave(path, "no variant saves enough");
            }
            for variant in entry.variants.iter().filter(|variant| !variant.is_theirs) {
                let at = types::VARIANTS.iter().position(|(_, ending)| **ending == *variant.ending);
                let row = rows.entry((at.unwrap_or(usize::MAX), last(&variant.ending))).or_default();
                // A delta's is followed by what it is against.
                let by = variant.by.split(' ').next().unwrap_or_default();
                let coding = by.split(':').next().unwrap_or_default();
                row.coding = at.map_or(coding, |at| types::VARIANTS[at].0).to_owned();
                if !row.by.iter().any(|known| known == by) {
                    row.by.push(by.to_owned());
                }
                match variant.sum {
                    Some(_) => {
                        row.variants += 1;
                        row.source_bytes += entry.seen.bytes;
                        row.bytes += variant.bytes;
                    }
                    None => row.left_out += 1,
                }
            }
        }
        self.codings = rows.into_values().collect();
    }
}
