//! Digests, and copies that are digested while they are made: memory stays at one buffer.

use std::io::{Read, Write};
use std::path::Path;

use crate::regular;
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use weigh_model::text::clean_path;

/// One buffer of a copy, in bytes.
pub const BUFFER: usize = 1 << 16;

/// Length and SHA-256 of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

/// The SHA-256 of a slice, hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes))
}

/// Finishes a digest, hexadecimal.
pub fn finish(digest: Sha256) -> String {
    hex(digest.finalize())
}

/// Bytes in hexadecimal.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Copies everything, digesting it. More than `limit` bytes is an error, found after at most one buffer beyond.
pub fn copy(from: &mut dyn Read, to: &mut dyn Write, limit: u64) -> Result<Sum> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    let mut bytes = 0;
    loop {
        let got = from.read(&mut buffer)?;
        if got == 0 {
            return Ok(Sum { bytes, sha256: finish(digest) });
        }
        bytes += got as u64;
        if bytes > limit {
            bail!("holds more than the {limit} bytes expected");
        }
        digest.update(&buffer[..got]);
        to.write_all(&buffer[..got])?;
    }
}

/// The digest of a file; `None` when there is no such file.
pub fn of_file(path: &Path) -> Result<Option<Sum>> {
    let mut file = match regular::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", clean_path(path))),
    };
    let sum = copy(&mut file, &mut std::io::sink(), u64::MAX);
    sum.map(Some).with_context(|| format!("cannot read {}", clean_path(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_digested_and_bounded() {
        let mut out = Vec::new();
        let sum = copy(&mut &b"abc"[..], &mut out, 3).unwrap();
        assert_eq!(out, b"abc");
        assert_eq!(sum.bytes, 3);
        assert_eq!(sum.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(copy(&mut &b"abcd"[..], &mut Vec::new(), 3).is_err());
        assert!(of_file(Path::new("/nonexistent/x")).unwrap().is_none());
    }
}
