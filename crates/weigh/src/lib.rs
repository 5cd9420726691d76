//! Weighbridge: what should this site send, how should it encode it, and who should send it?
//!
//! Data flows one way: study → plan → run → record → analysis → report. Nothing points back.
#![forbid(unsafe_code)]

pub mod agent;
pub mod analysis;
pub mod caveat;
pub mod cell;
pub mod payload;
pub mod plan;
pub mod protocol;
pub mod record;
pub mod rig;
pub mod setting;
pub mod study;
