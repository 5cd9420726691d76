//! Every rule, with answers as servers give them and as they should not.

use super::*;

const GZIP: &str = "\"1-gz\"";

fn get() -> Answer {
    Answer {
        status: 200,
        content_encoding: Some("gzip".into()),
        vary: Some("Accept-Encoding".into()),
        etag: Some(GZIP.into()),
        content_length: Some(1000),
        bytes: 1000,
        body: Body::Content,
        ..Answer::default()
    }
}

fn with_etag(etag: &str) -> Answer {
    Answer { etag: Some(etag.into()), ..get() }
}

fn variants() -> Vec<Variant> {
    [("identity", "\"1\""), ("gzip", GZIP), ("br", "W/\"1\"")]
        .map(|(coding, etag)| Variant {
            coding: coding.into(),
            bytes: 1000,
            etag: Some(etag.into()),
            varies: true,
        })
        .to_vec()
}

fn said_of(purpose: Purpose, ask: Ask, answer: Answer, get: &Answer) -> Option<Quirk> {
    let ask = Ask { purpose, variant: Some("gzip".into()), ..ask };
    judge(&Exchange { ask, answer }, get, &variants())
}

fn said(purpose: Purpose, answer: Answer) -> Option<Quirk> {
    said_of(purpose, Ask::default(), answer, &get())
}

fn not_modified(etag: Option<&str>) -> Answer {
    Answer { status: 304, etag: etag.map(str::to_owned), ..Answer::default() }
}

fn refused(status: u16) -> Answer {
    Answer { status, body: Body::Message, ..Answer::default() }
}

#[test]
fn head_has_the_fields_of_get() {
    let head = || Answer { bytes: 0, body: Body::None, ..get() };
    assert_eq!(said(Purpose::Head, head()), None);
    assert_eq!(said(Purpose::Head, Answer { content_length: None, ..head() }), None, "it may be left out");
    for other in [
        Answer { content_length: Some(5000), ..head() },
        Answer { content_encoding: None, ..head() },
        Answer { etag: None, ..head() },
        Answer { vary: None, ..head() },
        Answer { status: 405, ..head() },
    ] {
        assert_eq!(said(Purpose::Head, other), Some(Quirk::HeadDiffers));
    }
    assert_eq!(said(Purpose::Head, Answer::default()), Some(Quirk::Failed));
    let chunked = Answer { content_length: None, ..get() };
    let told =
        said_of(Purpose::Head, Ask::default(), Answer { content_length: Some(5000), ..head() }, &chunked);
    assert_eq!(told, Some(Quirk::HeadDiffers), "the length of what is not sent");
    let told = said_of(Purpose::Head, Ask::default(), head(), &chunked);
    assert_eq!(told, None, "a length that GET might have said");
}

#[test]
fn its_own_etag_spares_the_body() {
    assert_eq!(said(Purpose::Revalidate, not_modified(Some(GZIP))), None);
    assert_eq!(said(Purpose::Revalidate, not_modified(None)), None);
    assert_eq!(said(Purpose::Revalidate, not_modified(Some("\"1\""))), Some(Quirk::OtherEtag));
    assert_eq!(said(Purpose::Revalidate, not_modified(Some("W/\"1-gz\""))), Some(Quirk::OtherStrength));
    assert_eq!(said(Purpose::Revalidate, get()), Some(Quirk::NotMatched));
    assert_eq!(said(Purpose::Revalidate, refused(412)), Some(Quirk::Failed));
    assert_eq!(said(Purpose::Revalidate, Answer { body: Body::Wrong, ..get() }), Some(Quirk::WrongBody));
}

#[test]
fn the_etag_of_another_variant_does_not() {
    let other = |of: &str, answer| {
        let ask = Ask { other: Some(of.into()), ..Ask::default() };
        said_of(Purpose::RevalidateOther, ask, answer, &get())
    };
    assert_eq!(other("identity", get()), None);
    assert_eq!(other("identity", not_modified(Some(GZIP))), Some(Quirk::FalseMatch));
    assert_eq!(other("nobody", not_modified(None)), Some(Quirk::FalseMatch));
    assert_eq!(other("identity", refused(500)), Some(Quirk::Failed));
    // W/"1" of br and "1" of the content as it is mean the same.
    let ask = Ask {
        purpose: Purpose::RevalidateOther,
        variant: Some("br".into()),
        other: Some("identity".into()),
        ..Ask::default()
    };
    let told = judge(&Exchange { ask, answer: not_modified(Some("W/\"1\"")) }, &get(), &variants());
    assert_eq!(told, Some(Quirk::WeakMatch));
}

