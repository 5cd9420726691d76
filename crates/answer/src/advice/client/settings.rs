//! How to encode values for each link: serializer and codec, by the mean time inside calls.

use weigh_model::setting::Setting;

use super::pick::{Measure, Picked, pick};
use super::{Said, shown_for};
use crate::advice::{Part, Recommended, Sentence};
use crate::finding::Evidence;
use crate::finding::label;
use crate::first::grouped;
use crate::group::Group;
use crate::row::Row;
use crate::subject::codec::IDENTITY;

/// The most links that are named.
const NAMED: usize = 3;
/// Codecs that PHP has without a further extension.
const BUNDLED: [&str; 4] = [IDENTITY, "gzencode", "gzdeflate", "gzcompress"];

/// A serializer with its codec.
type Key<'a> = (Option<&'a str>, &'a Setting);

/// The best setting over one link; none: on loopback.
type Best<'a> = (Option<&'a str>, Picked<'a, Key<'a>>);

pub(super) fn advise(evidence: &Evidence, said: &mut Said) {
    let best = best(evidence);
    if best.is_empty() {
        return;
    }
    let places = best.iter().map(|(link, _)| place(*link));
    let recommended = places.zip(&best).map(|(scope, (_, of))| Recommended {
        scope: scope.to_owned(),
        name: label::cell(of.best.0, of.best.1),
        cells: of.cells(),
    });
    said.recommended.extend(recommended);
    said.sentences.push(used(&best));
    said.sentences.extend(needs(&best));
    said.sentences.extend(best.iter().rev().find_map(|of| gain(evidence, of)));
    said.sentences.extend(best.iter().find_map(ties));
    said.sentences.extend(shown_for(evidence, &best[0].1.rows));
}

fn place(link: Option<&str>) -> String {
    link.map_or("on loopback".to_owned(), |link| format!("over {link}"))
}

/// Link by link, loopback first.
fn best<'a>(evidence: &Evidence<'a>) -> Vec<Best<'a>> {
    let encoded = |group: &'a Group| -> Vec<&'a Row> {
        let is_it = |row: &&Row| row.cell.client.as_ref().is_some_and(|client| client.encoded);
        evidence.report.members(group).filter(is_it).collect()
    };
    let works = evidence.report.groups.iter().map(|group| (group.factor("link"), encoded(group)));
    let links = grouped(works.filter(|(_, rows)| !rows.is_empty()));
    let of_link = |(link, works): (&'a str, Vec<Vec<&'a Row>>)| {
        // Another client is another question: the one with the most settings represents all.
        let clients = grouped(works.iter().flatten().map(|row| (client(row), ())));
        let (first, _) = clients.into_iter().rev().max_by_key(|(_, all)| all.len())?;
        let key = |row: &'a Row| {
            let cell = &row.cell;
            (client(row) == first).then_some((cell.serializer.as_deref(), &cell.setting))
        };
        let picked = pick(&works, Measure::Call, key, |key| extensions(key))?;
        (picked.of > 1).then_some(((!link.is_empty()).then_some(link), picked))
    };
    links.into_iter().filter_map(of_link).collect()
}

fn client(row: &Row) -> (super::Place<'_>, &str) {
    (super::place(row), &row.cell.runtime)
}

/// How many extensions a setting needs in addition to PHP's own.
fn extensions((serializer, setting): &Key) -> usize {
    let serializer = matches!(*serializer, Some("igbinary" | "msgpack"));
    usize::from(serializer) + usize::from(!BUNDLED.contains(&setting.codec.as_str()))
}

/// `Encode values with igbinary alone on loopback; igbinary with zstd 3 over 100mbit/20ms.`
fn used(best: &[Best]) -> Sentence {
    let by_name = grouped(best.iter().map(|(link, of)| (label::cell(of.best.0, of.best.1), *link)));
    let text = match by_name.as_slice() {
        [(name, _)] => format!("Encode values with {name}."),
        several => {
            let part = |(name, links): &(String, Vec<Option<&str>>)| {
                let links: Vec<String> = links.iter().map(|link| place(*link)).collect();
                format!("{name} {}", label::some(&links, NAMED))
            };
            let parts: Vec<String> = several.iter().take(NAMED).map(part).collect();
            format!("Encode values with {}.", parts.join("; "))
        }
    };
    Sentence::new(Part::Use, text, best.iter().flat_map(|(_, of)| of.cells()))
}

fn needs(best: &[Best]) -> Option<Sentence> {
    let of = |(_, of): &Best| {
        let serializer = match of.best.0 {
            Some(name @ ("igbinary" | "msgpack")) => Some(name),
            _ => None,
        };
        let codec = Some(of.best.1.codec.as_str()).filter(|codec| !BUNDLED.contains(codec));
        serializer.into_iter().chain(codec).map(|name| format!("ext-{name}")).collect::<Vec<_>>()
    };
    let names = crate::first::distinct(best.iter().flat_map(of));
    let text = format!("Values need {}.", weigh_model::units::list(&names));
    (!names.is_empty()).then(|| Sentence::new(Part::Needs, text, best.iter().flat_map(|(_, of)| of.cells())))
}

/// Compared with values that are only serialized.
fn gain(evidence: &Evidence, (link, of): &Best) -> Option<Sentence> {
    let all = of.others.iter().chain(&of.tied);
    let plain: Vec<&Row> = all.flatten().copied().filter(|row| row.cell.setting.codec == IDENTITY).collect();
    let (ours, theirs) = of.gain(&plain)?;
    let text = format!(
        "{} {}, beside {}: {}.",
        label::content(evidence, &ours.cell.payload),
        place(*link),
        label::of_cell(&theirs.cell),
        Measure::Call.change(ours, theirs)?
    );
    Some(Sentence::new(Part::Gain, text, [ours, theirs].map(|row| row.cell.id.clone())))
}

fn ties((link, of): &Best) -> Option<Sentence> {
    let names: Vec<String> =
        of.tied.iter().filter_map(|rows| Some(label::of_cell(&rows.first()?.cell))).collect();
    let text = format!("No significant difference {}: {}.", place(*link), label::some(&names, 2));
    let cells = of.tied.iter().flatten().map(|row| row.cell.id.clone());
    (!names.is_empty()).then(|| Sentence::new(Part::Limit, text, cells))
}
