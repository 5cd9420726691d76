//! The evidence of a study of clients.

pub mod advice;
pub mod beside;
mod clients;
pub mod coding;
pub mod cpu;
pub(crate) mod label;
pub mod memory;
pub mod rates;
pub mod values;

use crate::finding::client::clients::candidates;
use crate::report::finding::{Draft, Evidence};

/// The measuring program's own share in the measurement.
pub fn own_part(evidence: &Evidence) -> Vec<Draft> {
    let shares = candidates(evidence).filter_map(|c| Some((c.row.value("own-share")?, c.id())));
    let (shares, cells): (Vec<f64>, Vec<String>) = shares.unzip();
    if shares.is_empty() {
        return Vec::new();
    }
    let text = format!(
        "The benchmark loop itself takes {} of the workers' CPU time; all figures include it.",
        label::shares(&shares)
    );
    vec![Draft::detail(text, cells)]
}
