//! br: the reference implementation. Neither encoder nor decoder can be reset, so each stream has its own.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};

use brotlic_sys as sys;

use crate::transform::{Progress, transform};
use crate::{Coding, Error, Operation, Plan, stream::Stream};

/// The version of the library.
pub(crate) fn version() -> String {
    // SAFETY: takes no pointer. The answer is major << 24 | minor << 12 | patch.
    let version = unsafe { sys::BrotliEncoderVersion() };
    format!("{}.{}.{}", version >> 24, (version >> 12) & 0xfff, version & 0xfff)
}

/// An encoder of one stream.
pub(crate) struct Encoder(NonNull<sys::BrotliEncoderState>);

impl Encoder {
    /// `size`: how many bytes will come; 0 if that is not known.
    pub fn new(plan: &Plan, size: usize) -> Result<Encoder, Error> {
        // SAFETY: no allocator of our own; null is handled.
        let handle = unsafe { sys::BrotliEncoderCreateInstance(None, None, null_mut()) };
        let encoder = Encoder(NonNull::new(handle).ok_or(Error::Memory(0))?);
        for (parameter, value) in [
            (sys::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, plan.level as u32),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_SIZE_HINT, size.min(1 << 30) as u32),
        ] {
            // SAFETY: the instance is live and has not encoded yet; both values are within the library's bounds.
            unsafe { sys::BrotliEncoderSetParameter(handle, parameter, value) };
        }
        Ok(encoder)
    }
}

impl Stream for Encoder {
    fn run(&mut self, data: &[u8], operation: Operation, out: &mut Vec<u8>) -> Result<(), Error> {
        let operation = match operation {
            Operation::Process => sys::BrotliEncoderOperation_BROTLI_OPERATION_PROCESS,
            Operation::Flush => sys::BrotliEncoderOperation_BROTLI_OPERATION_FLUSH,
            Operation::Finish => sys::BrotliEncoderOperation_BROTLI_OPERATION_FINISH,
        };
        let handle = self.0.as_ptr();
        transform(Coding::Br, data, (data.len() / 4, usize::MAX), out, |data, room| {
            let (mut left, mut next, mut free, mut at) = pointers(data, room);
            // SAFETY: the instance is live, and the pointers are those of `data` and `room` with their lengths.
            let is_fine = unsafe {
                sys::BrotliEncoderCompressStream(
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
            let is_done = left == 0 && unsafe { sys::BrotliEncoderHasMoreOutput(handle) } == 0;
            Ok(Progress { taken: data.len() - left, written: room.len() - free, is_done })
        })
        .map(drop)
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: the instance is live and not used again.
        unsafe { sys::BrotliEncoderDestroyInstance(self.0.as_ptr()) }
    }
}

/// Both slices as the library takes them: bytes left, the next one, bytes free, where the next one goes.
fn pointers(data: &[u8], room: &mut [MaybeUninit<u8>]) -> (usize, *const u8, usize, *mut u8) {
    (data.len(), data.as_ptr(), room.len(), room.as_mut_ptr().cast())
}

struct Decoder(NonNull<sys::BrotliDecoderState>);

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the instance is live and not used again.
        unsafe { sys::BrotliDecoderDestroyInstance(self.0.as_ptr()) }
    }
}

/// Appends what a stream decodes to, at most `limit` bytes. The window of a stream is at most 16 MB.
pub(crate) fn decode(data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let damaged = |what: String| Error::Damaged(Coding::Br, what);
    // SAFETY: no allocator of our own; null is handled.
    let handle = unsafe { sys::BrotliDecoderCreateInstance(None, None, null_mut()) };
    let _decoder = Decoder(NonNull::new(handle).ok_or(Error::Memory(0))?);
    let rest = transform(Coding::Br, data, (data.len() * 4, limit), out, |data, room| {
        let (mut left, mut next, mut free, mut at) = pointers(data, room);
        // SAFETY: the instance is live, and the pointers are those of `data` and `room` with their lengths.
        let result = unsafe {
            sys::BrotliDecoderDecompressStream(handle, &mut left, &mut next, &mut free, &mut at, null_mut())
        };
        if result == sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_ERROR {
            // SAFETY: the instance is live; the text is of static lifetime.
            let text = unsafe {
                CStr::from_ptr(sys::BrotliDecoderErrorString(sys::BrotliDecoderGetErrorCode(handle)))
            };
            return Err(damaged(text.to_string_lossy().into_owned()));
        }
        let is_done = result == sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS;
        Ok(Progress { taken: data.len() - left, written: room.len() - free, is_done })
    })?;
    if rest.is_empty() { Ok(()) } else { Err(damaged(format!("{} bytes follow its end", rest.len()))) }
}
