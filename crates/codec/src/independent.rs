//! Decoders that share no code with the codecs under test, to have the last word on their output.
//!
//! All are written in Rust, none is timed, and none gives out more than the length the caller expects.
//! Input is hostile: a decoder that panics is an error like any other.

mod deflate;
mod snappy;

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ruzstd::decoding::{Dictionary, FrameDecoder, StreamingDecoder};

use crate::{Error, Format};

/// The largest window that a Zstandard frame may ask for, and the most that an .xz stream may: in bytes.
const WINDOW_LIMIT: u64 = 128 << 20;

/// Decodes `input` of that format into exactly what it holds, at most `expected` bytes; also names the
/// decoder. A dictionary is understood for [`Format::Zstd`] only.
///
/// # Errors
/// [`Error::Decode`] for damaged or truncated input or bytes after its end, [`Error::TooLarge`] for
/// more than `expected` bytes; the codec named in them is the decoder.
pub fn decode(
    format: Format,
    input: &[u8],
    expected: usize,
    dictionary: Option<&[u8]>,
) -> Result<(Vec<u8>, &'static str), Error> {
    let name = decoder(format);
    if dictionary.is_some() && format != Format::Zstd {
        let message = format!("the {} format takes no dictionary", format.name());
        return Err(Error::Decode { codec: name, message });
    }
    guarded(name, expected, || dispatch(format, input, expected, dictionary))
}

/// Decodes a Brotli stream after a dictionary of plain bytes; also names the decoder.
///
/// # Errors
/// As [`decode`].
pub(crate) fn decode_brotli_after(
    dictionary: &[u8],
    input: &[u8],
    expected: usize,
) -> Result<(Vec<u8>, &'static str), Error> {
    let name = decoder(Format::Brotli);
    guarded(name, expected, || brotli(name, input, expected, dictionary))
}

/// The same of a Zstandard frame, whose window has at most this many bytes.
///
/// # Errors
/// As [`decode`].
pub(crate) fn decode_zstd_after(
    window: u64,
    dictionary: &[u8],
    input: &[u8],
    expected: usize,
) -> Result<(Vec<u8>, &'static str), Error> {
    let name = decoder(Format::Zstd);
    guarded(name, expected, || zstd_after(name, window, input, expected, dictionary))
}

/// Runs a decoder: a panic of it is an error, and so is more than expected.
fn guarded(
    name: &'static str,
    expected: usize,
    run: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<(Vec<u8>, &'static str), Error> {
    let run = AssertUnwindSafe(run);
    let panicked = |_| Err(Error::Decode { codec: name, message: "the decoder panicked".into() });
    let output = catch_unwind(run).unwrap_or_else(panicked)?;
    if output.len() > expected {
        return Err(Error::TooLarge { codec: name, limit: expected });
    }
    Ok((output, name))
}

/// The largest window for the content coding `zstd`: 8 MB (RFC 9659, section 3). Browsers reject larger ones.
const ZSTD_WINDOW: u64 = 8 << 20;

/// The window of a Zstandard frame if it is too large for the content coding, in bytes.
pub fn zstd_excess(wire: &[u8]) -> Option<u64> {
    zstd_window(wire).filter(|bytes| *bytes > ZSTD_WINDOW)
}

/// The window in the frame's header (RFC 8878, section 3.1.1.1); none without a valid header.
pub fn zstd_window(wire: &[u8]) -> Option<u64> {
    let [0x28, 0xb5, 0x2f, 0xfd, descriptor, rest @ ..] = wire else { return None };
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let (exponent, mantissa) = (rest.first()? >> 3, rest.first()? & 7);
        let base = 1u64 << (10 + exponent);
        return Some(base + base / 8 * u64::from(mantissa));
    }
    // The window is the whole content: its size follows the dictionary's id.
    let id = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(rest.get(id..id + size)?);
    // A size of two bytes is stored minus 256.
    Some(u64::from_le_bytes(bytes) + if size == 2 { 256 } else { 0 })
}

