//! What to send to browsers that take zstd, br and gzip, and what to those that take less.
//!
//! A page costs its CPU time and the time of its bytes on a visitor's line. A method that takes a second of CPU time or
//! more is never recommended. Without a significant difference it is the server's own filter, which leaves PHP's workers
//! to others, and the coding that more browsers take.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::{By, WayKind};

use super::{
    Chosen, PartialAdvice, codings, groups_of, is_as_it_is, method, plain_setting, recommended, simplicity,
};
use crate::finding::delivery::label;
use crate::finding::delivery::sent::{Sent, bytes_of};
use crate::first::distinct;
use crate::group::Group;
use crate::metric::delivery::CPU;
use crate::report::advice::{Case, Sentence, StatementKind, ids};
use crate::report::question::{Groups, Question};
use crate::row::Row;
use crate::verdict::Confidence;

/// A method that takes as many nanoseconds of CPU time is never recommended.
const LONGEST: f64 = 1e9;

/// One question for each content coding: what browsers that take it get.
pub(super) fn questions(all: &Groups) -> Vec<Question> {
    let groups = groups_of(all, &Subject::PAGE);
    let codings = codings(all, &groups, codes);
    let is_reference =
        |row: &Row| groups.iter().any(|group| all.report.groups[*group].reference() == Some(row.id()));
    let of_coding = |at: usize| {
        let key = |row: &'_ Row| {
            let sent = plain_setting(row)?;
            let is_plain = is_as_it_is(&sent) && is_reference(row);
            let rank = simplicity(sent.coding()) * 2 + usize::from(sent.delivery.by == By::Php);
            (is_plain || codes(row, &codings[at..])).then(|| (method(&sent), label::way(&sent), rank))
        };
        Question::of(all, 2, format!("browsers that take {}", codings[at]), groups.clone(), key)
    };
    (0..codings.len()).filter_map(of_coding).collect()
}

/// Whether each response is encoded in one of these codings, in reasonable time.
fn codes(row: &Row, codings: &[&str]) -> bool {
    let is_soon = row.value(CPU).is_some_and(|ns| ns < LONGEST);
    plain_setting(row).is_some_and(|sent| {
        sent.delivery.kind == WayKind::OnTheFly
            && is_soon
            && sent.coding().is_some_and(|coding| codings.contains(&coding))
    })
}

/// What to do about pages; none where nothing competes.
pub(super) fn advise(case: &Case) -> Option<PartialAdvice> {
    // Browsers that get what those of the next kind get are not a kind of their own.
    let mut classes: Vec<Chosen> = Vec::new();
    for class in case.first().filter_map(|first| Chosen::of(case, first)) {
        classes.pop_if(|before| before.name() == class.name());
        classes.push(class);
    }
    let first = classes.first()?;
    let place = |group: &Group| label::describe_group(case.evidence, group);
    let recommended = recommended(case, place);
    let mut sentences = vec![used(&classes)];
    sentences.extend(needs(&classes));
    sentences.extend(gain(case, first));
    sentences.extend(case.elsewhere(place));
    sentences.extend(classes.iter().find_map(|class| tie(case, class)));
    sentences.push(limit(case, &classes));
    Some(PartialAdvice { recommended, sentences, confidence: None })
}

/// `Send pages with zstd 3 in PHP to browsers that take zstd; with gzip 6 in nginx to the others.`
fn used(classes: &[Chosen]) -> Sentence {
    let coded: Vec<(&str, &str)> =
        classes.iter().filter_map(|one| Some((one.row.coding()?, one.name()))).collect();
    let text = match coded.as_slice() {
        [] => "Leave pages uncompressed.".to_owned(),
        [(_, one)] => format!("Send pages with {one}."),
        [(coding, first), (_, second)] => {
            format!("Send pages with {first} to browsers that take {coding}; with {second} to the others.")
        }
        [(coding, first), others @ ..] => {
            let others: Vec<String> =
                others.iter().map(|(coding, name)| format!("{name} for {coding}")).collect();
            format!("Send pages with {first} to browsers that take {coding}; {}.", others.join("; "))
        }
    };
    Sentence::new(StatementKind::Use, text, classes.iter().flat_map(|one| one.cells.clone()))
}

