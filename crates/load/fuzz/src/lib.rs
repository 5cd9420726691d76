//! Properties that hold for any input. The targets use random inputs; the tests of `weigh-load` include this file and
//! use kept inputs.

pub mod chunked;
pub mod exchange;
pub mod frames;
pub mod head;
pub mod request_file;
mod wire;

/// The bytes at once, one by one, and in two mixtures that depend on the bytes.
pub fn splits(bytes: &[u8]) -> [Vec<&[u8]>; 4] {
    [vec![bytes], bytes.chunks(1).collect(), mixed(bytes, 7), mixed(bytes, 60)]
}

/// Pieces of at most this many bytes.
fn mixed(bytes: &[u8], most: u64) -> Vec<&[u8]> {
    // FNV-1a, then xorshift: any mixture is good enough, but it must be the same for the same bytes.
    let mut state = bytes.iter().fold(0xcbf2_9ce4_8422_2325 ^ most, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let (piece, after) = rest.split_at(rest.len().min((state % most) as usize + 1));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
