//! Processes that are killed or stopped while a request is under way.

use super::{disturb, named, send};
use crate::lab::serves_php;

#[test]
fn of_a_killed_worker_only_the_response_that_it_had_is_lost() {
    needs!(serves_php());
    let ran = disturb(|_, worker| send("KILL", &[worker]));
    let report = ran.lab.json("run/report/report.json");
    let caveats =
        report["rows"].as_array().unwrap().iter().flat_map(|row| row["caveats"].as_array().unwrap());
    let lossy: Vec<_> = caveats.filter(|caveat| caveat["code"] == "faulty-responses").collect();
    let [caveat] = lossy[..] else { panic!("{lossy:?}") };
    assert_eq!(caveat["faulted"], 1, "{caveat}");
    let example = caveat["example"].as_str().unwrap();
    assert!(example.contains("502") && example.contains("exited on signal 9 (SIGKILL)"), "{example}");
    assert_eq!((ran.code, ran.of_type("fault").len()), (0, 0));
    ran.others_are_sound();
}

#[test]
fn a_killed_server_is_a_fault_and_the_next_cell_has_a_new_one() {
    needs!(serves_php());
    let ran = disturb(|all, _| send("KILL", &named(all, "nginx: master")));
    let (kind, message) = ran.kind_and_message();
    assert_eq!(kind, "crash");
    assert!(message.contains("nginx ended: signal: 9 (SIGKILL)"), "{message}");
    assert!(ran.fault()["remedy"].as_str().unwrap().contains("dmesg"));
}

#[test]
fn a_killed_php_is_a_fault_and_the_next_cell_has_a_new_one() {
    needs!(serves_php());
    let ran = disturb(|all, _| send("KILL", &named(all, "php-fpm: master")));
    let (kind, message) = ran.kind_and_message();
    assert_eq!(kind, "crash");
    assert!(
        message.contains("PHP-FPM of php") && message.contains("ended: signal: 9 (SIGKILL)"),
        "{message}"
    );
}

#[test]
fn a_killed_generator_is_a_fault_and_the_next_cell_has_a_new_one() {
    needs!(serves_php());
    let ran = disturb(|all, _| send("KILL", &named(all, "agent --load")));
    let (kind, message) = ran.kind_and_message();
    assert_eq!(kind, "crash");
    assert!(message.contains("the load agent ended: signal: 9 (SIGKILL)"), "{message}");
}

#[test]
fn a_server_that_stops_answering_is_a_fault_at_its_deadline_and_the_next_cell_has_a_new_one() {
    needs!(serves_php());
    let ran = disturb(|all, _| send("STOP", &named(all, "nginx: ")));
    let (kind, message) = ran.kind_and_message();
    assert_eq!(kind, "timeout", "{message}");
    assert!(message.contains("within"), "{message}");
}
