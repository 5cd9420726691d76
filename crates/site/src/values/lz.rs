//! Decoders of LZF and FastLZ, bounded in output. FastLZ at level 1 writes the format of LZF; level 2 has longer matches and distances.

/// The longest distance that two bytes tell; at level 2 of FastLZ, two more may follow.
const FAR: usize = (31 << 8) + 255;

/// Decodes LZF to at most `most` bytes; none if the bytes are no whole stream.
pub fn lzf(input: &[u8], most: usize) -> Option<Vec<u8>> {
    decode(input, most, false)
}

/// Decodes FastLZ to exactly `length` bytes. The first three bits tell the level.
pub fn fastlz(input: &[u8], length: usize) -> Option<Vec<u8>> {
    let level = input.first()? >> 5;
    let mut stream = input.to_vec();
    stream[0] &= 31;
    decode(&stream, length, level == 1).filter(|out| level < 2 && out.len() == length)
}

fn decode(input: &[u8], most: usize, is_second: bool) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::with_capacity(most.min(input.len() * 4));
    let mut bytes = input.iter();
    while let Some(&control) = bytes.next() {
        let (kind, low) = (usize::from(control >> 5), usize::from(control & 31));
        if kind == 0 {
            let literal = bytes.as_slice().get(..=low)?;
            out.extend_from_slice(literal);
            bytes.nth(low);
        } else {
            let mut length = kind + 2;
            // The longest that three bits tell: more follows.
            let mut is_longer = kind == 7;
            while is_longer {
                let more = *bytes.next()?;
                length += usize::from(more);
                is_longer = is_second && more == 255;
            }
            let mut distance = (low << 8) + usize::from(*bytes.next()?);
            if is_second && distance == FAR {
                distance += (usize::from(*bytes.next()?) << 8) + usize::from(*bytes.next()?);
            }
            let from = out.len().checked_sub(distance + 1)?;
            if out.len() + length > most {
                return None;
            }
            // What is copied may overlap what it is copied to.
            (0..length).for_each(|at| out.push(out[from + at]));
        }
        if out.len() > most {
            return None;
        }
    }
    Some(out)
}
