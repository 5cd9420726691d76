//! Brotli, the reference implementation. Neither its encoder nor its decoder can be reset, so each call
//! makes its own instance, as every server does.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

use brotlic_sys as sys;

use crate::room::{MODE, Mode, Room, Stop, grounded};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, OptionSpec, OptionValues, Params};

static INFO: Info = Info {
    name: "brotli",
    format: Format::Brotli,
    levels: Some(LevelRange { min: 0, max: 11, default: 11, representative: &[1, 4, 5, 9, 11] }),
    options: &[
        MODE,
        OptionSpec {
            name: "window",
            values: OptionValues::Range(10, 24),
            about: "base-2 logarithm of the window in bytes; default 22",
        },
        OptionSpec {
            name: "content",
            values: OptionValues::Words(&["generic", "text", "font"]),
            about: "what the encoder is told about the input; default generic",
        },
    ],
    sets: &["web", "archive"],
    nominal: &[(0, 250.0), (1, 163.0), (4, 40.0), (5, 25.0), (9, 7.5), (10, 1.0), (11, 0.5)],
};

/// The largest window of RFC 7932, base-2 logarithm: RFC 9842 allows 16 MB.
const DELTA_WINDOW: u32 = 24;
/// A dictionary whose bytes are plain content.
const RAW: sys::BrotliSharedDictionaryType = sys::BrotliSharedDictionaryType_BROTLI_SHARED_DICTIONARY_RAW;

/// The codec over Google's brotli.
pub struct Brotli;

struct Both {
    mode: Mode,
    quality: u32,
    window: u32,
    content: sys::BrotliEncoderMode,
}

impl Codec for Brotli {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        // SAFETY: takes no pointer. The number is major << 24 | minor << 12 | patch.
        let v = unsafe { sys::BrotliEncoderVersion() };
        format!("brotli {}.{}.{}", v >> 24, (v >> 12) & 0xfff, v & 0xfff)
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        Ok(Box::new(Both {
            mode: Mode::of(params),
            quality: params.level_or_default(&INFO) as u32,
            window: params.number("window").unwrap_or(22) as u32,
            content: match params.word("content") {
                Some("text") => sys::BrotliEncoderMode_BROTLI_MODE_TEXT,
                Some("font") => sys::BrotliEncoderMode_BROTLI_MODE_FONT,
                _ => sys::BrotliEncoderMode_BROTLI_MODE_GENERIC,
            },
        }))
    }
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let mut room = Room::unlimited(out);
        match self.mode {
            Mode::OneShot => self.whole(input, &mut room),
            Mode::Stream => Encoder::new(self)?.run(self.mode, input, &mut room),
        }
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut room = Room::expecting(INFO.name, expected, out)?;
        let ran = Decoder::new()?.run(self.mode, input, expected, &mut room);
        room.decoded(INFO.name, ran, |message| message)
    }
}

fn failed(message: &str) -> Error {
    Error::Encode { codec: INFO.name, message: message.into() }
}

impl Both {
    fn whole(&self, input: &[u8], room: &mut Room) -> Result<(), Error> {
        let input = grounded(input);
        // SAFETY: takes no pointer.
        let bound = unsafe { sys::BrotliEncoderMaxCompressedSize(input.len()) };
        let (at, mut size) = room.offer(bound);
        // SAFETY: `input` is readable, `size` bytes at `at` are writable and `size` outlives the call.
        let fine = unsafe {
            sys::BrotliEncoderCompress(
                self.quality as i32,
                self.window as i32,
                self.content,
                input.len(),
                input.as_ptr(),
                &mut size,
                at,
            )
        };
        if fine == 0 {
            return Err(failed("the encoder gave up"));
        }
        // SAFETY: the library wrote `size` bytes to `at`.
        unsafe { room.commit(size) };
        Ok(())
    }
}

struct Encoder(NonNull<sys::BrotliEncoderState>);

impl Encoder {
    fn new(settings: &Both) -> Result<Encoder, Error> {
        // SAFETY: no allocator of our own; null is handled.
        let handle = unsafe { sys::BrotliEncoderCreateInstance(None, None, null_mut()) };
        let encoder = Encoder(NonNull::new(handle).ok_or_else(|| failed("no memory for the encoder"))?);
        let parameters = [
            (sys::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, settings.quality),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_LGWIN, settings.window),
            (sys::BrotliEncoderParameter_BROTLI_PARAM_MODE, settings.content as u32),
        ];
        for (parameter, value) in parameters {
            // SAFETY: the instance is live and has not encoded yet.
            if unsafe { sys::BrotliEncoderSetParameter(handle, parameter, value) } == 0 {
                return Err(failed("the encoder refused a parameter"));
            }
        }
        Ok(encoder)
    }

    /// Lets the encoder refer to a dictionary, which has to outlive it.
    fn attach(&self, dictionary: &Prepared<'_>) -> Result<(), Error> {
        // SAFETY: both are live, and the instance has not encoded yet.
        match unsafe { sys::BrotliEncoderAttachPreparedDictionary(self.0.as_ptr(), dictionary.0.as_ptr()) } {
            0 => Err(failed("the encoder refused the dictionary")),
            _ => Ok(()),
        }
    }

    fn run(&self, mode: Mode, input: &[u8], room: &mut Room) -> Result<(), Error> {
        for (piece, last) in mode.pieces(input) {
            let operation = if last {
                sys::BrotliEncoderOperation_BROTLI_OPERATION_FINISH
            } else {
                sys::BrotliEncoderOperation_BROTLI_OPERATION_PROCESS
            };
            let (mut left, mut next) = (piece.len(), piece.as_ptr());
            loop {
                let (mut at, size) = room.offer(mode.window(piece.len()));
                let mut free = size;
                // SAFETY: the instance is live; `next` and `left` describe the rest of `piece`, `at` and
                // `free` the room offered.
                let (fine, more) = unsafe {
                    let handle = self.0.as_ptr();
                    let fine = sys::BrotliEncoderCompressStream(
                        handle,
                        operation,
                        &mut left,
                        &mut next,
                        &mut free,
                        &mut at,
                        null_mut(),
                    );
                    room.commit(size - free);
                    (fine, sys::BrotliEncoderHasMoreOutput(handle))
                };
                if fine == 0 {
                    return Err(failed("the encoder gave up"));
                }
                if left == 0 && more == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: the instance is live and not used again.
        unsafe { sys::BrotliEncoderDestroyInstance(self.0.as_ptr()) }
    }
}

/// A dictionary in the form in which the encoder looks matches up. It refers to the dictionary's own bytes.
struct Prepared<'d>(NonNull<sys::BrotliEncoderPreparedDictionary>, PhantomData<&'d [u8]>);

