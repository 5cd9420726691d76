//! Pages that fail, or that are not the page.

use super::run;
use crate::lab::serves_php;

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
    let ran = run(
        "$records = \"$home/run/records.ndjson\";
         if (is_file($records) && strpos(file_get_contents($records), '/php/odd\"') !== false) { echo 'another'; return; }",
    );
    assert_eq!(ran.kind_and_message().0, "round-trip");
}
