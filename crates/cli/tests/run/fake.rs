//! A fake executor and a fake clock that drive the real scheduler.

mod executor;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor::FakeExecutor;
pub use executor::{Behaviour, ExecutorCalls, codec};
use sha2::{Digest, Sha256};
use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::{Plan, Policy, Runtime};
use weigh_model::record::{Record, StopReason};
use weigh_model::setting::Setting;
use weigh_os::interrupt::Interrupt;
use weigh_os::meter::CpuTimes;
use weigh_run::clock::Clock;
use weigh_run::dir::RunDir;
use weigh_run::observer::{Observer, Upcoming};
use weigh_run::subject::codec::Workers;
use weigh_run::{RunOutcome, run};

/// A clock that moves only when it is told to.
#[derive(Clone, Default)]
pub struct FakeClock(Arc<Mutex<(Duration, CpuTimes)>>);

impl FakeClock {
    pub fn advance(&self, seconds: f64) {
        self.0.lock().unwrap().0 += Duration::from_secs_f64(seconds);
    }

    /// The processors were at work for this many ticks, and this many were stolen.
    pub fn spend(&self, busy: u64, steal: u64) {
        let spent = &mut self.0.lock().unwrap().1;
        *spent = CpuTimes { busy: spent.busy + busy, steal: spent.steal + steal };
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        self.0.lock().unwrap().0
    }

    fn epoch(&self) -> i64 {
        1_800_000_000 + self.now().as_secs() as i64
    }

    fn cpu_times(&self) -> Option<CpuTimes> {
        Some(self.0.lock().unwrap().1)
    }
}

/// A lab for one test: a plan of fake codecs on one payload, and a place for its run directory.
pub struct Lab {
    pub home: tempfile::TempDir,
    pub plan: Plan,
    pub codecs: BTreeMap<String, Behaviour>,
    pub clock: FakeClock,
    pub asked: ExecutorCalls,
    pub interrupt: Interrupt,
    /// Sets the interrupt before this visit (from 1).
    pub interrupt_before: Option<usize>,
    pub version: String,
    pub rounds: Vec<(u32, usize)>,
    /// What was said before each visit: round, seconds since the beginning, seconds that are left.
    pub left: Vec<(u32, f64, f64)>,
}

const CONTENT: &[u8] = b"a payload of the tests";

impl Lab {
    /// One native cell a codec, named after it; what they cost is expected exactly.
    pub fn new(codecs: &[(&str, Behaviour)]) -> Lab {
        // In memory where there is such a place: these tests flush thousands of times.
        let memory = Path::new("/dev/shm");
        let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let blob = home.path().join("blob");
        std::fs::write(&blob, CONTENT).unwrap();
        let sha256 = Sha256::digest(CONTENT).iter().map(|b| format!("{b:02x}")).collect::<String>();
        let payload = Payload {
            name: "text".into(),
            kind: "text".into(),
            blob,
            sha256,
            bytes: CONTENT.len() as u64,
            items: vec![CONTENT.len() as u64],
            origin: Origin::Synthetic { imitates: "text".into() },
            ..Payload::default()
        };
        let plan = Plan {
            study: Default::default(),
            seed: 7,
            policy: Policy {
                budget_seconds: 1e6,
                max_rounds: 20,
                min_samples: 7,
                half_width: 0.02,
                cell_seconds: 1e6,
                exhaustive: false,
                to_the_end: false,
                even: false,
                in_order: false,
            },
            payloads: vec![payload],
            runtimes: vec![Runtime { name: "native".into(), version: "1".into(), ..Runtime::default() }],
            cells: codecs.iter().map(|(name, b)| cell(name, b)).collect(),
            ..Plan::default()
        };
        let codecs = codecs.iter().map(|(name, b)| (name.to_string(), b.clone())).collect();
        let (clock, asked, interrupt) = Default::default();
        let (interrupt_before, version, rounds, left) = (None, "1".into(), Vec::new(), Vec::new());
        Lab { home, plan, codecs, clock, asked, interrupt, interrupt_before, version, rounds, left }
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.home.path().join("run")
    }

    pub fn create(&self) -> RunDir {
        RunDir::create(&self.path(), self.plan.clone(), vec!["weigh".into()]).unwrap()
    }

    /// Runs or goes on.
    pub fn measure(&mut self, dir: &mut RunDir) -> anyhow::Result<RunOutcome> {
        let fake = || {
            let (codecs, clock) = (self.codecs.clone(), self.clock.clone());
            Box::new(FakeExecutor { codecs, clock, asked: self.asked.clone(), version: self.version.clone() })
        };
        let mut workers = Workers::new(&dir.scratch());
        workers.add("native", fake());
        workers.set_checker(fake());
        let (clock, interrupt) = (self.clock.clone(), self.interrupt.clone());
        run(dir, &mut workers, &interrupt, &clock, self)
    }

    /// A whole run in a fresh directory.
    pub fn run(&mut self) -> (RunOutcome, Vec<Record>) {
        let mut dir = self.create();
        let outcome = self.measure(&mut dir).unwrap();
        (outcome, dir.records().to_vec())
    }
}

impl Observer for Lab {
    fn round_begun(&mut self, round: u32, live: usize) {
        self.rounds.push((round, live));
    }

    fn visiting(&mut self, upcoming: &Upcoming<'_>) {
        assert!(upcoming.place >= 1 && upcoming.place <= upcoming.of);
        assert!(upcoming.remaining.is_finite() && upcoming.remaining >= 0.0);
        self.left.push((upcoming.round, upcoming.elapsed, upcoming.remaining));
        if self.interrupt_before == Some(self.asked.visits.lock().unwrap().len()) {
            self.interrupt.set();
        }
    }
}

fn cell(name: &str, behaviour: &Behaviour) -> Cell {
    let setting = Setting::bare(name);
    Cell {
        id: Cell::make_id("text", "native", None, &setting),
        subject: Subject::CODEC,
        payload: "text".into(),
        runtime: "native".into(),
        setting,
        expected_seconds: (behaviour.encode_ms + behaviour.decode_ms) / 1e3,
        ..Cell::default()
    }
}

/// The codec's name in a cell's id.
pub fn name_of(id: &str) -> &str {
    id.rsplit('/').next().unwrap()
}

/// (codec, round) of every visit, in order.
pub fn visits(records: &[Record]) -> Vec<(String, u32)> {
    let visit = |r: &Record| match r {
        Record::Visit(v) => Some((name_of(&v.cell).to_owned(), v.round)),
        _ => None,
    };
    records.iter().filter_map(visit).collect()
}

/// Codec → (round, reason) of every stop; each cell stops once.
pub fn stops(records: &[Record]) -> BTreeMap<String, (u32, StopReason)> {
    let mut stops = BTreeMap::new();
    for record in records {
        if let Record::Stop { cell, round, reason } = record {
            let before = stops.insert(name_of(cell).to_owned(), (*round, reason.clone()));
            assert_eq!(before, None, "{cell} stopped twice");
        }
    }
    stops
}

/// The reason a codec stopped.
pub fn reason(records: &[Record], codec: &str) -> StopReason {
    stops(records)[codec].1.clone()
}

/// Where a run's log is.
pub fn log_of(run: &Path) -> std::path::PathBuf {
    run.join("records.ndjson")
}
