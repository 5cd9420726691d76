//! What serializing and encoding by the worker itself adds to a call.

use super::*;
use crate::subject::client::{DECODE, ENCODE};

/// One sentence per work: the setting that takes least and the one that takes most.
pub fn share_of_writes(evidence: &Evidence) -> Vec<Draft> {
    let sentence = |work: &Group| {
        let mut coded = of_work(evidence, work);
        coded.retain(|c| c.row.get(ENCODE).is_some());
        let time = |c: &Candidate| c.row.value(ENCODE).unwrap_or(0.0);
        coded.sort_by(|a, b| time(a).total_cmp(&time(b)));
        let ends = match coded.as_slice() {
            [] => return None,
            [one] => vec![one],
            [least, .., most] => vec![least, most],
        };
        let parts: Vec<String> = ends.iter().filter_map(|c| part(c)).collect();
        let text = format!(
            "Of the time inside a write ({}), serializing and encoding by the worker is {}.",
            label::group(evidence, work),
            units::list(&parts)
        );
        Some(Draft::detail(text, ends.iter().map(|c| c.id()).collect()))
    };
    first_leads(evidence.report.groups.iter().filter_map(sentence).take(SPOKEN_OF))
}

/// `19.1% (598 µs; of a read 18.4% (186 µs)) with igbinary + gzencode 6`.
fn part(of: &Candidate) -> Option<String> {
    let told =
        |share: &str, time: &str| Some((label::share(of.row.value(share)?), units::ns(of.row.value(time)?)));
    let (share, time) = told("encode-share", ENCODE)?;
    let decode = told("decode-share", DECODE);
    let decode = decode.map_or(String::new(), |(share, time)| format!("; of a read {share} ({time})"));
    Some(format!("{share} ({time}{decode}) with {}", label::setting(&of.row.cell)))
}
