use super::*;

const WHOLE: &[u8] = b"0123456789";

#[test]
fn a_part_is_the_bytes_that_content_range_names() {
    let of = |range: &str, body: &[u8]| part(Some(WHOLE), Some(range), body);
    assert_eq!(of("bytes 0-3/10", b"0123"), Body::Part);
    assert_eq!(of("bytes 8-9/10", b"89"), Body::Part);
    for (range, body) in [
        ("bytes 0-3/11", &b"0123"[..]),
        ("bytes 0-3/10", b"012"),
        ("bytes 1-4/10", b"0123"),
        ("bytes 8-12/10", b"89"),
        ("bytes 9-0/10", b""),
        ("bytes 0-18446744073709551615/10", b"0"),
        ("bytes */10", b""),
        ("lines 0-3/10", b"0123"),
        ("bytes -1-3/10", b"0123"),
        ("", b"0123"),
    ] {
        assert_eq!(of(range, body), Body::WrongPart, "{range}");
    }
    assert_eq!(part(None, Some("bytes 0-3/10"), b"0123"), Body::WrongPart);
    assert_eq!(part(Some(WHOLE), None, b"0123"), Body::WrongPart);
}

#[test]
fn a_body_is_the_content_or_says_why_not() {
    let content = Content::new(WHOLE);
    assert_eq!(content.whole(Coding::Identity, WHOLE), (Body::Content, None));
    assert_eq!(content.whole(Coding::Identity, b"012345678").0, Body::Wrong);
    assert_eq!(content.whole(Coding::Other, WHOLE), (Body::Unknown, None));
    let (body, why) = content.whole(Coding::Gzip, b"\x1f\x8bnothing");
    assert_eq!(body, Body::Wrong);
    assert!(why.unwrap().contains("does not decode"));
    let codec = weigh_codec::codecs::find("zlib").unwrap();
    for (container, coding) in [("gzip", Coding::Gzip), ("zlib", Coding::Deflate), ("raw", Coding::Deflate)] {
        let mut params = weigh_codec::Params::default();
        params.options.insert("container".into(), container.into());
        let mut longer = Vec::new();
        let mut body = Vec::new();
        let mut coder = codec.coder(&params).unwrap();
        coder.encode(WHOLE, &mut body).unwrap();
        coder.encode(&[7; 5_000_000], &mut longer).unwrap();
        assert_eq!(content.whole(coding, &body), (Body::Content, None), "{container}");
        assert_eq!(content.whole(coding, &longer).0, Body::Wrong, "{container}: more than the content");
    }
}
