//! Bodies that are still compressed once their content coding is decoded: compressed twice, or without a word in Content-Encoding.

use weigh_codec::{Format, independent};

use super::decode::token;
use crate::protocol::coding::Coding;

/// Types of text whose names begin with `application/`, besides those that end in `+json` or `+xml`.
const TEXT: [&str; 7] = [
    "application/json",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
    "application/xml",
    "application/x-ndjson",
    "application/graphql",
];
/// Bytes at the begin of a body by which text is told.
const HEAD: usize = 512;
/// The shortest body that is tried with decoders whose formats have no mark: a few bytes may be valid by chance.
const SHORTEST: usize = 16;
/// What such a body may decode to: this many times its length, and this many bytes.
const MOST: (usize, usize) = (100, 64 << 20);

/// Whether a value of Content-Type is that of text, such as HTML, scripts and JSON.
pub fn is_text_type(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let ends = |with| name.ends_with(with);
    name.starts_with("text/") || ends("+xml") || ends("+json") || TEXT.contains(&name.as_str())
}

/// Whether bytes are text by their first 512: UTF-8 without control characters that text does not have.
pub fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    // Without a length, the error is only that the head ends inside a character.
    let is_utf8 = std::str::from_utf8(head).err().is_none_or(|error| error.error_len().is_none());
    is_utf8 && !head.iter().any(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31))
}

/// The format that content of a text type is compressed in; none: it is text, or at least no format that browsers know.
fn inner(content: &[u8]) -> Option<Format> {
    match content {
        [0x1f, 0x8b, 8, ..] => return Some(Format::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return Some(Format::Zstd),
        _ if content.len() < SHORTEST || is_text(content) => return None,
        _ => {}
    }
    // These have no mark that could not begin other content: a whole decoding tells.
    let room = content.len().saturating_mul(MOST.0).min(MOST.1);
    let decodes = |format: &Format| {
        independent::decode(*format, content, room, None).is_ok_and(|(bytes, _)| bytes.len() > content.len())
    };
    [Format::Zlib, Format::Brotli, Format::Deflate].into_iter().find(decodes)
}

/// One sentence about a body that is still compressed after its content coding `coding` was decoded to `content`; none if it is what its
/// `content_type` says, or if that is not text.
pub fn still_compressed(content_type: &str, coding: Coding, content: &[u8]) -> Option<String> {
    let format = inner(content).filter(|_| is_text_type(content_type))?.name();
    let name = content_type.split(';').next().unwrap_or_default().trim();
    Some(match coding {
        Coding::Identity => {
            format!(
                "the body is {format} data without Content-Encoding, and its type is {name}: browsers show garbage"
            )
        }
        _ => format!(
            "the body was compressed twice: decoded as Content-Encoding {} says, it is still {format} data, and not {name}; \
             browsers decode once and show garbage; switch off one of the two encoders",
            token(coding)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weigh_codec::{Params, codecs};

    fn encoded(codec: &str, content: &[u8]) -> Vec<u8> {
        let codec = codecs::find(codec).unwrap();
        let mut out = Vec::new();
        codec.coder(&Params::default()).unwrap().encode(content, &mut out).unwrap();
        out
    }

    #[test]
    fn content_that_is_still_compressed_is_told_whatever_compressed_it() {
        let page = "<p>a line of a page</p>".repeat(100).into_bytes();
        let gzip = encoded("libdeflate", &page);
        let zlib = miniz_zlib(&gzip, &page);
        for (body, format) in
            [(gzip.clone(), "gzip"), (encoded("zstd", &page), "zstd"), (encoded("brotli", &page), "br"), zlib]
        {
            for of in ["text/html; charset=UTF-8", "text/css", "application/json", "image/svg+xml"] {
                let said = still_compressed(of, Coding::Brotli, &body).unwrap_or_default();
                assert!(said.contains("twice") && said.contains(&format!("still {format}")), "{of}: {said}");
            }
            assert_eq!(still_compressed("application/gzip", Coding::Gzip, &body), None, "a download");
        }
        let said = still_compressed("text/html", Coding::Identity, &gzip).unwrap();
        assert!(said.contains("without Content-Encoding"), "{said}");
    }

    /// The deflate data of a gzip body between the wrapper of zlib.
    fn miniz_zlib(gzip: &[u8], content: &[u8]) -> (Vec<u8>, &'static str) {
        let (mut a, mut b) = (1_u32, 0_u32);
        for byte in content {
            a = (a + u32::from(*byte)) % 65521;
            b = (b + a) % 65521;
        }
        let sum = (b << 16 | a).to_be_bytes();
        ([&[0x78, 0xda], &gzip[10..gzip.len() - 8], &sum].concat(), "zlib")
    }

    #[test]
    fn text_in_any_encoding_and_other_binary_content_are_not_compressed() {
        let noise: Vec<u8> = (0..4000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let utf16: Vec<u8> = "\u{feff}<html>".repeat(50).encode_utf16().flat_map(u16::to_le_bytes).collect();
        let bodies: [&[u8]; 7] =
            [b"", b"x^2 + 1", b"\x1b[31mred", &b"caf\xe9 ".repeat(200), &noise, &utf16, b"\x06"];
        for body in bodies {
            assert_eq!(still_compressed("text/plain", Coding::Gzip, body), None, "{body:?}");
        }
    }
}
