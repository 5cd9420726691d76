//! Where two bodies part.

use crate::fault::Difference;

/// Bytes that are shown of either body.
pub(super) const SHOWN: usize = 16;
/// Bodies are compared in blocks before they are in bytes.
const BLOCK: usize = 512;

/// How many bytes both begin with.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(x, y)| x == y).count();
    let at = (blocks * BLOCK).min(a.len()).min(b.len());
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

/// The difference at `offset`: `expected` is the whole accepted body, `got` what came from there on.
pub(super) fn at(offset: usize, expected: &[u8], got: &[u8]) -> Difference {
    let expected = expected.get(offset..).unwrap_or_default();
    Difference { offset: offset as u64, expected: hex(shown(expected)), got: hex(shown(got)) }
}

fn shown(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(SHOWN)]
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_beginning_is_exact_around_blocks() {
        let long: Vec<u8> = (0..3 * BLOCK).map(|i| (i * 7) as u8).collect();
        for at in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK - 1] {
            let mut other = long.clone();
            other[at] ^= 1;
            assert_eq!(common(&long, &other), at);
            assert_eq!(common(&long, &long[..at]), at);
            assert_eq!(common(&other[..at], &long), at);
        }
        assert_eq!(common(&long, &long), long.len());
    }

    #[test]
    fn sixteen_bytes_are_shown_and_none_behind_the_end() {
        let body: Vec<u8> = (0..20).collect();
        let shown = at(3, &body, &[255; 20]);
        assert_eq!((shown.offset, shown.expected.as_str()), (3, "030405060708090a0b0c0d0e0f101112"));
        assert_eq!(shown.got, "ff".repeat(16));
        assert_eq!(
            at(18, &body, b""),
            Difference { offset: 18, expected: "1213".into(), got: String::new() }
        );
        assert_eq!(at(20, &body, b"a").expected, "");
    }
}
