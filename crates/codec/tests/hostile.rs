//! Damaged, truncated and inflated input is refused: no panic, and no memory beyond the bound.

mod common;

use common::Noise;
use proptest::prelude::*;
use weigh_codec::{Codec, Coder, Error, Format, Params, codecs, independent};

/// Memory that a decoder may use beyond the expected length.
const MARGIN: usize = 64 * 1024;

fn quick(codec: &dyn Codec, word: Option<&str>) -> Params {
    let level = codec.info().levels.map(|l| l.representative[0]);
    let mut params = Params { level, ..Params::default() };
    if let Some(word) = word {
        params.options.insert("mode".into(), word.into());
    }
    params
}

/// Every codec, one-shot and (where there is a choice) streaming.
fn coders() -> Vec<(String, Format, Box<dyn Coder>)> {
    let mut all = Vec::new();
    for codec in codecs::all() {
        let choice = codec.info().options.iter().any(|o| o.name == "mode");
        for word in if choice { &["oneshot", "stream"][..] } else { &["oneshot"] } {
            let params = quick(&*codec, choice.then_some(word));
            let name = format!("{} {word}", codec.info().name);
            all.push((name, codec.format(&params), codec.coder(&params).unwrap()));
        }
    }
    all
}

#[test]
fn a_bomb_is_refused_within_the_bound() {
    let bomb = vec![0; 20 << 20];
    for (name, format, mut coder) in coders() {
        let source = if name.starts_with("zopfli") { &bomb[..1 << 20] } else { &bomb[..] };
        let mut packed = Vec::new();
        coder.encode(source, &mut packed).unwrap();
        for expected in [0, 1, 1000, 100_000, source.len() - 1] {
            let mut out = Vec::new();
            let error = coder.decode(&packed, expected, &mut out).unwrap_err();
            // LZ4's decoder has the same error for damage and for too little room.
            let fine = matches!(error, Error::TooLarge { limit, .. } if limit == expected);
            assert!(fine || name.starts_with("lz4"), "{name}: {error}");
            assert!(out.is_empty(), "{name}: gives out {} bytes", out.len());
            assert!(out.capacity() <= expected + MARGIN, "{name}: holds {} bytes", out.capacity());
            let error = independent::decode(format, &packed, expected, None).unwrap_err();
            let fine = matches!(error, Error::TooLarge { limit, .. } if limit == expected);
            assert!(fine || format == Format::Lz4Block, "{name}, independently: {error}");
        }
        let mut out = Vec::new();
        coder.decode(&packed, source.len(), &mut out).unwrap();
        assert!(out == source, "{name}: unusable after refusing");
    }
}

#[test]
fn truncation_and_trailing_bytes_are_refused() {
    let data = b"the quick brown fox jumps over the lazy dog; ".repeat(40);
    for (name, format, mut coder) in coders() {
        if format == Format::Identity {
            continue;
        }
        let (mut packed, mut out) = (Vec::new(), Vec::new());
        coder.encode(&data[..if name.starts_with("zopfli") { 90 } else { data.len() }], &mut packed).unwrap();
        for len in 0..packed.len() {
            let whole = |out: &[u8]| out == data;
            // A block format without a length may end early in a valid way, with other content.
            if let Ok(()) = coder.decode(&packed[..len], data.len(), &mut out) {
                assert!(format == Format::Lz4Block && !whole(&out), "{name}: {len} bytes")
            }
            if let Ok((out, _)) = independent::decode(format, &packed[..len], data.len(), None) {
                assert!(format == Format::Lz4Block && !whole(&out), "{name}: {len} bytes")
            }
        }
        packed.extend(b"trailing");
        assert!(coder.decode(&packed, data.len(), &mut out).is_err(), "{name} takes trailing bytes");
        assert!(independent::decode(format, &packed, data.len(), None).is_err(), "{name}: trailing bytes");
    }
}

