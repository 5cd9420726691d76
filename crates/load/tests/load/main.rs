//! The load generator by capability: arrivals, workloads, protocols, verification, and servers that violate the rules.

mod arrival;
mod bad_servers;
mod calibrate;
mod calibration_target;
mod capacity;
mod compare;
mod deltas;
mod dynamic;
mod endless;
mod engine;
mod flip;
mod flipped_byte;
mod floods;
#[allow(dead_code, reason = "the table of hostile servers uses the rest")]
#[path = "../hostile/frames.rs"]
mod frames;
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;
mod http2;
#[allow(dead_code, reason = "the table of hostile servers uses the rest")]
mod identity;
#[path = "../../fuzz/kept.rs"]
mod kept;
mod kept_inputs;
mod plans;
mod queues;
mod ready;
#[allow(dead_code, reason = "the table of hostile servers uses the rest")]
#[path = "../hostile/server.rs"]
mod server;
mod simulated;
mod target;
mod tls;
mod units;
mod verify_allocations;
#[allow(dead_code, reason = "the table of hostile servers uses the rest")]
#[path = "../hostile/wire.rs"]
mod wire;
mod workload;
