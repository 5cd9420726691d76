//! Slow clients in a block of deliveries: this many take the content at a low rate, while others ask for a light page.

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// Slow clients of a cell at most.
const MOST_CLIENTS: u32 = 512;
/// Workers of a pool at most.
const MOST_WORKERS: u32 = 256;
/// Workers of a pool where nothing is said.
const WORKERS: u32 = 8;
/// Bytes per second, where nothing is said.
const READ_RATE: u64 = 50_000;

/// Slow clients: every number of them is a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowClients {
    /// How many there are at a time; 0 shows the light requests alone.
    pub clients: Vec<u32>,
    /// Bytes per second that each takes. Absent: 50,000.
    #[serde(default = "read_rate", skip_serializing_if = "is_usual")]
    pub read_rate: u64,
    /// Workers of the PHP pool. Absent: what `memory` leaves room for, else 8.
    pub workers: Option<u32>,
    /// Bytes of memory for the pool: there are as many workers as fit, each with a script of `script_memory`.
    pub memory: Option<u64>,
    /// Bytes that a script holds while it sends. Absent: none beside its own.
    pub script_memory: Option<u64>,
}

fn read_rate() -> u64 {
    READ_RATE
}

fn is_usual(rate: &u64) -> bool {
    *rate == READ_RATE
}

impl SlowClients {
    /// So many at a time, with everything else as it is where nothing is said.
    pub fn new(clients: Vec<u32>) -> SlowClients {
        SlowClients { clients, read_rate: READ_RATE, workers: None, memory: None, script_memory: None }
    }

    /// Makes sure that the numbers can be carried out.
    ///
    /// # Errors
    /// One line that names the key.
    pub fn check(&self) -> Result<()> {
        if self.clients.is_empty() {
            bail!("`slow` needs at least one value in `clients`");
        }
        if let Some(n) = self.clients.iter().find(|n| **n > MOST_CLIENTS) {
            bail!("slow clients = {n}: give 0 to {MOST_CLIENTS}");
        }
        if self.read_rate == 0 {
            bail!("read_rate = 0: give bytes per second above zero");
        }
        if self.workers.is_some() && self.memory.is_some() {
            bail!("`workers` and `memory` both tell how many workers there are; give one");
        }
        if self.memory.is_some() && self.script_memory.is_none_or(|bytes| bytes == 0) {
            bail!("`memory` needs `script_memory`, the bytes that each script holds");
        }
        let workers = self.workers();
        if !(1..=MOST_WORKERS).contains(&workers) {
            bail!("{workers} workers in a pool: give 1 to {MOST_WORKERS}");
        }
        Ok(())
    }

    pub fn workers(&self) -> u32 {
        let fitting =
            self.memory.zip(self.script_memory).and_then(|(memory, script)| memory.checked_div(script));
        let fitting = fitting.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        self.workers.or(fitting).unwrap_or(WORKERS)
    }
}

#[cfg(test)]
mod tests;
