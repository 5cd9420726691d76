//! Cached values of a running store: counted and sampled. Only commands that read are sent, and their number, bytes and time are bounded.
//! A store notes that a key was read; nothing else changes in it.

mod memcached;
mod redis;
mod wire;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::budget::Budget;
use super::strata::{BANDS, band};
use weigh_rig::service::FolderDefinition;
use weigh_rig::store::{StoreDefinition, StoreUrl};
use weigh_run::lab::{Home, Progress};

/// Keys whose lengths are asked for.
const MOST_KEYS: usize = 20_000;
/// Values that are read of one size band, and bytes of all.
const MOST_VALUES: (usize, usize) = (40, 64 << 20);
/// How long all of it may take, and how many questions and bytes, those of answers among them.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST: (usize, usize) = (10 * MOST_KEYS, 160 << 20);

#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// Its URL without a password.
    pub url: String,
    pub keys: u64,
    /// Keys that were looked at.
    pub seen: u64,
    /// Those of them that have no value, by the type of the store that they are.
    pub other_types: BTreeMap<String, u64>,
    /// Values that were looked at, by the band of their stored size: how many, and their bytes.
    pub sizes: [(u64, u64); BANDS.len()],
    pub values: Vec<Read>,
    /// Reads and writes since the store was started, and the seconds of that.
    pub calls: Option<Calls>,
}

/// A value as it is stored.
#[derive(Clone, Debug)]
pub struct Read {
    pub key: String,
    pub bytes: Vec<u8>,
    pub flags: Option<u32>,
    /// The band of the size that the store stated.
    band: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// Reads that found a value; of what is not there nothing is decoded.
    pub reads: f64,
    pub writes: f64,
    /// Seconds since the store was started.
    pub seconds: f64,
}

impl Stored {
    /// Counts a value of this size.
    fn count(&mut self, size: u64) {
        self.seen += 1;
        let (keys, bytes) = &mut self.sizes[band(size)];
        (*keys, *bytes) = (*keys + 1, *bytes + size);
    }

    /// How many values of the store a value of a band stands for; none if none of the band was read.
    fn weight(&self, at: usize) -> Option<f64> {
        let read = self.values.iter().filter(|value| value.band == at).count();
        (read > 0).then(|| self.sizes[at].0 as f64 * self.scale() / read as f64)
    }

    /// Keys of the store for each that was looked at.
    fn scale(&self) -> f64 {
        (self.keys as f64 / self.seen.max(1) as f64).max(1.0)
    }

    /// Shows every value that was read, with how many it stands for.
    pub fn each(&mut self, mut show: impl FnMut(Read, f64)) {
        let weights: Vec<_> = (0..BANDS.len()).map(|at| self.weight(at)).collect();
        for value in std::mem::take(&mut self.values) {
            let weight = weights[value.band].unwrap_or(0.0);
            show(value, weight);
        }
    }

    /// Values of bands from which none was read: how many, and their mean size.
    pub fn unread(&self) -> Vec<(f64, f64)> {
        let counted = (0..BANDS.len()).filter(|at| self.weight(*at).is_none() && self.sizes[*at].0 > 0);
        counted
            .map(|at| (at, self.sizes[at]))
            .map(|(_, (keys, bytes))| (keys as f64 * self.scale(), bytes as f64 / keys as f64))
            .collect()
    }

    /// `12 sets, 3 lists`; none if every key has a value.
    pub fn left_out(&self) -> Option<String> {
        let named = self.other_types.iter().map(|(name, keys)| format!("{keys} of type {name}"));
        (!self.other_types.is_empty()).then(|| weigh_model::units::list(&named.collect::<Vec<_>>()))
    }
}

/// Looks at a store.
///
/// # Errors
/// One line without the password: it cannot or may not be asked, or answers with something else.
pub fn inspect_store(
    home: &Home,
    url: &str,
    allowed: &[String],
    progress: &mut dyn Progress,
) -> Result<Stored> {
    let definitions = StoreDefinition::load(&home.definitions)?;
    let url = StoreUrl::parse(url, &definitions)?;
    url.permit(allowed)?;
    url.reach()?;
    progress.doing(&format!("sampling {url}"));
    let budget = Rc::new(Budget::new(PATIENCE, MOST.0, MOST.1));
    let found = match url.store.as_str() {
        "redis" => redis::inspect_redis(&url.address, &budget),
        "memcached" => memcached::inspect_memcached(&url.address, &budget),
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
