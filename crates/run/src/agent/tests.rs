//! The worker as the lab sees it: lines in, lines out.

mod refusals;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::*;
use weigh_model::protocol::{CheckRequest, Checked, PROTOCOL, Phase, Visit, VisitRequest};
use weigh_os::digest::hex;

struct PayloadFolder {
    folder: tempfile::TempDir,
    items: Vec<Vec<u8>>,
}

impl PayloadFolder {
    fn new(items: Vec<Vec<u8>>) -> PayloadFolder {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("blob"), items.concat()).unwrap();
        PayloadFolder { folder, items }
    }

    /// Small records of one kind.
    fn values(count: usize) -> PayloadFolder {
        let colours = ["red", "green", "blue", "amber", "teal"];
        let value = |i: usize| {
            format!(
                "{{\"id\":{i},\"colour\":\"{}\",\"other\":\"{}\",\"active\":true,\"score\":{}}}",
                colours[i * 7 % 5],
                colours[i * 3 % 5],
                i * 7919 % 1000
            )
        };
        PayloadFolder::new((0..count).map(|i| value(i).into_bytes()).collect())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn visit(&self, codec: &str, level: Option<i32>, options: &[(&str, &str)]) -> VisitRequest {
        VisitRequest {
            id: 7,
            codec: codec.into(),
            level,
            options: options.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect(),
            serializer: None,
            blob: self.path("blob").to_str().unwrap().into(),
            sha256: hex(Sha256::digest(self.items.concat())),
            items: self.items.iter().map(|i| i.len() as u64).collect(),
            value: None,
            family: false,
            phases: vec![Phase::Encode, Phase::Decode],
            samples: 3,
            budget_ns: u64::MAX,
            min_batch_ns: 10_000,
            max_batch_ns: 1_000_000,
            verify: true,
            memory: false,
            dump: None,
        }
    }
}

