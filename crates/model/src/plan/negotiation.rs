//! Whom the matrix of requests is asked of: one cell for each server, transport, runtime and way. Content, connections, level
//! and who encoded the variants change nothing about how a variant is chosen.

use super::Plan;
use crate::cell::Cell;
use crate::setting::Setting;
use crate::way::ENCODER;

/// The way without what changes nothing about negotiation.
pub fn bare(setting: &Setting) -> Setting {
    let mut bare = Setting { level: None, ..setting.clone() };
    bare.options.remove(ENCODER);
    bare
}

/// Both negotiate alike.
fn is_alike(one: &Cell, other: &Cell) -> bool {
    let (Some(a), Some(b)) = (&one.delivery, &other.delivery) else { return false };
    a.server == b.server
        && a.transport == b.transport
        && a.by == b.by
        && one.runtime == other.runtime
        && one.subject == other.subject
        && bare(&one.setting) == bare(&other.setting)
}

/// Whether a cell of the plan is the one to ask: the first of those alike that has no fault.
pub fn is_due(plan: &Plan, index: usize, has_fault: impl Fn(usize) -> bool) -> bool {
    let asks = |cell: &Cell| cell.delivery.as_ref().is_some_and(|d| d.negotiation);
    let cell = &plan.cells[index];
    let mut before = plan.cells[..index].iter().enumerate();
    asks(cell) && !before.any(|(at, other)| asks(other) && !has_fault(at) && is_alike(cell, other))
}
