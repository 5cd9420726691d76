//! The time that serializing and encoding in the worker adds to a call.

use weigh_model::units;

use crate::finding::client::clients::{Candidate, SPOKEN_OF, first_leads, of_work};
use crate::finding::client::label;
use crate::group::Group;
use crate::metric::client::{DECODE, ENCODE, over};
use crate::report::finding::{Draft, Evidence};

/// One finding per work: the fastest setting and the slowest.
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
        let content = label::content(evidence, work.payload());
        let place = format!("{content}{}", over(Some(work.factor("link")).filter(|link| !link.is_empty())));
        let parts: Vec<String> = ends.iter().filter_map(|c| part(c, &place)).collect();
        (!parts.is_empty()).then(|| Draft::detail(parts.join(" "), ends.iter().map(|c| c.id()).collect()))
    };
    first_leads(evidence.report.groups.iter().filter_map(sentence).take(SPOKEN_OF))
}

/// `igbinary with gzencode 6, rows-64k: encoding is 19.1% of a write (598 µs), decoding 18.4% of a read (186 µs).`
fn part(of: &Candidate, place: &str) -> Option<String> {
    let told =
        |share: &str, time: &str| Some((label::share(of.row.value(share)?), units::ns(of.row.value(time)?)));
    let (share, time) = told("encode-share", ENCODE)?;
    let decode = told("decode-share", DECODE);
    let decode =
        decode.map_or(String::new(), |(share, time)| format!(", decoding {share} of a read ({time})"));
    let setting = label::setting(&of.row.cell);
    Some(format!("{setting}, {place}: encoding is {share} of a write ({time}){decode}."))
}
