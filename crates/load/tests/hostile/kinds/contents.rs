//! Bodies with valid framing but an invalid content coding.

use std::sync::LazyLock;

use weigh_codec::{Params, codecs};
use weigh_load::fault::HttpFaultKind::{self, Bomb, ContentCoding, Corrupt, Mismatch};

use crate::kind::{Kind, http1, send};
use crate::server::response;

const PAGE: &[u8] = b"It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.";
/// Content codings with the codecs that make them, and the level that makes the smallest bomb.
const CODINGS: [(&str, &str, i32); 4] =
    [("gzip", "zlib", 9), ("deflate", "zlib", 9), ("br", "brotli", 5), ("zstd", "zstd", 3)];
/// The decoded size of a bomb; the plan's limit is 8 MB.
const BOMB: usize = 256 << 20;

fn encode(coding: &str, level: i32, body: &[u8]) -> Vec<u8> {
    let (_, codec, _) = CODINGS.iter().find(|(name, ..)| *name == coding).expect("one of the four");
    let codec = codecs::find(codec).expect("it is one of ours");
    let mut wire = Vec::new();
    codec.coder(&Params::level(level)).expect("a level").encode(body, &mut wire).expect("it encodes");
    match coding {
        "deflate" => zlib(&wire, body),
        _ => wire,
    }
}

/// The data of gzip in the container of zlib (RFC 1950): gzip has 10 bytes before it and 8 after it.
fn zlib(gzip: &[u8], body: &[u8]) -> Vec<u8> {
    let (mut a, mut b) = (1u32, 0u32);
    for byte in body {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    [&[0x78, 0x9c][..], &gzip[10..gzip.len() - 8], &(b << 16 | a).to_be_bytes()].concat()
}

fn coded(coding: &str, wire: &[u8]) -> Vec<u8> {
    response(&format!("Content-Encoding: {coding}\r\nVary: Accept-Encoding\r\n"), wire)
}

fn good(coding: &str) -> Vec<u8> {
    encode(coding, 6, PAGE)
}

/// Bytes instead of the page in that coding.
fn instead(name: impl Into<String>, ends: &[HttpFaultKind], coding: &str, wire: &[u8]) -> Kind {
    http1(name, ends, vec![send(coded(coding, wire))]).instead_of(coded(coding, &good(coding))).read()
}

pub fn kinds() -> Vec<Kind> {
    let each = CODINGS.iter().flat_map(|(coding, ..)| each(coding)).collect();
    [each, gzip(), zstd(), labels()].concat()
}

/// One for each coding.
static BOMBS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let zeros = vec![0; BOMB];
    CODINGS.iter().map(|(coding, _, level)| encode(coding, *level, &zeros)).collect()
});

fn each(coding: &'static str) -> Vec<Kind> {
    let good = good(coding);
    let middle = good.len() / 2;
    let flipped = |at: usize| {
        let mut wire = good.clone();
        wire[at] ^= 0x10;
        wire
    };
    let mut other = PAGE.to_vec();
    other[7] ^= 1;
    let bomb = &BOMBS[CODINGS.iter().position(|(name, ..)| *name == coding).unwrap_or(0)];
    let named = |what: &str| format!("{coding}: {what}");
    vec![
        instead(named("cut in the middle"), &[Corrupt], coding, &good[..middle]),
        instead(named("without its last byte"), &[Corrupt], coding, &good[..good.len() - 1]),
        // In a literal of zstd, without a checksum: only a comparison with the page finds it.
        match instead(named("a flipped bit in the middle"), &[Corrupt, Mismatch], coding, &flipped(middle)) {
            kind if coding == "zstd" => kind.first(&[]),
            kind => kind,
        },
        instead(named("bytes after its end"), &[Corrupt], coding, &[&good[..], b"garbage"].concat()),
        instead(named("the page without coding"), &[Corrupt], coding, PAGE),
        instead(named("zeros"), &[Corrupt], coding, &[0; 100]),
        instead(named("256 MB of zeros"), &[Bomb], coding, bomb),
        instead(named("another page"), &[Mismatch], coding, &encode(coding, 6, &other)).first(&[]),
        instead(named("the page at another level"), &[], coding, &encode(coding, 1, PAGE)),
    ]
}

