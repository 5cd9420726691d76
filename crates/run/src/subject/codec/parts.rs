//! A visit to a payload that is measured in parts: split into one request for each part, and what came of them merged into the one record
//! that the visit is. Who carries out the requests, and where, is not known here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::executor::{Failure, VisitOrder};
use weigh_model::payload::{Payload, PayloadPart};
use weigh_model::protocol::{FaultKind, Phase, Samples, Visit, VisitRequest};
use weigh_model::record::{Sample, VisitRecord};
use weigh_os::{digest, regular};
use weigh_stats::{Stratum, half_width_of};

/// What came of one part.
#[derive(Clone, Debug)]
pub struct Done {
    pub visit: Visit,
    /// The independent decoder that gave the same result.
    pub independent: Option<String>,
}

/// The parts of a payload; one that is measured together is one.
pub fn parts(payload: &Payload) -> Vec<PayloadPart> {
    let whole = || PayloadPart {
        items: u32::try_from(payload.items.len()).unwrap_or(u32::MAX),
        bytes: payload.bytes,
        sha256: payload.sha256.clone(),
        stands_for_items: payload.items.len() as u64,
        stands_for_bytes: payload.bytes,
    };
    if payload.parts.is_empty() { vec![whole()] } else { payload.parts.clone() }
}

/// One request for each part of the payload, in their order. `blob` gives the path of a part's bytes.
///
/// # Errors
/// What `blob` says.
pub fn split<E>(
    whole: &VisitRequest,
    payload: &Payload,
    mut blob: impl FnMut(usize) -> Result<String, E>,
) -> Result<Vec<VisitRequest>, E> {
    let mut items = payload.items.iter().copied();
    let request = |(number, part): (usize, PayloadPart)| {
        let (sha256, items) = (part.sha256, items.by_ref().take(part.items as usize).collect());
        Ok(VisitRequest { blob: blob(number)?, sha256, items, ..whole.clone() })
    };
    parts(payload).into_iter().enumerate().map(request).collect()
}

/// The record of a visit from all its parts, in their order. Sizes and times add up, each by what its part stands for; so does the i-th
/// sample of each phase, for as many as every part has.
pub fn merge(order: &VisitOrder<'_>, done: Vec<Done>) -> VisitRecord {
    let (payload, parts) = (order.payload, parts(order.payload));
    let mut record = VisitRecord {
        instances: if payload.family { payload.items.len() as u32 } else { 0 },
        verified: done.iter().all(|one| one.visit.verified),
        independent: independent(&done),
        ..VisitRecord::of(&order.cell().id, order.round)
    };
    let mut digests = String::new();
    let mut strata = Vec::new();
    let (mut phases, mut again) = (Vec::new(), Vec::new());
    for (part, Done { visit, .. }) in parts.iter().zip(done) {
        let counted =
            |sum: u64| if part.is_sample() { (sum as f64 * part.weight()).round() as u64 } else { sum };
        // Lengths may be a node's word.
        let add = |to: &mut u64, bytes: u64| *to = to.saturating_add(bytes);
        let sum = |lengths: &[u64]| lengths.iter().fold(0u64, |sum, bytes| sum.saturating_add(*bytes));
        add(&mut record.decoded_bytes, counted(sum(&visit.decoded)));
        add(&mut record.encoded_bytes, counted(sum(&visit.encoded)));
        add(&mut record.dictionary_bytes, visit.dictionary_bytes);
        for (phase, peak) in visit.peak_bytes {
            let most = record.peak_bytes.entry(phase).or_default();
            *most = peak.max(*most);
        }
        strata.push(spread(part, &visit.decoded, &visit.encoded));
        digests.push_str(&visit.sha256_encoded);
        phases.push((part.weight(), visit.phases));
        again.push((1.0, visit.again));
    }
    record.sha256_encoded = if parts.len() == 1 { digests } else { digest::sha256(digests.as_bytes()) };
    (record.phases, record.again) = (added(&phases), added(&again));
    record.sample = parts.iter().any(PayloadPart::is_sample).then(|| Sample {
        share: payload.bytes as f64 / payload.size().max(1) as f64,
        error: half_width_of(strata),
    });
    record
}

/// The decoder of all parts; where they had several, each once.
fn independent(done: &[Done]) -> Option<String> {
    let names: Option<Vec<&str>> = done.iter().map(|one| one.independent.as_deref()).collect();
    let mut names = names?;
    names.sort_unstable();
    names.dedup();
    Some(names.join(", "))
}