/// The decoder that answers for a format.
pub fn decoder(format: Format) -> &'static str {
    match format {
        Format::Identity => "copy",
        Format::Deflate | Format::Zlib | Format::Gzip => "miniz_oxide",
        Format::Brotli => "brotli-decompressor",
        Format::Zstd => "ruzstd",
        Format::Lz4Block | Format::Lz4Frame => "lz4_flex",
        Format::Snappy => "weighbridge snappy",
        Format::Xz => "lzma-rust2",
        Format::Bzip2 => "libbz2-rs-sys",
    }
}

fn dispatch(
    format: Format,
    input: &[u8],
    expected: usize,
    dictionary: Option<&[u8]>,
) -> Result<Vec<u8>, Error> {
    let name = decoder(format);
    match format {
        Format::Identity if input.len() > expected => Err(Error::TooLarge { codec: name, limit: expected }),
        Format::Identity => Ok(input.to_vec()),
        Format::Deflate => deflate::raw(name, input, expected),
        Format::Zlib => deflate::zlib(name, input, expected),
        Format::Gzip => deflate::gzip(name, input, expected),
        Format::Brotli => brotli(name, input, expected, &[]),
        Format::Zstd => zstd(name, input, expected, dictionary),
        Format::Lz4Block => lz4_block(name, input, expected),
        Format::Lz4Frame => {
            let mut rest = input;
            let out = drain(name, lz4_flex::frame::FrameDecoder::new(&mut rest), expected)?;
            ended(name, rest.len()).map(|()| out)
        }
        Format::Snappy => snappy::decode(name, input, expected),
        Format::Xz => {
            let limit = (WINDOW_LIMIT / 1024) as u32;
            let mut reader = lzma_rust2::XzReader::new_mem_limit(input, false, limit);
            let out = drain(name, &mut reader, expected)?;
            ended(name, reader.inner().len()).map(|()| out)
        }
        Format::Bzip2 => {
            let mut reader = bzip2::bufread::BzDecoder::new(input);
            let out = drain(name, &mut reader, expected)?;
            ended(name, reader.get_ref().len()).map(|()| out)
        }
    }
}

/// A zeroed buffer one byte longer than expected, which only output that is too long fills.
fn buffer(name: &'static str, expected: usize) -> Result<Vec<u8>, Error> {
    let size = expected.saturating_add(1);
    let mut out = Vec::new();
    out.try_reserve_exact(size).map_err(|_| refused(name, format!("no memory for {expected} bytes")))?;
    out.resize(size, 0);
    Ok(out)
}

/// Everything a reader gives, one byte more than expected at most.
fn drain(name: &'static str, reader: impl Read, expected: usize) -> Result<Vec<u8>, Error> {
    let limit = expected.saturating_add(1);
    let mut out = Vec::new();
    out.try_reserve_exact(limit).map_err(|_| refused(name, format!("no memory for {expected} bytes")))?;
    reader.take(limit as u64).read_to_end(&mut out).map_err(|e| refused(name, e.to_string()))?;
    if out.len() > expected {
        return Err(Error::TooLarge { codec: name, limit: expected });
    }
    Ok(out)
}

fn ended(name: &'static str, left: usize) -> Result<(), Error> {
    if left == 0 { Ok(()) } else { Err(crate::room::trailing(name, left)) }
}

fn refused(name: &'static str, message: String) -> Error {
    Error::Decode { codec: name, message }
}

fn lz4_block(name: &'static str, input: &[u8], expected: usize) -> Result<Vec<u8>, Error> {
    let mut out = buffer(name, expected)?;
    let size = lz4_flex::block::decompress_into(input, &mut out).map_err(|e| refused(name, e.to_string()))?;
    out.truncate(size);
    Ok(out)
}

/// Whether a stream of Brotli has a window beyond RFC 7932, of which the content coding knows 16 MB at most: browsers refuse it.
pub fn is_large_brotli(input: &[u8]) -> bool {
    // Where the window's size stands (section 9.1), these seven bits are none, and begin the larger ones of the library's own form.
    input.first().is_some_and(|bits| bits & 0x7f == 0x11)
}

