//! See `src/configuration.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| weigh_fuzz::configuration::hold(text));
