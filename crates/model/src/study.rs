//! What a plan contains of its study: one question with factors and a budget. The crate `weigh` reads the study's file.

mod published;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use crate::gate::Gate;
use crate::link::LONGEST_MS;
use crate::transfer::{Connection, Path};
pub use published::{Published, PublishedColumn, PublishedRow};

/// The part of a study that becomes part of the plan: the question, and how to read the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StudyText {
    /// `cache-levels`.
    pub name: String,
    /// A heading.
    pub title: String,
    /// The question, one sentence.
    pub question: String,
    /// How to read the answer, in paragraphs.
    pub reading: String,
    /// The links whose total times are computed.
    #[serde(default)]
    pub links: Option<Links>,
    /// Published figures, shown beside the measured ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_table: Option<Published>,
    /// The limits that its results must keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
}

/// How long a run may take, in seconds of wall time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Budget of the whole study.
    pub seconds: f64,
    /// Budget with `--quick`.
    pub quick_seconds: f64,
    /// Budget of one cell, over all its visits.
    pub cell_seconds: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { seconds: 900.0, quick_seconds: 120.0, cell_seconds: 20.0 }
    }
}

/// When a cell is settled.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Precision {
    /// The largest number of rounds.
    pub max_rounds: u32,
    /// The least samples per cell.
    pub min_samples: u32,
    /// Half-width of the 95% interval ÷ CPU time.
    pub half_width: f64,
}

impl Default for Precision {
    fn default() -> Self {
        Precision { max_rounds: 30, min_samples: 7, half_width: 0.02 }
    }
}

/// The links between application and store for which total times are computed, and the other inputs of that
/// computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// Link speeds in Mbit/s, ascending.
    pub mbit: Vec<f64>,
    /// Reads per write.
    pub reads_per_write: Vec<f64>,
    /// The round trip in milliseconds.
    #[serde(default = "round_trip_ms")]
    pub rtt_ms: f64,
    /// How many workers of a cache or visitors of a page share the link evenly.
    #[serde(default = "one")]
    pub concurrency: u32,
    /// The connection of a call.
    #[serde(default)]
    pub connection: Connection,
    /// Nanoseconds that driver and store take per stored byte of a write, as a run with clients measures it; null: not
    /// measured and left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ns_per_byte: Option<f64>,
    /// The same for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns_per_byte: Option<f64>,
    /// The link speed in Mbit/s for which recommendations are made; null: the middle one of `mbit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_mbit: Option<f64>,
    /// The reads per write for which recommendations are made; null: the given number nearest to ten, because a cache
    /// is read more often than it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_reads: Option<f64>,
}

/// The round trip between two machines of one data centre.
fn round_trip_ms() -> f64 {
    0.5
}

fn one() -> u32 {
    1
}

impl Default for Links {
    fn default() -> Links {
        Links {
            mbit: Vec::new(),
            reads_per_write: Vec::new(),
            rtt_ms: round_trip_ms(),
            concurrency: one(),
            connection: Connection::default(),
            write_ns_per_byte: None,
            read_ns_per_byte: None,
            usual_mbit: None,
            usual_reads: None,
        }
    }
}

impl Links {
    /// One direction at a bandwidth in Mbit/s, as seen by one of those who share the link.
    pub fn path(&self, mbit: f64) -> Path {
        Path::shared(mbit, self.rtt_ms, f64::from(self.concurrency))
    }

    /// What is wrong with it, in one line.
    ///
    /// # Errors
    /// Speeds that are not above zero and ascending, or a figure out of range.
    pub fn check(&self) -> Result<()> {
        let ascending = self.mbit.windows(2).all(|w| w[0] < w[1]);
        if self.mbit.is_empty() || !ascending || self.mbit.iter().any(|m| m.is_nan() || *m <= 0.0) {
            bail!("links.mbit must list speeds above zero in ascending order");
        }
        if !(0.0..=LONGEST_MS).contains(&self.rtt_ms) {
            bail!("links.rtt_ms = {}; it must be between 0 and 10000", self.rtt_ms);
        }
        if self.concurrency == 0 {
            bail!("links.concurrency must be at least 1");
        }
        for (value, key) in [
            (self.write_ns_per_byte, "links.write_ns_per_byte"),
            (self.read_ns_per_byte, "links.read_ns_per_byte"),
        ] {
            if let Some(value) = value.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                bail!("{key} = {value} must be zero or more");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(json: &str) -> Links {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn links_of_older_plans_are_those_of_a_warm_connection_in_a_data_centre() {
        let old = links(r#"{"mbit": [10], "reads_per_write": [1]}"#);
        assert_eq!((old.rtt_ms, old.concurrency, old.connection), (0.5, 1, Connection::Warm));
        assert!(old.check().is_ok() && old.write_ns_per_byte.is_none());
    }

    #[test]
    fn links_that_cannot_be_are_refused_by_their_key() {
        for (part, key) in [
            (r#""mbit": []"#, "links.mbit"),
            (r#""mbit": [10, 10]"#, "links.mbit"),
            (r#""mbit": [0]"#, "links.mbit"),
            (r#""mbit": [10], "rtt_ms": -1"#, "links.rtt_ms"),
            (r#""mbit": [10], "concurrency": 0"#, "links.concurrency"),
            (r#""mbit": [10], "read_ns_per_byte": -0.1"#, "links.read_ns_per_byte"),
        ] {
            let refused = links(&format!(r#"{{{part}, "reads_per_write": []}}"#)).check().unwrap_err();
            assert!(refused.to_string().starts_with(key), "{part}: {refused}");
        }
    }
}
