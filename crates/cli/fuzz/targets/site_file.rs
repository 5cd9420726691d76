//! See `src/site_file.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| weigh_fuzz::site_file::hold(text));
