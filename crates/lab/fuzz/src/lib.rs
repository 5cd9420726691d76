//! What must hold for any input. The targets ask with random ones; the tests of `weigh` include this file and ask with those that are kept.

pub mod access_log;
pub mod plan;
pub mod profile;
pub mod record_log;
pub mod study;
