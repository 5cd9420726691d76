//! The instrument's own part in what it measures.

use crate::analysis::client::findings::{Evidence, label};
use crate::analysis::findings::Draft;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let shares: Vec<(f64, String)> =
        evidence.all().filter_map(|c| Some((c.result.own_share?, c.id()))).collect();
    if shares.is_empty() {
        return Vec::new();
    }
    let (shares, cells): (Vec<f64>, Vec<String>) = shares.into_iter().unzip();
    let text = format!(
        "The worker's own loop, its clocks and the comparison of what was read are {} of the workers' CPU time; it is in all figures.",
        label::range(&shares, label::share)
    );
    vec![Draft::detail(text, cells)]
}
