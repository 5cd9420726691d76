//! The digests of sources and variants.

use sha2::{Digest, Sha256};

/// SHA-256 of a source.
pub type Sum = [u8; 32];
/// The first half of the SHA-256 of a variant.
pub type Short = [u8; 16];

/// The digest of some bytes.
pub fn sum(bytes: &[u8]) -> Sum {
    Sha256::digest(bytes).into()
}

/// The digest of a variant.
pub fn short(sum: &Sum) -> Short {
    let mut short = Short::default();
    short.copy_from_slice(&sum[..16]);
    short
}
