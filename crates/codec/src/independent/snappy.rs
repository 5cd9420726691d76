//! A Snappy block decoder of our own, written from the format description (format_description.txt of Snappy), because
//! the codec under test is the usual Rust one.

use super::refused;
use crate::Error;
use crate::room::truncated;

pub fn decode(name: &'static str, input: &[u8], expected: usize) -> Result<Vec<u8>, Error> {
    let (length, mut rest) = preamble(name, input)?;
    if length > expected {
        return Err(Error::TooLarge { codec: name, limit: expected });
    }
    let mut out = Vec::new();
    out.try_reserve_exact(length).map_err(|_| refused(name, format!("no memory for {length} bytes")))?;
    while let Some((&tag, after)) = rest.split_first() {
        rest = match tag & 3 {
            0 => literal(name, tag, after, length, &mut out)?,
            1 => {
                let (&[low], after) = after.split_first_chunk().ok_or_else(|| truncated(name))?;
                let offset = usize::from(tag >> 5) << 8 | usize::from(low);
                copy(name, offset, usize::from(tag >> 2 & 7) + 4, length, &mut out)?;
                after
            }
            2 => {
                let (offset, after) = after.split_first_chunk::<2>().ok_or_else(|| truncated(name))?;
                let offset = usize::from(u16::from_le_bytes(*offset));
                copy(name, offset, usize::from(tag >> 2) + 1, length, &mut out)?;
                after
            }
            _ => {
                let (offset, after) = after.split_first_chunk::<4>().ok_or_else(|| truncated(name))?;
                let offset = u32::from_le_bytes(*offset) as usize;
                copy(name, offset, usize::from(tag >> 2) + 1, length, &mut out)?;
                after
            }
        };
    }
    if out.len() < length {
        return Err(truncated(name));
    }
    Ok(out)
}

/// The uncompressed length, a little-endian base-128 number of at most 32 bits, and the bytes after it.
fn preamble<'a>(name: &'static str, input: &'a [u8]) -> Result<(usize, &'a [u8]), Error> {
    let mut length = 0u64;
    for (i, byte) in input.iter().take(5).enumerate() {
        length |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            let fits = u32::try_from(length).map_err(|_| refused(name, "the length is over 4 GiB".into()))?;
            return Ok((fits as usize, &input[i + 1..]));
        }
    }
    Err(if input.len() < 5 { truncated(name) } else { refused(name, "the length does not end".into()) })
}

/// Lengths up to 60 are in the tag; the values 60 to 63 mean that 1 to 4 bytes of length follow.
fn literal<'a>(
    name: &'static str,
    tag: u8,
    after: &'a [u8],
    length: usize,
    out: &mut Vec<u8>,
) -> Result<&'a [u8], Error> {
    let short = usize::from(tag >> 2);
    let (size, after) = if short < 60 {
        (short + 1, after)
    } else {
        let (digits, after) = after.split_at_checked(short - 59).ok_or_else(|| truncated(name))?;
        let number = digits.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
        (number as usize + 1, after)
    };
    let (bytes, after) = after.split_at_checked(size).ok_or_else(|| truncated(name))?;
    if size > length - out.len() {
        return Err(refused(name, "more data than the block announces".into()));
    }
    out.extend_from_slice(bytes);
    Ok(after)
}

/// A copy may overlap its own output: then it repeats.
fn copy(
    name: &'static str,
    offset: usize,
    size: usize,
    length: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    if offset == 0 || offset > out.len() {
        return Err(refused(name, "a copy reaches before the start".into()));
    }
    if size > length - out.len() {
        return Err(refused(name, "more data than the block announces".into()));
    }
    let mut from = out.len() - offset;
    let end = from + size;
    while from < end {
        let step = (end - from).min(out.len() - from);
        out.extend_from_within(from..from + step);
        from += step;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_element() {
        // "abcd", then copies with 1, 2 and 4 bytes of offset; the last overlaps itself.
        let block = [19, 3 << 2, b'a', b'b', b'c', b'd', 1, 4, 3 << 2 | 2, 8, 0, 6 << 2 | 3, 1, 0, 0, 0];
        assert_eq!(decode("t", &block, 19).unwrap(), b"abcdabcdabcdddddddd");
    }

    #[test]
    fn long_literals() {
        let data = vec![7u8; 300];
        let block = [&[0xac, 2, 61 << 2, 43, 1][..], &data].concat();
        assert_eq!(decode("t", &block, 300).unwrap(), data);
        assert!(matches!(decode("t", &block, 299), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn damage_is_an_error() {
        for block in [
            &[][..],
            &[0x80],
            &[0xff, 0xff, 0xff, 0xff, 0x7f],
            &[0xff; 6],
            &[4, 3 << 2, b'a'],
            &[1, 1 << 2, b'a', b'b'],
            &[4, 0, b'a', 1, 0],
            &[4, 0, b'a', 1, 2],
            &[2, 0, b'a'],
            &[2, 0, b'a', 1, 1],
            &[2, 63 << 2, 0xff, 0xff, 0xff, 0xff],
        ] {
            assert!(decode("t", block, 100).is_err(), "{block:?}");
        }
    }
}
