//! What fuzzing starts from and what it found holds, in every build.

#[path = "../fuzz/src/lib.rs"]
#[allow(missing_docs)]
mod fuzz;
#[path = "../../../../crates/load/fuzz/kept.rs"]
#[allow(dead_code)] // this target takes bytes, not text
mod kept;

#[test]
fn codings() {
    kept::replay("coding", fuzz::coding::hold);
}

#[test]
fn every_target_is_replayed() {
    assert_eq!(kept::targets(), ["coding"]);
}
