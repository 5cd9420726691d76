//! What is encoded comes back, what is hostile is refused within bounds, and kept inputs of the fuzz target hold.

#[path = "../../fuzz/src/lib.rs"]
#[allow(missing_docs)]
mod fuzz;
#[path = "../../../../../crates/load/fuzz/kept.rs"]
#[allow(dead_code)] // this target takes bytes, not text
mod kept;
mod kept_inputs;
mod round;
