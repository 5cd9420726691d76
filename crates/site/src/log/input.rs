//! The lines of a file, unpacked where it is compressed. What it is, its first bytes tell: rotated files have any name.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Bytes that are read at a time.
const BUFFER: usize = 256 << 10;

/// What a reader gives, as the server wrote it.
pub fn unpacked<'i>(input: impl Read + 'i) -> io::Result<Box<dyn BufRead + 'i>> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let begin = input.fill_buf()?;
    // A frame of zstd may be preceded by one that is to be skipped.
    let is_skipped = matches!(begin, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]);
    if begin.starts_with(b"\x1f\x8b") {
        return Ok(buffered(MultiGzDecoder::new(input)));
    }
    if begin.starts_with(b"\x28\xb5\x2f\xfd") || is_skipped {
        return Ok(buffered(Frames { decoder: FrameDecoder::new(), input }));
    }
    if begin.starts_with(b"\xfd7zXZ\0") || begin.starts_with(b"BZh") {
        return Err(io::Error::other("it is compressed with xz or bzip2: unpack it first"));
    }
    Ok(Box::new(input))
}

fn buffered<'i>(unpacked: impl Read + 'i) -> Box<dyn BufRead + 'i> {
    Box::new(BufReader::with_capacity(BUFFER, unpacked))
}

/// The frames of a `.zst` file, one after the other. One of them needs at most 128 MB, which is what `zstd --long` writes.
struct Frames<R> {
    decoder: FrameDecoder,
    input: R,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if self.decoder.is_finished() {
                if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.begin()?;
            } else {
                let some = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.input, some).map_err(io::Error::other)?;
            }
        }
        self.decoder.read(buffer)
    }
}

impl<R: BufRead> Frames<R> {
    /// Begins the next frame, or skips one that has no content.
    fn begin(&mut self) -> io::Result<()> {
        match self.decoder.init(&mut self.input) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => io::copy(&mut self.input.by_ref().take(u64::from(length)), &mut io::sink()).map(drop),
            other => other.map_err(io::Error::other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        unpacked(bytes)?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn zst(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    #[test]
    fn members_and_frames_follow_on_each_other() {
        assert_eq!(read(b"plain").unwrap(), b"plain");
        assert_eq!(read(b"").unwrap(), b"");
        assert_eq!(read(&[gz(b"a\n"), gz(b""), gz(b"b\n")].concat()).unwrap(), b"a\nb\n");
        let skipped = b"\x51\x2a\x4d\x18\x03\0\0\0xyz".to_vec();
        let frames = [skipped.clone(), zst(b"a\n"), zst(b""), skipped, zst(b"b\n")].concat();
        assert_eq!(read(&frames).unwrap(), b"a\nb\n");
    }

    #[test]
    fn what_is_cut_or_unknown_is_an_error() {
        let content = b"0123456789".repeat(1_000);
        assert!(read(&gz(&content)[..30]).is_err());
        let frame = zst(&content);
        assert!(read(&frame[..frame.len() - 8]).is_err());
        assert!(read(&[zst(b"a\n"), b"junk".to_vec()].concat()).is_err());
        assert!(read(b"\xfd7zXZ\0\0").unwrap_err().to_string().contains("unpack it first"));
        // A length that nothing follows is an end, not a wait.
        assert_eq!(read(b"\x50\x2a\x4d\x18\xff\xff\xff\xff").unwrap(), b"");
    }
}
