//! What must hold for any input. The target asks with random ones; the tests of `weighbridge-coding` include this file and ask with those that
//! are kept.

pub mod coding;
