//! HTTP/1: heads and chunks.

pub mod chunked;
mod field;
pub mod head;
