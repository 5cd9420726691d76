//! br: the reference implementation. Neither encoder nor decoder can be reset, so each stream has its own.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};

// Brings the library along, where it is not that of the system.
#[cfg(feature = "bundled")]
use brotlic_sys as _;

use crate::transform::transform;
use crate::{Coding, Error, Operation, Plan, stream::Stream};

/// An instance of the library's encoder or decoder.
type Handle = *mut c_void;
/// Bytes left or free, the next one to take, and where the next one goes.
type Size = *mut usize;
type From = *mut *const u8;
type To = *mut *mut u8;

// Of `brotli/encode.h` and `brotli/decode.h`, as all versions from 1.0 on have them. The first pointer is an allocator, null for its own; the last
// one of a stream's call is a count that nobody wants.
#[cfg_attr(not(feature = "bundled"), link(name = "brotlienc"), link(name = "brotlidec"))]
unsafe extern "C" {
    fn BrotliEncoderVersion() -> u32;
    fn BrotliEncoderCreateInstance(allocate: *const c_void, free: *const c_void, opaque: Handle) -> Handle;
    fn BrotliEncoderDestroyInstance(of: Handle);
    fn BrotliEncoderSetParameter(of: Handle, parameter: c_int, value: u32) -> c_int;
    fn BrotliEncoderCompressStream(
        of: Handle,
        op: c_int,
        n: Size,
        from: From,
        m: Size,
        to: To,
        all: Size,
    ) -> c_int;
    fn BrotliEncoderHasMoreOutput(of: Handle) -> c_int;
    fn BrotliDecoderCreateInstance(allocate: *const c_void, free: *const c_void, opaque: Handle) -> Handle;
    fn BrotliDecoderDestroyInstance(of: Handle);
    fn BrotliDecoderDecompressStream(of: Handle, n: Size, from: From, m: Size, to: To, all: Size) -> c_int;
    fn BrotliDecoderGetErrorCode(of: Handle) -> c_int;
    fn BrotliDecoderErrorString(code: c_int) -> *const c_char;
}

const QUALITY: c_int = 1;
const SIZE_HINT: c_int = 5;
/// What a decoder answers beside asking for more of something.
const ERROR: c_int = 0;
const SUCCESS: c_int = 1;

/// The version of the library.
pub(crate) fn version() -> String {
    // SAFETY: takes no pointer. The answer is major << 24 | minor << 12 | patch.
    let version = unsafe { BrotliEncoderVersion() };
    format!("{}.{}.{}", version >> 24, (version >> 12) & 0xfff, version & 0xfff)
}

/// An encoder or a decoder, with what takes it back.
struct Owned(NonNull<c_void>, unsafe extern "C" fn(Handle));

impl Owned {
    fn new(handle: Handle, destroy: unsafe extern "C" fn(Handle)) -> Result<Owned, Error> {
        NonNull::new(handle).map(|handle| Owned(handle, destroy)).ok_or(Error::Memory(0))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the instance is live, of the kind that this function takes, and not used again.
        unsafe { (self.1)(self.0.as_ptr()) }
    }
}

/// An encoder of one stream.
pub(crate) struct Encoder(Owned);

impl Encoder {
    /// `size`: how many bytes will come; 0 if that is not known.
    pub fn new(plan: &Plan, size: usize) -> Result<Encoder, Error> {
        // SAFETY: no allocator of our own; null is handled.
        let handle = unsafe { BrotliEncoderCreateInstance(null(), null(), null_mut()) };
        let encoder = Encoder(Owned::new(handle, BrotliEncoderDestroyInstance)?);
        for (parameter, value) in [(QUALITY, plan.level as u32), (SIZE_HINT, size.min(1 << 30) as u32)] {
            // SAFETY: the instance is live and has not encoded yet; both values are within the library's bounds.
            unsafe { BrotliEncoderSetParameter(handle, parameter, value) };
        }
        Ok(encoder)
    }
}

impl Stream for Encoder {
    fn run(&mut self, data: &[u8], operation: Operation, out: &mut Vec<u8>) -> Result<(), Error> {
        // The library numbers them in this order.
        let (operation, of) = (operation as c_int, self.0.0.as_ptr());
        let step = |data: &[u8], room: &mut [u8]| {
            let (mut n, mut from, mut m, mut to) = (data.len(), data.as_ptr(), room.len(), room.as_mut_ptr());
            let all = null_mut();
            // SAFETY: the instance is live, and the pointers are those of `data` and `room` with their lengths.
            let (is_fine, has_more) = unsafe {
                let is_fine =
                    BrotliEncoderCompressStream(of, operation, &mut n, &mut from, &mut m, &mut to, all);
                (is_fine, BrotliEncoderHasMoreOutput(of))
            };
            let progress = (data.len() - n, room.len() - m, n == 0 && has_more == 0);
            if is_fine == 0 {
                Err(Error::Failed(Coding::Br, "the encoder gave up".into()))
            } else {
                Ok(progress)
            }
        };
        transform(Coding::Br, data, (data.len() / 4, usize::MAX), out, step).map(drop)
    }
}

/// Appends what a stream decodes to, at most `limit` bytes. The window of a stream is at most 16 MB.
pub(crate) fn decode(data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let damaged = |what: String| Error::Damaged(Coding::Br, what);
    // SAFETY: no allocator of our own; null is handled.
    let of = unsafe { BrotliDecoderCreateInstance(null(), null(), null_mut()) };
    let _owned = Owned::new(of, BrotliDecoderDestroyInstance)?;
    let step = |data: &[u8], room: &mut [u8]| {
        let (mut n, mut from, mut m, mut to) = (data.len(), data.as_ptr(), room.len(), room.as_mut_ptr());
        let all = null_mut();
        // SAFETY: the instance is live, and the pointers are those of `data` and `room` with their lengths.
        let code = unsafe { BrotliDecoderDecompressStream(of, &mut n, &mut from, &mut m, &mut to, all) };
        if code == ERROR {
            // SAFETY: the instance is live; the text is of static lifetime.
            let text = unsafe { CStr::from_ptr(BrotliDecoderErrorString(BrotliDecoderGetErrorCode(of))) };
            return Err(damaged(text.to_string_lossy().into_owned()));
        }
        Ok((data.len() - n, room.len() - m, code == SUCCESS))
    };
    match transform(Coding::Br, data, (data.len() * 4, limit), out, step)?.len() {
        0 => Ok(()),
        rest => Err(damaged(format!("{rest} bytes follow its end"))),
    }
}
