//! What a thread keeps from call to call, because making it costs more than a small page: compressors, contexts, and the
//! dictionaries used last, digested. A few megabytes at most: what is larger is dropped after its call.

use std::cell::RefCell;
use std::collections::VecDeque;

use zstd_safe::{CCtx, CDict, DCtx, DDict};

use crate::deflate::{Compressor, Decompressor};
use crate::{Coding, Error, Plan, zstd};

/// Compressors of these levels are kept; those above have 9 MB each.
const LEVELS: usize = 10;
/// Larger contexts are dropped.
const CONTEXT: usize = 8 << 20;
/// Dictionaries kept.
const DICTIONARIES: usize = 4;
/// Larger dictionaries are digested each time.
const DICTIONARY: usize = 1 << 20;

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

#[derive(Default)]
struct Kept {
    compressors: [Option<Compressor>; LEVELS],
    decompressor: Option<Decompressor>,
    contexts: Option<(CCtx<'static>, DCtx<'static>)>,
    dictionaries: VecDeque<Dictionary>,
}

/// A dictionary of `zstd`, digested for a level, and for decoding.
struct Dictionary {
    bytes: Vec<u8>,
    level: i32,
    encoder: CDict<'static>,
    decoder: Option<DDict<'static>>,
}

/// Appends what libdeflate makes of the data.
pub(crate) fn deflate(plan: &Plan, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    KEPT.with_borrow_mut(|kept| match kept.compressors.get_mut(plan.level as usize) {
        Some(slot) => {
            let compressor = match slot {
                Some(compressor) => compressor,
                None => slot.insert(Compressor::new(plan.level)?),
            };
            compressor.encode(plan.coding, data, out)
        }
        None => Compressor::new(plan.level)?.encode(plan.coding, data, out),
    })
}

/// Decodes a gzip file of one or more members, or a zlib stream, to at most `limit` bytes.
pub(crate) fn inflate(coding: Coding, data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    KEPT.with_borrow_mut(|kept| {
        let decompressor = match &mut kept.decompressor {
            Some(decompressor) => decompressor,
            slot => slot.insert(Decompressor::new()?),
        };
        let (mut rest, mut room) = (data, first_room(coding, data));
        loop {
            let left = limit - out.len();
            match decompressor.decode(coding, rest, room.min(left), out)? {
                None if room >= left => return Err(Error::TooLarge { coding, limit }),
                None => room = room.saturating_mul(2),
                Some(taken) => rest = &rest[taken..],
            }
            if rest.is_empty() {
                return Ok(());
            }
            if coding != Coding::Gzip && rest.len() < data.len() {
                return Err(Error::Damaged { coding, what: format!("{} bytes follow its end", rest.len()) });
            }
        }
    })
}

/// A guess at the decoded size: gzip's last four bytes say it, modulo 4 GB and unless somebody lies. No stream decodes to more than
/// 1,032 times its size.
fn first_room(coding: Coding, data: &[u8]) -> usize {
    let guess = match (coding, data.last_chunk()) {
        (Coding::Gzip, Some(size)) => u32::from_le_bytes(*size) as usize,
        _ => data.len().saturating_mul(4),
    };
    guess.clamp(1024, data.len().saturating_mul(1032).max(1024))
}

/// Appends a frame of zstd.
pub(crate) fn compress(plan: &Plan, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    KEPT.with_borrow_mut(|kept| {
        kept.digest(plan)?;
        let Kept { contexts, dictionaries, .. } = kept;
        let (encoder, _) = contexts.get_or_insert_with(|| (CCtx::create(), DCtx::create()));
        let dictionary = digested(plan, dictionaries).map(|dictionary| &dictionary.encoder);
        let result = zstd::encode(plan, encoder, dictionary, data, out);
        kept.tidy();
        result
    })
}

/// Decodes frames of zstd to at most `limit` bytes.
pub(crate) fn decompress(plan: &Plan, data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    KEPT.with_borrow_mut(|kept| {
        kept.digest(plan)?;
        let Kept { contexts, dictionaries, .. } = kept;
        let (_, decoder) = contexts.get_or_insert_with(|| (CCtx::create(), DCtx::create()));
        let dictionary = digested(plan, dictionaries).and_then(|dictionary| dictionary.decoder.as_ref());
        let result = zstd::decode(plan, decoder, dictionary, data, limit, out);
        kept.tidy();
        result
    })
}

/// The plan's dictionary, which [`Kept::digest`] put first.
fn digested<'a>(plan: &Plan, dictionaries: &'a VecDeque<Dictionary>) -> Option<&'a Dictionary> {
    let is_used = plan.coding == Coding::Zstd && plan.dictionary.is_some();
    dictionaries.front().filter(|_| is_used)
}

impl Kept {
    /// Puts the plan's dictionary first, digested.
    fn digest(&mut self, plan: &Plan) -> Result<(), Error> {
        let (Some(bytes), Coding::Zstd) = (plan.dictionary, plan.coding) else { return Ok(()) };
        let is_it = |known: &Dictionary| known.level == plan.level && known.bytes == bytes;
        let known = self.dictionaries.iter().position(is_it).and_then(|at| self.dictionaries.remove(at));
        let dictionary = match known {
            Some(dictionary) => dictionary,
            None => {
                let encoder = CDict::try_create(bytes, plan.level).ok_or(Error::Memory(bytes.len()))?;
                let decoder = DDict::try_create(bytes);
                Dictionary { bytes: bytes.to_vec(), level: plan.level, encoder, decoder }
            }
        };
        self.dictionaries.push_front(dictionary);
        self.dictionaries.truncate(DICTIONARIES);
        Ok(())
    }

    /// Drops what is too large to keep.
    fn tidy(&mut self) {
        self.contexts.take_if(|(encoder, decoder)| encoder.sizeof() + decoder.sizeof() > CONTEXT);
        self.dictionaries.retain(|dictionary| dictionary.bytes.len() <= DICTIONARY);
    }
}
