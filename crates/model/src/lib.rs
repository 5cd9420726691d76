//! The data types: cells, settings, studies, plans, records, the protocol of workers, caveats, units. No I/O and no
//! clock: the crates that read, measure or draw depend on this one.
#![forbid(unsafe_code)]

pub mod advised;
pub mod caveat;
pub mod cell;
pub mod client;
pub mod commented;
pub mod gate;
pub mod inventory;
pub mod link;
pub mod page;
pub mod page_cache;
pub mod payload;
pub mod plan;
pub mod policy;
pub mod profile;
pub mod protocol;
pub mod record;
pub mod setting;
pub mod site;
pub mod study;
pub mod suggest;
pub mod text;
pub mod thin;
pub mod transfer;
pub mod units;
pub mod way;
