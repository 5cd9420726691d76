//! What is encoded decodes to the same bytes: here, and with decoders that share no code with the encoders. What is hostile is refused
//! within bounds.

use std::io::Read;

use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use proptest::prelude::*;
use weighbridge_coding::{Coding, Encoder, Error, Operation, Plan, decode, encode};

/// Bytes that compress somewhat: repeats of a few short words.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just(b"<p class=\"x\">".to_vec()),
        Just(b"the ".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
        (any::<u8>(), 0..3000usize).prop_map(|(byte, size)| vec![byte; size]),
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

fn coding() -> impl Strategy<Value = Coding> {
    prop::sample::select(Coding::ALL.to_vec())
}

/// A dictionary where the coding takes one.
fn dictionary_for(coding: Coding, bytes: &[u8]) -> Option<&[u8]> {
    (coding == Coding::Zstd).then_some(bytes)
}

/// A level of the coding, low to high by `part` of 100; the slowest are left to a test of their own.
fn level(coding: Coding, part: i64) -> i64 {
    let (low, high) = (i64::from(*coding.levels().start()), i64::from(*coding.levels().end()).min(9));
    low + (high - low) * part / 100
}

/// What the pieces of a stream decode to, so far as wanted, by other decoders than ours, of codings without a dictionary.
fn beginning(coding: Coding, encoded: &[u8], wanted: usize) -> Vec<u8> {
    let mut out = vec![0; wanted];
    match coding {
        Coding::Gzip | Coding::Deflate => {
            let start = if coding == Coding::Gzip { 10 } else { 2 };
            let mut state = DecompressorOxide::new();
            let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF | TINFL_FLAG_HAS_MORE_INPUT;
            let (_, _, written) = decompress(&mut state, &encoded[start..], &mut out, 0, flags);
            assert_eq!(written, wanted, "enough of it");
        }
        Coding::Br => {
            brotli_decompressor::Decompressor::new(encoded, 4096).read_exact(&mut out).expect("enough of it")
        }
        // The independent decoder holds the last window back until the frame ends.
        Coding::Zstd if wanted > 0 => {
            let mut context = zstd_safe::DCtx::create();
            let mut place = zstd_safe::OutBuffer::around(&mut out[..]);
            let mut input = zstd_safe::InBuffer::around(encoded);
            while place.pos() < wanted && input.pos() < encoded.len() {
                context.decompress_stream(&mut place, &mut input).expect("a frame so far");
            }
            assert_eq!(place.pos(), wanted, "enough of it");
        }
        Coding::Zstd => {}
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whole_data_comes_back(data in content(), coding in coding(), part in 0i64..=100, words in content()) {
        let dictionary = dictionary_for(coding, &words);
        let plan = Plan::new(coding, Some(level(coding, part)), dictionary).unwrap();
        let (mut encoded, mut back) = (b"left over".to_vec(), Vec::new());
        encode(&plan, &data, &mut encoded).unwrap();
        decode(coding, &encoded, data.len(), dictionary, &mut back).unwrap();
        prop_assert_eq!(&back, &data);
        if !data.is_empty() {
            let refused = decode(coding, &encoded, data.len() - 1, dictionary, &mut back);
            prop_assert_eq!(refused, Err(Error::TooLarge(coding, data.len() - 1)));
            prop_assert!(back.is_empty());
        }
    }

    #[test]
    fn whole_data_is_read_by_independent_decoders(data in content(), part in 0i64..=100) {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd] {
            let plan = Plan::new(coding, Some(level(coding, part)), None).unwrap();
            let mut encoded = Vec::new();
            encode(&plan, &data, &mut encoded).unwrap();
            let back = match coding {
                Coding::Zstd => {
                    let mut source = &encoded[..];
                    let mut back = Vec::new();
                    let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut source).expect("a frame");
                    decoder.read_to_end(&mut back).expect("a whole frame");
                    back
                }
                _ => beginning(coding, &encoded, data.len()),
            };
            prop_assert_eq!(&back, &data, "{}", coding);
        }
    }

    #[test]
    fn what_was_flushed_can_be_decoded_and_all_in_the_end(
        pieces in prop::collection::vec((content(), any::<bool>()), 0..5),
        coding in coding(),
        part in 0i64..=100,
        words in content(),
    ) {
        let words = if part % 2 == 0 { words } else { Vec::new() };
        let dictionary = dictionary_for(coding, &words);
        let plan = Plan::new(coding, Some(level(coding, part)), dictionary).unwrap();
        let mut encoder = Encoder::new(&plan).unwrap();
        let (mut sent, mut said) = (Vec::new(), Vec::<u8>::new());
        for (piece, flushed) in &pieces {
            encoder.run(piece, Operation::Process, &mut sent).unwrap();
            said.extend(piece);
            if *flushed {
                encoder.run(b"", Operation::Flush, &mut sent).unwrap();
                if dictionary.is_none_or(<[u8]>::is_empty) {
                    prop_assert_eq!(&beginning(coding, &sent, said.len()), &said, "{}", coding);
                }
            }
        }
        encoder.run(b"", Operation::Finish, &mut sent).unwrap();
        let mut back = Vec::new();
        decode(coding, &sent, said.len(), dictionary, &mut back).unwrap();
        prop_assert_eq!(back, said);
        prop_assert_eq!(encoder.run(b"more", Operation::Process, &mut sent), Err(Error::Finished));
        prop_assert_eq!(encoder.run(b"", Operation::Finish, &mut sent), Err(Error::Finished));
    }

    /// Cut short, it is never taken for whole.
    #[test]
    fn what_is_cut_short_is_refused(data in content(), coding in coding(), at in any::<prop::sample::Index>()) {
        let dictionary = dictionary_for(coding, b"words");
        let plan = Plan::new(coding, None, dictionary).unwrap();
        let (mut encoded, mut back) = (Vec::new(), Vec::new());
        encode(&plan, &data, &mut encoded).unwrap();
        encoded.truncate(at.index(encoded.len()));
        prop_assert!(decode(coding, &encoded, 1 << 20, dictionary, &mut back).is_err());
        prop_assert!(back.is_empty());
    }

    /// A changed byte is refused, or changes nothing, where the format has a checksum; elsewhere what comes out stays within the bound.
    #[test]
    fn what_is_changed_is_refused_or_bounded(
        data in content(), coding in coding(), at in any::<prop::sample::Index>(), change in 1u8..,
    ) {
        let dictionary = dictionary_for(coding, b"words");
        let plan = Plan::new(coding, None, dictionary).unwrap();
        let (mut encoded, mut back) = (Vec::new(), Vec::new());
        encode(&plan, &data, &mut encoded).unwrap();
        let at = at.index(encoded.len());
        encoded[at] ^= change;
        let result = decode(coding, &encoded, data.len(), dictionary, &mut back);
        prop_assert!(back.len() <= data.len());
        // Flags, time and system of gzip's header say nothing about the content, nor do bits that fill a byte up.
        if coding == Coding::Deflate || (coding == Coding::Gzip && at >= 10) {
            prop_assert!(result.is_err() || back == data);
        }
    }

    #[test]
    fn arbitrary_bytes_never_exceed_the_bound(
        data in prop::collection::vec(any::<u8>(), 0..300), coding in coding(), limit in 0usize..2000,
    ) {
        let mut back = Vec::new();
        let _ = decode(coding, &data, limit, dictionary_for(coding, b"words"), &mut back);
        prop_assert!(back.len() <= limit);
    }
}

