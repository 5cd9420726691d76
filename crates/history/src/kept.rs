//! The summary of a run or a load, in its folder.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::derive::derived;
use super::stamp;
use super::summary::{Summary, Values};
use weigh_os::open_folder::OpenFolder;
use weigh_os::regular;

/// Its name in the folder of a run.
pub const FILE: &str = "summary.json";
/// The version of [`Summary`] and of what is derived. Another one is not a fault: everything is derived again.
const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct Whole<'s> {
    #[serde(flatten)]
    summary: &'s Summary,
    values: &'s Values,
}

#[derive(Deserialize)]
struct WithValues {
    schema: u32,
    stamp: String,
    values: Values,
}

#[derive(Debug)]
pub struct FoundSummary {
    pub summary: Summary,
    /// It was derived from the records just now.
    pub is_new: bool,
    /// Why it could not be written.
    pub refused: Option<String>,
}

impl FoundSummary {
    /// Of a run's folder: what is there, if it is true, else what the records say, which is kept from now on.
    pub fn of(run: &Path) -> FoundSummary {
        // Taken before the records are read: what is written after that is read the next time.
        let stamp = stamp::stamp_files(run);
        let is_true = |one: &Summary| one.schema == SCHEMA && one.stamp == stamp;
        if let Some(summary) = read::<Summary>(run).ok().filter(is_true) {
            return FoundSummary { summary, is_new: false, refused: None };
        }
        let (summary, values) = made(run, stamp);
        let refused = write(run, &Whole { summary: &summary, values: &values });
        FoundSummary { summary, is_new: true, refused: refused.err().map(|error| format!("{error:#}")) }
    }
}

impl Summary {
    /// The values of the run in this folder, whose summary it is. Where they are not there any more, they are made and kept again.
    pub fn values(&self, run: &Path) -> Values {
        let is_own = |kept: &WithValues| (kept.schema, &kept.stamp) == (self.schema, &self.stamp);
        let kept = read::<WithValues>(run).ok().filter(is_own);
        kept.map_or_else(
            || {
                let (summary, values) = made(run, self.stamp.clone());
                // What cannot be kept was said, and is read again.
                let _ = write(run, &Whole { summary: &summary, values: &values });
                values
            },
            |kept| kept.values,
        )
    }
}

fn read<T: for<'d> Deserialize<'d>>(run: &Path) -> Result<T> {
    Ok(serde_json::from_slice(&regular::read(&run.join(FILE), regular::RESULT)?)?)
}

/// What the records of a run say.
fn made(run: &Path, stamp: String) -> (Summary, Values) {
    let (summary, values) = derived(run);
    (Summary { schema: SCHEMA, stamp, ..summary }, values)
}

/// Writes it whole or not at all, whatever stands there, and through no link.
fn write(run: &Path, whole: &Whole<'_>) -> Result<()> {
    let folder = OpenFolder::open(run).context("the folder")?;
    Ok(folder.put(FILE.as_ref(), &serde_json::to_vec(whole)?)?)
}
