//! See `src/policy.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| weigh_fuzz::policy::hold(text));
