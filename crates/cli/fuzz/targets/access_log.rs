//! See `src/access_log.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weigh_fuzz::access_log::hold(bytes));
