//! The coders of a setting, kept from visit to visit.

use std::rc::Rc;

use weigh_codec::{Codec, Coder, Params};

use super::fault::from_codec;
use weigh_model::protocol::Fault;

/// Settings kept. Few: a coder of zstd 22 or xz 9 holds hundreds of megabytes, and making one is not timed.
const KEPT: usize = 2;

/// Coders for one setting: an item has those at its number modulo their count, one for each dictionary. The
/// directions have coders of their own, so that the memory of one does not count for the other.
pub struct Pair {
    /// For encoding.
    pub encoders: Vec<Box<dyn Coder>>,
    /// For decoding.
    pub decoders: Vec<Box<dyn Coder>>,
}

/// What decides over coders: codec, level, options and dictionaries, as text.
type Key = (String, Option<Rc<[Vec<u8>; 2]>>);

/// The coders last used, the latest first.
#[derive(Default)]
pub struct Hands(Vec<(Key, Pair)>);

impl Hands {
    /// Takes the coders of that setting out, made anew when `fresh` or not at hand; put them back after use.
    ///
    /// # Errors
    /// [`weigh_model::protocol::FaultKind::Parameter`] when the codec does not take the parameters.
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
