//! See `src/head.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weigh_load_fuzz::head::hold(bytes));
