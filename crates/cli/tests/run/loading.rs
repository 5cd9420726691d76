//! Load agents that misbehave: the lab gives each up in a short time of its own, whatever the plan allows a server.

use std::fs;
use std::time::{Duration, Instant};

use weigh_load::Progress;
use weigh_load::message::AgentMessage;
use weigh_load::plan::{Length, Limits, LoadPlan, Request};
use weigh_load::result::LoadResult;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::WorkerSpec;
use weigh_run::loading::{BlockOutcome, Failure, LoadAgent};

use crate::scripted::LAUNCHER;

/// What the lab bears in these tests.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Less than any limit of the plan, and more than a busy machine needs.
const SOON: Duration = Duration::from_secs(20);

/// A plan whose limits, and their sums, are far longer than the tests.
fn plan() -> LoadPlan {
    let limits = Limits { connect_seconds: 600.0, request_seconds: 600.0, ..Limits::default() };
    LoadPlan {
        requests: vec![Request { url: "http://127.0.0.1/".into(), ..Request::default() }],
        length: Length { requests: None, seconds: Some(1.0) },
        limits: Limits { drain_seconds: 1.0, ..limits },
        ..LoadPlan::default()
    }
}

fn slice(is_preflight: bool, seconds: f64) -> String {
    let progress = Progress { is_preflight, seconds, ..Progress::default() };
    serde_json::to_string(&AgentMessage::Slice(progress)).unwrap()
}

fn result() -> String {
    serde_json::to_string(&AgentMessage::Result(Box::new(LoadResult {
        seconds: 1.0,
        ..LoadResult::default()
    })))
    .unwrap()
}

/// What a shell script that reads a plan and then does this comes to, and how often it told of itself.
fn ask(body: &str, interrupt: Interrupt) -> (Result<BlockOutcome, Failure>, usize) {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("agent.sh");
    fs::write(&script, format!("read -r plan\n{body}\n")).unwrap();
    let mut spec = WorkerSpec::program("load", "sh", vec![script.into()], home.path().join("log"));
    spec.launcher = LAUNCHER.into();
    let mut agent = LoadAgent::of(&spec, PATIENCE, interrupt).unwrap();
    let (begun, mut told) = (Instant::now(), 0);
    let outcome = agent.run(&plan(), &mut |_| told += 1);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    (outcome, told)
}

fn say(line: &str) -> String {
    format!("echo '{line}'")
}

#[test]
fn one_that_says_nothing_is_given_up_soon() {
    for before in ["", &say(&slice(true, 0.5)), &say(&slice(false, 0.5))] {
        let (outcome, told) = ask(&format!("{before}\nsleep 1000"), Interrupt::new());
        let failure = outcome.unwrap_err();
        assert!(failure.to_string().contains("said nothing for too long"), "{failure}");
        assert_eq!(told, usize::from(!before.is_empty()));
    }
}

#[test]
fn one_that_is_slow_and_alive_is_waited_for() {
    // Its preflight alone takes several times the patience.
    let preflight = format!("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.3; {}; done", say(&slice(true, 30.0)));
    let (outcome, told) = ask(&format!("{preflight}\n{}", say(&result())), Interrupt::new());
    assert_eq!(outcome.unwrap().result.seconds, 1.0);
    assert_eq!(told, 10);
}

#[test]
fn one_that_goes_on_beyond_the_end_of_its_plan_is_given_up() {
    let (outcome, _) =
        ask(&format!("while :; do {}; sleep 0.1; done", say(&slice(false, 9.0))), Interrupt::new());
    let failure = outcome.unwrap_err();
    assert!(failure.to_string().contains("beyond the end of its plan"), "{failure}");
}

#[test]
fn one_that_does_not_stop_is_given_up_however_lively_it_is() {
    let interrupt = Interrupt::new();
    interrupt.set();
    let (outcome, _) = ask(&format!("while :; do {}; sleep 0.1; done", say(&slice(true, 0.5))), interrupt);
    let failure = outcome.unwrap_err();
    assert!(failure.to_string().contains("beyond the end of its plan"), "{failure}");
}
