//! gzip and deflate: whole pages through libdeflate, pages in pieces through zlib-rs.

use std::ptr::NonNull;

use libdeflate_sys as sys;
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush};

use crate::{Coding, Error};

/// The version of libdeflate.
pub(crate) fn version() -> &'static str {
    option_env!("HEADER_LIBDEFLATE").unwrap_or("unknown")
}

/// A compressor of libdeflate, for one level.
pub(crate) struct Compressor(NonNull<sys::libdeflate_compressor>);

impl Compressor {
    pub fn new(level: i32) -> Result<Compressor, Error> {
        // SAFETY: takes no pointer; null is handled.
        let handle = NonNull::new(unsafe { sys::libdeflate_alloc_compressor(level) });
        handle.map(Compressor).ok_or(Error::Memory(0))
    }

    /// Appends the encoded data.
    pub fn encode(&mut self, coding: Coding, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let is_gzip = coding == Coding::Gzip;
        let bound =
            if is_gzip { sys::libdeflate_gzip_compress_bound } else { sys::libdeflate_zlib_compress_bound };
        let compress = if is_gzip { sys::libdeflate_gzip_compress } else { sys::libdeflate_zlib_compress };
        // SAFETY: the handle is live.
        let size = unsafe { bound(self.0.as_ptr(), data.len()) };
        out.try_reserve(size).map_err(|_| Error::Memory(size))?;
        let room = out.spare_capacity_mut();
        // SAFETY: the handle is live, `data` is readable and `room` is writable.
        let written = unsafe {
            compress(self.0.as_ptr(), data.as_ptr().cast(), data.len(), room.as_mut_ptr().cast(), room.len())
        };
        if written == 0 || written > room.len() {
            return Err(Error::Failed { coding, what: "the output did not fit its own bound".into() });
        }
        // SAFETY: the library wrote that many bytes behind the vector's end.
        unsafe { out.set_len(out.len() + written) };
        Ok(())
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { sys::libdeflate_free_compressor(self.0.as_ptr()) }
    }
}

/// A decompressor of libdeflate.
pub(crate) struct Decompressor(NonNull<sys::libdeflate_decompressor>);

impl Decompressor {
    pub fn new() -> Result<Decompressor, Error> {
        // SAFETY: takes no pointer; null is handled.
        let handle = NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() });
        handle.map(Decompressor).ok_or(Error::Memory(0))
    }

    /// Appends what one member decodes to, at most `room` bytes. Returns how many bytes of the data it took, none if the
    /// room is too small.
    pub fn decode(
        &mut self,
        coding: Coding,
        data: &[u8],
        room: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<usize>, Error> {
        out.try_reserve(room).map_err(|_| Error::Memory(room))?;
        let decompress = match coding {
            Coding::Gzip => sys::libdeflate_gzip_decompress_ex,
            _ => sys::libdeflate_zlib_decompress_ex,
        };
        let (mut taken, mut written) = (0, 0);
        let at = out.spare_capacity_mut().as_mut_ptr();
        // SAFETY: the handle is live, `data` is readable, `room` bytes at `at` are reserved, both counters outlive the call.
        let result = unsafe {
            decompress(
                self.0.as_ptr(),
                data.as_ptr().cast(),
                data.len(),
                at.cast(),
                room,
                &mut taken,
                &mut written,
            )
        };
        match result {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS if written <= room && taken <= data.len() => {
                // SAFETY: the library wrote that many bytes behind the vector's end.
                unsafe { out.set_len(out.len() + written) };
                Ok(Some(taken))
            }
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Ok(None),
            _ => Err(Error::Damaged {
                coding,
                what: "it is not a whole stream, or its checksum differs".into(),
            }),
        }
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

/// The least room that a stream is given at a time.
const STEP: usize = 16 * 1024;

/// A stream in pieces.
pub(crate) struct Stream {
    coding: Coding,
    inner: Deflate,
}

impl Stream {
    /// Levels of libdeflate above zlib's 9 are 9.
    pub fn new(coding: Coding, level: i32) -> Stream {
        // 16 more than the largest window asks for a gzip header and trailer.
        let window_bits = if coding == Coding::Gzip { 16 + 15 } else { 15 };
        let config = DeflateConfig { level: level.min(9), window_bits, ..DeflateConfig::default() };
        Stream { coding, inner: Deflate::new_with_config(config) }
    }

    /// Takes all data, and appends what is encoded of it so far.
    pub fn run(&mut self, data: &[u8], flush: DeflateFlush, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |what: &str| Error::Failed { coding: self.coding, what: what.into() };
        let mut rest = data;
        loop {
            let size = STEP.max(rest.len() / 4);
            out.try_reserve(size).map_err(|_| Error::Memory(size))?;
            let before = (self.inner.total_in(), self.inner.total_out());
            let room = out.spare_capacity_mut();
            let offered = room.len();
            let result = self.inner.compress_uninit(rest, room, flush);
            let taken = (self.inner.total_in() - before.0) as usize;
            let written = (self.inner.total_out() - before.1) as usize;
            if taken > rest.len() || written > offered {
                return Err(failed("it wrote past its room"));
            }
            // SAFETY: the library wrote that many bytes behind the vector's end.
            unsafe { out.set_len(out.len() + written) };
            rest = &rest[taken..];
            match result {
                Ok(zlib_rs::Status::StreamEnd) => return Ok(()),
                Ok(_) if flush == DeflateFlush::Finish && written == 0 && taken == 0 => {
                    return Err(failed("the stream does not end"));
                }
                // Room that was left says that nothing is pending.
                Ok(_) if rest.is_empty() && written < offered && flush != DeflateFlush::Finish => {
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) => return Err(failed(error.as_str())),
            }
        }
    }
}