fn part(range: &str, coding: &str) -> Answer {
    let content_encoding = (coding != "identity").then(|| coding.to_owned());
    let content_range = Some(range.to_owned());
    Answer { status: 206, content_encoding, content_range, body: Body::Part, ..get() }
}

fn asking(range: &str) -> Ask {
    Ask { range: Some(range.into()), ..Ask::default() }
}

#[test]
fn a_part_is_what_was_asked_for_of_that_variant() {
    let first = |answer| said_of(Purpose::First, asking("bytes=0-99"), answer, &get());
    assert_eq!(first(part("bytes 0-99/1000", "gzip")), None);
    assert_eq!(first(part("bytes 0-99/1000", "x-gzip")), None);
    assert_eq!(first(part("bytes 0-49/50", "gzip")), None, "all there is");
    assert_eq!(first(part("bytes 0-99/5000", "identity")), Some(Quirk::OtherPart));
    for range in ["bytes 0-98/1000", "bytes 1-99/1000", "bytes 0-99/*", "bytes 0-99", "0-99/1000", ""] {
        assert_eq!(first(part(range, "gzip")), Some(Quirk::WrongPart), "{range}");
    }
    assert_eq!(
        first(Answer { body: Body::WrongPart, ..part("bytes 0-99/1000", "gzip") }),
        Some(Quirk::WrongPart)
    );
    assert_eq!(first(get()), Some(Quirk::RangesIgnored));
    assert_eq!(first(refused(416)), Some(Quirk::Failed));
    let last = |answer| said_of(Purpose::Last, asking("bytes=-50"), answer, &get());
    assert_eq!(last(part("bytes 950-999/1000", "gzip")), None);
    assert_eq!(last(part("bytes 0-29/30", "gzip")), None);
    assert_eq!(last(part("bytes 0-49/1000", "gzip")), Some(Quirk::WrongPart));
    assert_eq!(last(part("bytes 0-0/0", "gzip")), Some(Quirk::WrongPart));
}

#[test]
fn if_range_needs_the_strong_etag_of_the_variant() {
    let resume = |answer, get: &Answer| said_of(Purpose::Resume, asking("bytes=0-99"), answer, get);
    let right = || part("bytes 0-99/1000", "gzip");
    assert_eq!(resume(right(), &get()), None);
    assert_eq!(resume(get(), &get()), Some(Quirk::NotResumed));
    assert_eq!(resume(part("bytes 1-99/1000", "gzip"), &get()), Some(Quirk::WrongPart));
    assert_eq!(resume(get(), &with_etag("W/\"1\"")), None, "a weak one is not enough");
    assert_eq!(resume(right(), &with_etag("W/\"1\"")), Some(Quirk::StalePart));
    for broken in ["\"1", "1"] {
        assert_eq!(resume(get(), &with_etag(broken)), None, "{broken}");
        assert_eq!(resume(right(), &with_etag(broken)), None, "{broken}");
    }
    let stale = |answer| said_of(Purpose::ResumeStale, asking("bytes=0-99"), answer, &get());
    assert_eq!(stale(get()), None);
    assert_eq!(stale(right()), Some(Quirk::StalePart));
    assert_eq!(stale(refused(412)), Some(Quirk::Failed));
}

#[test]
fn vary_is_read_as_a_list_of_names() {
    for vary in ["Accept-Encoding", "negotiate, accept-encoding", "*", "User-Agent , ACCEPT-ENCODING"] {
        assert!(names_encoding(Some(vary)), "{vary}");
    }
    for vary in ["", "negotiate", "Accept", "X-Accept-Encoding", "Accept-Encoding-2"] {
        assert!(!names_encoding(Some(vary)), "{vary}");
    }
    assert!(!names_encoding(None));
}
