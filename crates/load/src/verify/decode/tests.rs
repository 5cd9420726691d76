use super::*;

#[test]
fn room_grows_to_what_is_needed_and_no_further() {
    // A million zeros as one stored byte sequence of brotli would not show growth: gzip packs them a thousandfold.
    let body = vec![0; 1_000_000];
    let mut wire = Vec::new();
    let codec = weigh_codec::codecs::find("zlib").unwrap();
    codec.coder(&weigh_codec::Params::level(9)).unwrap().encode(&body, &mut wire).unwrap();
    for likely in [0, 1, 1_000_000, u64::MAX] {
        assert_eq!(decode(Coding::Gzip, &wire, likely, 1_000_000).unwrap(), body);
        let fault = decode(Coding::Gzip, &wire, likely, 999_999).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Bomb, "{fault:?}");
    }
}

#[test]
fn no_body_decodes_to_nothing_and_identity_is_itself() {
    for coding in [Coding::Identity, Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
        assert_eq!(decode(coding, b"", 0, 10).unwrap(), &b""[..]);
    }
    assert_eq!(decode(Coding::Identity, b"1234", 0, 4).unwrap(), &b"1234"[..]);
    assert_eq!(decode(Coding::Identity, b"1234", 0, 3).unwrap_err().kind, FaultKind::Bomb);
    assert_eq!(decode(Coding::Other, b"1234", 0, 9).unwrap_err().kind, FaultKind::ContentCoding);
}

#[test]
fn the_reading_of_deflate_that_its_header_announces_explains_the_failure() {
    // A zlib header in front of a block of the reserved kind, and the same block alone.
    let announced = decode(Coding::Deflate, &[0x78, 0x9c, 7, 0, 0], 0, 10).unwrap_err();
    let bare = decode(Coding::Deflate, &[7, 0, 0], 0, 10).unwrap_err();
    for fault in [&announced, &bare] {
        assert_eq!(fault.kind, FaultKind::Corrupt);
        assert!(fault.message.starts_with("no deflate: "), "{}", fault.message);
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
    let fault = decode(Coding::Gzip, b"\x1b[2J\r\n\xff and so on and on", 0, 10).unwrap_err();
    assert!(fault.message.contains(r"it begins with `\x1b[2J\r\n\xff and so o`"), "{}", fault.message);
    assert!(fault.message.is_ascii() && !fault.message.contains(char::is_control));
}
