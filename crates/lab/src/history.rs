//! The history of a folder of runs and loads: an index in SQLite beside them, `history.sqlite`, of what their records say.
//!
//! It is derived wholly from the records and never the truth: what is missing, changed, damaged or of another version is
//! read again from the runs. It refuses to judge figures: that is `weigh_answer::trend`.

mod derive;
mod export;
mod index;
mod prune;
mod rows;
mod scan;
mod stamp;
mod update;

pub use export::export;
pub use index::{FILE, History};
pub use prune::remove;
pub use rows::{Filter, RunRow, State};
pub use scan::Series;
