//! See `src/study.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| weigh_fuzz::study::hold(text));
