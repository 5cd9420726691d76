//! What serializing and encoding by the worker itself adds to a call.

use crate::analysis::client::findings::{Candidate, Evidence, SPOKEN_OF, label};
use crate::analysis::findings::Draft;
use weigh_model::units;

/// One sentence a content: the setting that takes least and the one that takes most.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    for work in evidence.works {
        let cells = work.cells.iter().filter_map(|id| evidence.cell(id));
        let mut coded: Vec<Candidate> = cells.filter(|c| c.result.encode.is_some()).collect();
        let time = |c: &Candidate| c.result.encode.map_or(0.0, |e| e.ns.value);
        coded.sort_by(|a, b| time(a).total_cmp(&time(b)));
        let ends = match coded.as_slice() {
            [] => continue,
            [one] => vec![one],
            [least, .., most] => vec![least, most],
        };
        let parts: Vec<String> = ends.iter().filter_map(|c| part(c)).collect();
        let text = format!(
            "Of the time inside a write ({}), serializing and encoding by the worker is {}.",
            label::of_work(evidence, work),
            units::list(&parts)
        );
        let cells = ends.iter().map(|c| c.id()).collect();
        drafts.push(Draft { text, cells, lead: drafts.is_empty() });
        if drafts.len() >= SPOKEN_OF {
            break;
        }
    }
    drafts
}

fn part(of: &Candidate) -> Option<String> {
    let encode = of.result.encode?;
    let decode = of.result.decode.map_or(String::new(), |decode| {
        format!("; of a read {} ({})", label::share(decode.share), units::ns(decode.ns.value))
    });
    Some(format!(
        "{} ({}{decode}) with {}",
        label::share(encode.share),
        units::ns(encode.ns.value),
        label::setting(&of.result.cell)
    ))
}
