//! See `src/plan.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weigh_fuzz::plan::hold(bytes));
