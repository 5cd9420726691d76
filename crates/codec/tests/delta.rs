//! `dcb` and `dcz`: what is encoded against a dictionary comes back with it, with both decoders, and with no other.

mod common;

use common::{Noise, contents};
use proptest::prelude::*;
use weigh_codec::delta::{self, Coding};
use weigh_codec::{Error, codecs};

/// A content as its next version is: lines in it are changed, one is added, one is gone.
fn next_version(content: &[u8]) -> Vec<u8> {
    let (begin, rest) = content.split_at(content.len() / 3);
    [b"// version 2\n", begin, b"let changed = true;", rest.get(20..).unwrap_or_default()].concat()
}

fn check(coding: Coding, dictionary: &[u8], content: &[u8], level: i32) -> Vec<u8> {
    let body = delta::encode(coding, dictionary, content, level).unwrap();
    assert_eq!(delta::digest_in(coding, &body), Some(delta::digest(dictionary)));
    assert!(delta::decode(coding, dictionary, &body, content.len()).unwrap() == content, "{coding:?}");
    let (other, decoder) = delta::decode_independently(coding, dictionary, &body, content.len())
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(other == content, "{coding:?}: {decoder} disagrees");
    body
}

#[test]
fn every_content_against_every_dictionary() {
    for coding in Coding::ALL {
        for (_, dictionary) in contents() {
            for (_, content) in contents() {
                check(coding, &dictionary, &content, 5);
            }
            check(coding, &dictionary, &next_version(&dictionary), coding.best_level());
        }
    }
}

#[test]
fn a_small_change_is_a_small_body() {
    let mut noise = Noise(5);
    let first: Vec<u8> = (0..300_000).map(|_| noise.next() as u8).collect();
    for coding in Coding::ALL {
        // Brotli looks into dictionaries from level 5 up only.
        for level in [5, 9, coding.best_level()] {
            let body = check(coding, &first, &next_version(&first), level);
            assert!(
                body.len() < 600,
                "{coding:?} {level}: {} bytes of 300 KB that do not shrink",
                body.len()
            );
        }
    }
}

#[test]
fn content_that_is_larger_than_the_window_keeps_the_limit() {
    let mut noise = Noise(9);
    let piece: Vec<u8> = (0..1 << 20).map(|_| noise.next() as u8).collect();
    let content = piece.repeat(10);
    // The independent decoder refuses a larger window than the standard's.
    for coding in Coding::ALL {
        check(coding, &piece[..1 << 19], &content, 3);
    }
    // A dictionary with the magic number of trained ones is plain bytes all the same.
    check(Coding::Dcz, b"\x37\xa4\x30\xec and more", b"\x37\xa4\x30\xec and more", 19);
}

#[test]
fn another_dictionary_is_an_error() {
    let (dictionary, content) = (b"the dictionary".repeat(50), b"the dictionary, changed".repeat(50));
    for coding in Coding::ALL {
        let body = delta::encode(coding, &dictionary, &content, 5).unwrap();
        for other in [&b""[..], &dictionary[1..], &content] {
            let error = delta::decode(coding, other, &body, content.len()).unwrap_err().to_string();
            assert!(error.ends_with("it was encoded against another dictionary"), "{error}");
            assert!(delta::decode_independently(coding, other, &body, content.len()).is_err());
        }
        // Under a forged digest the bytes cannot be those of the content.
        let mut forged = body.clone();
        let at = coding.head() - 32;
        forged[at..coding.head()].copy_from_slice(&delta::digest(&content));
        if let Ok(out) = delta::decode(coding, &content, &forged, content.len()) {
            assert!(out != content);
        }
    }
}

#[test]
fn cut_longer_and_foreign_bodies_are_errors() {
    let (dictionary, content) = (b"one line of it\n".repeat(80), b"another line of it\n".repeat(80));
    for coding in Coding::ALL {
        let body = delta::encode(coding, &dictionary, &content, 5).unwrap();
        for len in 0..body.len() {
            assert!(delta::decode(coding, &dictionary, &body[..len], content.len()).is_err(), "{len}");
            assert!(delta::decode_independently(coding, &dictionary, &body[..len], content.len()).is_err());
        }
        let longer = [&body[..], b"x"].concat();
        assert!(delta::decode(coding, &dictionary, &longer, content.len()).is_err());
        assert!(delta::decode_independently(coding, &dictionary, &longer, content.len()).is_err());
        let other = Coding::ALL.into_iter().find(|c| *c != coding).unwrap();
        assert!(delta::decode(other, &dictionary, &body, content.len()).is_err());
    }
}

#[test]
fn a_bomb_is_refused_within_the_bound() {
    let content = vec![0; 20 << 20];
    for coding in Coding::ALL {
        let body = delta::encode(coding, &content[..1000], &content, 5).unwrap();
        for expected in [0, 1, 100_000, content.len() - 1] {
            let error = delta::decode(coding, &content[..1000], &body, expected).unwrap_err();
            assert!(matches!(error, Error::TooLarge { limit, .. } if limit == expected), "{error}");
            let error = delta::decode_independently(coding, &content[..1000], &body, expected).unwrap_err();
            assert!(matches!(error, Error::TooLarge { limit, .. } if limit == expected), "{error}");
        }
    }
}

#[test]
fn a_frame_of_zstandard_itself_follows_the_head() {
    // Without matches in the dictionary the frame is one that everybody decodes.
    let body = delta::encode(Coding::Dcz, b"", b"plain content", 19).unwrap();
    let mut coder = codecs::find("zstd").unwrap().coder(&Default::default()).unwrap();
    let mut out = Vec::new();
    coder.decode(&body[Coding::Dcz.head()..], 13, &mut out).unwrap();
    assert_eq!(out, b"plain content");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_content_comes_back(
        dictionary in proptest::collection::vec(any::<u8>(), 0..3000),
        content in proptest::collection::vec(any::<u8>(), 0..3000),
        from in 0usize..3000,
        level in 1i32..11,
    ) {
        let shared = dictionary.get(from..).unwrap_or_default();
        let content = [&content[..content.len() / 2], shared, &content[content.len() / 2..]].concat();
        for coding in Coding::ALL {
            check(coding, &dictionary, &content, level);
        }
    }

    #[test]
    fn damage_never_panics_nor_passes_the_bound(at in any::<prop::sample::Index>(), bit in 0u8..8, noise in 1u64..) {
        let mut noise = Noise(noise);
        let dictionary: Vec<u8> = (0..2000).map(|_| noise.next() as u8 & 31).collect();
        let content = next_version(&dictionary);
        for coding in Coding::ALL {
            let mut body = delta::encode(coding, &dictionary, &content, 3).unwrap();
            let at = at.index(body.len());
            body[at] ^= 1 << bit;
            for out in [
                delta::decode(coding, &dictionary, &body, content.len()),
                delta::decode_independently(coding, &dictionary, &body, content.len()).map(|(out, _)| out),
            ] {
                prop_assert!(out.is_err() || out.is_ok_and(|out| out.len() <= content.len()));
            }
        }
    }

    #[test]
    fn garbage_never_panics(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        for coding in Coding::ALL {
            let named = [&delta::encode(coding, b"d", b"", 1).unwrap()[..coding.head()], &body].concat();
            let _ = delta::decode(coding, b"d", &named, 1000);
            let _ = delta::decode_independently(coding, b"d", &named, 1000);
        }
    }
}
