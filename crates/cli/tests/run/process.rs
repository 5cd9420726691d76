//! Worker processes that misbehave: each way is a fault that says what happened, and the next visit is fine.

use std::time::Duration;

use weigh_model::protocol::{Fault, FaultKind};
use weigh_os::interrupt::Interrupt;
use weigh_os::process::WorkerSpec;
use weigh_run::executor::{CodecWorker, Failure};
use weigh_run::worker::ProcessExecutor;

use crate::scripted::{LAUNCHER, LONG, SHORT, is_gone, request, script, wait_until, worker};

#[test]
fn a_crash_names_the_signal_and_the_last_words_and_the_next_visit_is_fine() {
    let mut it = worker(
        "[ -e once ] && { good; continue; }; touch once; echo 'first' >&2\n echo 'out of luck' >&2; kill -SEGV $$",
    );
    let fault = it.fault(LONG);
    assert_eq!(fault.kind, FaultKind::Crash);
    assert!(fault.message.starts_with("worker scripted ended during a sample"), "{}", fault.message);
    assert!(fault.message.contains("signal: 11 (SIGSEGV)"), "{}", fault.message);
    assert!(fault.message.ends_with("its last words: out of luck"), "{}", fault.message);
    it.visit_pid();
}

#[test]
fn each_way_to_fail_is_told_and_costs_one_visit() {
    let once = "[ -e once ] && { good; continue; }; touch once;";
    for (body, kind, said) in [
        (format!("{once} exit 42"), FaultKind::Crash, "exit status: 42"),
        (format!("{once} printf 'PHP Warning: \\033[31mred\\n'"), FaultKind::Garbage, "PHP Warning: red"),
        (
            format!("{once} echo \"{{\\\"id\\\":$id,\\\"decoded\\\":[1]}}\""),
            FaultKind::Garbage,
            "missing field `encoded`",
        ),
        (format!("{once} id=999; good"), FaultKind::Garbage, "answered request 999, not"),
        (
            format!("{once} head -c 17000000 /dev/zero | tr '\\000' x; echo"),
            FaultKind::Garbage,
            "a line of over 16777216 bytes: `xxxx",
        ),
    ] {
        let mut it = worker(&body);
        let fault = it.fault(LONG);
        assert_eq!(fault.kind, kind, "{body}");
        assert!(fault.message.contains(said), "{said}: {}", fault.message);
        assert!(fault.message.len() < 300, "{}", fault.message);
        it.visit_pid();
    }
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
fn a_worker_that_never_reads_does_not_block_the_lab() {
    let mut it = script("next; describe; sleep 1000");
    let large = request(500_000);
    let Err(Failure::Fault(fault)) = it.executor.visit(&large, SHORT) else { panic!("it cannot answer") };
    assert_eq!(fault.kind, FaultKind::Timeout);
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
fn a_flood_on_stderr_is_kept_in_part_and_blocks_nobody() {
    let mut it = worker("head -c 3000000 /dev/zero | tr '\\000' 'e' >&2; echo >&2; good");
    it.visit_pid();
    it.executor.end();
    let log = it.home.path().join("worker.log");
    wait_until("the log has its first MiB", || log.metadata().unwrap().len() == 1 << 20);
}
