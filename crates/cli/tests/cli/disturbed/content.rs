//! Pages that fail, or that are not the page.

use super::{DisturbedRun, RUN, odd, run, whole_study};
use crate::lab::{Lab, serves_php, wait_until};

#[test]
fn memory_that_ran_out_is_shown_as_php_says_it() {
    needs!(serves_php());
    let ran = run("str_repeat('x', 2 << 30);");
    let (kind, message) = ran.kind_and_message();
    assert_eq!(kind, "response");
    assert!(message.contains("status 500: PHP fatal error: Allowed memory size of"), "{message}");
    assert!(ran.fault()["remedy"].as_str().unwrap().contains("memory_limit"));
}

#[test]
fn a_fatal_error_after_the_first_bytes_is_shown_from_the_log() {
    needs!(serves_php());
    let ran = run("echo 'a begin'; flush(); str_repeat('x', 2 << 30);");
    let (_, message) = ran.kind_and_message();
    assert!(message.contains("Allowed memory size of"), "{message}");
    let ran = run(
        "echo 'a begin'; flush(); throw new Exception(\"\\x1b[31m\" . str_repeat('far too long ', 9000));",
    );
    let (kind, message) = ran.kind_and_message();
    assert_eq!(kind, "round-trip");
    assert!(
        message.contains("what came is not the payload") && message.contains("far too long"),
        "{message}"
    );
}

#[test]
fn another_body_in_the_middle_of_a_block_is_a_fault_and_no_number() {
    needs!(serves_php());
    let ran = run("if ($request === 6) { header('Content-Type: text/html'); echo 'another'; return; }");
    assert_eq!(ran.kind_and_message().0, "round-trip");
    let odd = |cell: &&&serde_json::Value| cell["cell"].as_str().unwrap().ends_with("/odd");
    assert_eq!(ran.of_type("visit").iter().filter(odd).count(), 0);
}

#[test]
fn another_body_in_a_later_round_takes_the_numbers_before_it_back() {
    needs!(serves_php());
    let lab = Lab::new();
    lab.write("disturbed.toml", whole_study());
    odd(&lab, "if (is_file(\"$home/later\")) { echo 'another'; return; }");
    let mut started = lab.start(&RUN);
    let log = lab.path("run/records.ndjson");
    wait_until("a round has the odd one", || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("/php/odd\""))
    });
    lab.write("later", "");
    let code = started.0.wait().unwrap().code().unwrap();
    let ran = DisturbedRun { code, records: lab.records("run"), lab };
    assert_eq!(ran.kind_and_message().0, "round-trip");
}
