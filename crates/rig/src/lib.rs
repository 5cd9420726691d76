//! What a subject stands on, started and ended by the lab, and the meters beside it.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod asker;
pub mod browser;
pub mod fpm;
pub mod http;
pub mod link;
pub mod runtime;
pub mod server;
pub mod service;
pub mod store;
pub mod suite;
pub mod upstream;
