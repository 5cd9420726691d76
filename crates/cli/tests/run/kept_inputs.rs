//! What fuzzing starts from and what it found holds, in every build.

use crate::fuzz::{access_log, configuration, plan, policy, profile, record_log, site_file, study};
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
fn configurations() {
    replay_text("configuration", configuration::hold);
}

#[test]
fn policies() {
    replay_text("policy", policy::hold);
}

#[test]
fn files_of_sites() {
    replay_text("site_file", site_file::hold);
}

#[test]
fn every_target_is_replayed() {
    assert_eq!(
        targets(),
        ["access_log", "configuration", "plan", "policy", "profile", "record_log", "site_file", "study"]
    );
}
