//! The servers of this machine, started as the lab starts them: ready, every way with the right coding, and nothing left behind.

pub mod advised;
mod beside;
mod client;
pub mod dictionaries;
mod faults;
pub mod fixture;
mod fpm;
mod meter;
mod negotiation;
mod orphans;
mod secure;
mod stores;
mod ways;
