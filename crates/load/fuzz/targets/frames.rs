//! See `src/frames.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weigh_load_fuzz::frames::hold(bytes));
