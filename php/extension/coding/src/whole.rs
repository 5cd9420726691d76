//! Data that is all there: encoded and decoded in one call.

use crate::{Coding, Error, Plan, brotli, kept};

/// Encodes the data into an emptied vector.
///
/// # Errors
/// There is not enough memory; for bytes of any kind there is no other.
pub fn encode(plan: &Plan, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    out.clear();
    out.extend(plan.coding.preamble(plan.dictionary));
    match plan.coding {
        Coding::Gzip | Coding::Deflate => kept::deflate(plan, data, out),
        Coding::Br | Coding::Dcb => {
            let mut encoder = brotli::Encoder::new(plan, Some(data.len()))?;
            encoder.run(data, brotli::Operation::Finish, out)
        }
        Coding::Zstd | Coding::Dcz => kept::compress(plan, data, out),
    }
}

/// Decodes the data into an emptied vector, to at most `limit` bytes. It is empty again after an error.
///
/// # Errors
/// The data is damaged, cut short or followed by more, decodes to more than `limit` bytes, or belongs to another dictionary.
pub fn decode(
    coding: Coding,
    data: &[u8],
    limit: usize,
    dictionary: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    out.clear();
    let result = try_decode(coding, data, limit, dictionary, out);
    if result.is_err() {
        out.clear();
    }
    result
}

fn try_decode(
    coding: Coding,
    data: &[u8],
    limit: usize,
    dictionary: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let plan = Plan::new(coding, None, dictionary)?;
    let preamble = coding.preamble(plan.dictionary);
    let Some(stream) = data.strip_prefix(preamble.as_slice()) else {
        return Err(Error::DictionaryOther(coding));
    };
    match coding {
        Coding::Gzip | Coding::Deflate => kept::inflate(coding, stream, limit, out),
        Coding::Br | Coding::Dcb => brotli::decode(&plan, stream, limit, out),
        Coding::Zstd | Coding::Dcz => kept::decompress(&plan, stream, limit, out),
    }
}