/// Compared with what the site has today, or with current practice, on the median content by size.
fn gain(case: &Case, first: &Chosen) -> Option<Sentence> {
    let mut works = first.choice.works.clone();
    works.sort_by_key(|work| bytes_of(case.evidence, case.group(first.answer, *work).payload()));
    let work = works[works.len() / 2];
    let group = case.group(first.answer, work);
    let own = Sent::of(first.answer.question.row(&case.ranking.groups, first.choice.chosen, work)?)?;
    let marked = ["today", "gzip", "reference"].into_iter().filter_map(|mark| group.mark(mark));
    let usual = marked.filter(|id| *id != own.id()).find_map(|id| Sent::of(case.report().row(id)?))?;
    let beside = match group.mark("today") == Some(usual.id()) {
        true => "what is sent today".to_owned(),
        false => label::way(&usual),
    };
    let cpu = label::change(&own.ratio_to(&usual, CPU)?, "CPU time per page");
    let change = format!("{cpu} and {}", label::bytes_beside(own.bytes(), usual.bytes()));
    Some(Sentence::gain(&label::describe_group(case.evidence, group), &beside, &change, [own.row, usual.row]))
}

fn limit(case: &Case, classes: &[Chosen]) -> Sentence {
    let link = case.conditions.links[0];
    let (mbit, trip) = (units::mbit(link.mbit), units::ns(link.rtt_ms * 1e6));
    let rounds = units::count(case.rounds() as usize, "round", "rounds");
    let text = format!(
        "Chosen by CPU time plus transfer at {mbit} with a round trip of {trip} (modelled; {rounds})."
    );
    Sentence::new(StatementKind::Limit, text, classes.iter().map(|one| one.row.own_id()))
}

/// `It needs ext-zstd, through FFI here; browsers take zstd over HTTPS only.`
fn needs(classes: &[Chosen]) -> Option<Sentence> {
    let needed: Vec<(String, &Sent)> =
        classes.iter().filter_map(|class| Some((need(&class.row)?, &class.row))).collect();
    let names = distinct(needed.iter().map(|(name, _)| name.clone()));
    let codings = classes.iter().filter_map(|class| class.row.coding());
    let codings: Vec<&str> = codings.filter(|coding| *coding != "gzip").collect();
    let secure = format!("browsers take {} over HTTPS only", units::list(&codings));
    let text = match (names.is_empty(), codings.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("Note: {secure}."),
        (false, true) => format!("It needs {}.", units::list(&names)),
        (false, false) => format!("It needs {}; {secure}.", units::list(&names)),
    };
    Some(Sentence::new(StatementKind::Needs, text, needed.into_iter().map(|(_, row)| row.own_id())))
}

/// What a method needs in addition to PHP and the server.
pub(crate) fn need(row: &Sent) -> Option<String> {
    let library = row.row.fact("library").unwrap_or_default();
    let codec = row.setting().codec.as_str();
    if row.delivery.by == By::Server {
        let module = match codec {
            "brotli" | "mod_brotli" => "Brotli",
            "zstd" => "zstd",
            _ => return None,
        };
        return Some(format!("the {module} module of {}", label::server(row)));
    }
    let extension = match codec {
        "libdeflate" => return Some("FFI".to_owned()),
        of if of.contains("zstd") => "ext-zstd",
        of if of.contains("brotli") => "ext-brotli",
        _ => return None,
    };
    let here = if library.ends_with("(ffi)") { " (through FFI here)" } else { "" };
    Some(format!("{extension}{here}"))
}

/// A filter that was chosen because there is no significant difference.
fn tie(case: &Case, class: &Chosen) -> Option<Sentence> {
    if class.row.delivery.by != By::Server || class.choice.confidence != Confidence::Tied {
        return None;
    }
    let rows = class.choice.tied.iter().flat_map(|one| case.rows(class.answer, class.choice, *one));
    let is_php = |sent: &Sent| sent.delivery.by == By::Php && sent.coding() == class.row.coding();
    let tied = rows.filter_map(Sent::of).find(is_php)?;
    let (other, server) = (label::way(&tied), label::server(&class.row));
    let text = format!(
        "No significant difference to {other}; the filter in {server} leaves PHP's workers free sooner."
    );
    Some(Sentence::new(StatementKind::Limit, text, ids([class.row.row, tied.row])))
}
