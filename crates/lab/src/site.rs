//! A site: what its owner's files say about it. Reads and counts; measures nothing and changes nothing.

pub mod log;
