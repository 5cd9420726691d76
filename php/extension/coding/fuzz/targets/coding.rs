//! See `src/coding.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weighbridge_coding_fuzz::coding::hold(bytes));
