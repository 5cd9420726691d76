//! br: the reference implementation. Neither encoder nor decoder can be reset, so each stream has its own.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null, null_mut};

// Brings the library along, where it is not that of the system.
#[cfg(feature = "bundled")]
use brotlic_sys as _;

use crate::transform::{Progress, transform};
use crate::{Coding, Error, Operation, Plan, stream::Stream};

/// An instance of the library's encoder or decoder.
type Handle = *mut c_void;

// Of `brotli/encode.h` and `brotli/decode.h`, as all versions from 1.0 on have them. The first pointer is an allocator, null for its own; the last
// one of a stream's call is a count that nobody wants.
#[cfg_attr(not(feature = "bundled"), link(name = "brotlienc"), link(name = "brotlidec"))]
unsafe extern "C" {
    fn BrotliEncoderVersion() -> u32;
    fn BrotliEncoderCreateInstance(allocate: *const c_void, free: *const c_void, opaque: Handle) -> Handle;
    fn BrotliEncoderDestroyInstance(encoder: Handle);
    fn BrotliEncoderSetParameter(encoder: Handle, parameter: c_int, value: u32) -> c_int;
    fn BrotliEncoderCompressStream(
        encoder: Handle,
        operation: c_int,
        left: *mut usize,
        next: *mut *const u8,
        free: *mut usize,
        at: *mut *mut u8,
        total: *mut usize,
    ) -> c_int;
    fn BrotliEncoderHasMoreOutput(encoder: Handle) -> c_int;
    fn BrotliDecoderCreateInstance(allocate: *const c_void, free: *const c_void, opaque: Handle) -> Handle;
    fn BrotliDecoderDestroyInstance(decoder: Handle);
    fn BrotliDecoderDecompressStream(
        decoder: Handle,
        left: *mut usize,
        next: *mut *const u8,
        free: *mut usize,
        at: *mut *mut u8,
        total: *mut usize,
    ) -> c_int;
    fn BrotliDecoderGetErrorCode(decoder: Handle) -> c_int;
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

/// An encoder of one stream.
pub(crate) struct Encoder(NonNull<c_void>);

impl Encoder {
    /// `size`: how many bytes will come; 0 if that is not known.
    pub fn new(plan: &Plan, size: usize) -> Result<Encoder, Error> {
        // SAFETY: no allocator of our own; null is handled.
        let handle = unsafe { BrotliEncoderCreateInstance(null(), null(), null_mut()) };
        let encoder = Encoder(NonNull::new(handle).ok_or(Error::Memory(0))?);
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
        let operation = operation as c_int;
        let handle = self.0.as_ptr();
        transform(Coding::Br, data, (data.len() / 4, usize::MAX), out, |data, room| {
            let (mut left, mut next, mut free, mut at) = pointers(data, room);
            // SAFETY: the instance is live, and the pointers are those of `data` and `room` with their lengths.
            let is_fine = unsafe {
                BrotliEncoderCompressStream(
                    handle,
                    operation,
                    &mut left,
                    &mut next,
                    &mut free,
                    &mut at,
                    null_mut(),
                )
            };
            if is_fine == 0 {
                return Err(Error::Failed(Coding::Br, "the encoder gave up".into()));
            }
            // SAFETY: the instance is live.
            let is_done = left == 0 && unsafe { BrotliEncoderHasMoreOutput(handle) } == 0;
            Ok(Progress { taken: data.len() - left, written: room.len() - free, is_done })
        })
        .map(drop)
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: the instance is live and not used again.
        unsafe { BrotliEncoderDestroyInstance(self.0.as_ptr()) }
    }
}

/// Both slices as the library takes them: bytes left, the next one, bytes free, where the next one goes.
fn pointers(data: &[u8], room: &mut [MaybeUninit<u8>]) -> (usize, *const u8, usize, *mut u8) {
    (data.len(), data.as_ptr(), room.len(), room.as_mut_ptr().cast())
}

struct Decoder(NonNull<c_void>);

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the instance is live and not used again.
        unsafe { BrotliDecoderDestroyInstance(self.0.as_ptr()) }
    }
}

/// Appends what a stream decodes to, at most `limit` bytes. The window of a stream is at most 16 MB.
pub(crate) fn decode(data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let damaged = |what: String| Error::Damaged(Coding::Br, what);
    // SAFETY: no allocator of our own; null is handled.
    let handle = unsafe { BrotliDecoderCreateInstance(null(), null(), null_mut()) };
    let _decoder = Decoder(NonNull::new(handle).ok_or(Error::Memory(0))?);
    let rest = transform(Coding::Br, data, (data.len() * 4, limit), out, |data, room| {
        let (mut left, mut next, mut free, mut at) = pointers(data, room);
        // SAFETY: the instance is live, and the pointers are those of `data` and `room` with their lengths.
        let result = unsafe {
            BrotliDecoderDecompressStream(handle, &mut left, &mut next, &mut free, &mut at, null_mut())
        };
        if result == ERROR {
            // SAFETY: the instance is live; the text is of static lifetime.
            let text = unsafe { CStr::from_ptr(BrotliDecoderErrorString(BrotliDecoderGetErrorCode(handle))) };
            return Err(damaged(text.to_string_lossy().into_owned()));
        }
        let is_done = result == SUCCESS;
        Ok(Progress { taken: data.len() - left, written: room.len() - free, is_done })
    })?;
    if rest.is_empty() { Ok(()) } else { Err(damaged(format!("{} bytes follow its end", rest.len()))) }
}
