//! The load generator by its capabilities: arrivals, workloads, protocols, verification, and servers that break the rules.

mod arrival;
mod bad_servers;
mod calibrate;
mod calibration_target;
mod capacity;
mod compare;
mod dynamic;
mod endless;
mod engine;
mod flip;
mod flipped_byte;
mod floods;
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;
mod http2;
mod identity;
mod kept_inputs;
mod plans;
mod simulated;
mod target;
mod tls;
mod units;
mod verify_allocations;
mod workload;
