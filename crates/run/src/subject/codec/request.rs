//! What a visit asks of a worker: how many samples, which phases, and what is done beside the timing.

use std::path::Path;

use rand::RngExt;

use crate::executor::VisitOrder;
use crate::order::generator;
use crate::state::{History, LONG_CALL};
use weigh_model::cell::{Cell, Subject};
use weigh_model::protocol::{Phase, VisitRequest};

/// A sample lasts at least this long where calls can be repeated: the timer's cost stays under 1%.
const MIN_BATCH_NATIVE_NS: u64 = 100_000;
/// PHP's clocks and calls cost more.
const MIN_BATCH_PHP_NS: u64 = 250_000;
/// No further call is started past this.
const MAX_BATCH_NS: u64 = 1_000_000;
/// No further sample of a phase is started past this.
const PHASE_NS: u64 = 1_000_000_000;
/// After its first visit, one visit in this many is verified.
const VERIFY_ONE_IN: u32 = 4;

/// The request for one visit; an output may be written to `dump`. The first one verifies, measures memory and dumps the output for the
/// independent decoder; later ones are verified now and then, as the seed draws it.
pub fn request(order: &VisitOrder<'_>, dump: &Path) -> VisitRequest {
    let (cell, past, payload) = (order.cell(), order.past(), order.payload);
    let first = past.visits.is_empty();
    let phases: &[Phase] = match cell.serializer {
        Some(_) => &[Phase::Encode, Phase::Decode, Phase::Compress, Phase::Decompress],
        None => &[Phase::Encode, Phase::Decode],
    };
    VisitRequest {
        id: 0,
        codec: cell.setting.codec.clone(),
        level: cell.setting.level,
        options: cell.setting.options.clone(),
        serializer: cell.serializer.clone(),
        blob: order.blob.to_string_lossy().into_owned(),
        sha256: payload.sha256.clone(),
        items: payload.items.clone(),
        value: payload.value.clone(),
        family: payload.family,
        phases: phases.to_vec(),
        samples: samples(pass_seconds(cell, past), payload.family),
        budget_ns: PHASE_NS,
        min_batch_ns: if cell.subject == Subject::CODEC { MIN_BATCH_NATIVE_NS } else { MIN_BATCH_PHP_NS },
        max_batch_ns: MAX_BATCH_NS,
        verify: first || draws_verification(order),
        memory: wants_memory(cell, past),
        dump: first.then(|| dump.to_string_lossy().into_owned()),
    }
}

/// Few samples a visit and many visits: samples of one visit share its moment, those of rounds do not. Quick
/// cells get enough for seven in two rounds. A pass over a family is many operations already.
pub fn samples(pass_seconds: f64, is_family: bool) -> u32 {
    match pass_seconds {
        s if s < 0.002 => 5,
        s if s < 0.02 => 3,
        _ if is_family => 1,
        s if s < 0.2 => 2,
        _ => 1,
    }
}

/// Seconds of the longest phase, as measured, else of a pass from nominal figures.
fn pass_seconds(cell: &Cell, past: &History) -> f64 {
    let Some(last) = past.visits.last() else { return cell.expected_seconds };
    let medians = last.phases.values().filter_map(|s| weigh_stats::median(&s.cpu_ns));
    medians.fold(0.0, f64::max) * last.spent() / 1e9
}

/// The native worker sees the memory of the call it makes anyway. A PHP worker makes another: in the first
/// visit where that is cheap, else in the second, so that a slow cell's first figure does not cost one more call.
pub fn wants_memory(cell: &Cell, past: &History) -> bool {
    match past.visits.as_slice() {
        [] => cell.subject == Subject::CODEC || cell.expected_seconds <= LONG_CALL,
        [first] => first.peak_bytes.is_empty(),
        _ => false,
    }
}

fn draws_verification(order: &VisitOrder<'_>) -> bool {
    generator(order.plan.seed, order.round, 1 + order.index as u64).random_range(0..VERIFY_ONE_IN) == 0
}