#[test]
fn every_level_comes_back() {
    let data = b"Call me Ishmael. Some years ago, never mind how long precisely ".repeat(200);
    for coding in Coding::ALL {
        let dictionary = dictionary_for(coding, b"");
        for level in coding.levels() {
            let plan = Plan::new(coding, Some(level.into()), dictionary).unwrap();
            let (mut encoded, mut back) = (Vec::new(), Vec::new());
            encode(&plan, &data, &mut encoded).unwrap();
            assert!(encoded.len() < data.len() || level == 0, "{coding} {level}");
            decode(coding, &encoded, data.len(), dictionary, &mut back).unwrap();
            assert_eq!(back, data, "{coding} {level}");
        }
    }
}

/// 64 MB of zeros in a few kilobytes: the bound holds, and no more memory than it is taken.
#[test]
fn a_small_file_with_a_large_content_is_refused_within_the_bound() {
    let zeros = vec![0; 64 << 20];
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd] {
        let (mut encoded, mut back) = (Vec::new(), Vec::new());
        encode(&Plan::new(coding, Some(1), None).unwrap(), &zeros, &mut encoded).unwrap();
        let limit = 100_000;
        let result = decode(coding, &encoded, limit, None, &mut back);
        assert_eq!(result, Err(Error::TooLarge(coding, limit)));
        assert!(back.capacity() <= 4 * limit, "{coding}: {}", back.capacity());
        // The same without a size in its header or trailer.
        let mut streamed = Vec::new();
        let mut encoder = Encoder::new(&Plan::new(coding, Some(1), None).unwrap()).unwrap();
        encoder.run(&zeros, Operation::Process, &mut streamed).unwrap();
        encoder.run(b"", Operation::Finish, &mut streamed).unwrap();
        assert_eq!(decode(coding, &streamed, limit, None, &mut back), Err(Error::TooLarge(coding, limit)));
        decode(coding, &streamed, zeros.len(), None, &mut back).unwrap();
        assert_eq!(back, zeros, "{coding}");
    }
}

