//! Mathematics for decisions on noisy measurements: no I/O, no unsafe code.
#![forbid(unsafe_code)]
