//! The word of an independent decoder on what some worker has dumped.

use std::fs;

use sha2::{Digest, Sha256};
use weigh_codec::{Format, independent};

use super::blob::split;
use super::dictionary;
use super::fault::fault;
use crate::digest::hex;
use weigh_model::protocol::{CheckRequest, Checked, Fault, FaultKind};

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
        Some(bytes) => Some(dictionary::unpack(bytes).ok_or_else(|| {
            fault(FaultKind::Payload, format!("{}: not a file of dictionaries", path_of(request)))
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

fn path_of(request: &CheckRequest) -> &str {
    request.dictionary.as_deref().unwrap_or_default()
}

fn read(path: &str) -> Result<Vec<u8>, Fault> {
    fs::read(path).map_err(|e| fault(FaultKind::Payload, format!("{path}: {e}")))
}
