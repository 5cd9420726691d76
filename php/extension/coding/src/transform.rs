//! The loop around every library: data in, bytes out at the end of a vector, until the library is done.

use std::mem::MaybeUninit;

use crate::{Coding, Error};

/// The least room that a library is offered.
const ROOM: usize = 16 * 1024;

/// What one call of a library did.
pub(crate) struct Progress {
    /// Bytes taken from the data.
    pub taken: usize,
    /// Bytes written to the room.
    pub written: usize,
    /// Whether it needs no further call.
    pub is_done: bool,
}

/// Appends to `out` what `step` makes of the data, and returns the data that it left. `room`: how many bytes to offer first.
///
/// # Errors
/// `out` would have more than `limit` bytes, the data ends early, there is not enough memory, or `step` fails.
pub(crate) fn transform<'a>(
    coding: Coding,
    mut data: &'a [u8],
    (room, limit): (usize, usize),
    out: &mut Vec<u8>,
    mut step: impl FnMut(&[u8], &mut [MaybeUninit<u8>]) -> Result<Progress, Error>,
) -> Result<&'a [u8], Error> {
    let mut size = room;
    loop {
        // One byte more than allowed, so that it shows when there is more.
        size = size.max(ROOM).min((limit - out.len()).saturating_add(1));
        out.try_reserve(size).map_err(|_| Error::Memory(size))?;
        let progress = step(data, &mut out.spare_capacity_mut()[..size])?;
        // SAFETY: the library wrote that many bytes behind the vector's end, where `size` were reserved.
        unsafe { out.set_len(out.len() + progress.written.min(size)) };
        data = data.get(progress.taken..).unwrap_or_default();
        if out.len() > limit {
            return Err(Error::TooLarge(coding, limit));
        }
        if progress.is_done {
            return Ok(data);
        }
        if progress.taken == 0 && progress.written == 0 {
            return Err(Error::Damaged(coding, "it ends early".into()));
        }
        size = out.len();
    }
}