fn brotli(name: &'static str, input: &[u8], expected: usize, dictionary: &[u8]) -> Result<Vec<u8>, Error> {
    use brotli_decompressor::{
        BrotliDecompressStreamWithDictionary, BrotliResult, BrotliState, StandardAlloc,
    };
    if is_large_brotli(input) {
        return Err(refused(name, "its window is larger than RFC 7932 allows".into()));
    }
    let allocator = StandardAlloc::default;
    let mut state = BrotliState::new(allocator(), allocator(), allocator());
    if !dictionary.is_empty() && !state.attach_external_dictionary(dictionary.len()) {
        return Err(refused(name, "the decoder refused the dictionary".into()));
    }
    let mut out = buffer(name, expected)?;
    let (mut left, mut at) = (input.len(), 0);
    let (mut free, mut filled, mut total) = (out.len(), 0, 0);
    let result = BrotliDecompressStreamWithDictionary(
        &mut left,
        &mut at,
        input,
        &mut free,
        &mut filled,
        &mut out,
        &mut total,
        dictionary,
        &mut state,
    );
    match result {
        BrotliResult::ResultSuccess => {
            out.truncate(filled);
            ended(name, left).map(|()| out)
        }
        BrotliResult::NeedsMoreOutput => Err(Error::TooLarge { codec: name, limit: expected }),
        BrotliResult::NeedsMoreInput => Err(crate::room::truncated(name)),
        BrotliResult::ResultFailure => Err(refused(name, format!("{:?}", state.error_code))),
    }
}

fn zstd(
    name: &'static str,
    input: &[u8],
    expected: usize,
    dictionary: Option<&[u8]>,
) -> Result<Vec<u8>, Error> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_LIMIT);
    if let Some(raw) = dictionary {
        let parsed = Dictionary::decode_dict(raw).map_err(|e| refused(name, e.to_string()))?;
        decoder.add_dict(parsed).map_err(|e| refused(name, e.to_string()))?;
    }
    zstd_frame(name, input, expected, decoder, None)
}

/// A frame after a dictionary of plain bytes, which its header does not name.
fn zstd_after(
    name: &'static str,
    window: u64,
    input: &[u8],
    expected: usize,
    dictionary: &[u8],
) -> Result<Vec<u8>, Error> {
    const ID: u32 = 1;
    // The repeated offsets that every frame begins with (RFC 8878, section 3.1.1.5).
    let offset_hist = [1, 4, 8];
    let (fse, huf) = (Default::default(), Default::default());
    let plain = Dictionary { id: ID, fse, huf, dict_content: dictionary.to_vec(), offset_hist };
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(window);
    decoder.add_dict(plain).map_err(|e| refused(name, e.to_string()))?;
    zstd_frame(name, input, expected, decoder, Some(ID))
}

fn zstd_frame(
    name: &'static str,
    input: &[u8],
    expected: usize,
    decoder: FrameDecoder,
    forced: Option<u32>,
) -> Result<Vec<u8>, Error> {
    let mut rest = input;
    let mut stream =
        StreamingDecoder::new_with_decoder(&mut rest, decoder).map_err(|e| refused(name, e.to_string()))?;
    if let Some(id) = forced {
        stream.decoder.force_dict(id).map_err(|e| refused(name, e.to_string()))?;
    }
    let out = drain(name, &mut stream, expected)?;
    let decoder = stream.into_frame_decoder();
    if let Some(stored) = decoder.get_checksum_from_data()
        && decoder.get_calculated_checksum() != Some(stored)
    {
        return Err(refused(name, "incorrect checksum".into()));
    }
    // 0 also stands for a frame that does not tell.
    if ![0, out.len() as u64].contains(&decoder.content_size()) {
        return Err(refused(name, "the content size in the frame header is another".into()));
    }
    ended(name, rest.len()).map(|()| out)
}
