//! Zstandard. Contexts, and dictionaries digested into them, are kept between calls.
//!
//! Level 0 is the library's name for its default, 3, and is handled as that.

use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, WriteBuf, zstd_sys};

use crate::room::{MODE, Mode, Room, Stop, truncated};
use crate::{Codec, Coder, Error, Format, Info, LevelRange, OptionSpec, OptionValues, ParamError, Params};

static INFO: Info = Info {
    name: "zstd",
    format: Format::Zstd,
    levels: Some(LevelRange { min: -7, max: 22, default: 3, representative: &[-5, 1, 3, 6, 9, 15, 19] }),
    options: &[
        MODE,
        OptionSpec {
            name: "window",
            values: OptionValues::Range(10, 27),
            about: "base-2 logarithm of the window in bytes; default by level and input",
        },
        OptionSpec {
            name: "long",
            values: OptionValues::Range(0, 1),
            about: "1: long-distance matching; default 0",
        },
        OptionSpec {
            name: "checksum",
            values: OptionValues::Range(0, 1),
            about: "1: 4 bytes of XXH64 after each frame, checked on decoding; default 0",
        },
        OptionSpec {
            name: "dict",
            values: OptionValues::Words(&["none", "trained"]),
            about: "trained: a dictionary trained on other items of the payload; default none",
        },
    ],
    sets: &["web", "cache", "fast", "archive"],
    nominal: &[(-7, 450.0), (-5, 400.0), (1, 277.0), (3, 158.0), (9, 32.0), (15, 6.0), (19, 1.3), (22, 0.8)],
};

pub struct Zstd;

impl Codec for Zstd {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn library(&self) -> String {
        format!("zstd {}", zstd_safe::version_string())
    }

    fn coder(&self, params: &Params) -> Result<Box<dyn Coder>, Error> {
        params.check(&INFO)?;
        let wanted = params.word("dict") == Some("trained");
        if wanted != params.dictionary.is_some() {
            let message = "dict=trained and a trained dictionary go together".into();
            return Err(ParamError::Conflict { codec: INFO.name, message }.into());
        }
        let settings = Settings {
            level: params.level_or_default(&INFO),
            window: params.number("window").map(|w| w as u32),
            long: params.number("long") == Some(1),
            checksum: params.number("checksum") == Some(1),
            dictionary: params.dictionary.clone(),
        };
        Ok(Box::new(Both { mode: Mode::of(params), settings, encoder: None, decoder: None }))
    }

    fn train(&self, samples: &[&[u8]], max: usize) -> Result<Vec<u8>, Error> {
        let joined = samples.concat();
        let sizes: Vec<usize> = samples.iter().map(|s| s.len()).collect();
        let mut dictionary = Vec::with_capacity(max);
        zstd_safe::train_from_buffer(&mut dictionary, &joined, &sizes)
            .map_err(|code| Error::Train { codec: INFO.name, message: describe(code) })?;
        Ok(dictionary)
    }
}

struct Settings {
    level: i32,
    window: Option<u32>,
    long: bool,
    checksum: bool,
    dictionary: Option<Vec<u8>>,
}

impl Settings {
    fn encoder<'d>(&self) -> Result<CCtx<'d>, usize> {
        let mut context = CCtx::create();
        context.set_parameter(CParameter::CompressionLevel(self.level))?;
        context.set_parameter(CParameter::ChecksumFlag(self.checksum))?;
        if self.long {
            context.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
        }
        if let Some(window) = self.window {
            context.set_parameter(CParameter::WindowLog(window))?;
        }
        if let Some(dictionary) = &self.dictionary {
            context.load_dictionary(dictionary)?;
        }
        Ok(context)
    }

    fn decoder(&self) -> Result<DCtx<'static>, usize> {
        let mut context = DCtx::create();
        context.set_parameter(DParameter::WindowLogMax(27))?;
        if let Some(dictionary) = &self.dictionary {
            context.load_dictionary(dictionary)?;
        }
        Ok(context)
    }
}

struct Both {
    mode: Mode,
    settings: Settings,
    encoder: Option<CCtx<'static>>,
    decoder: Option<DCtx<'static>>,
}

impl Coder for Both {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if self.encoder.is_none() {
            self.encoder = Some(self.settings.encoder().map_err(unencoded)?);
        }
        let Some(context) = &mut self.encoder else { return Err(unencoded(0)) };
        let mut room = Room::unlimited(out);
        match self.mode {
            Mode::OneShot => {
                let mut place = OutputRegion::of(&mut room, zstd_safe::compress_bound(input.len()));
                context.compress2(&mut place, input).map(drop).map_err(unencoded)
            }
            Mode::Stream => stepwise(context, input, &mut room).map_err(unencoded),
        }
    }

    fn decode(&mut self, input: &[u8], expected: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        if self.decoder.is_none() {
            self.decoder = Some(self.settings.decoder().map_err(undecoded)?);
        }
        let Some(context) = &mut self.decoder else { return Err(undecoded(0)) };
        // For the library, empty input is a valid sequence of no frames; we write one frame for every input.
        if input.is_empty() {
            out.clear();
            return Err(truncated(INFO.name));
        }
        let mut room = Room::expecting(INFO.name, expected, out)?;
        match self.mode {
            Mode::OneShot => {
                let mut place = OutputRegion::of(&mut room, expected + 1);
                match context.decompress(&mut place, input) {
                    Ok(_) => {}
                    Err(code) if is_too_small(code) => {
                        return Err(Error::TooLarge { codec: INFO.name, limit: expected });
                    }
                    Err(code) => return Err(undecoded(code)),
                }
                drop(place);
                room.close(INFO.name)
            }
            Mode::Stream => {
                let ran = unpack(context, input, &mut room);
                room.decoded(INFO.name, ran, describe)
            }
        }
    }
}

