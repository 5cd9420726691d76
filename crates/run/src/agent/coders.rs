//! The coders of a setting, kept from visit to visit, and the dictionaries that they use.
//!
//! Dictionaries are trained on the payload itself, honestly: by two-fold cross-fitting no item is ever encoded with a dictionary that has
//! seen it. Fold 0 encodes the even items with what the odd ones taught, fold 1 the odd items with what the even ones taught. Training is
//! not timed: it is done once, ahead of the traffic.

use std::rc::Rc;

use weigh_codec::{Codec, Coder, Params};

use super::fault::{fault, from_codec};
use weigh_model::protocol::{Fault, FaultKind};

/// Settings kept. Few: a coder of zstd 22 or xz 9 holds hundreds of megabytes, and making one is not timed.
const KEPT: usize = 2;

/// Coders for one setting: an item has those at its number modulo their count, one for each dictionary. The
/// directions have coders of their own, so that the memory of one does not count for the other.
pub struct Pair {
    pub encoders: Vec<Box<dyn Coder>>,
    pub decoders: Vec<Box<dyn Coder>>,
}

/// What decides over coders: codec, level, options and dictionaries, as text.
type Key = (String, Option<Rc<[Vec<u8>; 2]>>);

/// The coders last used, the latest first.
#[derive(Default)]
pub struct RecentCoders(Vec<(Key, Pair)>);

impl RecentCoders {
    /// Takes the coders of that setting out, made anew when `fresh` or not at hand; put them back after use.
    ///
    /// # Errors
    /// [`FaultKind::Parameter`] when the codec does not take the parameters.
    pub fn take(
        &mut self,
        codec: &dyn Codec,
        params: &Params,
        folds: Option<Rc<[Vec<u8>; 2]>>,
        fresh: bool,
    ) -> Result<(Key, Pair), Fault> {
        let key = (format!("{} {:?} {:?}", codec.info().name, params.level, params.options), folds);
        let known = self.0.iter().position(|(k, _)| *k == key);
        let old = known.map(|at| self.0.remove(at)).filter(|_| !fresh);
        if let Some(entry) = old {
            return Ok(entry);
        }
        // Room is made before the new one is filled, and a fresh one is measured with nothing beside it.
        self.0.truncate(if fresh { 0 } else { KEPT - 1 });
        let make = |dictionary: Option<&Vec<u8>>| {
            codec.coder(&Params { dictionary: dictionary.cloned(), ..params.clone() })
        };
        let set = || match &key.1 {
            None => Ok(vec![make(None)?]),
            Some(folds) => folds.iter().map(|d| make(Some(d))).collect(),
        };
        let pair = set().and_then(|encoders| Ok(Pair { encoders, decoders: set()? }));
        Ok((key.clone(), pair.map_err(|e| from_codec(&e, codec))?))
    }

    /// Keeps coders for the next visit.
    pub fn put(&mut self, entry: (Key, Pair)) {
        self.0.insert(0, entry);
        self.0.truncate(KEPT);
    }
}

/// The largest dictionary in bytes: what the zstd program trains by default.
const LARGEST: usize = 112_640;
/// A dictionary is at most this part of what it is trained on.
const SHARE: usize = 8;
/// The fewest items: eight to learn from in each fold.
const FEWEST: usize = 16;

#[derive(Default)]
pub struct Dictionaries(Option<Trained>);

struct Trained {
    key: Lesson,
    folds: Rc<[Vec<u8>; 2]>,
}

/// What decides over a dictionary: codec, digest of the blob, lengths of its items.
type Lesson = (&'static str, String, Vec<usize>);

impl Dictionaries {
    /// The two dictionaries for these items of the blob with that digest.
    ///
    /// # Errors
    /// [`FaultKind::Parameter`] when the items are too few or too small to learn from.
    pub fn get(
        &mut self,
        codec: &dyn Codec,
        sha256: &str,
        items: &[&[u8]],
    ) -> Result<Rc<[Vec<u8>; 2]>, Fault> {
        let key = (codec.info().name, sha256.to_string(), items.iter().map(|i| i.len()).collect());
        if let Some(entry) = self.0.as_ref().filter(|e| e.key == key) {
            return Ok(Rc::clone(&entry.folds));
        }
        let folds = Rc::new([train(codec, items, 1)?, train(codec, items, 0)?]);
        self.0 = Some(Trained { key, folds: Rc::clone(&folds) });
        Ok(folds)
    }
}

/// A dictionary from the items whose number has that parity.
fn train(codec: &dyn Codec, items: &[&[u8]], parity: usize) -> Result<Vec<u8>, Fault> {
    let remedy = Some("measure a folder of many small values, or split the content into blocks".to_string());
    if items.len() < FEWEST {
        let message =
            format!("a dictionary needs at least {FEWEST} items to learn from, not {}", items.len());
        return Err(Fault { remedy, ..fault(FaultKind::Parameter, message) });
    }
    let samples: Vec<&[u8]> = items.iter().copied().skip(parity).step_by(2).collect();
    let total: usize = samples.iter().map(|s| s.len()).sum();
    codec.train(&samples, (total / SHARE).min(LARGEST)).map_err(|e| Fault { remedy, ..from_codec(&e, codec) })
}

/// The dictionaries as one file, in the protocol's form.
pub fn pack(folds: &[Vec<u8>]) -> Vec<u8> {
    folds.iter().flat_map(|d| (d.len() as u64).to_le_bytes().into_iter().chain(d.iter().copied())).collect()
}

/// The dictionaries of such a file; `None` when it is damaged or holds none.
pub fn unpack(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut folds = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let (dictionary, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        folds.push(dictionary);
        bytes = rest;
    }
    (!folds.is_empty()).then_some(folds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_dictionaries_come_back() {
        let folds = [b"one".to_vec(), Vec::new(), b"three".to_vec()];
        let packed = pack(&folds);
        assert_eq!(unpack(&packed).unwrap(), folds);
        for len in [1, 7, 10, packed.len() - 1] {
            assert!(unpack(&packed[..len]).is_none(), "{len}");
        }
        assert!(unpack(&[]).is_none());
    }
}
