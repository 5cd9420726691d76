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

fn said_of(purpose: Purpose, ask: NegotiationRequest, answer: Answer, get: &Answer) -> Option<Quirk> {
    let ask = NegotiationRequest { purpose, variant: Some("gzip".into()), ..ask };
    of_variant(&Exchange { ask, answer }, get, &variants())
}

fn find_quirk(purpose: Purpose, answer: Answer) -> Option<Quirk> {
    said_of(purpose, NegotiationRequest::default(), answer, &get())
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
    assert_eq!(find_quirk(Purpose::Head, head()), None);
    assert_eq!(
        find_quirk(Purpose::Head, Answer { content_length: None, ..head() }),
        None,
        "it may be left out"
    );
    for other in [
        Answer { content_length: Some(5000), ..head() },
        Answer { content_encoding: None, ..head() },
        Answer { etag: None, ..head() },
        Answer { vary: None, ..head() },
        Answer { status: 405, ..head() },
    ] {
        assert_eq!(find_quirk(Purpose::Head, other), Some(Quirk::HeadDiffers));
    }
    assert_eq!(find_quirk(Purpose::Head, Answer::default()), Some(Quirk::Failed));
    let chunked = Answer { content_length: None, ..get() };
    let told = said_of(
        Purpose::Head,
        NegotiationRequest::default(),
        Answer { content_length: Some(5000), ..head() },
        &chunked,
    );
    assert_eq!(told, Some(Quirk::HeadDiffers), "the length of what is not sent");
    let told = said_of(Purpose::Head, NegotiationRequest::default(), head(), &chunked);
    assert_eq!(told, None, "a length that GET might have said");
}

#[test]
fn its_own_etag_spares_the_body() {
    assert_eq!(find_quirk(Purpose::Revalidate, not_modified(Some(GZIP))), None);
    assert_eq!(find_quirk(Purpose::Revalidate, not_modified(None)), None);
    assert_eq!(find_quirk(Purpose::Revalidate, not_modified(Some("\"1\""))), Some(Quirk::OtherEtag));
    assert_eq!(find_quirk(Purpose::Revalidate, not_modified(Some("W/\"1-gz\""))), Some(Quirk::OtherStrength));
    assert_eq!(find_quirk(Purpose::Revalidate, get()), Some(Quirk::NotMatched));
    assert_eq!(find_quirk(Purpose::Revalidate, refused(412)), Some(Quirk::Failed));
    assert_eq!(
        find_quirk(Purpose::Revalidate, Answer { body: Body::Wrong, ..get() }),
        Some(Quirk::WrongBody)
    );
}

#[test]
fn the_etag_of_another_variant_does_not() {
    let other = |of: &str, answer| {
        let ask = NegotiationRequest { other: Some(of.into()), ..NegotiationRequest::default() };
        said_of(Purpose::RevalidateOther, ask, answer, &get())
    };
    assert_eq!(other("identity", get()), None);
    assert_eq!(other("identity", not_modified(Some(GZIP))), Some(Quirk::FalseMatch));
    assert_eq!(other("nobody", not_modified(None)), Some(Quirk::FalseMatch));
    assert_eq!(other("identity", refused(500)), Some(Quirk::Failed));
    // W/"1" of br and "1" of the content as it is mean the same.
    let ask = NegotiationRequest {
        purpose: Purpose::RevalidateOther,
        variant: Some("br".into()),
        other: Some("identity".into()),
        ..NegotiationRequest::default()
    };
    let told = of_variant(&Exchange { ask, answer: not_modified(Some("W/\"1\"")) }, &get(), &variants());
    assert_eq!(told, Some(Quirk::WeakMatch));
}

fn part(range: &str, coding: &str) -> Answer {
    let content_encoding = (coding != "identity").then(|| coding.to_owned());
    let content_range = Some(range.to_owned());
    Answer { status: 206, content_encoding, content_range, body: Body::Part, ..get() }
}

