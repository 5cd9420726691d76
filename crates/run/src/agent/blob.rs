//! Payloads in memory, each digested once, the last few kept; and the word of an independent decoder on what some worker has dumped.

use std::fs;
use std::rc::Rc;

use sha2::{Digest, Sha256};
use weigh_codec::{Format, independent};

use super::coders::unpack;
use super::fault::fault;
use weigh_model::protocol::{CheckRequest, Checked, Fault, FaultKind};
use weigh_os::digest::{hex, sha256 as digest_of};

/// Payloads kept: a round goes through cells in random order, over a handful of payloads.
const KEPT: usize = 4;

/// The payloads last used, the latest at the end.
#[derive(Default)]
pub struct Blobs(Vec<Entry>);

/// The longest file of outputs, in bytes.
const LONGEST: u64 = 4 << 30;

struct Entry {
    path: String,
    sha256: String,
    bytes: Rc<Vec<u8>>,
}

impl Blobs {
    /// The content of `path`, which has that digest and is `length` bytes long.
    ///
    /// # Errors
    /// [`FaultKind::Payload`] when it cannot be read or is another content.
    pub fn get(&mut self, path: &str, sha256: &str, length: u64) -> Result<Rc<Vec<u8>>, Fault> {
        let wrong = |message: String| fault(FaultKind::Payload, format!("{path}: {message}"));
        let known = self.0.iter().position(|e| e.path == path && e.sha256 == sha256);
        let entry = match known {
            Some(at) => self.0.remove(at),
            None => {
                // The length first: it is cheap, and keeps another, larger file out of memory.
                let found = fs::metadata(path).map_err(|e| wrong(e.to_string()))?.len();
                if found != length {
                    return Err(wrong(format!("has {found} bytes, but the items add up to {length}")));
                }
                let bytes = weigh_load::regular::read(path, length).map_err(|e| wrong(e.to_string()))?;
                let digest = digest_of(&bytes);
                if digest != sha256.to_ascii_lowercase() {
                    return Err(wrong(format!("has SHA-256 {digest}, not {sha256} as planned")));
                }
                Entry { path: path.into(), sha256: sha256.into(), bytes: Rc::new(bytes) }
            }
        };
        let bytes = Rc::clone(&entry.bytes);
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(entry);
        if bytes.len() as u64 != length {
            return Err(wrong(format!("has {} bytes, but the items add up to {length}", bytes.len())));
        }
        Ok(bytes)
    }
}

/// The parts of `bytes` with these lengths, in order.
pub fn split<'a>(bytes: &'a [u8], lengths: &[u64]) -> Result<Vec<&'a [u8]>, String> {
    let mut rest = bytes;
    let mut parts = Vec::with_capacity(lengths.len());
    for length in lengths {
        let cut = usize::try_from(*length).ok().and_then(|l| rest.split_at_checked(l));
        let (part, after) = cut.ok_or("the lengths add up to more than there is")?;
        parts.push(part);
        rest = after;
    }
    if rest.is_empty() { Ok(parts) } else { Err(format!("{} bytes belong to no item", rest.len())) }
}

/// Decodes every item and digests the whole.
///
/// # Errors
/// [`FaultKind::Parameter`] for an unknown format or lists of different lengths, [`FaultKind::Payload`] when
/// a file cannot be read, [`FaultKind::Independent`] when an item cannot be decoded.
pub fn check(request: &CheckRequest) -> Result<Checked, Fault> {
    let format = Format::from_name(&request.format).ok_or_else(|| {
        fault(FaultKind::Parameter, format!("there is no decoder for the format `{}`", request.format))
    })?;
    if request.encoded.len() != request.decoded.len() {
        return Err(fault(FaultKind::Parameter, "as many decoded as encoded lengths are needed"));
    }
    let bytes = read(&request.path)?;
    let items = split(&bytes, &request.encoded)
        .map_err(|e| fault(FaultKind::Payload, format!("{}: {e}", request.path)))?;
    let packed = request.dictionary.as_deref().map(read).transpose()?;
    let folds = match &packed {
        None => None,
        Some(bytes) => Some(unpack(bytes).ok_or_else(|| {
            let path = request.dictionary.as_deref().unwrap_or_default();
            fault(FaultKind::Payload, format!("{path}: not a file of dictionaries"))
        })?),
    };
    let mut digest = Sha256::new();
    for (i, (item, expected)) in items.iter().zip(&request.decoded).enumerate() {
        let wrong = |e: String| fault(FaultKind::Independent, format!("item {i} of {}: {e}", request.path));
        let expected = usize::try_from(*expected).map_err(|e| wrong(e.to_string()))?;
        let dictionary = folds.as_ref().map(|f| f[i % f.len()]);
        let (output, _) =
            independent::decode(format, item, expected, dictionary).map_err(|e| wrong(e.to_string()))?;
        digest.update(&output);
    }
    Ok(Checked {
        id: request.id,
        decoder: independent::decoder(format).into(),
        sha256: hex(digest.finalize()),
    })
}

fn read(path: &str) -> Result<Vec<u8>, Fault> {
    weigh_load::regular::read(path, LONGEST).map_err(|e| fault(FaultKind::Payload, format!("{path}: {e}")))
}

#[cfg(test)]
mod tests;
