//! How to send pages, assets and downloads. Each kind has its rule in its own file; a run with several kinds has one
//! combined answer.
//!
//! URLs of running servers get no recommendation: the CPU time of these servers is unknown, and nothing competes.

mod assets;
mod downloads;
mod pages;

use weigh_model::cell::Subject;
use weigh_model::way::{By, CONFIG, WayKind};

use crate::choose::Choice;
use crate::finding::delivery::sent::Sent;
use crate::group::Group;
use crate::metric::delivery::CPU;
use crate::report::advice::{Advice, Case, Recommended, Sentence, ids};
use crate::report::question::{Groups, Question};
use crate::report::ranking::Answer;
use crate::row::Row;
use crate::verdict::Confidence;

pub(crate) use pages::need;

/// The default encoders of precompressed files, by coding.
const ENCODERS: [(&str, &str); 3] = [("br", "brotli 11"), ("gzip", "zlib 9"), ("zstd", "zstd 19")];

/// The encoder of precompressed files of a content coding where none is named.
pub(crate) fn default_encoder(coding: &str) -> &'static str {
    ENCODERS.iter().find(|(own, _)| *own == coding).map_or("", |(_, name)| name)
}

/// Content codings, the one that the fewest clients take first: those that take one take those after it, too.
const CODINGS: [&str; 3] = ["zstd", "br", "gzip"];

/// What one kind of content contributes to the answer.
#[derive(Default)]
struct PartialAdvice {
    recommended: Vec<Recommended>,
    sentences: Vec<Sentence>,
    confidence: Option<Confidence>,
}

/// What was chosen for some works.
struct Chosen<'a, 'c> {
    answer: &'a Answer<'c>,
    choice: &'a Choice,
    /// Its row of the first of them.
    row: Sent<'a>,
    cells: Vec<String>,
}

impl<'a, 'c> Chosen<'a, 'c> {
    fn of(case: &'a Case, (answer, choice): (&'a Answer<'c>, &'a Choice)) -> Option<Chosen<'a, 'c>> {
        let rows = case.chosen(answer, choice);
        Some(Chosen { answer, choice, row: Sent::of(rows.first()?)?, cells: ids(rows) })
    }

    fn name(&self) -> &'a str {
        self.answer.name(self.choice.chosen)
    }
}

pub fn questions(all: &Groups) -> Vec<Question> {
    [pages::questions(all), assets::questions(all), downloads::questions(all)].concat()
}

/// The recommendation; none if nothing competes.
pub fn advise(case: &Case) -> Option<Advice> {
    let parts = [
        pages::advise(&of_kind(case, Subject::PAGE)),
        assets::advise(&of_kind(case, Subject::ASSET)),
        downloads::advise(&of_kind(case, Subject::DOWNLOAD)),
    ];
    let all = parts.into_iter().flatten().reduce(|mut all, one| {
        all.recommended.extend(one.recommended);
        all.sentences.extend(one.sentences);
        all.confidence = all.confidence.into_iter().chain(one.confidence).min();
        all
    })?;
    let confidence = case.answers.iter().map(Answer::confidence).chain(all.confidence).min()?;
    Some(Advice::new(confidence, all.recommended, all.sentences))
}

/// The answers about one kind of content.
fn of_kind<'c>(case: &Case<'c>, kind: Subject) -> Case<'c> {
    let is_own = |answer: &&Answer| {
        let group = answer.question.groups.first().and_then(|group| case.ranking.groups.rows[*group].first());
        group.is_some_and(|row| row.cell.subject == kind)
    };
    let answers = case.answers.iter().filter(is_own).cloned().collect();
    Case { answers, evidence: case.evidence, ranking: case.ranking, conditions: case.conditions }
}

/// The content codings that rows of some groups have, the one that the fewest clients take first.
fn codings(all: &Groups, groups: &[usize], codes: fn(&Row, &[&str]) -> bool) -> Vec<&'static str> {
    let rows = || groups.iter().flat_map(|group| &all.rows[*group]);
    CODINGS.into_iter().filter(|coding| rows().any(|row| codes(row, &[coding]))).collect()
}

/// Everything that is recommended, each configuration for the last of the classes of clients that get it.
fn recommended(case: &Case, place: impl Fn(&Group) -> String) -> Vec<Recommended> {
    let all = case.recommended(place);
    let is_last = |at: usize| all[at + 1..].iter().all(|other| other.cells != all[at].cells);
    (0..all.len()).filter(|at| is_last(*at)).map(|at| all[at].clone()).collect()
}

/// The groups of a kind that are asked about. Of those that differ only in the link, one without a link stands for all: the CPU time of a response
/// hardly depends on it. Returning visitors are another question.
fn groups_of(all: &Groups, kind: &Subject) -> Vec<usize> {
    let is_of = |rows: &[&Row]| rows.first().is_some_and(|row| row.cell.subject == *kind);
    let but_link = |group: &Group| {
        let mut key = group.key.clone();
        key.remove("link");
        key
    };
    let own = all.places(|group, rows| is_of(rows) && group.factor("visitor").is_empty());
    let groups = &all.report.groups;
    let has_link = |at: usize| !groups[at].factor("link").is_empty();
    let has_better = |at: &usize| {
        let mut alike = own.iter().filter(|other| but_link(&groups[**other]) == but_link(&groups[*at]));
        has_link(*at) && alike.any(|other| !has_link(*other) || other < at)
    };
    own.iter().copied().filter(|at| !has_better(at)).collect()
}

/// A row as it is sent, with a known CPU time, without options, and not by the user's own configuration.
fn plain_setting(row: &Row) -> Option<Sent<'_>> {
    let sent = Sent::of(row)?;
    let is_usual = sent.is_plain_setting() && row.cell.setting.codec != CONFIG && row.get(CPU).is_some();
    is_usual.then_some(sent)
}

fn is_as_it_is(sent: &Sent) -> bool {
    sent.delivery.kind == WayKind::Plain && sent.coding().is_none()
}

/// Who encodes each response, and what identifies the method on every server: a filter by its level, a function of PHP by its name.
fn method(sent: &Sent) -> (By, WayKind, Option<String>, String) {
    let setting = sent.setting();
    let name = match (sent.delivery.by, sent.delivery.kind) {
        (By::Server, WayKind::OnTheFly) => format!("{:?}", setting.level),
        _ => format!("{} {:?} {:?}", setting.codec, setting.level, setting.options),
    };
    (sent.delivery.by, sent.delivery.kind, sent.coding().map(str::to_owned), name)
}

/// The place of a coding among those that clients take, gzip first; content without one is before all.
fn simplicity(coding: Option<&str>) -> usize {
    coding
        .map_or(0, |coding| 1 + CODINGS.iter().rev().position(|own| *own == coding).unwrap_or(CODINGS.len()))
}
