//! What a client of a store does in a cell: driver, number of workers, mix of writes and reads, and keys.
//!
//! Text forms, as studies write them: mixes `9:1` (reads : writes), `reads`, `writes`; keys `one`, `uniform:1000`,
//! `zipf:1000`, `zipf:1000,exponent=0.99`, `new`.

use std::fmt;

use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};

/// The largest number of keys in a key space: workers keep the names of all keys.
const MOST_KEYS: u64 = 10_000_000;
/// The default exponent of a Zipf distribution, as in YCSB.
const EXPONENT: f64 = 0.99;

/// What a cell has in addition to payload, runtime and setting when PHP workers use a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Client {
    /// The store's name in the plan: `redis`.
    pub store: String,
    /// The driver's name: `phpredis`, `socket`.
    pub driver: String,
    /// What the worker makes of the payload.
    pub value: ValueKind,
    /// The mix of writes and reads.
    pub mix: Mix,
    /// Which keys.
    pub keys: Keys,
    /// Worker processes.
    pub workers: u32,
    /// Transactions per worker in one block.
    pub transactions: u64,
    /// Scheduled transactions per second of all workers together; null: a closed loop, in which each worker starts the
    /// next transaction after an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The link between workers and store, by its name in the plan; null: loopback or a unix socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Whether the worker serializes and encodes values before writing them, with the cell's serializer and setting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub encoded: bool,
}

impl Client {
    /// The part of the cell's group between payload and runtime: `redis/phpredis`, with a link
    /// `redis/phpredis@100mbit/20ms`.
    pub fn place(&self) -> String {
        let link = self.link.as_ref().map_or(String::new(), |link| format!("@{link}"));
        format!("{}/{}{link}", self.store, self.driver)
    }

    /// The workload: `9:1/one*4`, with a rate `9:1/one*4@2000`.
    pub fn work(&self) -> String {
        let rate = self.rate.map_or(String::new(), |rate| format!("@{rate}"));
        format!("{}/{}*{}{rate}", self.mix, self.keys, self.workers)
    }
}

/// What a client worker makes of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ValueKind {
    /// A number derived from the key.
    Integer,
    /// A record of many bins of mixed types.
    Record {
        /// The number of bins.
        bins: u32,
    },
    /// The payload's bytes as one string.
    Text,
    /// The PHP value whose `serialize()` output is the payload.
    Value,
}

/// The mix of writes and reads: one of every `write_every` transactions is a write, starting with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Mix {
    /// 1: writes only. 0: reads only, of keys that were written before.
    pub write_every: u32,
}

impl Mix {
    /// Reads a mix.
    ///
    /// # Errors
    /// One line that quotes it.
    pub fn parse(text: &str) -> Result<Mix> {
        let write_every = match text.trim() {
            "reads" => 0,
            "writes" => 1,
            mixed => {
                let parts = mixed.split_once(':').and_then(|(r, w)| Some((number(r)?, number(w)?)));
                match parts {
                    Some((0, w)) if w > 0 => 1,
                    Some((r, 0)) if r > 0 => 0,
                    Some((r, w)) if w > 0 && (r + w) % w == 0 && (r + w) / w <= 1_000_000 => (r + w) / w,
                    _ => bail!(
                        "`{text}` is not a mix; write READS:WRITES, with READS a multiple of WRITES, such as 9:1, or `reads` or `writes`"
                    ),
                }
            }
        };
        Ok(Mix { write_every })
    }

    /// The share of writes, 0 to 1.
    pub fn writes(self) -> f64 {
        if self.write_every == 0 { 0.0 } else { 1.0 / f64::from(self.write_every) }
    }
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|n| *n <= 1_000_000)
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.write_every {
            0 => f.write_str("reads"),
            1 => f.write_str("writes"),
            every => write!(f, "{}:1", every - 1),
        }
    }
}

/// Which keys are written and read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Keys {
    /// Each worker has one key of its own.
    One,
    /// Keys drawn uniformly from a key space.
    Uniform {
        /// Keys in the key space.
        count: u64,
    },
    /// Keys drawn from a key space with Zipf's distribution: key k has the weight k to the power of minus the exponent.
    Zipf {
        /// Keys in the key space.
        count: u64,
        /// The exponent.
        exponent: f64,
    },
    /// A new key for each transaction.
    New,
}

impl Keys {
    /// Reads keys.
    ///
    /// # Errors
    /// One line that quotes them.
    pub fn parse(text: &str) -> Result<Keys> {
        let (head, option) = match text.split_once(',') {
            Some((head, option)) => (head.trim(), Some(option.trim())),
            None => (text.trim(), None),
        };
        let wrong = || {
            anyhow::anyhow!(
                "`{text}` does not name keys; write one, new, uniform:COUNT or zipf:COUNT,exponent=0.99"
            )
        };
        let (kind, count) = match head.split_once(':') {
            Some((kind, count)) => (kind, Some(count.parse::<u64>().map_err(|_| wrong())?)),
            None => (head, None),
        };
        if let Some(count) = count {
            ensure!((1..=MOST_KEYS).contains(&count), "`{text}`: COUNT must be between 1 and {MOST_KEYS}");
        }
        match (kind, count, option) {
            ("one", None, None) => Ok(Keys::One),
            ("new", None, None) => Ok(Keys::New),
            ("uniform", Some(count), None) => Ok(Keys::Uniform { count }),
            ("zipf", Some(count), option) => {
                let given = option.map(|o| {
                    o.strip_prefix("exponent=").and_then(|e| e.parse::<f64>().ok()).ok_or_else(wrong)
                });
                let exponent = given.transpose()?.unwrap_or(EXPONENT);
                ensure!(
                    exponent > 0.0 && exponent <= 10.0,
                    "`{text}`: the exponent must be above 0 and at most 10"
                );
                Ok(Keys::Zipf { count, exponent })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keys::One => f.write_str("one"),
            Keys::Uniform { count } => write!(f, "uniform:{count}"),
            Keys::Zipf { count, exponent } if *exponent == EXPONENT => write!(f, "zipf:{count}"),
            Keys::Zipf { count, exponent } => write!(f, "zipf:{count},exponent={exponent}"),
            Keys::New => f.write_str("new"),
        }
    }
}

#[cfg(test)]
mod tests;
