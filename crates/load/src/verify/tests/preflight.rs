//! Results of examining a preflight.

use super::*;

fn with_fields(mut captured: Captured, fields: &[(&str, &str)]) -> Captured {
    captured.fields.extend(fields.iter().map(|(n, v)| (n.as_bytes().to_vec(), v.as_bytes().to_vec())));
    captured
}

fn gzip(body: &[u8]) -> Captured {
    captured(Coding::Gzip, &encode(Coding::Gzip, 6, body))
}

fn noted(preflight: &Preflight, text: &str) -> bool {
    preflight.notes.iter().any(|note| note.contains(text))
}

#[test]
fn what_the_server_sends_is_told() {
    let body = page(2000);
    let fields = [("ETag", "\"a\""), ("Server", "x\x1b[2J"), ("Vary", "Cookie")];
    let seen = with_fields(gzip(&body), &fields);
    let (preflight, _) = examine(&seen, std::slice::from_ref(&seen));
    let text = |t: &str| Some(t.to_owned());
    assert_eq!((preflight.status, preflight.version.as_str()), (200, "HTTP/1.1"));
    assert_eq!(preflight.content_type, text("text/html"));
    assert_eq!(preflight.content_encoding, text("gzip"));
    assert_eq!(preflight.vary, text("Accept-Encoding, Cookie"));
    assert_eq!(preflight.etag, text(r#"\"a\""#));
    assert_eq!(preflight.server, text(r"x\x1b[2J"));
    assert_eq!(preflight.framing, Framing::Chunked);
    assert_eq!(preflight.body_bytes, encode(Coding::Gzip, 6, &body).len() as u64);
    assert_eq!(preflight.decoded_bytes, Some(2000));
    assert_eq!(preflight.decoded_sha256, Some(wrong::hex(&decode::sha256(&body))));
    assert_eq!(preflight.checked, Checked::Bytes);
    assert_eq!((preflight.fault, preflight.notes), (None, vec![]));
}

#[test]
fn long_fields_are_cut() {
    let seen = with_fields(gzip(b"a"), &[("ETag", &"e".repeat(10_000))]);
    assert_eq!(examine(&seen, &[]).0.etag.unwrap().chars().count(), 60);
}

#[test]
fn bodies_that_differ_are_compared_but_for_what_varies_and_the_place_is_told() {
    let (one, two) = (page(900), [&page(800)[..], b"<!-- 17 -->"].concat());
    let (preflight, _) = examine(&gzip(&one), &[gzip(&one), gzip(&two)]);
    assert_eq!(
        (preflight.checked, preflight.decoded_sha256.clone(), preflight.fault.clone()),
        (Checked::Parts, None, None)
    );
    assert!(noted(&preflight, "are the same in every response; parts that vary: 1"), "{:?}", preflight.notes);
    assert!(noted(&preflight, "bodies differ from byte 80"), "{:?}", preflight.notes);
    assert!(noted(&preflight, "<!-- 17 -->"), "{:?}", preflight.notes);
}

#[test]
fn the_users_word_makes_bodies_vary() {
    let check = Check::Verify { decode_every: 1, vary_by: vec!["body".into(), "x-id".into()] };
    let plan = plan(Limits::default(), check);
    let body = gzip(&page(100));
    let (a, b) =
        (with_fields(body.clone(), &[("X-Id", "1")]), with_fields(body, &[("X-Id", "2"), ("X-Other", "3")]));
    let (preflight, expectation) = Examiner::new(&plan).examine(&request(), &a, &[b]);
    assert_eq!((preflight.checked, expectation.length, expectation.decoded), (Checked::Samples, None, None));
    assert_eq!(preflight.notes, ["headers that differ between responses: x-other"]);
}

#[test]
fn the_same_length_of_bodies_that_differ_is_chance_and_what_is_far_from_it_is_not_plausible() {
    let (a, b) = (vec![b'a'; 50], vec![b'b'; 50]);
    for seen in [[gzip(&a), gzip(&b)], [&a, &b].map(|body| captured(Coding::Identity, body))] {
        // The visitor after the ninth is the tenth.
        let (preflight, expectation) = examine(&seen[0], &seen[1..]);
        assert_eq!((preflight.checked, expectation.length), (Checked::Samples, None));
        assert!(expectation.implausible(51).is_none() && expectation.implausible(24).is_some());
    }
    // Also if the load discards bodies.
    let plan = plan(Limits::default(), Check::Discard);
    let seen = [&a, &b].map(|body| captured(Coding::Identity, body));
    assert_eq!(Examiner::new(&plan).examine(&request(), &seen[0], &seen[1..]).1.length, None);
}

#[test]
fn two_contents_that_come_again_and_again_are_both_accepted() {
    let (a, b) = (page(500), vec![b'b'; 300]);
    let seen: Vec<Captured> = [&a, &b, &b, &a, &b, &b].map(|body| gzip(body)).into();
    let (preflight, expectation) = examine(&seen[0], &seen[1..]);
    assert_eq!((preflight.checked, preflight.decoded_sha256), (Checked::Bytes, None));
    let plan = plan(Limits::default(), verify());
    let verifier = Verifier::new(Expectations::new(vec![expectation], &plan), Decoder::start().unwrap());
    let mut world = World { verifier };
    assert_eq!(world.judged(Coding::Gzip, &encode(Coding::Gzip, 6, &b), 100), (Ok(300), false));
    assert_eq!(world.judged(Coding::Gzip, &encode(Coding::Gzip, 1, &a), 100), (Ok(500), true));
    let other = world.judged(Coding::Gzip, &encode(Coding::Gzip, 6, &page(499)), 100).0.unwrap_err();
    assert_eq!(other.kind, HttpFaultKind::Mismatch);
    // After four responses, a third content could well have been missed.
    assert_eq!(examine(&seen[0], &seen[1..4]).0.checked, Checked::Samples);
}

#[test]
fn what_does_not_decode_stops_the_run() {
    for coding in CODINGS {
        let whole = encode(coding, 6, &page(500));
        let cut = captured(coding, &whole[..whole.len() - 1]);
        let kind = |seen: &Captured, others: &[Captured]| examine(seen, others).0.fault.map(|f| f.kind);
        assert_eq!(kind(&cut, &[]), Some(HttpFaultKind::Corrupt));
        assert_eq!(kind(&captured(coding, &whole), &[cut]), Some(HttpFaultKind::Corrupt));
        assert_eq!(kind(&captured(coding, b"<html>"), &[]), Some(HttpFaultKind::Corrupt));
    }
    let plan = plan(Limits { decoded_bytes: 1000, ..Limits::default() }, verify());
    let bomb = Examiner::new(&plan).examine(&request(), &gzip(&[0; 5000]), &[]).0;
    assert_eq!(bomb.fault.unwrap().kind, HttpFaultKind::Bomb);
}

#[test]
fn a_coding_nobody_asked_for_is_a_fault() {
    let asking = |value: Option<&str>, seen: &Captured| {
        let headers = value.map(|v| ("Accept-Encoding".into(), v.into())).into_iter().collect();
        let request = Request { headers, ..request() };
        Examiner::new(&plan(Limits::default(), verify())).examine(&request, seen, &[]).0
    };
    let seen = gzip(&page(100));
    assert_eq!(asking(Some("br"), &seen).fault.unwrap().kind, HttpFaultKind::ContentCoding);
    assert_eq!(asking(Some("gzip"), &seen).fault, None);
    let unsaid = asking(None, &seen);
    assert_eq!(unsaid.fault, None);
    assert!(noted(&unsaid, "no Accept-Encoding"));
    let unknown = with_fields(captured(Coding::Identity, b"x"), &[("Content-Encoding", "gzip, br")]);
    let unknown = Captured { head: head(Coding::Other), ..unknown };
    let fault = asking(Some("gzip, br"), &unknown).fault.unwrap();
    assert_eq!(fault.kind, HttpFaultKind::ContentCoding);
    assert!(fault.message.contains("`gzip, br`"), "{}", fault.message);
}

#[test]
fn two_codings_of_one_content_are_both_accepted() {
    let body = page(1000);
    let (plain, packed) = (captured(Coding::Identity, &body), gzip(&body));
    let (preflight, expectation) = examine(&plain, &[packed]);
    assert_eq!((preflight.checked, preflight.fault.clone()), (Checked::Bytes, None));
    assert!(noted(&preflight, "also gzip"), "{:?}", preflight.notes);
    let plan = plan(Limits::default(), verify());
    let verifier = Verifier::new(Expectations::new(vec![expectation], &plan), Decoder::start().unwrap());
    let mut world = World { verifier };
    let packed = encode(Coding::Gzip, 6, &body);
    for _ in 0..3 {
        assert_eq!(world.judged(Coding::Gzip, &packed, 100), (Ok(1000), false));
        assert_eq!(world.judged(Coding::Identity, &body, 100), (Ok(1000), false));
    }
    // A body of one coding with the header of another is not a variant.
    assert_eq!(world.judged(Coding::Identity, &packed, 100).0.unwrap_err().kind, HttpFaultKind::Mismatch);
    assert_eq!(world.judged(Coding::Gzip, &body, 100).0.unwrap_err().kind, HttpFaultKind::Corrupt);
}

#[test]
fn oddities_are_noted_and_are_no_faults() {
    let download = captured(Coding::Identity, &encode(Coding::Gzip, 6, b"archive"));
    let (preflight, _) = examine(&download, &[]);
    assert_eq!((preflight.fault.clone(), preflight.checked), (None, Checked::Bytes));
    assert!(noted(&preflight, "the body is gzip without Content-Encoding"));
    let wide = captured(Coding::Zstd, &[0x28, 0xb5, 0x2f, 0xfd, 0, 14 << 3, 1, 0, 0]);
    let (preflight, _) = examine(&wide, &[]);
    assert_eq!((preflight.fault.clone(), preflight.decoded_bytes), (None, Some(0)), "one empty block");
    assert!(noted(&preflight, "a window of 16777216 bytes"), "{:?}", preflight.notes);
    let mut bare = gzip(b"page");
    bare.fields.retain(|(name, _)| name != b"Vary");
    assert!(noted(&examine(&bare, &[]).0, "without `Vary: Accept-Encoding`"));
}

#[test]
fn a_part_of_a_coded_body_is_compared_as_it_is() {
    let whole = encode(Coding::Gzip, 6, &page(1000));
    let part = &whole[100..200];
    let head = Head { status: 206, ..head(Coding::Gzip) };
    let seen = Captured { head, ..captured(Coding::Gzip, part) };
    let (preflight, expectation) = examine(&seen, std::slice::from_ref(&seen));
    assert_eq!((preflight.fault.clone(), preflight.checked), (None, Checked::Bytes));
    assert!(noted(&preflight, "a part of a compressed body"));
    let plan = plan(Limits::default(), verify());
    let mut verifier: Verifier<()> =
        Verifier::new(Expectations::new(vec![expectation], &plan), Decoder::start().unwrap());
    for (bytes, right) in [(part, true), (&whole[101..201], false)] {
        let mut checker = verifier.head(0, &head, RAW).unwrap();
        verifier.body(&mut checker, bytes);
        match verifier.end(checker, 100) {
            Verdict::Compared { decoded_bytes: 100 } if right => {}
            Verdict::Fault(fault) if !right => assert_eq!(fault.kind, HttpFaultKind::Mismatch),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn statuses_that_change_stop_the_run() {
    let seen = gzip(b"page");
    let other = Captured { head: Head { status: 503, ..seen.head }, ..seen.clone() };
    let fault = examine(&seen, &[other]).0.fault.unwrap();
    assert_eq!((fault.kind, fault.message.as_str()), (HttpFaultKind::Status, "status 200 and then 503"));
}

#[test]
fn bodies_that_are_not_read_are_checked_by_length() {
    let long = |bytes| Captured { body: Body::Long(bytes), ..captured(Coding::Identity, b"") };
    let (preflight, expectation) = examine(&long(1 << 30), &[long(1 << 30)]);
    assert_eq!(
        (preflight.checked, expectation.length, preflight.body_bytes),
        (Checked::Length, Some(1 << 30), 1 << 30)
    );
    assert!(noted(&preflight, "only the length is checked"));
    assert_eq!(examine(&long(1 << 30), &[long(1 << 29)]).1.length, None);

    let not_modified =
        Captured { head: Head { status: 304, ..head(Coding::Gzip) }, ..captured(Coding::Gzip, b"") };
    let (preflight, expectation) = examine(&not_modified, &[]);
    assert_eq!((preflight.checked, preflight.fault, preflight.decoded_bytes), (Checked::Length, None, None));
    assert_eq!(expectation.codings, [Coding::Gzip]);
}

#[test]
fn discarding_asks_for_status_and_length_alone() {
    let plan = plan(Limits::default(), Check::Discard);
    let broken = captured(Coding::Gzip, b"no gzip");
    let (preflight, expectation) =
        Examiner::new(&plan).examine(&request(), &broken, std::slice::from_ref(&broken));
    assert_eq!((preflight.fault, preflight.checked), (None, Checked::Length));
    let mut verifier: Verifier<()> =
        Verifier::new(Expectations::new(vec![expectation], &plan), Decoder::start().unwrap());
    for (coding, bytes, right) in
        [(Coding::Gzip, 7, true), (Coding::Brotli, 7, true), (Coding::Gzip, 8, false)]
    {
        let checker = verifier.head(0, &head(coding), RAW).unwrap();
        assert!(!checker.reads());
        match verifier.end(checker, bytes) {
            Verdict::Unread { .. } if right => {}
            Verdict::Fault(fault) if !right => assert_eq!(fault.kind, HttpFaultKind::Length),
            other => panic!("{coding:?}, {bytes} bytes: {other:?}"),
        }
    }
    assert!(verifier.head(0, &Head { status: 500, ..head(Coding::Gzip) }, RAW).is_err());
}

#[test]
fn a_page_that_was_compressed_twice_is_a_failure_and_a_download_or_a_part_is_none() {
    let twice = encode(Coding::Gzip, 6, &encode(Coding::Gzip, 6, &page(2000)));
    let seen = captured(Coding::Gzip, &twice);
    let fault = examine(&seen, std::slice::from_ref(&seen)).0.fault.unwrap();
    assert!(fault.kind == HttpFaultKind::Corrupt && fault.message.contains("compressed twice"), "{fault:?}");
    let saved = with_fields(seen.clone(), &[("Content-Disposition", "Attachment; filename=a.sql.gz")]);
    let mut part = seen;
    part.head.status = 206;
    for fine in [saved, part] {
        assert_eq!(examine(&fine, std::slice::from_ref(&fine)).0.fault, None);
    }
}