/// Encodes at a level, in a window of 2 to the power of `window` bytes, with a dictionary of plain bytes before the content.
pub(crate) fn encode_after(
    dictionary: &[u8],
    (level, window): (i32, u32),
    input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let settings = Settings { level, window: Some(window), long: false, checksum: false, dictionary: None };
    let mut context = settings.encoder().map_err(unencoded)?;
    context.ref_prefix(dictionary).map_err(unencoded)?;
    let mut room = Room::unlimited(out);
    let mut place = OutputRegion::of(&mut room, zstd_safe::compress_bound(input.len()));
    context.compress2(&mut place, input).map(drop).map_err(unencoded)
}

/// Decodes one frame, with a dictionary of plain bytes before the content.
pub(crate) fn decode_after(
    dictionary: &[u8],
    window: u32,
    input: &[u8],
    expected: usize,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let mut context = DCtx::create();
    context.set_parameter(DParameter::WindowLogMax(window)).map_err(undecoded)?;
    context.ref_prefix(dictionary).map_err(undecoded)?;
    let mut room = Room::expecting(INFO.name, expected, out)?;
    let ran = unpack(&mut context, input, &mut room);
    room.decoded(INFO.name, ran, describe)
}

fn describe(code: usize) -> String {
    zstd_safe::get_error_name(code).into()
}

fn unencoded(code: usize) -> Error {
    Error::Encode { codec: INFO.name, message: describe(code) }
}

fn undecoded(code: usize) -> Error {
    Error::Decode { codec: INFO.name, message: describe(code) }
}

/// Whether the library's error says that the output did not fit.
fn is_too_small(code: usize) -> bool {
    // An error is returned as its negated number.
    code.wrapping_neg() == zstd_sys::ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize
}

fn stepwise(context: &mut CCtx, input: &[u8], room: &mut Room) -> Result<(), usize> {
    for (piece, last) in Mode::Stream.pieces(input) {
        let operation = if last {
            zstd_sys::ZSTD_EndDirective::ZSTD_e_end
        } else {
            zstd_sys::ZSTD_EndDirective::ZSTD_e_continue
        };
        let mut source = InBuffer::around(piece);
        loop {
            let mut place = OutputRegion::of(room, Mode::Stream.window(0));
            let left =
                context.compress_stream2(&mut OutBuffer::around(&mut place), &mut source, operation)?;
            if source.pos() == piece.len() && (left == 0 || !last) {
                break;
            }
        }
    }
    Ok(())
}

/// Decodes one frame to its end; returns the number of unread bytes of input.
fn unpack(context: &mut DCtx<'_>, input: &[u8], room: &mut Room) -> Result<usize, Stop<usize>> {
    context.reset(zstd_safe::ResetDirective::SessionOnly).map_err(Stop::Library)?;
    let mut after = input.len();
    for (piece, _) in Mode::Stream.pieces(input) {
        after -= piece.len();
        let mut source = InBuffer::around(piece);
        loop {
            let mut place = OutputRegion::of(room, Mode::Stream.window(0));
            if place.size == 0 {
                return Err(Stop::Full);
            }
            let mut sink = OutBuffer::around(&mut place);
            let hint = context.decompress_stream(&mut sink, &mut source).map_err(Stop::Library)?;
            let spare = sink.pos() < sink.capacity();
            let left = piece.len() - source.pos();
            match hint {
                0 => return Ok(left + after),
                _ if left == 0 && spare => break,
                _ => {}
            }
        }
    }
    Err(Stop::Starved)
}

/// A part of a [`Room`] in the form that zstd's binding needs.
struct OutputRegion<'a, 'b> {
    room: &'a mut Room<'b>,
    at: *mut u8,
    size: usize,
    filled: usize,
}

impl<'a, 'b> OutputRegion<'a, 'b> {
    fn of(room: &'a mut Room<'b>, want: usize) -> OutputRegion<'a, 'b> {
        let (at, size) = room.offer(want);
        OutputRegion { room, at, size, filled: 0 }
    }
}

impl Drop for OutputRegion<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: `filled_until` was told that these bytes are written.
        unsafe { self.room.commit(self.filled) }
    }
}

// SAFETY: `at` leads to `size` writable bytes for as long as the room is borrowed, and only what was
// declared filled is shown as a slice.
unsafe impl WriteBuf for OutputRegion<'_, '_> {
    fn as_slice(&self) -> &[u8] {
        // SAFETY: the first `filled` bytes are written.
        unsafe { std::slice::from_raw_parts(self.at, self.filled) }
    }

    fn capacity(&self) -> usize {
        self.size
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.at
    }

    unsafe fn filled_until(&mut self, n: usize) {
        self.filled = n;
    }
}
