//! An HTTP load generator: it sends requests on a schedule, verifies every response, and reports its own cost.
//!
//! Input is a [`plan::LoadPlan`], output a [`result::LoadResult`]. Three aspects are independent: *arrival* (when a
//! request is due), *protocol* (how it is sent; TLS is a transport under each protocol), and *recording* (what is kept
//! of the response). The command `weigh` runs the engine in a process of its own, so that its CPU time and memory are
//! separate.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod accept;
pub mod agent;
pub mod arrival;
pub mod calibrate;
pub mod capacity;
pub mod caveats;
pub mod compare;
pub mod engine;
pub mod escape;
pub mod fault;
pub mod message;
pub mod plan;
pub mod protocol;
pub mod record;
pub mod regular;
pub mod result;
pub mod sys;
pub mod target;
pub mod transport;
pub mod units;
pub mod verify;
pub mod workload;

pub use engine::{Progress, Refusal, run, run_from};
pub use units::Nanos;
