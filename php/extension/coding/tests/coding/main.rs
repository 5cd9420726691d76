//! What is encoded comes back, what is hostile is refused within bounds, the rules are those of the table that the PHP library shares, and
//! kept inputs of the fuzz target hold.

#[path = "../../fuzz/src/lib.rs"]
#[allow(missing_docs)]
mod fuzz;
#[path = "../../../../../crates/load/fuzz/kept.rs"]
#[allow(dead_code)] // this target takes bytes, not text
mod kept;
mod kept_inputs;
mod round;
mod rules;
mod settings;
