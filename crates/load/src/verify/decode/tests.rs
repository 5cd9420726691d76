use std::collections::BTreeMap;
use weigh_codec::delta;
use weigh_codec::{Params, codecs};

use super::*;
use weigh_codec::independent::{zstd_excess as excess, zstd_window as window};

#[test]
fn room_grows_to_what_is_needed_and_no_further() {
    // A million zeros as one stored byte sequence of brotli would not show growth: gzip packs them a thousandfold.
    let body = vec![0; 1_000_000];
    let mut wire = Vec::new();
    let codec = codecs::find("zlib").unwrap();
    codec.coder(&Params::level(9)).unwrap().encode(&body, &mut wire).unwrap();
    for likely in [0, 1, 1_000_000, u64::MAX] {
        assert_eq!(decode(Coding::Gzip, None, &wire, likely, 1_000_000).unwrap(), body);
        let fault = decode(Coding::Gzip, None, &wire, likely, 999_999).unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Bomb, "{fault:?}");
    }
}

#[test]
fn an_empty_body_is_of_no_coding_and_identity_is_itself() {
    for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
        let fault = decode(coding, None, b"", 0, 10).unwrap_err();
        assert_eq!(fault.kind, HttpFaultKind::Corrupt);
        assert!(fault.message.starts_with("an empty body is not valid "), "{}", fault.message);
    }
    assert_eq!(decode(Coding::Identity, None, b"", 0, 10).unwrap(), &b""[..]);
    assert_eq!(decode(Coding::Identity, None, b"1234", 0, 4).unwrap(), &b"1234"[..]);
    assert_eq!(decode(Coding::Identity, None, b"1234", 0, 3).unwrap_err().kind, HttpFaultKind::Bomb);
    assert_eq!(decode(Coding::Other, None, b"1234", 0, 9).unwrap_err().kind, HttpFaultKind::ContentCoding);
}

#[test]
fn the_reading_of_deflate_that_its_header_announces_explains_the_failure() {
    // A zlib header in front of a block of the reserved kind, and the same block alone.
    let announced = decode(Coding::Deflate, None, &[0x78, 0x9c, 7, 0, 0], 0, 10).unwrap_err();
    let bare = decode(Coding::Deflate, None, &[7, 0, 0], 0, 10).unwrap_err();
    for fault in [&announced, &bare] {
        assert_eq!(fault.kind, HttpFaultKind::Corrupt);
        assert!(fault.message.starts_with("not valid deflate: "), "{}", fault.message);
    }
    assert!(
        zlib_header(&[0x78, 0x9c])
            && zlib_header(&[0x78, 1])
            && !zlib_header(&[0x78, 0x9d])
            && !zlib_header(b"x")
    );
}

#[test]
fn messages_are_one_line_of_ascii() {
    let fault = decode(Coding::Gzip, None, b"\x1b[2J\r\n\xff and so on and on", 0, 10).unwrap_err();
    assert!(fault.message.contains(r"the body starts with `\x1b[2J\r\n\xff and so o`"), "{}", fault.message);
    assert!(fault.message.is_ascii() && !fault.message.contains(char::is_control));
}

fn frame(options: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let options: BTreeMap<_, _> = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let params = Params { level: Some(1), options, dictionary: None };
    let mut wire = Vec::new();
    codecs::find("zstd").unwrap().coder(&params).unwrap().encode(body, &mut wire).unwrap();
    wire
}

#[test]
fn single_segments_need_what_they_hold() {
    for size in [1, 255, 256, 300, 65_791, 65_792, 100_000] {
        assert_eq!(window(&frame(&[], &vec![b'a'; size])), Some(size as u64));
    }
}

#[test]
fn a_declared_window_is_read() {
    // The exponent 10 + 3, and one eighth more.
    assert_eq!(window(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x19]), Some(9216));
    assert_eq!(window(&[0x28, 0xb5, 0x2f, 0xfd, 0, 0xff]), Some((1 << 41) + 7 * (1 << 38)));
    // More than one piece, so that the encoder does not know the size.
    let body = vec![b'a'; 200_000];
    let streamed = frame(&[("mode", "stream"), ("window", "24")], &body);
    assert_eq!((window(&streamed), excess(&streamed)), (Some(16 << 20), Some(16 << 20)));
    let usual = frame(&[("mode", "stream"), ("window", "23")], &body);
    assert_eq!((window(&usual), excess(&usual)), (Some(8 << 20), None));
}

#[test]
fn cut_headers_tell_nothing() {
    let whole = frame(&[], &[b'a'; 300]);
    for length in 0..7 {
        assert_eq!(window(&whole[..length]), None, "{length} bytes");
    }
    assert_eq!(window(&whole[..7]), Some(300));
    assert_eq!(window(b"no frame at all"), None);
}

#[test]
fn a_delta_is_decoded_against_the_dictionary_that_was_offered() {
    let (before, now) = (b"a version of before ".repeat(400), b"a version of now, before ".repeat(400));
    for (coding, of) in
        [(Coding::DictionaryBrotli, delta::Coding::Dcb), (Coding::DictionaryZstd, delta::Coding::Dcz)]
    {
        let wire = delta::encode(of, &before, &now, 9).unwrap();
        assert_eq!(decode(coding, Some(&before), &wire, 0, 100_000).unwrap(), &now[..]);
        assert_eq!(decode(coding, Some(&before), &wire, 0, 999).unwrap_err().kind, HttpFaultKind::Bomb);
        let other = decode(coding, Some(b"another"), &wire, 0, 100_000).unwrap_err();
        assert_eq!(other.kind, HttpFaultKind::Corrupt);
        assert!(other.message.contains("another dictionary"), "{}", other.message);
        let none = decode(coding, None, &wire, 0, 100_000).unwrap_err();
        assert_eq!(none.kind, HttpFaultKind::ContentCoding);
        assert!(none.message.contains("offered no dictionary"), "{}", none.message);
    }
}