#[test]
fn a_file_of_two_members_is_both_and_what_follows_is_refused() {
    let (mut one, mut two, mut back) = (Vec::new(), Vec::new(), Vec::new());
    for coding in [Coding::Gzip, Coding::Zstd] {
        let plan = Plan::new(coding, None, None).unwrap();
        encode(&plan, &b"first ".repeat(1000), &mut one).unwrap();
        encode(&plan, &b"second".repeat(1000), &mut two).unwrap();
        decode(coding, &[&one[..], &two].concat(), 12_000, None, &mut back).unwrap();
        assert!(back.starts_with(b"first ") && back.ends_with(b"second") && back.len() == 12_000, "{coding}");
    }
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd] {
        encode(&Plan::new(coding, None, None).unwrap(), b"content", &mut one).unwrap();
        one.extend(b"more");
        let error = decode(coding, &one, 1000, None, &mut back).unwrap_err();
        assert!(matches!(error, Error::Damaged(..)), "{error}");
    }
}

#[test]
fn a_dictionary_makes_it_small_and_is_kept_apart_from_others() {
    let version: Vec<u8> = (0..40_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut next = version.clone();
    next[20_000] ^= 1;
    let plan = Plan::new(Coding::Zstd, Some(9), Some(&version)).unwrap();
    let (mut encoded, mut back) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        encode(&plan, &next, &mut encoded).unwrap();
        assert!(encoded.len() < 200, "{}", encoded.len());
        decode(Coding::Zstd, &encoded, next.len(), Some(&version), &mut back).unwrap();
        assert_eq!(back, next);
        // Others in between, of which more are used than are kept.
        for other in 1..8usize {
            let words = version[..other * 100].to_vec();
            let plan = Plan::new(Coding::Zstd, None, Some(&words)).unwrap();
            encode(&plan, &words, &mut encoded).unwrap();
            assert!(encoded.len() < 40, "{}", encoded.len());
            decode(Coding::Zstd, &encoded, 40_000, Some(&words), &mut back).unwrap();
            assert_eq!(back, words);
        }
    }
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Br] {
        assert_eq!(Plan::new(coding, None, Some(b"a")).unwrap_err(), Error::Dictionary(coding));
        assert!(Plan::new(coding, None, Some(b"")).is_ok());
    }
}

#[test]
fn levels_and_names_that_are_not_there_are_named() {
    let level = Plan::new(Coding::Br, Some(12), None).unwrap_err().to_string();
    assert_eq!(level, "br has no level 12; its levels are 0 to 11");
    assert!(Plan::new(Coding::Zstd, Some(i64::MIN), None).is_err());
    let name = Coding::named("gz\nip").unwrap_err().to_string();
    assert!(name.starts_with("unknown coding \"gz\\nip\"; known are "), "{name}");
    assert_eq!(Coding::named("ZLIB"), Ok(Coding::Deflate));
}
