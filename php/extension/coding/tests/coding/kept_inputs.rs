//! What fuzzing starts from and what it found holds, in every build.

use crate::{fuzz, kept};

#[test]
fn codings() {
    kept::replay("coding", fuzz::coding::hold);
}

#[test]
fn every_target_is_replayed() {
    assert_eq!(kept::targets(), ["coding"]);
}
