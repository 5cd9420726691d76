//! What fuzzing starts from and what it found holds, in every build.

use crate::fuzz::{access_log, plan, profile, record_log, study};
use crate::kept::{replay, replay_text, targets};

#[test]
fn access_logs() {
    replay("access_log", access_log::hold);
}

#[test]
fn record_logs() {
    replay("record_log", record_log::hold);
}

#[test]
fn studies() {
    replay_text("study", study::hold);
}

#[test]
fn plans() {
    replay("plan", plan::hold);
}

#[test]
fn profiles() {
    replay("profile", profile::hold);
}

#[test]
fn every_target_is_replayed() {
    assert_eq!(targets(), ["access_log", "plan", "profile", "record_log", "study"]);
}
