//! Weighbridge: what should this site send, how should it encode it, and who should send it?
//!
//! Data flows one way: study → plan → run → record → report. Nothing points back.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod advise;
pub mod agent;
pub mod cli;
pub mod cluster;
pub mod command;
pub mod configuration;
pub mod content;
pub mod defs;
pub mod digest;
pub mod executor;
pub mod history;
pub mod interrupt;
pub mod lab;
pub(crate) mod lines;
pub mod loading;
pub mod log;
pub mod open_folder;
pub mod pack;
pub mod planner;
pub mod private;
pub mod profile;
pub mod regression;
pub mod rig;
pub mod run;
pub mod serverconf;
pub mod shelter;
pub mod site;
pub mod study;
pub mod subject;
pub mod view;
pub mod whole;
