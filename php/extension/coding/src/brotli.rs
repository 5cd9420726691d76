//! br and dcb: the reference implementation. Neither encoder nor decoder can be reset, so each stream has its own.

use std::ffi::CStr;
use std::ptr::{NonNull, null_mut};

use brotlic_sys as sys;

use crate::{Error, Plan};

/// The version of the library: major << 24 | minor << 12 | patch.
pub(crate) fn version() -> String {
    // SAFETY: takes no pointer.
    let v = unsafe { sys::BrotliEncoderVersion() };
    format!("{}.{}.{}", v >> 24, (v >> 12) & 0xfff, v & 0xfff)
}

/// What a call is to do beside taking data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Process,
    Flush,
    Finish,
}

/// An encoder, with the dictionary that it refers to.
pub(crate) struct Encoder {
    // Dropped in this order: the encoder refers to the prepared dictionary, which refers to the bytes.
    state: State,
    _prepared: Option<Prepared>,
    _bytes: Vec<u8>,
    coding: crate::Coding,
}

impl Encoder {
    /// `size`: how many bytes will come, if that is known.
    pub fn new(plan: &Plan, size: Option<usize>) -> Result<Encoder, Error> {
        let failed = |what: &str| Error::Failed { coding: plan.coding, what: what.into() };
        // SAFETY: no allocator of our own; null is handled.
        let handle = unsafe { sys::BrotliEncoderCreateInstance(None, None, null_mut()) };
        let state = State(NonNull::new(handle).ok_or(Error::Memory(0))?);
        let hint = size.map_or(0, |size| u32::try_from(size).unwrap_or(1 << 30).min(1 << 30));
        let parameters = [
            (sys::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, plan.level as u32),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_LGWIN, 22),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_SIZE_HINT, hint),
        ];
        for (parameter, value) in parameters {
            // SAFETY: the instance is live and has not encoded yet.
            if unsafe { sys::BrotliEncoderSetParameter(handle, parameter, value) } == 0 {
                return Err(failed("the encoder refused a parameter"));
            }
        }
        let bytes = plan.dictionary.unwrap_or_default().to_vec();
        let prepared = if bytes.is_empty() { None } else { Some(Prepared::new(&bytes, plan)?) };
        if let Some(prepared) = &prepared {
            // SAFETY: both are live, and this struct drops the encoder first.
            if unsafe { sys::BrotliEncoderAttachPreparedDictionary(handle, prepared.0.as_ptr()) } == 0 {
                return Err(failed("the encoder refused the dictionary"));
            }
        }
        Ok(Encoder { state, _prepared: prepared, _bytes: bytes, coding: plan.coding })
    }

    /// Takes all data, and appends what is encoded of it so far.
    pub fn run(&mut self, data: &[u8], operation: Operation, out: &mut Vec<u8>) -> Result<(), Error> {
        let operation = match operation {
            Operation::Process => sys::BrotliEncoderOperation_BROTLI_OPERATION_PROCESS,
            Operation::Flush => sys::BrotliEncoderOperation_BROTLI_OPERATION_FLUSH,
            Operation::Finish => sys::BrotliEncoderOperation_BROTLI_OPERATION_FINISH,
        };
        let (mut left, mut next) = (data.len(), data.as_ptr());
        loop {
            let size = STEP.max(left / 4);
            out.try_reserve(size).map_err(|_| Error::Memory(size))?;
            let room = out.spare_capacity_mut();
            let (mut at, offered) = (room.as_mut_ptr().cast::<u8>(), room.len());
            let mut free = offered;
            let handle = self.state.0.as_ptr();
            // SAFETY: the instance is live; `next` and `left` are the rest of `data`, `at` and `free` the room.
            let (fine, more) = unsafe {
                let fine = sys::BrotliEncoderCompressStream(
                    handle,
                    operation,
                    &mut left,
                    &mut next,
                    &mut free,
                    &mut at,
                    null_mut(),
                );
                // The library wrote what is no longer free of the room.
                out.set_len(out.len() + (offered - free.min(offered)));
                (fine, sys::BrotliEncoderHasMoreOutput(handle))
            };
            if fine == 0 {
                return Err(Error::Failed { coding: self.coding, what: "the encoder gave up".into() });
            }
            if left == 0 && more == 0 {
                return Ok(());
            }
        }
    }
}

