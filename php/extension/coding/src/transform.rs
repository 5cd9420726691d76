//! The loop around every library: data in, bytes out at the end of a vector, until the library is done.

use crate::{Coding, Error};

/// The least room that a library is offered.
const ROOM: usize = 16 * 1024;

/// What one call of a library did: bytes taken from the data, bytes written to the room, whether it needs no further call.
pub(crate) type Progress = (usize, usize, bool);

/// Appends to `out` what `step` makes of the data, and returns the data that it left. `room`: how many bytes to offer first.
///
/// # Errors
/// `out` would have more than `limit` bytes, the data ends early, there is not enough memory, or `step` fails.
pub(crate) fn transform<'a>(
    coding: Coding,
    mut data: &'a [u8],
    (room, limit): (usize, usize),
    out: &mut Vec<u8>,
    mut step: impl FnMut(&[u8], &mut [u8]) -> Result<Progress, Error>,
) -> Result<&'a [u8], Error> {
    let mut size = room;
    loop {
        // One byte more than allowed, so that it shows when there is more.
        size = size.max(ROOM).min((limit - out.len()).saturating_add(1));
        out.try_reserve(size).map_err(|_| Error::Memory(size))?;
        let from = out.len();
        out.resize(from + size, 0);
        let (taken, written, is_done) = step(data, &mut out[from..])?;
        out.truncate(from + written);
        data = data.get(taken..).unwrap_or_default();
        if out.len() > limit {
            return Err(Error::TooLarge(coding, limit));
        }
        if is_done {
            return Ok(data);
        }
        if taken == 0 && written == 0 {
            return Err(Error::Damaged(coding, "it ends early".into()));
        }
        size = out.len();
    }
}
