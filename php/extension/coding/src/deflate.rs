//! gzip and deflate: whole data through libdeflate, data in pieces and decoding through zlib-rs.

use std::cell::RefCell;
use std::ptr::NonNull;

use libdeflate_sys as sys;
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Inflate, InflateFlush, Status};

use crate::transform::transform;
use crate::{Coding, Error, Operation, Plan, stream::Stream};

/// Compressors of these levels are kept; those above have 9 MB each.
const LEVELS: usize = 10;

thread_local! {
    /// Making a compressor costs more than a small page.
    static COMPRESSORS: RefCell<[Option<Compressor>; LEVELS]> = RefCell::default();
}

/// A compressor of libdeflate, for one level.
struct Compressor(NonNull<sys::libdeflate_compressor>);

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { sys::libdeflate_free_compressor(self.0.as_ptr()) }
    }
}

/// Appends the encoded data.
pub(crate) fn encode(plan: &Plan, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let is_gzip = plan.coding == Coding::Gzip;
    let bound =
        if is_gzip { sys::libdeflate_gzip_compress_bound } else { sys::libdeflate_zlib_compress_bound };
    let compress = if is_gzip { sys::libdeflate_gzip_compress } else { sys::libdeflate_zlib_compress };
    COMPRESSORS.with_borrow_mut(|kept| {
        let mut own = None;
        let slot = kept.get_mut(plan.level as usize).unwrap_or(&mut own);
        if slot.is_none() {
            // SAFETY: takes no pointer; null is none.
            *slot = NonNull::new(unsafe { sys::libdeflate_alloc_compressor(plan.level) }).map(Compressor);
        }
        let handle = slot.as_ref().ok_or(Error::Memory(0))?.0.as_ptr();
        // SAFETY: the handle is live.
        let size = unsafe { bound(handle, data.len()) };
        out.try_reserve(size).map_err(|_| Error::Memory(size))?;
        let room = out.spare_capacity_mut();
        // SAFETY: the handle is live, `data` is readable and `room` is writable.
        let written = unsafe {
            compress(handle, data.as_ptr().cast(), data.len(), room.as_mut_ptr().cast(), room.len())
        };
        if written == 0 || written > room.len() {
            return Err(Error::Failed(plan.coding, "the output did not fit its own bound".into()));
        }
        // SAFETY: the library wrote that many bytes behind the vector's end.
        unsafe { out.set_len(out.len() + written) };
        Ok(())
    })
}

/// The largest window; 16 more ask for gzip's header and trailer.
fn window_bits(coding: Coding) -> u8 {
    if coding == Coding::Gzip { 16 + 15 } else { 15 }
}

/// An encoder of one stream.
pub(crate) struct Encoder {
    coding: Coding,
    inner: Deflate,
}

impl Encoder {
    /// Levels of libdeflate above zlib's 9 are 9.
    pub fn new(plan: &Plan) -> Encoder {
        let window_bits = window_bits(plan.coding).into();
        let config = DeflateConfig { level: plan.level.min(9), window_bits, ..DeflateConfig::default() };
        Encoder { coding: plan.coding, inner: Deflate::new_with_config(config) }
    }
}

impl Stream for Encoder {
    fn run(&mut self, data: &[u8], operation: Operation, out: &mut Vec<u8>) -> Result<(), Error> {
        let flush =
            [DeflateFlush::NoFlush, DeflateFlush::SyncFlush, DeflateFlush::Finish][operation as usize];
        let (coding, inner) = (self.coding, &mut self.inner);
        let step = |data: &[u8], room: &mut [u8]| {
            let before = (inner.total_in(), inner.total_out());
            let result = inner.compress(data, room, flush);
            let status = result.map_err(|error| Error::Failed(coding, error.as_str().into()))?;
            let taken = (inner.total_in() - before.0) as usize;
            let written = (inner.total_out() - before.1) as usize;
            // Room that was left says that nothing is pending.
            let is_given = taken == data.len() && written < room.len() && operation != Operation::Finish;
            Ok((taken, written, is_given || status == Status::StreamEnd))
        };
        transform(coding, data, (data.len() / 4, usize::MAX), out, step).map(drop)
    }
}

/// Decodes a gzip file of one or more members, or a zlib stream, to at most `limit` bytes.
pub(crate) fn decode(coding: Coding, data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut rest = data;
    loop {
        let mut inner = Inflate::new(true, window_bits(coding));
        rest = transform(coding, rest, (expected(coding, data), limit), out, |data, room| {
            let before = (inner.total_in(), inner.total_out());
            let result = inner.decompress(data, room, InflateFlush::NoFlush);
            let status = result.map_err(|error| Error::Damaged(coding, error.as_str().into()))?;
            let taken = (inner.total_in() - before.0) as usize;
            let written = (inner.total_out() - before.1) as usize;
            Ok((taken, written, status == Status::StreamEnd))
        })?;
        if rest.is_empty() {
            return Ok(());
        }
        if coding != Coding::Gzip {
            return Err(Error::Damaged(coding, format!("{} bytes follow its end", rest.len())));
        }
    }
}

/// The decoded size: gzip's last four bytes say it, modulo 4 GB and unless somebody lies. No stream decodes to more than 1,032
/// times its size.
fn expected(coding: Coding, data: &[u8]) -> usize {
    match (coding, data.last_chunk()) {
        (Coding::Gzip, Some(size)) => (u32::from_le_bytes(*size) as usize).min(data.len() * 1032),
        _ => data.len() * 4,
    }
}
