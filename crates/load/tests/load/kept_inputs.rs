//! What fuzzing starts from and what it found holds, in every build.

use crate::fuzz::{chunked, exchange, frames, head, request_file};
use crate::kept::{replay, replay_text, targets};

#[test]
fn heads() {
    replay("head", head::hold);
}

#[test]
fn chunks() {
    replay("chunked", chunked::hold);
}

#[test]
fn exchanges() {
    replay("exchange", exchange::hold);
}

#[test]
fn connections() {
    replay("frames", frames::hold);
}

#[test]
fn request_files() {
    replay_text("request_file", request_file::hold);
}

#[test]
fn every_target_is_replayed() {
    assert_eq!(targets(), ["chunked", "exchange", "frames", "head", "request_file"]);
}
