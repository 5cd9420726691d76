//! A value from its staging to the report, through the worker's own sampling, with a codec and a clock that are scripted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use weigh_answer::report::{Report, RunFacts};
use weigh_codec::{Coder, Error};
use weigh_model::cell::Subject as Kind;
use weigh_model::plan::{Policy, Runtime};
use weigh_model::record::Record;
use weigh_model::setting::Setting;

use super::*;
use crate::agent::coders::Pair;
use crate::agent::fault::find_codec;
use crate::agent::sample::Clock;
use crate::agent::visit::Bench;
use crate::executor::PartsDone;
use crate::state::State;
use weigh_content::Library;

/// Nanoseconds of a call whose input is that of the call before it.
const LEARNT: u64 = 1_000;

/// The first visit of a run to the one cell of a plan.
pub(in crate::subject::codec) fn first_visit<'a>(
    plan: &'a Plan,
    state: &'a State,
    (payload, blob): (&'a Payload, &'a Path),
    parts: &'a PartsDone,
) -> VisitOrder<'a> {
    VisitOrder { plan, state, index: 0, round: 1, payload, blob, limit: Duration::from_secs(5), parts }
}

/// Goes on when a coder works, and only then.
#[derive(Clone, Default)]
struct ScriptedClock(Arc<AtomicU64>);

impl Clock for ScriptedClock {
    fn wall(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn cpu(&self) -> u64 {
        self.wall()
    }

    fn preempted(&self) -> u64 {
        0
    }
}

/// Copies, and takes twice as long when its input differs from the last one.
struct Learner {
    clock: ScriptedClock,
    last: Vec<u8>,
}

impl Learner {
    fn boxed(clock: &ScriptedClock) -> Box<dyn Coder> {
        Box::new(Learner { clock: clock.clone(), last: Vec::new() })
    }
}

impl Coder for Learner {
    fn encode(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let factor = if self.last == input { 1 } else { 2 };
        self.clock.0.fetch_add(factor * LEARNT, Ordering::Relaxed);
        self.last = input.to_vec();
        *out = input.to_vec();
        Ok(())
    }

    fn decode(&mut self, input: &[u8], _: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        self.encode(input, out)
    }
}

/// A plan of one native cell on that payload.
pub(super) fn plan(payload: &Payload) -> Plan {
    let cell = Cell {
        id: "learner".into(),
        subject: Kind::CODEC,
        payload: payload.name.clone(),
        runtime: NATIVE.into(),
        setting: Setting::bare("identity"),
        keep: true,
        expected_seconds: 0.0,
        ..Cell::default()
    };
    let policy = Policy {
        budget_seconds: 1.0,
        max_rounds: 5,
        min_samples: 7,
        half_width: 0.02,
        cell_seconds: 1.0,
        exhaustive: true,
        to_the_end: false,
        even: false,
        in_order: false,
    };
    Plan {
        policy,
        payloads: vec![payload.clone()],
        runtimes: vec![Runtime { name: NATIVE.into(), ..Runtime::default() }],
        cells: vec![cell],
        ..Plan::default()
    }
}

#[test]
fn a_codec_that_takes_twice_as_long_for_another_input_is_reported_with_the_doubled_cost() {
    let (cache, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let library = Library::open(cache.path()).unwrap();
    let mut stager = Stager::new(&library, into.path());
    for content in ["synthetic:rows-16k", "value:rows-1k", "value:meta-256k"] {
        let payload = Codecs.stage(&mut stager, content, None).unwrap().remove(0);
        let plan = plan(&payload);
        let blob = std::fs::read(&payload.blob).unwrap();
        let mut rest = blob.as_slice();
        let items: Vec<&[u8]> =
            payload.items.iter().map(|length| rest.split_off(..*length as usize).unwrap()).collect();
        let mut state = State::new(&plan);
        let mut records = Vec::new();
        for round in 1..=5 {
            let parts = PartsDone::default();
            let of = (&payload, payload.blob.as_path());
            let order = VisitOrder { round, ..first_visit(&plan, &state, of, &parts) };
            let request = request(&order, Path::new("/nowhere"));
            let clock = ScriptedClock::default();
            let pair =
                Pair { encoders: vec![Learner::boxed(&clock)], decoders: vec![Learner::boxed(&clock)] };
            let codec = find_codec("identity").unwrap();
            let visit = Bench::new(&clock, &*codec, &request, items.clone(), pair).run().unwrap();
            let record = Record::Visit(parts::merge(&order, vec![Done { visit, independent: None }]));
            state.apply(&record).unwrap();
            records.push(record);
        }
        let report = Report::of(&RunFacts::default(), &plan, &records);
        let row = &report.rows[0];
        let figure = |metric| row.value(metric).unwrap();
        assert_eq!((figure("encode"), figure("decode")), (2e3, 2e3), "{content}");
        assert_eq!((figure("encode-again"), figure("decode-again")), (1e3, 1e3), "{content}");
        // Sizes too are those of one instance.
        let size = payload.bytes as f64 / payload.items.len() as f64;
        assert_eq!((figure("decoded-bytes"), figure("encoded-bytes")), (size, size), "{content}");
        assert!(payload.items.len() >= 24, "{content}");
    }
}

#[test]
fn a_content_that_is_no_family_is_reported_whole() {
    let (cache, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let library = Library::open(cache.path()).unwrap();
    let mut stager = Stager::new(&library, into.path());
    for (content, block) in [("synthetic:rows-300k", None), ("synthetic:rows-64k", Some(1024))] {
        let payload = Codecs.stage(&mut stager, content, block).unwrap().remove(0);
        assert!(!payload.family, "{content}");
        assert_eq!(payload.size(), payload.bytes, "{content}");
    }
}
