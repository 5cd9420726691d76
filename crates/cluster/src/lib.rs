//! Many machines: a cluster on whose nodes this same program is started, and whose engine carries the lines.
//!
//! It owns the way to a node and back: the engine (`engine`), its environment ([`environment`]), what is said ([`message`]), and workers
//! that are used as local ones are (`afar`). It refuses to know what workers do, but for the one executor that carries out the visits of a
//! run there ([`executor`]). Nothing of it is looked for without `--on`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod afar;
mod engine;
pub mod environment;
pub mod executor;
pub mod fleet;
mod listener;
pub mod message;
mod nodes;
pub mod on;
pub mod visits;

pub use message::Node;
pub use nodes::{Cluster, Opening};
pub use on::{On, Want};
