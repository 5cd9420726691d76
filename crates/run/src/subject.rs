//! What is put under test: how one subject is planned, visited and judged. The scheduler, the planner and the lab know it by this trait
//! alone.

pub mod client;
pub mod codec;
pub mod delivery;
mod ground;
mod interface;
mod links;
mod sides;

use interface::php_versions;
pub use interface::{Planned, Room, Subject, Surroundings};

use anyhow::Result;

use crate::executor::Executor;
use crate::lab::Home;
use crate::study::Study;
use weigh_model::cell::Cell;
use weigh_model::inventory::Inventory;
use weigh_model::plan::Plan;

/// Every subject. The first one also takes a plan without cells.
static ALL: &[&dyn Subject] = &[&codec::Codecs, &delivery::Deliveries, &client::Clients];

fn first(is_meant: impl Fn(&dyn Subject) -> bool) -> &'static dyn Subject {
    ALL.iter().copied().find(|subject| is_meant(*subject)).unwrap_or(ALL[0])
}

pub fn find_subject(cell: &Cell) -> &'static dyn Subject {
    first(|subject| subject.shape().kinds.contains(&cell.subject))
}

/// The subject of a plan: its cells are all of one.
pub fn of_plan(plan: &Plan) -> &'static dyn Subject {
    plan.cells.first().map_or(ALL[0], find_subject)
}

/// The subject of a study: where it has cells and clients, cells are measured.
pub fn of_study(study: &Study) -> &'static dyn Subject {
    first(|subject| subject.blocks() == study.measured())
}

/// Looks for what the cells of these studies can stand on, beside runtimes.
///
/// # Errors
/// A definition is not valid, or the PHP side cannot be put in place.
pub fn complete_inventory(home: &Home, inventory: &mut Inventory, studies: &[Study]) -> Result<()> {
    for subject in ALL {
        let own: Vec<&Study> = studies.iter().filter(|study| study.measured() == subject.blocks()).collect();
        if !own.is_empty() {
            subject.look(home, inventory, &own)?;
        }
    }
    Ok(())
}

/// Who carries out the visits of a plan, whose cells may be of several sides. Nothing is started before the first one.
///
/// # Errors
/// As of [`Subject::executor`]; or the definitions of a side cannot be read.
pub fn executor(plan: &Plan, around: &Surroundings<'_>) -> Result<Box<dyn Executor>> {
    if plan.sides.is_empty() {
        return of_plan(plan).executor(plan, around);
    }
    Ok(Box::new(sides::Sides::new(plan, around)?))
}
