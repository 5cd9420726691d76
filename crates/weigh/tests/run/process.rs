//! Worker processes that misbehave, and the promise that none outlives the lab.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use weigh::protocol::{Fault, FaultKind, Phase, Visit, VisitRequest};
use weigh::rig::process::WorkerSpec;
use weigh::rig::worker::ProcessExecutor;
use weigh::run::interrupt::Interrupt;
use weigh::run::pool::{Executor, Failure};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_weigh");
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

/// What every scripted worker begins with. `good` answers a visit as it should be.
const PRELUDE: &str = r#"
describe() { echo "{\"id\":$id,\"protocol\":1,\"runtime\":\"native\",\"version\":\"1\",\"codecs\":[]}"; }
good() {
    s='{"batch":1,"cpu_ns":[1.5],"wall_ns":[2.5],"preempted":0}'
    echo "{\"id\":$id,\"decoded\":[4],\"encoded\":[2],\"format\":\"fake\",\"sha256_decoded\":\"d\",\
\"sha256_encoded\":\"$$\",\"verified\":true,\"phases\":{\"encode\":$s,\"decode\":$s}}"
}
next() {
    read -r line || exit 0
    id=${line#*\"id\":}; id=${id%%[,\}]*}
}
"#;

/// A worker that is a shell script in a private folder.
struct Scripted {
    home: tempfile::TempDir,
    executor: ProcessExecutor,
    interrupt: Interrupt,
}

/// A worker that describes itself and then does `visits` for each further request.
fn worker(visits: &str) -> Scripted {
    script(&format!("next; describe\nwhile :; do next\n{visits}\ndone"))
}

fn script(body: &str) -> Scripted {
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
    fn visit(&mut self, limit: Duration) -> Result<Visit, Failure> {
        self.executor.visit(&request(1), limit)
    }

    /// The process id that the worker put into its answer.
    fn visit_pid(&mut self) -> u32 {
        self.visit(LONG).unwrap().sha256_encoded.parse().unwrap()
    }

    fn fault(&mut self, limit: Duration) -> Fault {
        match self.visit(limit) {
            Err(Failure::Fault(fault)) => fault,
            other => panic!("a fault was due: {other:?}"),
        }
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.home.path().join(name)).unwrap()
    }
}

fn request(items: usize) -> VisitRequest {
    VisitRequest {
        id: 0,
        codec: "fake".into(),
        level: None,
        options: Default::default(),
        serializer: None,
        blob: "/blob".into(),
        sha256: "d".into(),
        items: vec![4; items],
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
fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_none_or(|rest| rest.is_empty() || rest.starts_with('Z') || rest.starts_with('X'))
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_worker_stays_for_all_visits_and_ends_with_its_input() {
    let mut it = worker("good");
    assert_eq!(it.executor.describe().unwrap().version, "1");
    let visit = it.visit(LONG).unwrap();
    assert_eq!(visit.phases[&Phase::Encode].cpu_ns, [1.5]);
    let pid = it.visit_pid();
    assert_eq!(it.visit_pid(), pid);
    it.executor.end();
    assert!(is_gone(pid));
    assert_ne!(it.visit_pid(), pid, "it is started again when it is needed again");
}

#[test]
fn a_crash_names_the_signal_and_the_last_words_and_the_next_visit_is_fine() {
    let mut it = worker(
        "[ -e once ] && { good; continue; }; touch once; echo 'first' >&2\n echo 'out of luck' >&2; kill -SEGV $$",
    );
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Crash);
    assert!(fault.message.starts_with("worker scripted ended during a visit"), "{}", fault.message);
    assert!(fault.message.contains("signal: 11 (SIGSEGV)"), "{}", fault.message);
    assert!(fault.message.ends_with("its last words: out of luck"), "{}", fault.message);
    it.visit_pid();
}

#[test]
fn an_exit_names_its_code() {
    let mut it = worker("exit 42");
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Crash);
    assert!(fault.message.contains("exit status: 42"), "{}", fault.message);
}

#[test]
fn a_worker_that_closes_its_output_and_stays_is_ended() {
    let mut it = worker("echo $$ > pid; exec >&-; sleep 1000");
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Crash);
    assert!(fault.message.contains("closed its output and stayed"), "{}", fault.message);
    assert!(is_gone(it.file("pid").trim().parse().unwrap()));
}