#[test]
fn flipped_bits_never_panic_nor_pass_the_bound() {
    let mut noise = Noise(11);
    let data: Vec<u8> = (0..6000).map(|i| if i % 3 == 0 { noise.next() as u8 & 15 } else { b'a' }).collect();
    for (name, format, mut coder) in coders() {
        let source = if name.starts_with("zopfli") { &data[..300] } else { &data[..] };
        let mut packed = Vec::new();
        coder.encode(source, &mut packed).unwrap();
        for _ in 0..400 {
            let mut bad = packed.clone();
            for _ in 0..1 + noise.next() % 3 {
                let at = noise.next() as usize % bad.len();
                bad[at] ^= 1 << (noise.next() % 8);
            }
            let mut out = Vec::new();
            let _ = coder.decode(&bad, source.len(), &mut out);
            assert!(out.len() <= source.len() && out.capacity() <= source.len() + MARGIN, "{name}");
            if let Ok((out, _)) = independent::decode(format, &bad, source.len(), None) {
                assert!(out.len() <= source.len(), "{name}, independently");
            }
        }
        let mut out = Vec::new();
        coder.decode(&packed, source.len(), &mut out).unwrap();
        assert!(out == source, "{name}: unusable after damage");
    }
}

#[test]
fn a_frame_holds_what_its_header_announces() {
    let data = b"announced ".repeat(100);
    let (mut coder, mut packed) =
        (codecs::find("zstd").unwrap().coder(&Params::default()).unwrap(), Vec::new());
    coder.encode(&data, &mut packed).unwrap();
    // RFC 8878, section 3.1.1.1: magic, descriptor, and here two bytes of the content size less 256.
    assert_eq!(packed[4] >> 5, 0b011, "a single segment with a size of two bytes");
    assert_eq!(u16::from_le_bytes([packed[5], packed[6]]), 1000 - 256);
    packed[5] ^= 1;
    assert!(coder.decode(&packed, 2000, &mut Vec::new()).is_err());
    assert!(independent::decode(Format::Zstd, &packed, 2000, None).is_err());
}

#[test]
fn checksums_are_checked() {
    let data = b"checked ".repeat(100);
    let mut zstd = Params::level(1);
    zstd.options.insert("checksum".into(), "1".into());
    for (codec, params, back) in [
        ("zlib", Params::default(), 8),
        ("libdeflate", Params::default(), 8),
        ("isal", Params::default(), 8),
        ("zstd", zstd, 1),
    ] {
        let codec = codecs::find(codec).unwrap();
        let (mut coder, mut packed) = (codec.coder(&params).unwrap(), Vec::new());
        coder.encode(&data, &mut packed).unwrap();
        let at = packed.len() - back;
        packed[at] ^= 1;
        assert!(coder.decode(&packed, data.len(), &mut Vec::new()).is_err(), "{}", codec.info().name);
        let format = codec.format(&params);
        assert!(independent::decode(format, &packed, data.len(), None).is_err(), "{}", codec.info().name);
    }
}

#[test]
fn a_dictionary_goes_with_zstd_only() {
    for format in Format::ALL.into_iter().filter(|f| *f != Format::Zstd) {
        assert!(independent::decode(format, b"x", 1, Some(b"dictionary")).is_err(), "{}", format.name());
    }
    assert!(independent::decode(Format::Zstd, b"x", 1, Some(b"not a dictionary")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_never_panic(input in prop::collection::vec(any::<u8>(), 0..300), expected in 0usize..5000) {
        for (name, _, mut coder) in coders() {
            let mut out = Vec::new();
            let _ = coder.decode(&input, expected, &mut out);
            prop_assert!(out.len() <= expected && out.capacity() <= expected + MARGIN, "{}", name);
        }
        for format in Format::ALL {
            if let Ok((out, _)) = independent::decode(format, &input, expected, None) {
                prop_assert!(out.len() <= expected, "{}", format.name());
            }
        }
    }
}
