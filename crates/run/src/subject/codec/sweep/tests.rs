use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::agent;
use crate::executor::PartsDone;
use crate::state::State;
use crate::subject::codec::parts::tests::{observed, payload};
use crate::subject::codec::tests::{first_visit, plan};
use weigh_model::payload::Payload;
use weigh_model::protocol::{CheckRequest, Checked, Description, Visit};

/// What a worker does at the call with that number, counted over all its starts.
type Deeds = BTreeMap<usize, FakeAction>;

#[derive(Clone, Copy, PartialEq)]
enum FakeAction {
    Die,
    LoseSite,
    Refuse,
}

#[derive(Clone, Default)]
struct Fake {
    deeds: Arc<Deeds>,
    calls: Arc<AtomicUsize>,
    lost: Arc<AtomicBool>,
    /// The whole cluster goes with it.
    is_all: bool,
}

impl Fake {
    fn new(deeds: &[(usize, FakeAction)]) -> Fake {
        Fake { deeds: Arc::new(deeds.iter().copied().collect()), ..Fake::default() }
    }
}

impl Site for Fake {
    fn name(&self) -> &str {
        "n"
    }

    fn put(&self, file: &Path, _: &str) -> Result<PathBuf, String> {
        Ok(file.to_owned())
    }

    fn why_lost(&self) -> Option<String> {
        self.lost.load(Ordering::SeqCst).then(|| "it ended".into())
    }

    fn all_lost(&self) -> bool {
        self.is_all && self.why_lost().is_some()
    }
}

impl CodecWorker for Fake {
    fn describe(&mut self) -> Result<Description, Failure> {
        Ok(agent::describe())
    }

    fn visit(&mut self, request: &VisitRequest, _: Duration) -> Result<Visit, Failure> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        match self.deeds.get(&call) {
            None => Ok(observed(request)),
            Some(FakeAction::Refuse) => Err(Failure::fault(FaultKind::Codec, "it cannot".into())),
            Some(deed) => {
                self.lost.store(*deed == FakeAction::LoseSite, Ordering::SeqCst);
                Err(Failure::fault(FaultKind::Crash, "signal: 9".into()))
            }
        }
    }

    fn check(&mut self, _: &CheckRequest, _: Duration) -> Result<Checked, Failure> {
        Err(Failure::fault(FaultKind::Missing, "none".into()))
    }
}

/// A visit to twenty parts on these sites, and how many parts each was asked for.
fn swept(fakes: &[Fake]) -> (Result<VisitRecord, Failure>, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let items: Vec<u64> = (100..200).collect();
    let mut payload = Payload { parts: Vec::new(), ..payload(&items, 5) };
    let bytes = vec![7; payload.bytes as usize];
    let mut begin = 0;
    for part in &mut payload_parts(&items) {
        part.sha256 = weigh_os::digest::sha256(&bytes[begin..begin + part.bytes as usize]);
        begin += part.bytes as usize;
        payload.parts.push(part.clone());
    }
    let blob = folder.path().join("blob");
    std::fs::write(&blob, &bytes).unwrap();
    let plan = plan(&payload);
    let (state, parts) = (State::new(&plan), PartsDone::default());
    let order = first_visit(&plan, &state, (&payload, &blob), &parts);
    let mut sweep = Sweep::new(folder.path());
    fakes.iter().for_each(|fake| {
        sweep.add(Box::new(fake.clone()), Box::new(fake.clone()), Box::new(fake.clone()));
    });
    let result = sweep.visit(&order);
    let (done, all) = parts.get().unwrap();
    assert_eq!((all, done == all), (20, result.is_ok()), "each part counts once: {done}");
    (result, fakes.iter().map(|fake| fake.calls.load(Ordering::SeqCst)).collect())
}

fn payload_parts(items: &[u64]) -> Vec<weigh_model::payload::PayloadPart> {
    payload(items, 5).parts
}

#[test]
fn parts_whose_worker_or_machine_was_lost_are_carried_out_elsewhere_and_the_result_is_the_same() {
    let (alone, calls) = swept(&[Fake::default()]);
    let alone = alone.unwrap();
    assert_eq!((calls, alone.decoded_bytes), (vec![20], (100..200).sum::<u64>()));
    for deeds in [
        vec![(3, FakeAction::Die)],
        vec![(3, FakeAction::LoseSite)],
        vec![(1, FakeAction::Die), (2, FakeAction::Die), (4, FakeAction::LoseSite)],
    ] {
        let (result, calls) = swept(&[Fake::new(&deeds), Fake::default()]);
        assert_eq!(result.unwrap(), alone);
        // A worker that is slow to start may be asked too rarely for each of its deeds.
        let failed = deeds.iter().filter(|(call, _)| *call <= calls[0]).count();
        assert_eq!(calls.iter().sum::<usize>(), 20 + failed, "only what failed is repeated");
    }
    let (result, calls) = swept(&[Fake::new(&[(3, FakeAction::Die)])]);
    assert_eq!((result.unwrap(), calls), (alone, vec![21]), "on the same machine, where there is one");
}

#[test]
fn what_no_repetition_helps_fails_the_visit() {
    let message = |result: Result<VisitRecord, Failure>| match result {
        Err(Failure::Fault(fault)) => fault.message,
        other => panic!("{other:?}"),
    };
    let (result, calls) = swept(&[Fake::new(&[(2, FakeAction::Refuse)])]);
    assert_eq!((message(result), calls), ("it cannot".into(), vec![2]));
    let all: Vec<(usize, FakeAction)> = (1..100).map(|call| (call, FakeAction::Die)).collect();
    let (result, calls) = swept(&[Fake::new(&all)]);
    assert_eq!(message(result), "signal: 9");
    assert!(calls[0] <= 60, "{calls:?}");
    let (result, _) = swept(&[Fake::new(&[(2, FakeAction::LoseSite)])]);
    assert_eq!(message(result), "no node is left (node n: it ended)");
    let lost = Fake { is_all: true, ..Fake::new(&[(2, FakeAction::LoseSite)]) };
    assert_eq!(swept(&[lost]).0, Err(Failure::Interrupted), "the run goes on later");
}