#[test]
fn a_hang_is_killed_with_all_it_started() {
    let mut it = worker(
        "[ -e once ] && { good; continue; }; touch once; sleep 1000 & echo $! > child; echo $$ > pid; sleep 1000",
    );
    // Time enough for the script to come so far, however busy the machine is.
    let fault = it.fault(Duration::from_secs(3));
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert!(fault.message.contains("limited to 3 s"), "{}", fault.message);
    let (pid, child) = (it.file("pid").trim().parse().unwrap(), it.file("child").trim().parse().unwrap());
    assert!(is_gone(pid));
    wait_until("the worker's own child is gone", || is_gone(child));
    it.visit_pid();
}

#[test]
fn a_worker_that_never_reads_does_not_block_the_lab() {
    let mut it = script("next; describe; sleep 1000");
    let large = request(500_000);
    let Err(Failure::Fault(fault)) = it.executor.visit(&large, SHORT) else { panic!("it cannot answer") };
    assert_eq!(fault.kind, FaultKind::Timeout);
}

#[test]
fn garbage_is_shown_escaped_and_costs_one_visit() {
    let mut it =
        worker("[ -e once ] && { good; continue; }; touch once; printf 'PHP Warning: \\033[31mred\\n'");
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Garbage);
    assert!(fault.message.contains("PHP Warning: \\u{1b}[31mred"), "{}", fault.message);
    it.visit_pid();
}

#[test]
fn json_that_is_no_reply_says_what_it_lacks() {
    let mut it = worker("echo \"{\\\"id\\\":$id,\\\"decoded\\\":[1]}\"");
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Garbage);
    assert!(fault.message.contains("missing field `encoded`"), "{}", fault.message);
}

#[test]
fn the_answer_to_another_request_is_garbage() {
    let mut it = worker("id=999; good");
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Garbage);
    assert!(fault.message.contains("answered request 999, not"), "{}", fault.message);
}

#[test]
fn a_line_without_end_is_cut() {
    let mut it = worker(
        "[ -e once ] && { good; continue; }; touch once; head -c 17000000 /dev/zero | tr '\\000' x; echo",
    );
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Garbage);
    assert!(fault.message.contains("a line of over 16777216 bytes: `xxxx"), "{}", fault.message);
    assert!(fault.message.len() < 300);
    it.visit_pid();
}

#[test]
fn a_fault_that_a_worker_reports_is_passed_on_and_the_worker_stays() {
    let body = r#"[ -e once ] && { good; continue; }; touch once; echo $$ > pid
        echo "{\"id\":$id,\"fault\":{\"kind\":\"missing\",\"message\":\"no zstd\",\"remedy\":\"install it\"}}""#;
    let mut it = worker(body);
    let fault = it.fault(LONG);
    let expected =
        Fault { kind: FaultKind::Missing, message: "no zstd".into(), remedy: Some("install it".into()) };
    assert_eq!(fault, expected);
    assert_eq!(it.visit_pid().to_string(), it.file("pid").trim());
}

#[test]
fn another_protocol_is_refused() {
    let body = "next; echo \"{\\\"id\\\":$id,\\\"protocol\\\":99,\\\"runtime\\\":\\\"x\\\",\\\"version\\\":\\\"1\\\",\\\"codecs\\\":[]}\"; next";
    let mut it = script(body);
    let fault = it.fault(LONG);
    assert!(fault.message.contains("speaks protocol 99, this weigh speaks 1"), "{}", fault.message);
    assert!(fault.remedy.is_some());
}

#[test]
fn a_worker_that_dies_at_its_start_is_given_up_after_three() {
    let mut it = script("echo x >> starts; echo 'no such module' >&2; exit 7");
    for _ in 0..3 {
        let fault = it.fault(LONG);
        assert_eq!(fault.kind, FaultKind::Crash);
        assert!(fault.message.contains("given up after 3 starts"), "{}", fault.message);
        assert!(fault.message.contains("no such module"), "{}", fault.message);
    }
    assert_eq!(it.file("starts"), "x\nx\nx\n");
    assert!(it.executor.describe().is_err());
}

#[test]
fn a_start_that_hangs_is_a_timeout() {
    let it = script("sleep 1000");
    let mut executor = it.executor.start_limit(SHORT);
    let Err(Failure::Fault(fault)) = executor.describe() else { panic!("it cannot describe itself") };
    assert_eq!(fault.kind, FaultKind::Timeout);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let mut spec = WorkerSpec::program("php9", "/nonexistent/php9", Vec::new(), log);
    spec.launcher = LAUNCHER.into();
    let mut executor = ProcessExecutor::new(spec, Interrupt::new());
    let Err(Failure::Fault(fault)) = executor.visit(&request(1), LONG) else {
        panic!("there is no such program")
    };
    assert!(fault.message.contains("cannot start /nonexistent/php9"), "{}", fault.message);
}