/// The least room that is offered at a time.
const STEP: usize = 16 * 1024;

struct State(NonNull<sys::BrotliEncoderState>);

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the instance is live and not used again.
        unsafe { sys::BrotliEncoderDestroyInstance(self.0.as_ptr()) }
    }
}

struct Prepared(NonNull<sys::BrotliEncoderPreparedDictionary>);

impl Prepared {
    fn new(bytes: &[u8], plan: &Plan) -> Result<Prepared, Error> {
        // SAFETY: `bytes` is readable and outlives what is prepared of it: both are fields of an encoder.
        let handle = unsafe {
            sys::BrotliEncoderPrepareDictionary(
                sys::BrotliSharedDictionaryType_BROTLI_SHARED_DICTIONARY_RAW,
                bytes.len(),
                bytes.as_ptr(),
                plan.level,
                None,
                None,
                null_mut(),
            )
        };
        let refused =
            || Error::Failed { coding: plan.coding, what: "the dictionary could not be prepared".into() };
        NonNull::new(handle).map(Prepared).ok_or_else(refused)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // SAFETY: live, and the encoder that refers to it has been dropped.
        unsafe { sys::BrotliEncoderDestroyPreparedDictionary(self.0.as_ptr()) }
    }
}

/// Appends what a stream decodes to, at most `limit` bytes. The window of a stream is at most 16 MB.
pub(crate) fn decode(plan: &Plan, data: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let coding = plan.coding;
    // SAFETY: no allocator of our own; null is handled.
    let handle = unsafe { sys::BrotliDecoderCreateInstance(None, None, null_mut()) };
    let decoder = Decoder(NonNull::new(handle).ok_or(Error::Memory(0))?);
    if let Some(bytes) = plan.dictionary {
        let raw = sys::BrotliSharedDictionaryType_BROTLI_SHARED_DICTIONARY_RAW;
        // SAFETY: the instance is live, and `bytes` outlives it.
        if unsafe { sys::BrotliDecoderAttachDictionary(handle, raw, bytes.len(), bytes.as_ptr()) } == 0 {
            return Err(Error::Failed { coding, what: "the decoder refused the dictionary".into() });
        }
    }
    let (mut left, mut next) = (data.len(), data.as_ptr());
    let mut room = limit;
    loop {
        let size = room.min(STEP.max(out.len()));
        out.try_reserve(size).map_err(|_| Error::Memory(size))?;
        let mut at = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        let mut free = size;
        // SAFETY: the instance is live; `next` and `left` are the rest of `data`; `size` bytes at `at` are reserved.
        let result = unsafe {
            let result = sys::BrotliDecoderDecompressStream(
                handle,
                &mut left,
                &mut next,
                &mut free,
                &mut at,
                null_mut(),
            );
            let written = size - free.min(size);
            out.set_len(out.len() + written);
            room -= written;
            result
        };
        let damaged = |what: String| Err(Error::Damaged { coding, what });
        match result {
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS if left > 0 => {
                return damaged(format!("{left} bytes follow its end"));
            }
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS => return Ok(()),
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT => {
                return damaged("it ends early".into());
            }
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT if room == 0 => {
                return Err(Error::TooLarge { coding, limit });
            }
            sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT => {}
            _ => return damaged(decoder.error()),
        }
    }
}

struct Decoder(NonNull<sys::BrotliDecoderState>);

impl Decoder {
    fn error(&self) -> String {
        // SAFETY: the instance is live; the text is of static lifetime.
        let text = unsafe {
            let code = sys::BrotliDecoderGetErrorCode(self.0.as_ptr());
            CStr::from_ptr(sys::BrotliDecoderErrorString(code))
        };
        text.to_string_lossy().into_owned()
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the instance is live and not used again.
        unsafe { sys::BrotliDecoderDestroyInstance(self.0.as_ptr()) }
    }
}
