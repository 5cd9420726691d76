//! A block of a codec inside PHP: one visit by a worker of its own.

use std::path::Path;

use super::LIMIT;
use crate::executor::{Executor, Failure};
use crate::interrupt::Interrupt;
use crate::lab::discover::php_worker;
use crate::rig::process::Invocation;
use crate::rig::worker::ProcessExecutor;
use crate::run::request::{self, Place};
use crate::run::state::History;
use crate::subject::client::Room;
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::protocol::VisitRequest;

/// Samples of each phase: some hundred calls of a quick codec.
const SAMPLES: u32 = 100;

/// As in a run, with more samples and nothing beside them: no verification, no look at memory.
pub fn request(cell: &Cell, payload: &Payload, seed: u64, root: &Path) -> VisitRequest {
    let (past, dump) = (History::default(), root);
    let place = Place { seed, round: 1, index: 0, past: &past, root, dump };
    let request = request::request(cell, payload, place);
    VisitRequest { samples: SAMPLES, verify: false, memory: false, dump: None, ..request }
}

/// CPU seconds of one pass through every phase, in the middle; and the worker's process id.
pub fn visit(
    room: &Room,
    (name, binary): (&str, &Path),
    request: &VisitRequest,
    on: &Invocation,
    interrupt: &Interrupt,
) -> Result<(f64, u32), Failure> {
    let log = room.logs.join(format!("{}.log", name.replace('/', "-")));
    let spec = php_worker(name, binary, &room.php_home, log).under(on);
    let mut worker = ProcessExecutor::new(spec, interrupt.clone()).end_limit(LIMIT);
    worker.describe()?;
    let pid = worker.id().unwrap_or_default();
    let visit = worker.visit(request, LIMIT)?;
    worker.end();
    let nanoseconds: f64 = visit.phases.values().filter_map(|s| weigh_stats::median(&s.cpu_ns)).sum();
    Ok((nanoseconds / 1e9, pid))
}
