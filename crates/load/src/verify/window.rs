//! How much a Zstandard frame asks its reader to remember.

/// What may be asked for under the content coding `zstd`: 8 MB (RFC 9659, section 3). Browsers refuse more.
const MOST: u64 = 8 << 20;

/// The window of a frame that is too large for the content coding, in bytes.
pub(super) fn excess(wire: &[u8]) -> Option<u64> {
    window(wire).filter(|bytes| *bytes > MOST)
}

/// The window that the frame's header tells of (RFC 8878, section 3.1.1.1); none when there is no such header.
fn window(wire: &[u8]) -> Option<u64> {
    let [0x28, 0xb5, 0x2f, 0xfd, descriptor, rest @ ..] = wire else { return None };
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let (exponent, mantissa) = (rest.first()? >> 3, rest.first()? & 7);
        let base = 1u64 << (10 + exponent);
        return Some(base + base / 8 * u64::from(mantissa));
    }
    // The window is the content: after the dictionary's id comes its size.
    let id = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(rest.get(id..id + size)?);
    // A size of two bytes is told less 256.
    Some(u64::from_le_bytes(bytes) + if size == 2 { 256 } else { 0 })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use weigh_codec::{Params, codecs};

    use super::*;

    fn frame(options: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let options: BTreeMap<_, _> =
            options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let params = Params { level: Some(1), options, dictionary: None };
        let mut wire = Vec::new();
        codecs::find("zstd").unwrap().coder(&params).unwrap().encode(body, &mut wire).unwrap();
        wire
    }

    #[test]
    fn single_segments_need_what_they_hold() {
        for size in [1, 255, 256, 300, 65_791, 65_792, 100_000] {
            assert_eq!(window(&frame(&[], &vec![b'a'; size])), Some(size as u64));
        }
    }

    #[test]
    fn a_declared_window_is_read() {
        // The exponent 10 + 3, and one eighth more.
        assert_eq!(window(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x19]), Some(9216));
        assert_eq!(window(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0xff]), Some((1 << 41) + 7 * (1 << 38)));
        // More than one piece, so that the encoder does not know the size.
        let body = vec![b'a'; 200_000];
        let streamed = frame(&[("mode", "stream"), ("window", "24")], &body);
        assert_eq!((window(&streamed), excess(&streamed)), (Some(16 << 20), Some(16 << 20)));
        let usual = frame(&[("mode", "stream"), ("window", "23")], &body);
        assert_eq!((window(&usual), excess(&usual)), (Some(8 << 20), None));
    }

    #[test]
    fn cut_headers_tell_nothing() {
        let whole = frame(&[], &[b'a'; 300]);
        for length in 0..7 {
            assert_eq!(window(&whole[..length]), None, "{length} bytes");
        }
        assert_eq!(window(&whole[..7]), Some(300));
        assert_eq!(window(b"no frame at all"), None);
    }
}
