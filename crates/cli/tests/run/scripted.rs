//! Workers that are shell scripts, for every way a worker can behave.

use std::fs;
use std::time::{Duration, Instant};

use weigh_model::protocol::{Fault, Phase, Visit, VisitRequest};
use weigh_os::interrupt::Interrupt;
use weigh_os::process::WorkerSpec;
use weigh_run::executor::{CodecWorker, Failure};
use weigh_run::worker::ProcessExecutor;

pub const LAUNCHER: &str = env!("CARGO_BIN_EXE_weigh");
pub const LONG: Duration = Duration::from_secs(60);
pub const SHORT: Duration = Duration::from_millis(300);

/// What every scripted worker begins with. `good` answers a visit as it should be.
const PRELUDE: &str = include_str!("scripted/prelude.sh");

/// A worker that is a shell script in a private folder.
pub struct Scripted {
    pub home: tempfile::TempDir,
    pub executor: ProcessExecutor,
    pub interrupt: Interrupt,
}

/// A worker that describes itself and then does `visits` for each further request.
pub fn worker(visits: &str) -> Scripted {
    script(&format!("next; describe\nwhile :; do next\n{visits}\ndone"))
}

pub fn script(body: &str) -> Scripted {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("worker.sh");
    fs::write(&path, format!("cd '{}'\n{PRELUDE}\n{body}\n", home.path().display())).unwrap();
    let log = home.path().join("worker.log");
    let mut spec = WorkerSpec::program("scripted", "sh", vec![path.into()], log);
    spec.launcher = LAUNCHER.into();
    let interrupt = Interrupt::new();
    let executor = ProcessExecutor::new(spec, interrupt.clone());
    Scripted { home, executor, interrupt }
}

impl Scripted {
    pub fn visit(&mut self, limit: Duration) -> Result<Visit, Failure> {
        self.executor.visit(&request(1), limit)
    }

    /// The process id that the worker put into its answer.
    pub fn visit_pid(&mut self) -> u32 {
        self.visit(LONG).unwrap().sha256_encoded.parse().unwrap()
    }

    pub fn fault(&mut self, limit: Duration) -> Fault {
        match self.visit(limit) {
            Err(Failure::Fault(fault)) => fault,
            other => panic!("a fault was due: {other:?}"),
        }
    }

    pub fn file(&self, name: &str) -> String {
        fs::read_to_string(self.home.path().join(name)).unwrap()
    }
}

pub fn request(items: usize) -> VisitRequest {
    VisitRequest {
        id: 0,
        codec: "fake".into(),
        level: None,
        options: Default::default(),
        serializer: None,
        blob: "/blob".into(),
        sha256: "d".into(),
        items: vec![4; items],
        family: false,
        value: None,
        phases: vec![Phase::Encode, Phase::Decode],
        samples: 1,
        budget_ns: 1,
        min_batch_ns: 1,
        max_batch_ns: 1,
        verify: true,
        memory: false,
        dump: None,
    }
}

/// Gone, or a zombie that nobody has waited for.
pub fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_none_or(|rest| rest.is_empty() || rest.starts_with('Z') || rest.starts_with('X'))
}

pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
