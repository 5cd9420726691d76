//! Cached values of a running store: counted and sampled. Only commands that read are sent, and their number, bytes and time are bounded.
//! A store notes that a key was read; nothing else changes in it.

mod memcached;
mod redis;
mod wire;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::strata::{BANDS, band};
use super::values::Value;
use crate::lab::{Lab, Progress};
use crate::rig::service::FolderDefinition;
use crate::rig::store::{StoreDefinition, StoreUrl};

/// Keys whose lengths are asked for.
const MOST_KEYS: usize = 20_000;
/// Values that are read of one size band, and bytes of all.
const MOST_VALUES: (usize, usize) = (40, 64 << 20);
/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a store tells.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// Its URL without a password.
    pub url: String,
    /// Keys in the database.
    pub keys: u64,
    /// Keys that were looked at.
    pub seen: u64,
    /// Those of them that are no plain strings.
    pub other_types: u64,
    /// Plain strings that were looked at, by the band of their stored size.
    pub sizes: [u64; BANDS.len()],
    /// Values with their keys.
    pub values: Vec<(String, Value)>,
    /// Reads and writes since the store was started, and the seconds of that.
    pub calls: Option<Calls>,
}

/// The store's own counters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// Reads.
    pub reads: f64,
    /// Those that found a value.
    pub hits: f64,
    /// Writes.
    pub writes: f64,
    /// Seconds since the store was started.
    pub seconds: f64,
}

impl Stored {
    /// How many plain strings of the database a value stands for.
    pub fn weight(&self, value: &Value) -> f64 {
        let at = band(value.stored);
        let read = self.values.iter().filter(|(_, other)| band(other.stored) == at).count();
        let all = (self.keys as f64 / self.seen.max(1) as f64).max(1.0);
        // Memcached's own sizes are near to a value's length, not equal to it.
        self.sizes[at].max(read as u64) as f64 * all / read.max(1) as f64
    }
}

/// Looks at a store.
///
/// # Errors
/// One line without the password: it cannot or may not be asked, or answers with something else.
pub fn look(lab: &Lab, url: &str, allowed: &[String], progress: &mut dyn Progress) -> Result<Stored> {
    let definitions = StoreDefinition::load(&lab.definitions)?;
    let url = StoreUrl::parse(url, &definitions)?;
    url.permit(allowed)?;
    url.reach()?;
    progress.doing(&format!("sampling {url}"));
    let until = Instant::now() + PATIENCE;
    let found = match url.store.as_str() {
        "redis" => redis::look(&url.address, until),
        "memcached" => memcached::look(&url.address, until),
        other => bail!(
            "--store {url}: values of {other} cannot be sampled; write some to a folder and give --values"
        ),
    };
    let found = found.with_context(|| format!("--store {url}"))?;
    Ok(Stored { url: url.to_string(), ..found })
}

/// Which values are still to be read.
#[derive(Debug, Default)]
struct Room {
    read: [usize; BANDS.len()],
    bytes: usize,
}

impl Room {
    /// Whether a value of this length is to be read.
    fn take(&mut self, length: u64) -> bool {
        let at = band(length);
        let Ok(length) = usize::try_from(length) else { return false };
        let fits = length > 0
            && length <= super::values::LONGEST
            && self.read[at] < MOST_VALUES.0
            && self.bytes + length <= MOST_VALUES.1;
        if fits {
            self.read[at] += 1;
            self.bytes += length;
        }
        fits
    }
}

#[cfg(test)]
mod tests;
