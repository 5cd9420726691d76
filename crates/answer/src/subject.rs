//! Subjects: the kinds of things that are measured. A subject is a [`Shape`], data and pure functions; everything done
//! with results (tables, files, pictures, sentences) is written once, for all shapes.
//!
//! A new subject is a file here and its line in [`SUBJECTS`] (with the `mod` above it).

pub mod client;
pub mod codec;
pub mod delivery;
pub mod load;
mod split;

use anyhow::{Result, bail};
use weigh_model::cell::{Cell, Subject};
use weigh_model::plan::Plan;
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean;

use crate::report::shape::Shape;

/// Every subject. A plan belongs to the first one that matches one of its cells; the first one also handles a plan
/// without cells.
pub static SUBJECTS: &[&Shape] = &[&codec::SHAPE, &delivery::SHAPE, &client::SHAPE, &load::SHAPE];

impl Default for &'static Shape {
    fn default() -> &'static Shape {
        SUBJECTS[0]
    }
}

fn first(is_it: impl Fn(&Shape) -> bool) -> &'static Shape {
    SUBJECTS.iter().copied().find(|shape| is_it(shape)).unwrap_or_default()
}

pub fn of_plan(plan: &Plan) -> &'static Shape {
    first(|shape| plan.cells.iter().any(|cell| shape.kinds.contains(&cell.subject)))
}

/// The subject of a cell; the first one if none matches, which [`check`] refuses.
pub fn find_shape(cell: &Cell) -> &'static Shape {
    first(|shape| shape.kinds.contains(&cell.subject))
}

/// Checks that each cell of a plan from outside belongs to a subject.
///
/// # Errors
/// The first cell without a subject, and the known kinds of cell.
pub fn check(plan: &Plan) -> Result<()> {
    let known = || SUBJECTS.iter().flat_map(|shape| shape.kinds);
    let Some(cell) = plan.cells.iter().find(|cell| known().all(|kind| *kind != cell.subject)) else {
        return Ok(());
    };
    let (name, known) = (clean(cell.subject.name()), known().map(Subject::name));
    bail!("{}: no subject `{name}`{}", clean(&cell.id), nearest_hint(&name, known))
}

/// The subject of that name; the first one if none has it.
pub fn named(name: &str) -> &'static Shape {
    first(|shape| shape.name == name)
}
