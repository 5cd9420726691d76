//! The cells that are sent the negotiation matrix: one cell for each server, transport, runtime and method. Content,
//! connections, level and the encoder of the variants do not change how a variant is chosen.

use super::Plan;
use crate::cell::Cell;
use crate::setting::Setting;
use crate::way::ENCODER;

/// The method without level and encoder, which do not change negotiation.
pub fn bare(setting: &Setting) -> Setting {
    let mut bare = Setting { level: None, ..setting.clone() };
    bare.options.remove(ENCODER);
    bare
}

fn is_alike(one: &Cell, other: &Cell) -> bool {
    let (Some(a), Some(b)) = (&one.delivery, &other.delivery) else { return false };
    a.server == b.server
        && a.transport == b.transport
        && a.by == b.by
        && one.runtime == other.runtime
        && one.side == other.side
        && one.subject == other.subject
        && bare(&one.setting) == bare(&other.setting)
}

/// Whether the matrix is sent to this cell: it is the first of its kind without a failure.
pub fn is_due(plan: &Plan, index: usize, has_fault: impl Fn(usize) -> bool) -> bool {
    let asks = |cell: &Cell| cell.delivery.as_ref().is_some_and(|d| d.negotiation);
    let cell = &plan.cells[index];
    let mut before = plan.cells[..index].iter().enumerate();
    asks(cell) && !before.any(|(at, other)| asks(other) && !has_fault(at) && is_alike(cell, other))
}
