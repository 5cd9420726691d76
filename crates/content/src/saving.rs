//! Whether content is worth encoding: measured, for neither the type nor the name tells.

use std::io::{self, Read};

use weigh_codec::{Params, codecs};

/// Bytes at the begin of a file that stand for it.
pub const SAMPLE: u64 = 256 << 10;

/// The first bytes of gzip and zstd.
const ENCODED: [&[u8]; 2] = [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"];

/// The share of the bytes that zstd 1 saves, from 0 to 1; 0 of content that it makes no smaller, and of what is in a content coding already:
/// browsers would decode it once.
pub fn share(bytes: &[u8]) -> f64 {
    if ENCODED.iter().any(|begin| bytes.starts_with(begin)) {
        return 0.0;
    }
    let coder = codecs::find("zstd")
        .and_then(|zstd| zstd.coder(&Params { level: Some(1), ..Params::default() }).ok());
    let mut encoded = Vec::new();
    match coder.map(|mut coder| coder.encode(bytes, &mut encoded)) {
        Some(Ok(())) if !bytes.is_empty() => (1.0 - encoded.len() as f64 / bytes.len() as f64).max(0.0),
        _ => 0.0,
    }
}

/// The first 256 KB of a file.
///
/// # Errors
/// It cannot be read.
pub fn head(file: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(SAMPLE).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_plain_bitmaps_save_and_what_is_encoded_does_not() {
        let text: Vec<u8> = (0..9000_u32)
            .flat_map(|n| format!("f{}();", n.wrapping_mul(2_654_435_761)).into_bytes())
            .collect();
        assert!(share(&text) > 0.3 && share(&vec![0; 1 << 20]) > 0.99);
        let mut encoded = Vec::new();
        let brotli = codecs::find("brotli").unwrap();
        brotli.coder(&Params::default()).unwrap().encode(&text, &mut encoded).unwrap();
        assert!(share(&encoded) < 0.05 && share(b"") == 0.0);
        assert_eq!(share(&[b"\x1f\x8b\x08", &[0; 9000][..]].concat()), 0.0, "gzip, however badly");
        assert_eq!(head(io::repeat(7)).unwrap().len() as u64, SAMPLE);
    }
}