/// What a part says of the encoded bytes of the files that it stands for: their estimate and its variance.
fn spread(part: &PayloadPart, decoded: &[u64], encoded: &[u64]) -> (f64, f64) {
    let pairs = decoded.iter().zip(encoded).map(|(decoded, encoded)| (*decoded as f64, *encoded as f64));
    let (units, total) = (part.stands_for_items, part.stands_for_bytes as f64);
    let stratum = Stratum { units, total, sample: pairs.collect() };
    (stratum.estimate(), stratum.variance())
}

/// The samples of parts added up, the i-th of each, by their weights.
fn added(parts: &[(f64, BTreeMap<Phase, Samples>)]) -> BTreeMap<Phase, Samples> {
    let Some((_, first)) = parts.first() else { return BTreeMap::new() };
    let sum = |phase: &Phase| {
        let own: Option<Vec<(f64, &Samples)>> =
            parts.iter().map(|(weight, phases)| Some((*weight, phases.get(phase)?))).collect();
        let own = own?;
        let count = own.iter().map(|(_, samples)| samples.cpu_ns.len().min(samples.wall_ns.len())).min()?;
        let total = |times: fn(&Samples) -> &Vec<f64>| -> Vec<f64> {
            let at = |i: usize| own.iter().map(|(weight, samples)| weight * times(samples)[i]).sum();
            (0..count).map(at).collect()
        };
        Some(Samples {
            batch: own.iter().map(|(_, samples)| samples.batch).min()?,
            cpu_ns: total(|samples| &samples.cpu_ns),
            wall_ns: total(|samples| &samples.wall_ns),
            preempted: own.iter().fold(0, |sum, (_, samples)| sum.saturating_add(samples.preempted)),
        })
    };
    first.keys().filter_map(|phase| Some((*phase, sum(phase)?))).collect()
}

/// Parts of blobs as files of their own, made when they are first needed.
#[derive(Debug)]
pub struct Cuts {
    folder: PathBuf,
}

impl Cuts {
    /// They go into a folder of their own below `scratch`.
    pub fn new(scratch: &Path) -> Cuts {
        Cuts { folder: scratch.join("parts") }
    }

    /// The file of a part of the order's payload; of one that is measured together, its blob.
    ///
    /// # Errors
    /// [`FaultKind::Payload`]: the blob cannot be read or is not the planned one, or there is no room.
    pub fn path(&self, order: &VisitOrder<'_>, number: usize) -> Result<PathBuf, Failure> {
        let Some(part) = order.payload.parts.get(number) else { return Ok(order.blob.to_owned()) };
        let path = self.folder.join(&part.sha256);
        let is_there = path.metadata().is_ok_and(|meta| meta.len() == part.bytes);
        let begin = order.payload.parts[..number].iter().map(|part| part.bytes).sum();
        if !is_there {
            self.cut(order.blob, begin, part, &path).map_err(|error| {
                let message = format!("{}: part {number} cannot be cut out: {error:#}", order.payload.name);
                Failure::fault(FaultKind::Payload, message)
            })?;
        }
        Ok(path)
    }

    /// The same, always below the folder that these are in.
    ///
    /// # Errors
    /// As [`Cuts::path`].
    pub fn own_path(&self, order: &VisitOrder<'_>, number: usize) -> Result<PathBuf, Failure> {
        let path = self.path(order, number)?;
        if path != order.blob {
            return Ok(path);
        }
        let own = self.folder.join(&order.payload.sha256);
        let linked = || {
            fs::create_dir_all(&self.folder)?;
            if own.exists() {
                Ok(())
            } else {
                fs::hard_link(&path, &own).or_else(|_| fs::copy(&path, &own).map(drop))
            }
        };
        let why = |error: std::io::Error| {
            Failure::fault(FaultKind::Payload, format!("{}: cannot be copied: {error}", order.payload.name))
        };
        linked().map_err(why)?;
        Ok(own)
    }

    fn cut(&self, blob: &Path, begin: u64, part: &PayloadPart, path: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut blob = regular::open(blob)?;
        blob.seek(SeekFrom::Start(begin))?;
        let mut out = tempfile::NamedTempFile::new_in(&self.folder)?;
        let sum = digest::copy(&mut blob.take(part.bytes), &mut out, part.bytes)?;
        anyhow::ensure!(sum.sha256 == part.sha256, "its content is not the planned one");
        out.persist(path)?;
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests;
