//! The history of a folder of runs and loads: what each of them comes to, in a `summary.json` of its own that lists and trends read,
//! and the page that shows them all.
//!
//! A summary is derived wholly from the records and never the truth: what is missing, damaged, of another version or older than the
//! records is derived again. It refuses to judge figures: that is `weigh_answer::trend`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod derive;
mod export;
mod folder;
mod index;
mod kept;
mod prune;
mod rows;
mod series;
mod stamp;
mod summary;

pub use export::export;
pub use folder::History;
pub use index::Index;
pub use kept::FILE;
pub use prune::remove;
pub use rows::{Filter, RunRow, State};
pub use series::Series;
pub use summary::Summary;
