//! The effect of a stall in open and closed models, with a server that records the true times. No time is compared with
//! a limit of its own: `benches/truth.rs` measures the accuracy of the figures.

mod absence;
mod awake;
mod places;
mod server;
mod trial;
mod witness;

use std::time::Duration;

use server::Script;
use trial::{Load, Trial, quantile};

const STALL: Duration = Duration::from_millis(800);

fn script(stall: Option<(usize, Duration)>) -> Script {
    Script { delay: |_| Duration::from_millis(2), stall }
}

fn add_up(trial: &Trial) {
    let counts = &trial.class().counts;
    assert_eq!(counts.scheduled, counts.sent + counts.dropped);
    assert_eq!((counts.completed, counts.faulted), (counts.sent, 0), "{:?}", trial.result.faults);
    assert_eq!(trial.class().times.response.count(), counts.completed);
    assert_eq!(trial.notes.iter().filter(|note| note.left.is_some()).count() as u64, counts.completed);
}

#[test]
fn a_stall_is_in_the_tail_of_an_open_model() {
    let load = Load { arrival: "constant:100", connections: 200, seconds: 4.0 };
    let trial = Trial::run(script(Some((150, STALL))), &load);
    add_up(&trial);
    let counts = &trial.class().counts;
    assert_eq!((counts.scheduled, counts.dropped), (400, 0));
    // Of 400 requests, 80 were due in the stall; the first quarter of them waited for at least three quarters of it.
    let response = &trial.class().times.response;
    assert!(response.quantile(0.96).unwrap() > STALL.as_secs_f64() * 0.7);
    let truth = trial.true_responses(100.0);
    assert!(quantile(&truth, 0.96) > STALL.mul_f64(0.7) && truth.len() == 400);
    assert!(response.quantile(0.5) < response.quantile(0.96));
    assert!(quantile(&trial.arrivals(100.0), 0.96) < STALL.mul_f64(0.5), "they are sent all the same");
}

#[test]
fn a_stall_is_not_in_the_median_of_a_closed_model() {
    let load = Load { arrival: "closed", connections: 4, seconds: 3.0 };
    let trial = Trial::run(script(Some((150, STALL))), &load);
    add_up(&trial);
    let response = &trial.class().times.response;
    assert!(response.max().unwrap() > STALL.as_secs_f64() * 0.9, "one request of each user waited");
    assert!(response.quantile(0.5).unwrap() < STALL.as_secs_f64() * 0.5);
    assert_eq!(trial.class().counts.dropped, 0);
    assert_eq!(trial.result.client.lateness.count(), 0, "nothing is late that has no instant of its own");
}

#[test]
fn what_was_due_without_a_free_connection_is_dropped_and_counted() {
    // The stall starts at the hundredth request and outlasts the second in which 200 are due.
    let load = Load { arrival: "constant:200", connections: 4, seconds: 1.0 };
    let trial = Trial::run(script(Some((100, Duration::from_secs(2)))), &load);
    add_up(&trial);
    let counts = &trial.class().counts;
    assert_eq!(counts.scheduled, 200);
    // Preflight and connections take a few of the first hundred; afterwards, one waits on each connection.
    assert!(counts.dropped >= 96, "{}", counts.dropped);
}
