//! Weighbridge: what should this site send, how should it encode it, and who should send it?
//!
//! Data flows one way: study → plan → run → record → analysis → report. Nothing points back.
#![forbid(unsafe_code)]

pub mod agent;
pub mod analysis;
pub mod caveat;
pub mod cell;
pub mod cli;
pub mod client;
pub mod content;
pub mod defs;
pub mod executor;
pub mod interrupt;
pub mod inventory;
pub mod lab;
pub mod link;
pub mod loading;
pub mod payload;
pub mod plan;
pub mod profile;
pub mod protocol;
pub mod record;
pub mod report;
pub mod rig;
pub mod run;
pub mod setting;
pub mod shelter;
pub mod study;
pub mod subject;
pub mod suggest;
pub mod units;
pub mod way;
