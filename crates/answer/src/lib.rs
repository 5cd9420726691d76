//! What records say: estimates, comparisons, sentences, tables and pictures, from a plan and its records alone. No I/O and no clock.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod profile;
pub mod report;
pub mod table;
pub mod text;
