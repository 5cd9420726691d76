//! An executor that answers as it is told, and moves the clock.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use weigh_model::protocol::{
    CheckRequest, Checked, Description, Fault, FaultKind, PROTOCOL, Phase, Samples, Visit, VisitRequest,
};
use weigh_run::executor::{CodecWorker, Failure};

use super::FakeClock;

/// How a codec of the fake behaves.
#[derive(Clone, Debug)]
pub struct Behaviour {
    pub encode_ms: f64,
    pub decode_ms: f64,
    pub bytes: u64,
    /// Relative spread of the samples around their median.
    pub spread: f64,
    /// What it answers instead, from its n-th visit on (from 1).
    pub fault: Option<(u32, FaultKind)>,
    /// The worker's digest of what came back is another one.
    pub wrong: bool,
    /// The independent decoder's digest is another one.
    pub disagreed: bool,
    /// Another output in every visit.
    pub unstable: bool,
    /// In its n-th visit (from 1), ticks that the hypervisor takes beside the 100 at work that each visit has.
    pub stolen: Option<(u32, u64)>,
    /// Visits (from 1) that take 1.3 times as long, because of a neighbour.
    pub slow: Vec<u32>,
    /// How many times as long it takes then.
    pub neighbour: f64,
}

/// A codec: CPU milliseconds to encode and to decode, and encoded bytes.
pub fn codec(encode_ms: f64, decode_ms: f64, bytes: u64) -> Behaviour {
    let (spread, fault, wrong, disagreed, unstable) = (0.001, None, false, false, false);
    Behaviour {
        encode_ms,
        decode_ms,
        bytes,
        spread,
        fault,
        wrong,
        disagreed,
        unstable,
        stolen: None,
        slow: Vec::new(),
        neighbour: 1.3,
    }
}

/// What the fake was asked, shared with the test.
#[derive(Clone, Default)]
pub struct ExecutorCalls {
    pub visits: Arc<Mutex<Vec<VisitRequest>>>,
    pub checks: Arc<AtomicU32>,
}

/// The fake executor.
pub struct FakeExecutor {
    pub codecs: BTreeMap<String, Behaviour>,
    pub clock: FakeClock,
    pub asked: ExecutorCalls,
    pub version: String,
}

impl CodecWorker for FakeExecutor {
    fn describe(&mut self) -> Result<Description, Failure> {
        Ok(Description {
            id: 0,
            protocol: PROTOCOL,
            runtime: "native".into(),
            version: self.version.clone(),
            facts: BTreeMap::new(),
            codecs: Vec::new(),
            serializers: Vec::new(),
        })
    }

    fn visit(&mut self, request: &VisitRequest, _limit: Duration) -> Result<Visit, Failure> {
        let codec = &self.codecs[&request.codec];
        let before =
            self.asked.visits.lock().unwrap().iter().filter(|r| r.codec == request.codec).count() as u32;
        self.asked.visits.lock().unwrap().push(request.clone());
        // As the workers do: a long first call is a sample, before the samples of a quick one is one more.
        let calls = |ms: f64| ms / 1e3 * f64::from(request.samples + u32::from(ms < 300.0));
        self.clock.advance(calls(codec.encode_ms) + calls(codec.decode_ms) + 0.001);
        self.clock
            .spend(100, codec.stolen.filter(|(visit, _)| *visit == before + 1).map_or(0, |(_, ticks)| ticks));
        if let Some((from, kind)) = codec.fault
            && before + 1 >= from
        {
            let message = "it was told to".into();
            return Err(Failure::Fault(Fault { kind, message, remedy: None }));
        }
        let times = |ms: f64| -> Vec<f64> {
            // Within a visit, and from visit to visit.
            let off = |i: u32| codec.spread * (f64::from(i % 3) + f64::from(before % 3) - 2.0) / 2.0;
            let neighbour = if codec.slow.contains(&(before + 1)) { codec.neighbour } else { 1.0 };
            (0..request.samples).map(|i| ms * 1e6 * neighbour * (1.0 + off(i))).collect()
        };
        let samples = |ms: f64| Samples { batch: 1, cpu_ns: times(ms), wall_ns: times(ms), preempted: 0 };
        let phase = |p: &Phase| match p {
            Phase::Encode | Phase::Compress | Phase::Serve | Phase::Transact => {
                (*p, samples(codec.encode_ms))
            }
            Phase::Decode | Phase::Decompress => (*p, samples(codec.decode_ms)),
        };
        Ok(Visit {
            again: Default::default(),
            id: 0,
            decoded: request.items.clone(),
            encoded: vec![codec.bytes],
            format: "fake".into(),
            sha256_decoded: if codec.wrong { "0".repeat(64) } else { request.sha256.clone() },
            sha256_encoded: if codec.unstable { format!("{before:064}") } else { "e".repeat(64) },
            verified: request.verify,
            dictionary_bytes: 0,
            // The checker is told what to answer through the one field that it reads.
            dictionary_path: Some(if codec.disagreed { "0".repeat(64) } else { request.sha256.clone() }),
            phases: request.phases.iter().map(phase).collect(),
            peak_bytes: request.memory.then_some((Phase::Encode, 4096)).into_iter().collect(),
        })
    }

    fn check(&mut self, request: &CheckRequest, _limit: Duration) -> Result<Checked, Failure> {
        self.asked.checks.fetch_add(1, Ordering::Relaxed);
        let sha256 = request.dictionary.clone().unwrap();
        Ok(Checked { id: 0, decoder: "fake decoder".into(), sha256 })
    }
}
