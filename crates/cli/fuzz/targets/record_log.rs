//! See `src/record_log.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weigh_fuzz::record_log::hold(bytes));