fn gzip() -> Vec<Kind> {
    let wire = good("gzip");
    let end = wire.len();
    let flipped = |at: usize, bits: u8| {
        let mut wire = wire.clone();
        wire[at] ^= bits;
        wire
    };
    let half = PAGE.len() / 2;
    let members = [encode("gzip", 6, &PAGE[..half]), encode("gzip", 6, &PAGE[half..])].concat();
    let mut spoiled = members.clone();
    let last = spoiled.len() - 6;
    spoiled[last] ^= 1;
    let empty = encode("gzip", 6, b"");
    // The flag of a name, and a name that never ends.
    let name = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3][..], &[b'n'; 1 << 20]].concat();
    vec![
        instead("gzip: a wrong checksum", &[Corrupt], "gzip", &flipped(end - 8, 1)),
        instead("gzip: a wrong length", &[Corrupt], "gzip", &flipped(end - 4, 1)),
        instead("gzip: a length of 4 GB", &[Corrupt], "gzip", &flipped(end - 1, 0xff)),
        instead("gzip: another method", &[Corrupt], "gzip", &flipped(2, 1)),
        instead("gzip: reserved flags", &[Corrupt], "gzip", &flipped(3, 0xe0)),
        instead("gzip: only its header", &[Corrupt], "gzip", &wire[..10]),
        instead("gzip: a name without end", &[Corrupt], "gzip", &name),
        instead("gzip: several members", &[], "gzip", &members),
        instead("gzip: the second member has a wrong checksum", &[Corrupt], "gzip", &spoiled),
        instead(
            "gzip: 10,000 empty members, then the page",
            &[],
            "gzip",
            &[empty.repeat(10_000), wire.clone()].concat(),
        ),
        instead("deflate: a preset dictionary", &[Corrupt], "deflate", &[0x78, 0xbb, 1, 2, 3, 4, 3, 0]),
        instead("deflate: a wrong checksum", &[Corrupt], "deflate", &{
            let mut wire = good("deflate");
            let last = wire.len() - 1;
            wire[last] ^= 1;
            wire
        }),
    ]
}

fn zstd() -> Vec<Kind> {
    let wire = good("zstd");
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    let huge = [0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff];
    vec![
        // A window of 2 GB, and a block that is the last and empty.
        instead("zstd: a window of 2 GB", &[Corrupt], "zstd", &[0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8, 1, 0, 0]),
        instead(
            "zstd: a content size of 16 EB",
            &[Corrupt, Bomb],
            "zstd",
            &[&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &[0xff; 8], &[1, 0, 0]].concat(),
        ),
        instead(
            "zstd: an unknown dictionary",
            &[Corrupt],
            "zstd",
            &[0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 9, 0, 0, b'x'],
        ),
        // They are legal; the decoder reads only one frame.
        instead(
            "zstd: 10,000 skippable frames, then the page",
            &[Corrupt],
            "zstd",
            &[skippable.repeat(10_000), wire.clone()].concat(),
        ),
        instead("zstd: a skippable frame beyond its end", &[Corrupt], "zstd", &[&wire[..], &huge].concat()),
        instead("zstd: a reserved block", &[Corrupt], "zstd", &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 7, 0, 0]),
    ]
}

fn labels() -> Vec<Kind> {
    let page = || response("", PAGE);
    let labelled = |name: &str, ends: &[HttpFaultKind], bytes: Vec<u8>| http1(name, ends, vec![send(bytes)]);
    let gzip = good("gzip");
    vec![
        labelled("a coding where none was", &[ContentCoding], coded("gzip", &gzip))
            .first(&[])
            .instead_of(page())
            .read(),
        labelled("br in place of gzip", &[ContentCoding], coded("br", &good("br")))
            .first(&[])
            .instead_of(coded("gzip", &gzip))
            .read(),
        labelled("an unknown coding", &[ContentCoding], coded("x-unknown", &gzip))
            .instead_of(coded("gzip", &gzip))
            .read(),
        labelled("gzip twice by name", &[ContentCoding], coded("gzip, gzip", &gzip))
            .instead_of(coded("gzip", &gzip))
            .read(),
        labelled(
            "no coding by name, and gzip",
            &[ContentCoding, HttpFaultKind::Length, Mismatch],
            response("", &gzip),
        )
        .first(&[])
        .instead_of(coded("gzip", &gzip))
        .read(),
    ]
}
