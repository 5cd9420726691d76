//! Responses that a server writes to temporary files while it sends them: what its buffering hides.

use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use crate::cell::Subject;
use crate::units;

/// Less of the body than this is no spooling.
const SHARE: f64 = 0.1;

/// One sentence a server and way: on the largest content.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut cells: Vec<Candidate> = evidence.all(Subject::Download);
    cells.extend(evidence.all(Subject::Page));
    cells.sort_by_key(|c| u64::MAX - c.result.decoded_bytes);
    let mut said: Vec<(String, String)> = Vec::new();
    let mut drafts = Vec::new();
    for cell in cells {
        let written = cell.result.written_bytes.unwrap_or(0.0);
        let key = (cell.delivery.server.clone(), cell.result.cell.setting.codec.clone());
        if written < cell.bytes() * SHARE || cell.bytes() == 0.0 || said.contains(&key) {
            continue;
        }
        let text = format!(
            "{} writes {} a response to disk with {} on {} ({}): it is spooled, so that PHP is done early.",
            cell.delivery.server,
            units::bytes(written.round() as u64),
            label::way(&cell),
            label::content(evidence, &cell.result.cell.payload),
            units::bytes(cell.result.decoded_bytes),
        );
        said.push(key);
        drafts.push(Draft::detail(text, vec![cell.id()]));
    }
    drafts
}
