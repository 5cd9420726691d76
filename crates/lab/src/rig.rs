//! What a subject stands on, started and ended by the lab, and the meters beside it.

pub mod asker;
pub mod cores;
pub mod fpm;
pub mod group;
pub mod guard;
pub mod http;
pub mod idle;
pub mod lifeline;
pub mod link;
pub mod machine;
pub mod meter;
pub mod mounts;
pub mod namespace;
pub mod network;
pub mod process;
pub mod programs;
pub mod runtime;
pub mod server;
pub mod service;
pub mod store;
pub mod suite;
pub(crate) mod template;
pub mod upstream;
pub mod user;
pub mod worker;
