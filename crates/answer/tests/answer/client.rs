//! Reports of clients of stores.

pub mod fixture;
mod formats;
mod rows;
