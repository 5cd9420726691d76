use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::executor::PartsDone;
use crate::state::State;
use crate::subject::codec::request::request;
use crate::subject::codec::tests::{first_visit, plan};

/// What a worker observes whose codec takes a third, and as many nanoseconds as bytes: in the i-th sample i + 1 times as many.
pub(in crate::subject::codec) fn observed(request: &VisitRequest) -> Visit {
    let encoded: Vec<u64> = request.items.iter().map(|bytes| bytes / 3 + 7).collect();
    let sum = request.items.iter().sum::<u64>() as f64;
    let times: Vec<f64> = (0..request.samples).map(|i| sum * f64::from(i + 1)).collect();
    let samples = Samples { batch: 1, cpu_ns: times.clone(), wall_ns: times, preempted: 1 };
    Visit {
        id: request.id,
        decoded: request.items.clone(),
        format: "identity".into(),
        sha256_decoded: request.sha256.clone(),
        sha256_encoded: digest::sha256(format!("{encoded:?}").as_bytes()),
        verified: true,
        dictionary_bytes: 0,
        dictionary_path: None,
        phases: [(Phase::Encode, samples.clone()), (Phase::Decode, samples)].into(),
        again: BTreeMap::new(),
        peak_bytes: [(Phase::Encode, sum as u64)].into(),
        encoded,
    }
}

/// A payload of these items, cut after this many each time.
pub(in crate::subject::codec) fn payload(items: &[u64], cut: usize) -> Payload {
    let part = |items: &[u64]| {
        let bytes = items.iter().sum();
        let (items, sha256) = (items.len() as u32, digest::sha256(format!("{items:?}").as_bytes()));
        PayloadPart { items, bytes, sha256, stands_for_items: items.into(), stands_for_bytes: bytes }
    };
    Payload {
        name: "site/".into(),
        bytes: items.iter().sum(),
        items: items.to_vec(),
        sha256: digest::sha256(b"all"),
        parts: items.chunks(cut).map(part).collect(),
        ..Payload::default()
    }
}

fn visited(payload: &Payload) -> VisitRecord {
    let plan = plan(payload);
    let (state, parts) = (State::new(&plan), PartsDone::default());
    let order = first_visit(&plan, &state, (payload, Path::new("blob")), &parts);
    let whole = request(&order, Path::new("output"));
    let requests = split(&whole, payload, |number| Ok::<_, Failure>(format!("part-{number}"))).unwrap();
    let done = requests.iter().map(|one| Done { visit: observed(one), independent: Some("other".into()) });
    merge(&order, done.collect())
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs())
}

proptest! {
    #[test]
    fn a_visit_in_parts_is_the_whole_visit(
        items in prop::collection::vec(1u64..1_000_000, 1..200),
        cut in 1usize..60,
    ) {
        let whole = visited(&Payload { parts: Vec::new(), ..payload(&items, cut) });
        let merged = visited(&payload(&items, cut));
        prop_assert_eq!(merged.decoded_bytes, whole.decoded_bytes);
        prop_assert_eq!(merged.encoded_bytes, whole.encoded_bytes);
        for phase in [Phase::Encode, Phase::Decode] {
            let (ours, theirs) = (&merged.phases[&phase], &whole.phases[&phase]);
            prop_assert!(close(&ours.cpu_ns, &theirs.cpu_ns) && close(&ours.wall_ns, &theirs.wall_ns));
            prop_assert_eq!(ours.preempted, items.chunks(cut).count() as u64);
        }
        prop_assert_eq!((merged.verified, &merged.independent), (true, &Some("other".to_owned())));
        prop_assert_eq!((merged.sample, merged.instances), (None, 0));
        prop_assert_eq!(visited(&payload(&items, cut)), merged, "the same again");
    }

    #[test]
    fn requests_cover_every_item_once(
        items in prop::collection::vec(1u64..1000, 1..200),
        cut in 1usize..60,
    ) {
        let payload = payload(&items, cut);
        let whole = observed_request(&payload);
        let requests = split(&whole, &payload, |number| Ok::<_, Failure>(number.to_string())).unwrap();
        let all: Vec<u64> = requests.iter().flat_map(|one| one.items.clone()).collect();
        prop_assert_eq!(all, items);
        prop_assert!(requests.iter().zip(&payload.parts).all(|(one, part)| one.sha256 == part.sha256));
    }
}

fn observed_request(payload: &Payload) -> VisitRequest {
    let plan = plan(payload);
    let (state, parts) = (State::new(&plan), PartsDone::default());
    let blob = Path::new("blob");
    request(&first_visit(&plan, &state, (payload, blob), &parts), blob)
}

#[test]
fn a_sample_counts_for_what_it_stands_for_and_says_how_exact_it_is() {
    let mut sample = payload(&[300, 600, 900, 1200, 50], 4);
    (sample.parts[0].stands_for_items, sample.parts[0].stands_for_bytes) = (40, 30_000);
    let record = visited(&sample);
    assert_eq!(record.decoded_bytes, 30_050);
    // A third and 7 of each file: 1028 of 3000 bytes, ten times, and 23 of the part that stands for itself.
    assert_eq!(record.encoded_bytes, 10_280 + 23);
    assert!(close(&record.phases[&Phase::Encode].cpu_ns[..1], &[30_050.0]));
    let said = record.sample.unwrap();
    assert_eq!(said.share, 3050.0 / 30_050.0);
    assert!(said.error.unwrap() > 0.0 && said.error.unwrap() < 0.02, "{said:?}");
    assert_eq!(record.spent(), said.share);
    // One file of many tells nothing of how they differ.
    let mut one = payload(&[300], 1);
    (one.parts[0].stands_for_items, one.parts[0].stands_for_bytes) = (40, 30_000);
    assert_eq!(visited(&one).sample.unwrap().error, None);
}

#[test]
fn parts_are_cut_out_of_the_blob_once_and_only_of_the_planned_one() {
    let folder = tempfile::tempdir().unwrap();
    let blob = folder.path().join("blob");
    fs::write(&blob, "aaabbcc").unwrap();
    let mut payload = payload(&[3, 2, 2], 2);
    payload.parts[0].sha256 = digest::sha256(b"aaabb");
    payload.parts[1].sha256 = digest::sha256(b"cc");
    let plan = plan(&payload);
    let (state, parts) = (State::new(&plan), PartsDone::default());
    let order = first_visit(&plan, &state, (&payload, &blob), &parts);
    let cuts = Cuts::new(folder.path());
    let path = cuts.path(&order, 1).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"cc");
    fs::write(&blob, "xxxxxcc").unwrap();
    assert_eq!(cuts.path(&order, 1).unwrap(), path);
    let Err(Failure::Fault(fault)) = cuts.path(&order, 0) else { panic!() };
    assert!(fault.message.contains("part 0 cannot be cut out: its content is not the planned one"));
    assert_eq!(fs::read_dir(folder.path().join("parts")).unwrap().count(), 1);
}