/// The replies of a worker to these lines.
fn session(lines: &str) -> Vec<Reply> {
    let mut output = Vec::new();
    serve(lines.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    output.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
}

fn ask(requests: &[Request]) -> Vec<Reply> {
    session(&requests.iter().map(|r| serde_json::to_string(r).unwrap() + "\n").collect::<String>())
}

fn visited(request: VisitRequest) -> Visit {
    match ask(&[Request::Visit(request)]).pop() {
        Some(Reply::Visit(visit)) => *visit,
        other => panic!("{other:?}"),
    }
}

fn faulted(request: VisitRequest) -> Fault {
    match ask(&[Request::Visit(request)]).pop() {
        Some(Reply::Fault(FaultReply { id: 7, fault })) => fault,
        other => panic!("{other:?}"),
    }
}

fn checked(request: CheckRequest) -> Result<Checked, Fault> {
    match ask(&[Request::Check(request)]).pop() {
        Some(Reply::Checked(checked)) => Ok(checked),
        Some(Reply::Fault(reply)) => Err(reply.fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_describes_every_codec_of_the_binary() {
    let Some(Reply::Description(d)) = ask(&[Request::Describe { id: 42 }]).pop() else { panic!() };
    assert_eq!((d.id, d.protocol, d.runtime.as_str()), (42, PROTOCOL, "native"));
    let names: BTreeSet<_> = d.codecs.iter().map(|c| c.name.clone()).collect();
    let known: BTreeSet<_> = codecs::all().iter().map(|c| c.info().name.to_string()).collect();
    assert_eq!(names, known);
    assert!(d.codecs.iter().all(|c| c.library.is_some() && c.missing.is_none()));
    assert!(["build", "clock", "clock_cost_ns", "allocator"].iter().all(|f| d.facts.contains_key(*f)));
    let lz4hc = d.codecs.iter().find(|c| c.name == "lz4hc").unwrap();
    assert_eq!(lz4hc.levels.as_ref().map(|l| (l.min, l.max)), Some((1, 12)));
    assert_eq!(describe().codecs, d.codecs);
}

#[test]
fn a_visit_measures_and_an_independent_decoder_agrees() {
    let place = PayloadFolder::values(40);
    let source = hex(Sha256::digest(place.items.concat()));
    for codec in codecs::all() {
        let (name, level) = (codec.info().name, codec.info().levels.map(|l| l.representative[0]));
        let dump = place.path(name).to_str().unwrap().to_string();
        let visit = visited(VisitRequest { dump: Some(dump.clone()), ..place.visit(name, level, &[]) });
        assert!(visit.verified && visit.id == 7, "{name}");
        assert_eq!(visit.decoded, place.visit(name, level, &[]).items);
        assert_eq!((visit.sha256_decoded.as_str(), visit.dictionary_bytes), (source.as_str(), 0), "{name}");
        let written = fs::read(&dump).unwrap();
        assert_eq!(hex(Sha256::digest(&written)), visit.sha256_encoded, "{name}");
        assert_eq!(written.len() as u64, visit.encoded.iter().sum::<u64>(), "{name}");
        for phase in [Phase::Encode, Phase::Decode] {
            let samples = &visit.phases[&phase];
            assert_eq!((samples.cpu_ns.len(), samples.wall_ns.len()), (3, 3), "{name}");
            assert!(samples.batch >= 1 && samples.wall_ns.iter().all(|t| *t > 0.0), "{name}: {samples:?}");
        }
        let check = CheckRequest {
            id: 8,
            format: visit.format,
            path: dump,
            encoded: visit.encoded,
            decoded: visit.decoded,
            dictionary: None,
        };
        let done = checked(check.clone()).unwrap();
        assert_eq!((done.id, &done.sha256), (8, &source), "{name} by {}", done.decoder);
        let short = CheckRequest { decoded: check.decoded.iter().map(|l| l - 1).collect(), ..check };
        assert_eq!(checked(short).unwrap_err().kind, FaultKind::Independent, "{name}");
    }
}

#[test]
fn phases_that_are_not_asked_for_are_not_timed() {
    let place = PayloadFolder::values(3);
    let visit = visited(VisitRequest { phases: vec![Phase::Decode], ..place.visit("zstd", Some(1), &[]) });
    assert_eq!(visit.phases.keys().collect::<Vec<_>>(), [&Phase::Decode]);
    assert!(visit.verified && visit.peak_bytes.is_empty() && visit.dictionary_path.is_none());
}

#[test]
fn trained_dictionaries_are_cross_fitted_dumped_and_checked() {
    let place = PayloadFolder::values(400);
    let dump = place.path("packed").to_str().unwrap().to_string();
    let request = place.visit("zstd", Some(3), &[("dict", "trained")]);
    let visit = visited(VisitRequest { dump: Some(dump.clone()), ..request });
    let plain = visited(place.visit("zstd", Some(3), &[]));
    let (with, without) = (visit.encoded.iter().sum::<u64>(), plain.encoded.iter().sum::<u64>());
    assert!(with * 2 < without, "{with} against {without}");
    let path = visit.dictionary_path.unwrap();
    let packed = fs::read(&path).unwrap();
    let folds = coders::unpack(&packed).unwrap();
    assert_eq!(folds.len(), 2);
    assert_ne!(folds[0], folds[1]);
    assert_eq!(visit.dictionary_bytes, (folds[0].len() + folds[1].len()).div_ceil(2) as u64);
    let check = CheckRequest {
        id: 1,
        format: visit.format,
        path: dump,
        encoded: visit.encoded,
        decoded: visit.decoded,
        dictionary: Some(path.clone()),
    };
    assert_eq!(checked(check.clone()).unwrap().sha256, visit.sha256_decoded);
    let error = checked(CheckRequest { dictionary: None, ..check.clone() }).unwrap_err();
    assert_eq!(error.kind, FaultKind::Independent);
    fs::write(&path, b"damaged").unwrap();
    assert_eq!(checked(check).unwrap_err().kind, FaultKind::Payload);
}

#[test]
fn garbage_is_answered_and_the_worker_goes_on() {
    let lines = "what?\n{\"op\":\"visit\",\"id\":9}\n\n\u{1f600}\n{\"op\":\"describe\",\"id\":3}";
    let replies = session(lines);
    let ids: Vec<_> = replies[..3]
        .iter()
        .map(|r| match r {
            Reply::Fault(FaultReply { id, fault }) if fault.kind == FaultKind::Parameter => *id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, [0, 9, 0]);
    assert!(matches!(&replies[3], Reply::Description(d) if d.id == 3));
    let mut output = Vec::new();
    serve(&b"\xff\xfe\n"[..], &mut output).unwrap();
    assert!(String::from_utf8(output).unwrap().contains("not a request"));
    assert!(session("").is_empty());
}

#[test]
fn a_panic_is_a_fault_and_leaves_a_working_agent() {
    let mut agent = Agent::default();
    let fault = agent.guarded(|_| -> Result<(), Fault> { panic!("a codec broke") }).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Codec);
    assert!(fault.message.contains("a codec broke"));
    let place = PayloadFolder::values(2);
    assert!(visit::visit(&mut agent, &place.visit("zlib", None, &[])).is_ok());
}

#[test]
fn a_session_reuses_coders_and_gives_the_same_bytes() {
    let place = PayloadFolder::values(30);
    let cells = ["zlib", "zstd", "isal", "xz", "lz4", "zlib", "zstd", "isal", "xz", "lz4"];
    let requests: Vec<_> = cells.map(|c| Request::Visit(place.visit(c, None, &[]))).into();
    let mut seen = BTreeMap::new();
    for (codec, reply) in cells.iter().zip(ask(&requests)) {
        let Reply::Visit(visit) = reply else { panic!("{reply:?}") };
        let digest = seen.entry(codec).or_insert_with(|| visit.sha256_encoded.clone());
        assert_eq!(*digest, visit.sha256_encoded, "{codec}");
    }
    assert_eq!(seen.len(), 5);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn the_peak_holds_the_state_of_the_encoder() {
    let mut state = 1u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 31
    };
    let place = PayloadFolder::new(vec![(0..1 << 20).map(|_| byte()).collect()]);
    let visit = visited(VisitRequest { memory: true, samples: 1, ..place.visit("xz", Some(3), &[]) });
    // liblzma's encoder at this level holds several times its 4 MiB dictionary; the decoder the megabyte.
    assert!(visit.peak_bytes[&Phase::Encode] > 4 << 20, "{:?}", visit.peak_bytes);
    assert!(visit.peak_bytes.contains_key(&Phase::Decode));
}
