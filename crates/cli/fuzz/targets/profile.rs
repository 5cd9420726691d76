//! See `src/profile.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weigh_fuzz::profile::hold(bytes));