impl Prepared<'_> {
    fn of(dictionary: &[u8]) -> Result<Prepared<'_>, Error> {
        // SAFETY: `dictionary` is readable and outlives the result; no allocator of our own; null is handled.
        let handle = unsafe {
            sys::BrotliEncoderPrepareDictionary(
                RAW,
                dictionary.len(),
                dictionary.as_ptr(),
                11,
                None,
                None,
                null_mut(),
            )
        };
        let handle = NonNull::new(handle).ok_or_else(|| failed("the dictionary cannot be prepared"))?;
        Ok(Prepared(handle, PhantomData))
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // SAFETY: it is live and not used again.
        unsafe { sys::BrotliEncoderDestroyPreparedDictionary(self.0.as_ptr()) }
    }
}

/// Encodes at a level, with references to a dictionary of plain bytes.
pub(crate) fn encode_after(
    dictionary: &[u8],
    level: i32,
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let settings = Both {
        mode: Mode::OneShot,
        quality: level as u32,
        window: DELTA_WINDOW,
        content: sys::BrotliEncoderMode_BROTLI_MODE_GENERIC,
    };
    // Dropped in the reverse order: the encoder refers to the dictionary to its end.
    let prepared = if dictionary.is_empty() { None } else { Some(Prepared::of(dictionary)?) };
    let encoder = Encoder::new(&settings)?;
    prepared.iter().try_for_each(|prepared| encoder.attach(prepared))?;
    encoder.run(settings.mode, input, &mut Room::unlimited(out))
}

/// Decodes what refers to a dictionary of plain bytes.
pub(crate) fn decode_after(
    dictionary: &[u8],
    input: &[u8],
    expected: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut room = Room::expecting(INFO.name, expected, out)?;
    let decoder = Decoder::new()?;
    // SAFETY: the instance is live and has not decoded yet; the dictionary outlives it.
    let attached = dictionary.is_empty()
        || unsafe {
            sys::BrotliDecoderAttachDictionary(decoder.0.as_ptr(), RAW, dictionary.len(), dictionary.as_ptr())
        } != 0;
    if !attached {
        return Err(Error::Decode { codec: INFO.name, message: "the decoder refused the dictionary".into() });
    }
    let ran = decoder.run(Mode::OneShot, input, expected, &mut room);
    room.decoded(INFO.name, ran, |message| message)
}

struct Decoder(NonNull<sys::BrotliDecoderState>);

impl Decoder {
    fn new() -> Result<Decoder, Error> {
        // SAFETY: no allocator of our own; null is handled.
        let handle = unsafe { sys::BrotliDecoderCreateInstance(None, None, null_mut()) };
        let message = "no memory for the decoder";
        NonNull::new(handle).map(Decoder).ok_or(Error::Decode { codec: INFO.name, message: message.into() })
    }

    /// Runs the stream to its end; returns the number of unread bytes of input.
    fn run(&self, mode: Mode, input: &[u8], expected: usize, room: &mut Room) -> Result<usize, Stop<String>> {
        let handle = self.0.as_ptr();
        let mut after = input.len();
        for (piece, _) in mode.pieces(input) {
            after -= piece.len();
            let (mut left, mut next) = (piece.len(), piece.as_ptr());
            loop {
                let (mut at, size) = room.offer(mode.window(expected + 1));
                let mut free = size;
                // SAFETY: the instance is live; `next` and `left` describe the rest of `piece`, `at` and
                // `free` the room offered.
                let result = unsafe {
                    let decompress = sys::BrotliDecoderDecompressStream;
                    let result = decompress(handle, &mut left, &mut next, &mut free, &mut at, null_mut());
                    room.commit(size - free);
                    result
                };
                match result {
                    sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS => return Ok(left + after),
                    sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT => break,
                    sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT if size == 0 => {
                        return Err(Stop::Full);
                    }
                    sys::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT => {}
                    _ => return Err(Stop::Library(self.error())),
                }
            }
        }
        Err(Stop::Starved)
    }

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
