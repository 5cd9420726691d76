//! How requests and responses are carried.

pub mod coding;
pub mod h1;
