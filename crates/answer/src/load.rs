//! Results of load: figures and caveats. Pure: it reads plans and results, and everything in it can be computed from
//! them again.

mod caveats;
mod document;
pub mod figures;
pub mod gate;
pub mod live;
mod merge;
pub mod report;
mod rows;
mod slices;

pub use caveats::LoadCaveat;
pub use document::{Compared, Document, Measured, Run, SCHEMA, Searched};
pub use figures::Figures;
pub use merge::{merge, side_by_side};
