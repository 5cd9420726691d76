//! From handmade records to results.

mod caveats;
mod cells;
mod findings;
mod fixture;
mod links;
mod properties;
mod published;
