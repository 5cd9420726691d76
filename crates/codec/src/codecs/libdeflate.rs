//! libdeflate: whole buffers only, so there is no streaming setting. It has no version call: the
//! version is `LIBDEFLATE_VERSION_STRING` of the header it was compiled from.

use std::ffi::c_void;
use std::ptr::NonNull;

use libdeflate_sys as sys;

use crate::container::{CONTAINER, Container};
use crate::room::{Room, grounded, trailing};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, Params};

static INFO: Info = Info {
    name: "libdeflate",
    format: Format::Gzip,
    levels: Some(LevelRange { min: 0, max: 12, default: 6, representative: &[1, 6, 9, 12] }),
    options: &[CONTAINER],
    sets: &["web", "cache", "fast", "archive"],
    nominal: &[(0, 3000.0), (1, 215.0), (6, 64.0), (9, 21.0), (12, 5.0)],
};

pub struct Libdeflate;

impl Codec for Libdeflate {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        format!("libdeflate {}", env!("HEADER_LIBDEFLATE"))
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        let level = params.level_or_default(&INFO);
        Ok(Box::new(Both { container: Container::of(params), level, encoder: None, decoder: None }))
    }
}

struct Both {
    container: Container,
    level: i32,
    encoder: Option<Compressor>,
    decoder: Option<Decompressor>,
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let input = grounded(input);
        let failed = |message: &str| Error::Encode { codec: INFO.name, message: message.into() };
        if self.encoder.is_none() {
            self.encoder = Compressor::new(self.level);
        }
        let Some(encoder) = &self.encoder else { return Err(failed("no memory for the compressor")) };
        let (bound, compress): (Bound, Compress) = match self.container {
            Container::Raw => (sys::libdeflate_deflate_compress_bound, sys::libdeflate_deflate_compress),
            Container::Zlib => (sys::libdeflate_zlib_compress_bound, sys::libdeflate_zlib_compress),
            Container::Gzip => (sys::libdeflate_gzip_compress_bound, sys::libdeflate_gzip_compress),
        };
        let handle = encoder.0.as_ptr();
        // SAFETY: the handle is live.
        let size = unsafe { bound(handle, input.len()) };
        let mut room = Room::unlimited(out);
        let (at, size) = room.offer(size);
        // SAFETY: the handle is live, `input` is readable and `size` bytes at `at` are writable.
        let written = unsafe { compress(handle, input.as_ptr().cast(), input.len(), at.cast(), size) };
        if written == 0 {
            return Err(failed("the output did not fit its own bound"));
        }
        // SAFETY: the library wrote that many bytes to `at`.
        unsafe { room.commit(written) };
        Ok(())
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let input = grounded(input);
        let failed = |message: &str| Error::Decode { codec: INFO.name, message: message.into() };
        if self.decoder.is_none() {
            self.decoder = Decompressor::new();
        }
        let Some(decoder) = &self.decoder else { return Err(failed("no memory for the decompressor")) };
        let decompress: Decompress = match self.container {
            Container::Raw => sys::libdeflate_deflate_decompress_ex,
            Container::Zlib => sys::libdeflate_zlib_decompress_ex,
            Container::Gzip => sys::libdeflate_gzip_decompress_ex,
        };
        let mut room = Room::expecting(INFO.name, expected, out)?;
        let (at, size) = room.offer(expected + 1);
        let (mut taken, mut written) = (0, 0);
        // SAFETY: the handle is live, `input` is readable, `size` bytes at `at` are writable, and both
        // counters outlive the call.
        let code = unsafe {
            decompress(
                decoder.0.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                at.cast(),
                size,
                &mut taken,
                &mut written,
            )
        };
        match code {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS if taken < input.len() => {
                Err(trailing(INFO.name, input.len() - taken))
            }
            sys::libdeflate_result_LIBDEFLATE_SUCCESS => {
                // SAFETY: the library wrote that many bytes to `at`.
                unsafe { room.commit(written) };
                room.close(INFO.name)
            }
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => {
                Err(Error::TooLarge { codec: INFO.name, limit: expected })
            }
            _ => Err(failed("the data is damaged or ends early")),
        }
    }
}

type Bound = unsafe extern "C" fn(*mut sys::libdeflate_compressor, usize) -> usize;
type Compress =
    unsafe extern "C" fn(*mut sys::libdeflate_compressor, *const c_void, usize, *mut c_void, usize) -> usize;
type Decompress = unsafe extern "C" fn(
    *mut sys::libdeflate_decompressor,
    *const c_void,
    usize,
    *mut c_void,
    usize,
    *mut usize,
    *mut usize,
) -> sys::libdeflate_result;

struct Compressor(NonNull<sys::libdeflate_compressor>);

// SAFETY: the handle has no ties to a thread.
unsafe impl Send for Compressor {}

impl Compressor {
    fn new(level: i32) -> Option<Compressor> {
        // SAFETY: takes no pointer; null is handled.
        NonNull::new(unsafe { sys::libdeflate_alloc_compressor(level) }).map(Compressor)
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { sys::libdeflate_free_compressor(self.0.as_ptr()) }
    }
}

struct Decompressor(NonNull<sys::libdeflate_decompressor>);

// SAFETY: the handle has no ties to a thread.
unsafe impl Send for Decompressor {}

impl Decompressor {
    fn new() -> Option<Decompressor> {
        // SAFETY: takes no pointer; null is handled.
        NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() }).map(Decompressor)
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}
