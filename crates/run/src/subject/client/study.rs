//! A study's blocks of client cells: PHP workers that write to a store and read from it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::study::block::{Block, Quick, no_link, quick_factors, to_strings};
use weigh_model::client::{Keys, Mix};

/// Workers of a block at most.
const MOST_WORKERS: u32 = 64;
/// Transactions of a worker in a block at most.
const MOST_TRANSACTIONS: u64 = 10_000_000;

/// Every combination of these factors is a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientBlock {
    /// What the block is for.
    #[serde(default)]
    pub about: String,
    /// Stores by name; `*` is every store that is here.
    pub stores: Vec<String>,
    /// Drivers by name; `*` is every driver of the store, `extension` the first one that is an extension's, `first` the same or,
    /// where a PHP has none of those extensions, the first one that it can use. Absent: every one.
    #[serde(default = "every")]
    pub drivers: Vec<String>,
    /// `php` (every PHP of the run) or one runtime's name, with a variant: `php+jit`.
    pub runtimes: Vec<String>,
    /// What is written: `integer`, `record:40` (bins), or contents by name (`value:rows-4k`).
    pub values: Vec<String>,
    /// Reads and writes: `9:1`, `reads`, `writes`. Absent: `9:1`.
    #[serde(default = "nine_to_one")]
    pub mixes: Vec<String>,
    /// Keys: `one`, `uniform:1000`, `zipf:1000`, `new`. Absent: `one`.
    #[serde(default = "one_key")]
    pub keys: Vec<String>,
    /// Worker processes. Absent: 4.
    #[serde(default = "four")]
    pub workers: Vec<u32>,
    /// Transactions of each worker in one block.
    pub transactions: u64,
    /// Transactions per second of all workers together, on a schedule. Absent: a closed loop.
    #[serde(default)]
    pub rates: Vec<f64>,
    /// Links between workers and store, by name or as `100mbit/20ms`; `-` is none. Absent: none.
    #[serde(default = "no_link")]
    pub links: Vec<String>,
    /// Serializers that the worker uses before it encodes; only with `codecs`. A PHP that has none of them uses `serialize`.
    #[serde(default)]
    pub serializers: Vec<String>,
    /// Settings by which the worker encodes: see [`weigh_model::setting::Request`]. Absent: values go to the driver as they are.
    #[serde(default)]
    pub codecs: Vec<String>,
    /// What the quick form does with this block; absent: the same as the whole study.
    pub quick: Option<Quick<QuickClientFactors>>,
}

fn every() -> Vec<String> {
    to_strings(["*"])
}

fn nine_to_one() -> Vec<String> {
    to_strings(["9:1"])
}

fn one_key() -> Vec<String> {
    to_strings(["one"])
}

fn four() -> Vec<u32> {
    vec![4]
}

/// Another way to run a PHP: settings of its ini.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// `NAME=VALUE`, such as `opcache.jit=tracing`.
    pub ini: Vec<String>,
    /// The first version of PHP that has it.
    pub since: Option<String>,
}

pub type Variants = BTreeMap<String, Variant>;

quick_factors!(QuickClientFactors of ClientBlock with links: stores: Vec<String>, drivers: Vec<String>, runtimes: Vec<String>, values: Vec<String>,
    mixes: Vec<String>, keys: Vec<String>, transactions: u64, links: Vec<String>, serializers: Vec<String>, codecs: Vec<String>);

impl ClientBlock {
    /// Makes sure that the block has something of everything, in its quick form too.
    ///
    /// # Errors
    /// The first thing that is missing or out of bounds.
    pub fn check(&self) -> Result<()> {
        self.check_factors()?;
        match self.quick_form() {
            Some(quick) => quick.check_factors().context("in its quick form"),
            None => Ok(()),
        }
    }

    fn check_factors(&self) -> Result<()> {
        let lists = [
            ("stores", &self.stores),
            ("drivers", &self.drivers),
            ("runtimes", &self.runtimes),
            ("values", &self.values),
            ("mixes", &self.mixes),
            ("keys", &self.keys),
            ("links", &self.links),
        ];
        if let Some((name, _)) = lists.iter().find(|(_, list)| list.is_empty()) {
            bail!("a block of [[clients]] needs at least one of `{name}`");
        }
        self.mixes.iter().try_for_each(|mix| Mix::parse(mix).map(|_| ()))?;
        self.keys.iter().try_for_each(|keys| Keys::parse(keys).map(|_| ()))?;
        let is_new = self.keys.iter().any(|keys| keys == "new");
        ensure!(
            !(is_new && self.mixes.iter().any(|mix| mix == "reads")),
            "keys = \"new\" and mixes = \"reads\": what was never written cannot be read"
        );
        let workers = self.workers.iter().all(|n| (1..=MOST_WORKERS).contains(n));
        ensure!(workers && !self.workers.is_empty(), "workers are 1 to {MOST_WORKERS}");
        ensure!(
            (1..=MOST_TRANSACTIONS).contains(&self.transactions),
            "transactions = {} must be 1 to {MOST_TRANSACTIONS}",
            self.transactions
        );
        ensure!(self.rates.iter().all(|r| r.is_finite() && *r > 0.0), "rates are above zero");
        ensure!(
            self.codecs.is_empty() == self.serializers.is_empty(),
            "`codecs` and `serializers` of a block of [[clients]] come together"
        );
        Ok(())
    }

    /// Measures it on every store of the run.
    pub fn all_stores(&mut self) {
        self.stores = every();
        if let Some(Quick::Other(factors)) = &mut self.quick {
            factors.stores = None;
        }
    }
}
