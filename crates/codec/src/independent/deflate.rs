//! DEFLATE in its three containers: this module reads the containers, miniz_oxide the data.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_PARSE_ZLIB_HEADER, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

use super::{buffer, ended, refused};
use crate::Error;
use crate::room::truncated;

/// Raw DEFLATE, RFC 1951.
pub fn raw(name: &'static str, input: &[u8], expected: usize) -> Result<Vec<u8>, Error> {
    let (out, used) = inflate(name, input, expected, 0)?;
    ended(name, input.len() - used).map(|()| out)
}

/// The zlib container, RFC 1950; its Adler-32 is checked.
pub fn zlib(name: &'static str, input: &[u8], expected: usize) -> Result<Vec<u8>, Error> {
    let (out, used) = inflate(name, input, expected, TINFL_FLAG_PARSE_ZLIB_HEADER)?;
    ended(name, input.len() - used).map(|()| out)
}

/// The members of the gzip container one after the other, RFC 1952, section 2.2; the CRC-32 and the length of each are
/// checked.
pub fn gzip(name: &'static str, input: &[u8], expected: usize) -> Result<Vec<u8>, Error> {
    let mut out = buffer(name, expected)?;
    let (mut filled, mut rest) = (0, input);
    let mut state = Box::<DecompressorOxide>::default();
    loop {
        let body = rest.get(header(name, rest)?..).ok_or_else(|| truncated(name))?;
        state.init();
        let (used, more) = inflate_into(name, &mut state, body, (&mut out[filled..], expected), 0)?;
        let member = &out[filled..filled + more];
        let Some((trailer, behind)) = body[used..].split_first_chunk::<8>() else {
            return Err(truncated(name));
        };
        let [c0, c1, c2, c3, l0, l1, l2, l3] = *trailer;
        if u32::from_le_bytes([c0, c1, c2, c3]) != crc32fast::hash(member) {
            return Err(refused(name, "incorrect CRC-32".into()));
        }
        if u32::from_le_bytes([l0, l1, l2, l3]) != member.len() as u32 {
            return Err(refused(name, "the length in the trailer is wrong".into()));
        }
        (filled, rest) = (filled + more, behind);
        // Bytes that do not start like a member are not a further member.
        if !rest.starts_with(&MAGIC) {
            out.truncate(filled);
            return ended(name, rest.len()).map(|()| out);
        }
    }
}

/// The first bytes of each member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Where the DEFLATE data of a gzip member starts.
fn header(name: &'static str, input: &[u8]) -> Result<usize, Error> {
    const HCRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const RESERVED: u8 = 0xe0;
    let fixed = input.first_chunk::<10>().ok_or_else(|| truncated(name))?;
    if fixed[..3] != [0x1f, 0x8b, 8] {
        return Err(refused(name, "not a gzip member".into()));
    }
    let flags = fixed[3];
    if flags & RESERVED != 0 {
        return Err(refused(name, "reserved flags are set in the gzip header".into()));
    }
    let mut at = fixed.len();
    if flags & EXTRA != 0 {
        let length = input.get(at..at + 2).ok_or_else(|| truncated(name))?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for field in [NAME, COMMENT] {
        if flags & field != 0 {
            let text = input.get(at..).ok_or_else(|| truncated(name))?;
            at += 1 + text.iter().position(|b| *b == 0).ok_or_else(|| truncated(name))?;
        }
    }
    Ok(if flags & HCRC != 0 { at + 2 } else { at })
}

/// The data, and the number of input bytes that it used.
fn inflate(name: &'static str, input: &[u8], expected: usize, flags: u32) -> Result<(Vec<u8>, usize), Error> {
    let mut out = buffer(name, expected)?;
    let mut state = Box::<DecompressorOxide>::default();
    let (used, filled) = inflate_into(name, &mut state, input, (&mut out, expected), flags)?;
    out.truncate(filled);
    Ok((out, used))
}

/// The number of input bytes that the data used, and of output bytes that it filled; the output, with earlier members,
/// may have `expected` bytes in all.
fn inflate_into(
    name: &'static str,
    state: &mut DecompressorOxide,
    input: &[u8],
    (out, expected): (&mut [u8], usize),
    flags: u32,
) -> Result<(usize, usize), Error> {
    let (status, used, filled) =
        decompress(state, input, out, 0, flags | TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF);
    match status {
        TINFLStatus::Done => Ok((used, filled)),
        TINFLStatus::HasMoreOutput => Err(Error::TooLarge { codec: name, limit: expected }),
        TINFLStatus::NeedsMoreInput | TINFLStatus::FailedCannotMakeProgress => Err(truncated(name)),
        status => Err(refused(name, format!("{status:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stored block with "ab" behind every optional field of the header.
    fn member(flags: u8, fields: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3];
        bytes.extend(fields);
        bytes.extend([1, 2, 0, 0xfd, 0xff, b'a', b'b']);
        bytes.extend(crc32fast::hash(b"ab").to_le_bytes());
        bytes.extend(2u32.to_le_bytes());
        bytes
    }

    #[test]
    fn optional_fields_are_skipped() {
        let fields = [&[3, 0, 9, 9, 9][..], b"name\0", b"comment\0", &[7, 7]].concat();
        assert_eq!(gzip("t", &member(0x1e, &fields), 2).unwrap(), b"ab");
        assert_eq!(gzip("t", &member(0, &[]), 2).unwrap(), b"ab");
    }

    #[test]
    fn members_follow_each_other() {
        let members = [member(0, &[]), member(8, b"name\0"), member(0, &[])].concat();
        assert_eq!(gzip("t", &members, 6).unwrap(), b"ababab");
        assert!(matches!(gzip("t", &members, 4), Err(Error::TooLarge { limit: 4, .. })));
        assert!(gzip("t", &members[..members.len() - 1], 6).is_err(), "the last is cut off");
        // The sum of the first.
        let mut wrong = members;
        wrong[17] ^= 1;
        assert!(gzip("t", &wrong, 6).is_err(), "each has a sum of its own");
    }

    #[test]
    fn a_wrong_trailer_is_found() {
        let good = member(0, &[]);
        for at in good.len() - 8..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(gzip("t", &bad, 2).is_err(), "byte {at}");
        }
        assert!(gzip("t", &[&good[..], b"x"].concat(), 2).is_err());
        assert!(gzip("t", &member(0x20, &[]), 2).is_err());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let good = member(0x1e, &[&[1, 0, 9][..], b"n\0", b"c\0", &[7, 7]].concat());
        for len in 0..good.len() {
            assert!(gzip("t", &good[..len], 2).is_err(), "{len} bytes");
        }
    }
}
