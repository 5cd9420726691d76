//! What the worker refuses, and in which words.

use super::*;

#[test]
fn too_few_items_for_a_dictionary_are_said_so() {
    let fault = faulted(PayloadFolder::values(15).visit("zstd", None, &[("dict", "trained")]));
    assert_eq!(fault.kind, FaultKind::Parameter);
    assert!(fault.message.contains("at least 16 items") && fault.remedy.unwrap().contains("small values"));
    let tiny = PayloadFolder::new(vec![vec![b'a']; 20]);
    assert_eq!(faulted(tiny.visit("zstd", None, &[("dict", "trained")])).kind, FaultKind::Parameter);
}

#[test]
fn parameters_it_does_not_know_are_faults_with_the_nearest_name() {
    let place = PayloadFolder::values(1);
    for (codec, level, options, word) in [
        ("zsdt", None, &[][..], "`zstd`"),
        ("quicklz", None, &[], "use one of: identity"),
        ("zlib", Some(6), &[("memlvl", "9")], "`memlevel`"),
        ("zlib", Some(6), &[("mode", "streem")], "`stream`"),
    ] {
        let fault = faulted(place.visit(codec, level, options));
        assert_eq!(fault.kind, FaultKind::Parameter, "{fault:?}");
        assert!(fault.remedy.as_ref().is_some_and(|r| r.contains(word)), "{fault:?}");
    }
    for (codec, level, options, words) in [
        ("zlib", Some(10), &[][..], "levels 0 to 9, not 10"),
        ("snappy", Some(1), &[], "no levels"),
        ("zlib", Some(6), &[("window", "99")], "use 9 to 15"),
    ] {
        let fault = faulted(place.visit(codec, level, options));
        assert!(fault.kind == FaultKind::Parameter && fault.message.contains(words), "{fault:?}");
    }
}

#[test]
fn what_only_php_can_do_is_refused() {
    let place = PayloadFolder::values(1);
    let plain = || place.visit("zlib", None, &[]);
    for request in [
        VisitRequest { serializer: Some("igbinary".into()), ..plain() },
        VisitRequest { phases: vec![Phase::Compress], ..plain() },
        VisitRequest { samples: 0, ..plain() },
    ] {
        assert_eq!(faulted(request).kind, FaultKind::Parameter);
    }
}

#[test]
fn another_payload_than_planned_is_refused() {
    let place = PayloadFolder::values(3);
    let plain = || place.visit("zlib", None, &[]);
    for (request, word) in [
        (VisitRequest { sha256: "00".repeat(32), ..plain() }, "as planned"),
        (VisitRequest { items: vec![1], ..plain() }, "add up to 1"),
        (VisitRequest { items: Vec::new(), ..plain() }, "no items"),
        (VisitRequest { items: vec![u64::MAX, 2], ..plain() }, "too much"),
        (VisitRequest { blob: place.path("none").to_str().unwrap().into(), ..plain() }, "none"),
        (VisitRequest { dump: Some(place.path("no/folder").to_str().unwrap().into()), ..plain() }, "dump"),
    ] {
        let fault = faulted(request);
        assert!(fault.kind == FaultKind::Payload && fault.message.contains(word), "{fault:?}");
    }
}

#[test]
fn checks_of_nonsense_are_refused() {
    let place = PayloadFolder::values(1);
    let path = place.path("blob").to_str().unwrap().to_string();
    let length = place.items[0].len() as u64;
    let check = |format: &str, path: &str, encoded: Vec<u64>, decoded: Vec<u64>| {
        let (format, path) = (format.to_string(), path.to_string());
        checked(CheckRequest { id: 1, format, path, encoded, decoded, dictionary: None })
    };
    assert_eq!(check("rar", &path, vec![length], vec![1]).unwrap_err().kind, FaultKind::Parameter);
    assert_eq!(check("zstd", &path, vec![length], vec![]).unwrap_err().kind, FaultKind::Parameter);
    assert_eq!(check("zstd", &path, vec![length + 1], vec![1]).unwrap_err().kind, FaultKind::Payload);
    assert_eq!(check("zstd", "/nowhere", vec![], vec![]).unwrap_err().kind, FaultKind::Payload);
    assert_eq!(check("zstd", &path, vec![length], vec![9]).unwrap_err().kind, FaultKind::Independent);
}
