//! Responses that a server writes to temporary files while it sends them: what its buffering hides.

use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;

/// Less of the body than this is no spooling.
const SHARE: f64 = 0.1;

/// One sentence a server: on the largest content, with every way that is spooled.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut cells: Vec<Candidate> = evidence.all(Subject::Download);
    cells.extend(evidence.all(Subject::Page));
    cells.retain(|c| c.bytes() > 0.0 && c.result.written_bytes.unwrap_or(0.0) >= c.bytes() * SHARE);
    cells.sort_by_key(|c| u64::MAX - c.result.decoded_bytes);
    let mut said: Vec<&str> = Vec::new();
    let mut drafts = Vec::new();
    for cell in &cells {
        if said.contains(&cell.delivery.server.as_str()) {
            continue;
        }
        said.push(&cell.delivery.server);
        let alike: Vec<&Candidate> = cells
            .iter()
            .filter(|c| c.delivery.server == cell.delivery.server)
            .filter(|c| c.result.cell.payload == cell.result.cell.payload)
            .collect();
        let mut ways: Vec<String> = alike.iter().map(|c| label::name(c)).collect();
        ways.sort();
        ways.dedup();
        let text = format!(
            "{} writes {} a response to disk with {} on {} ({}): it is spooled, so that PHP is done early.",
            cell.delivery.server,
            units::bytes(cell.result.written_bytes.unwrap_or(0.0).round() as u64),
            units::list(&ways),
            label::content(evidence, &cell.result.cell.payload),
            units::bytes(cell.result.decoded_bytes),
        );
        drafts.push(Draft::detail(text, alike.iter().map(|c| c.id()).collect()));
    }
    drafts
}
