//! See `src/request_file.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| weigh_load_fuzz::request_file::hold(text));