fn asking(range: &str) -> NegotiationRequest {
    NegotiationRequest { range: Some(range.into()), ..NegotiationRequest::default() }
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

fn sent(coding: &str) -> Answer {
    let content_encoding = (coding != IDENTITY).then(|| coding.to_owned());
    Answer { status: 200, content_encoding, body: Body::Content, ..Answer::default() }
}

fn chosen(accept: Option<&str>, coding: &str) -> Option<Quirk> {
    of_choice(accept, &sent(coding), &[IDENTITY, "gzip", "br"].map(str::to_owned))
}

#[test]
fn every_rule_of_the_choice() {
    use Quirk::*;
    for (accept, coding, quirk) in [
        (None, "identity", None),
        (None, "gzip", Some(Unasked)),
        (Some("identity"), "identity", None),
        (Some("identity"), "gzip", Some(Unnamed)),
        (Some("gzip"), "gzip", None),
        (Some("gzip"), "identity", Some(AsItIs)),
        (Some("gzip"), "br", Some(Unnamed)),
        (Some("zstd"), "identity", None),
        (Some("gzip, br"), "gzip", None),
        (Some("gzip, deflate, br, zstd"), "br", None),
        (Some("gzip;q=0"), "identity", None),
        (Some("gzip;q=0"), "gzip", Some(Excluded)),
        (Some("gzip;q=0, br"), "br", None),
        (Some("gzip;q=0, br"), "gzip", Some(Excluded)),
        (Some("br;q=0.5, gzip;q=1.0"), "gzip", None),
        (Some("br;q=0.5, gzip;q=1.0"), "br", Some(Lesser)),
        (Some("gzip;q=0.5, br;q=1.0"), "gzip", Some(Lesser)),
        (Some("identity;q=0"), "identity", Some(IdentityRefused)),
        (Some("identity;q=0"), "gzip", Some(Unnamed)),
        (Some("identity;q=0, gzip"), "gzip", None),
        (Some("identity;q=0, gzip"), "identity", Some(IdentityForced)),
        (Some("*"), "br", None),
        (Some("*"), "identity", Some(AsItIs)),
        (Some("*;q=0"), "identity", Some(IdentityRefused)),
        (Some("*;q=0"), "gzip", Some(Excluded)),
        (Some("GZIP"), "gzip", None),
        (Some("gzip"), "GZip", None),
        (Some("x-gzip"), "gzip", None),
        (Some("gzip"), "x-gzip", None),
        (Some("gzip"), "gzip, br", Some(Unnamed)),
    ] {
        assert_eq!(chosen(accept, coding), quirk, "{accept:?} → {coding}");
    }
}

#[test]
fn a_406_is_right_only_where_nothing_would_do() {
    let refused = Answer { status: 406, body: Body::Message, ..Answer::default() };
    let available = [IDENTITY.to_owned(), "gzip".to_owned()];
    assert_eq!(of_choice(Some("identity;q=0"), &refused, &available), Some(Quirk::NotAcceptable));
    assert_eq!(of_choice(Some("identity;q=0, gzip"), &refused, &available), Some(Quirk::NeedlessRefusal));
    assert_eq!(of_choice(Some("br"), &refused, &available), Some(Quirk::NeedlessRefusal), "as it is");
    assert_eq!(of_choice(None, &refused, &available), Some(Quirk::NeedlessRefusal));
    assert_eq!(of_choice(None, &refused, &[]), Some(Quirk::NotAcceptable));
}

#[test]
fn bodies_and_statuses_come_before_codings() {
    let wrong = Answer { body: Body::Wrong, ..sent("gzip") };
    assert_eq!(of_choice(Some("gzip;q=0"), &wrong, &[]), Some(Quirk::WrongBody));
    for status in [0, 100, 204, 206, 301, 304, 404, 500, u16::MAX] {
        let other = Answer { status, ..sent("gzip") };
        assert_eq!(of_choice(Some("gzip"), &other, &[]), Some(Quirk::Failed), "{status}");
    }
    let empty = Answer { body: Body::None, ..sent("gzip") };
    assert_eq!(of_choice(Some("gzip"), &empty, &[]), Some(Quirk::Failed));
    let unknown = Answer { body: Body::Unknown, ..sent("compress") };
    assert_eq!(of_choice(Some("gzip"), &unknown, &[]), Some(Quirk::Unnamed));
    assert_eq!(of_choice(Some("x-compress"), &unknown, &[]), None);
}

#[test]
fn forms() {
    for (etag, is) in [
        ("\"a-b;c\"", Form::Strong),
        ("\"\"", Form::Strong),
        ("W/\"a\"", Form::Weak),
        ("\"1b-5d;6a", Form::Unclosed),
        ("W/\"a", Form::Unclosed),
        ("\"", Form::Unclosed),
        ("a", Form::Broken),
        ("a\"", Form::Broken),
        ("", Form::Broken),
        ("w/\"a\"", Form::Broken),
        ("\"a\"b\"", Form::Broken),
        ("\"a b\"", Form::Broken),
        ("\"a\", \"b\"", Form::Broken),
    ] {
        assert_eq!(form(etag), is, "{etag}");
    }
}

#[test]
fn weak_and_strong_of_one_mean_the_same() {
    assert!(weakly_same("W/\"a\"", "\"a\"") && weakly_same("W/\"a\"", "W/\"a\""));
    assert!(!weakly_same("W/\"a\"", "\"b\""));
}
