//! Decides what a site should send and store: from its description and from what was measured of its sample files.
//!
//! Each kind of content has setups: `coded` (assets, pages), `handed` (downloads) and `stored` (values) make them from rows.
//! `crate::choose` takes the best one by the objective, or a simpler one that is equal to it. No I/O and no clock: the same
//! site and the same reports give the same policy.

mod basis;
mod by_url;
mod change;
mod coded;
mod content;
mod coverage;
mod decide;
mod document;
mod flip;
pub mod gate;
mod ground;
mod handed;
mod machines;
mod made;
mod page_cache;
mod page_waits;
mod pool;
mod proof;
mod rate;
mod regret;
mod setup;
mod stored;
#[cfg(test)]
mod tests;
mod today;
mod uncertainty;
mod wait;

pub use by_url::{ByUrl, accepted, prove_urls};
pub use decide::Decided;
pub use document::{document, for_page, verdict};
pub(crate) use ground::Ground;
pub use ground::{Encoded, NOT_ENCODED};
pub use machines::decide;
pub use page_waits::loads;
pub use proof::{
    Line, Measured, MeasuredCache, Proof, Verdict, proof_answer, proof_document, proof_page, prove,
};
pub use regret::{Valued, valued};
pub use wait::Weighted;
