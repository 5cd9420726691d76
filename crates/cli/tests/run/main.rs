//! The run by its capabilities: scheduling with a fake executor and a fake clock, the run directory on a real
//! disk, and worker processes that misbehave in every way.

mod budget;
mod deliveries;
mod dir;
mod fake;
mod faults;
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;
#[path = "../../../load/fuzz/kept.rs"]
mod kept;
mod kept_inputs;
mod lifetime;
mod loading;
mod order;
mod process;
mod resume;
mod scripted;
mod simulated;
mod stops;