#[test]
fn chatter_after_an_answer_is_not_the_next_cells_fault() {
    let mut it = worker("good; [ -e once ] || { touch once; echo chatter; touch said; }");
    let pid = it.visit_pid();
    let said = it.home.path().join("said");
    wait_until("the worker has chattered", || said.exists());
    // The reader's thread may not have heard it yet.
    std::thread::sleep(Duration::from_secs(1));
    assert_ne!(it.visit_pid(), pid);
}

#[test]
fn a_worker_that_died_between_visits_is_started_again() {
    let mut it = worker("good; [ -e once ] || { touch once; exit 1; }");
    let pid = it.visit_pid();
    wait_until("the worker is gone", || is_gone(pid));
    std::thread::sleep(Duration::from_secs(1));
    assert_ne!(it.visit_pid(), pid);
}

#[test]
fn an_interrupt_ends_the_wait() {
    let mut it = worker("touch asked; sleep 1000");
    let (interrupt, asked) = (it.interrupt.clone(), it.home.path().join("asked"));
    let setter = std::thread::spawn(move || {
        wait_until("the worker was asked", || asked.exists());
        interrupt.set();
    });
    assert_eq!(it.visit(LONG), Err(Failure::Interrupted));
    setter.join().unwrap();
}

#[test]
fn a_flood_on_stderr_is_kept_in_part_and_blocks_nobody() {
    let mut it = worker("head -c 3000000 /dev/zero | tr '\\000' 'e' >&2; echo >&2; good");
    it.visit_pid();
    it.executor.end();
    let log = it.home.path().join("worker.log");
    wait_until("the log has its first MiB", || log.metadata().unwrap().len() == 1 << 20);
}

#[test]
fn the_environment_is_fixed_and_the_group_its_own() {
    let mut it = worker("env > env.txt; cat /proc/$$/stat > stat; good");
    let pid = it.visit_pid();
    let env = it.file("env.txt");
    assert!(env.lines().any(|l| l == "LC_ALL=C") && env.lines().any(|l| l.starts_with("PATH=")), "{env}");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the test's own environment has it");
    assert!(!env.contains("CARGO_MANIFEST_DIR"), "{env}");
    let stat = it.file("stat");
    let group = stat.rsplit(") ").next().unwrap().split(' ').nth(2).unwrap();
    assert_eq!(group, pid.to_string());
}

#[test]
fn a_worker_outlives_the_thread_that_asked_for_it() {
    let mut it = worker("good");
    let pid = it.visit_pid();
    let mut it = std::thread::spawn(move || {
        it.executor.end();
        it.visit_pid();
        it
    })
    .join()
    .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let second = it.visit_pid();
    assert_ne!(second, pid);
    assert_eq!(it.visit_pid(), second, "the same worker still answers");
}

#[test]
fn dropping_the_executor_ends_the_worker() {
    let mut it = worker("good");
    let pid = it.visit_pid();
    drop(it.executor);
    assert!(is_gone(pid));
}

/// A stand-in for the lab that starts a worker through the launcher, says its process id, and waits.
fn lab_with_worker(launcher: &Path) -> (std::process::Child, u32) {
    let line = format!("'{}' agent --exec $$ -- sleep 1000 & echo $!; read wait", launcher.display());
    let mut lab =
        Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pid = String::new();
    BufReader::new(lab.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    (lab, pid.trim().parse().unwrap())
}

#[test]
fn no_worker_outlives_a_lab_that_was_killed() {
    if !cfg!(target_os = "linux") {
        println!("skipped: only Linux kills a child with its parent");
        return;
    }
    let (mut lab, pid) = lab_with_worker(&PathBuf::from(LAUNCHER));
    let comm = || fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    wait_until("the launcher has become the worker", || comm() == "sleep\n");
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the worker is gone", || is_gone(pid));
}

#[test]
fn a_launcher_that_comes_too_late_starts_nothing() {
    let marker = tempfile::tempdir().unwrap();
    let file = marker.path().join("started");
    let output =
        Command::new(LAUNCHER).args(["agent", "--exec", "1", "--", "touch"]).arg(&file).output().unwrap();
    assert!(!output.status.success() && !file.exists());
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "cannot start touch: the lab has ended\n");
}
