//! Reports of codecs.

mod caveats;
mod cells;
mod findings;
pub mod fixture;
mod links;
mod properties;
pub mod published;
