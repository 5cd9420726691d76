//! The recommendation: derived once per run. The answer prints it, tables and pictures mark its configurations, and
//! other programs can read it. Everything else in a report is evidence for it.
//!
//! Each subject says what there is to choose and puts what was chosen into sentences; [`mod@crate::choose`] chooses, for
//! rankings and pages too. A run with too few rounds, or one that is not complete, recommends nothing: it says what is
//! ahead so far, what is known exactly, and how to go on.

pub(crate) mod client;
pub(crate) mod codec;
pub(crate) mod delivery;

use weigh_model::units;
use weigh_stats::ROUNDS;

use crate::choose::Choice;
use crate::document::group::label as label_of;
use crate::first::distinct;
use crate::group::Group;
use crate::label;
use crate::report::Report;
use crate::report::advice::{Advice, Case, Recommended, Sentence, StatementKind, ids};
use crate::report::finding::Evidence;
use crate::report::ranking::{Answer, Conditions, Ranking};
use crate::row::Row;
use crate::text::clean;
use crate::verdict::Confidence;

/// The most words of a sentence.
pub const WORDS: usize = 25;
/// The most names of a list.
const NAMED: usize = 3;

/// The recommendation of a report; none if nothing competes.
pub(crate) fn advise(evidence: &Evidence) -> Option<Advice> {
    let ranking = Ranking::of(evidence.report);
    let conditions = Conditions::of(evidence.report);
    let mut answers = ranking.answers(&conditions);
    answers.retain(|answer| answer.question.is_answer);
    let case = Case { evidence, ranking: &ranking, conditions: &conditions, answers };
    let advice = (evidence.report.shape().advise)(&case)?;
    Some(match case.unsettled(&advice) {
        Some(why) => case.so_far(advice, &why),
        None => advice,
    })
}

impl<'c> Case<'c> {
    fn report(&self) -> &'c Report {
        self.evidence.report
    }

    /// The rows of an alternative on the works of a choice.
    fn rows(&self, answer: &Answer, choice: &Choice, alternative: usize) -> Vec<&'c Row> {
        let row = |work: &usize| answer.question.row(&self.ranking.groups, alternative, *work);
        choice.works.iter().filter_map(row).collect()
    }

    fn chosen(&self, answer: &Answer, choice: &Choice) -> Vec<&'c Row> {
        self.rows(answer, choice, choice.chosen)
    }

    fn group(&self, answer: &Answer, work: usize) -> &'c Group {
        &self.report().groups[answer.question.groups[work]]
    }

    /// What was chosen for the most works of each question.
    fn first(&self) -> impl Iterator<Item = (&Answer<'c>, &Choice)> {
        self.answers.iter().filter_map(|answer| Some((answer, answer.choices.first()?)))
    }

    /// Everything that is recommended: the choices of a question, the further ones with the content that they are for.
    fn recommended(&self, place: impl Fn(&Group) -> String) -> Vec<Recommended> {
        let mut all = Vec::new();
        for answer in &self.answers {
            for (at, choice) in answer.choices.iter().enumerate() {
                let scope = Some(answer.question.scope.clone()).filter(|scope| !scope.is_empty());
                let elsewhere = (at > 0).then(|| place(self.group(answer, choice.works[0])));
                let scope = scope.into_iter().chain(elsewhere).collect::<Vec<_>>().join(", ");
                let name = answer.name(choice.chosen).to_owned();
                all.push(Recommended { scope, name, cells: ids(self.chosen(answer, choice)) });
            }
        }
        all
    }

    /// `Elsewhere: zstd 9 in PHP for page-path from Apache.`
    fn elsewhere(&self, place: impl Fn(&Group) -> String) -> Option<Sentence> {
        let (mut parts, mut cells) = (Vec::new(), Vec::new());
        for answer in &self.answers {
            let first = answer.choices.first().map_or(0, |first| first.chosen);
            let is_measured = |work: &usize| answer.question.alternatives[first].rows[*work].is_some();
            // Where the first choice was not measured, nothing is better than it.
            let others = answer.choices.iter().skip(1);
            for choice in others.filter(|choice| choice.works.iter().any(is_measured)) {
                let places = distinct(choice.works.iter().map(|work| place(self.group(answer, *work))));
                let part = format!("{} for {}", answer.name(choice.chosen), label::some(&places, 1));
                if !parts.contains(&part) {
                    parts.push(part);
                }
                cells.extend(ids(self.chosen(answer, choice)));
            }
        }
        let text = format!("Elsewhere: {}.", label::some(&parts, 2));
        (!parts.is_empty()).then(|| Sentence::new(StatementKind::Change, text, cells))
    }

    /// Alternatives without a significant difference to what was chosen for the most works.
    fn ties(&self, answer: &Answer) -> Option<Sentence> {
        let choice = answer.choices.first().filter(|choice| choice.confidence == Confidence::Tied)?;
        let tied: Vec<usize> = choice.tied.iter().copied().filter(|one| *one != choice.chosen).collect();
        let mut names = distinct(tied.iter().map(|one| answer.name(*one).to_owned()));
        names.retain(|one| one != answer.name(choice.chosen));
        let text = format!("No significant difference: {}.", label::some(&names, NAMED));
        let cells = tied.iter().flat_map(|one| ids(self.rows(answer, choice, *one)));
        (!names.is_empty()).then(|| Sentence::new(StatementKind::Limit, text, cells))
    }

    /// Rounds of the row with the fewest rounds, of all that are compared in the questions.
    fn rounds(&self) -> u32 {
        let groups = self.answers.iter().flat_map(|answer| &answer.question.groups);
        let contenders = groups.flat_map(|group| &self.ranking.contenders[*group]);
        let rounds = contenders.filter(|one| one.candidate).filter_map(|one| Some(one.read.as_ref()?.rounds));
        rounds.min().unwrap_or(self.report().run.rounds)
    }

    /// Why the answer is not a recommendation yet.
    fn unsettled(&self, advice: &Advice) -> Option<String> {
        let run = &self.report().run;
        let all = self.evidence.plan.cells.len();
        if advice.confidence == Confidence::TooFewRounds {
            return Some(format!("{} of {ROUNDS} rounds", self.rounds().min(ROUNDS as u32 - 1)));
        }
        if !run.complete {
            let rounds = units::count(run.rounds as usize, "round", "rounds");
            return Some(format!("interrupted after {rounds}"));
        }
        let missing = self.report().unmeasured.len();
        (missing > 0).then(|| format!("{missing} of {all} configurations not measured"))
    }

    /// The same without a recommendation.
    fn so_far(&self, advice: Advice, why: &str) -> Advice {
        let run = &self.report().run;
        let folder = run.folder.as_deref().map_or("RUN".to_owned(), clean);
        let go_on = match run.complete {
            true => "measure again with a larger --budget".to_owned(),
            false => format!("go on: weigh run --resume {folder}"),
        };
        let name = |one: &Recommended, has_scope: bool| match has_scope && !one.scope.is_empty() {
            true => format!("{} for {}", clean(&one.name), clean(&one.scope)),
            false => clean(&one.name),
        };
        let text = |has_scope: bool, most: usize| {
            let names = distinct(advice.recommended.iter().map(|one| name(one, has_scope)));
            format!("So far {}.", label::some(&names, most))
        };
        let shorter = [(true, 2), (false, 3), (false, 2)].into_iter().map(|(scope, most)| text(scope, most));
        let text = shorter.into_iter().find(|text| is_short(text)).unwrap_or_else(|| text(false, 1));
        let cells = advice.recommended.iter().flat_map(|one| one.cells.clone());
        let mut sentences = vec![
            Sentence::new(StatementKind::Use, text, cells),
            Sentence::new(StatementKind::Use, format!("Not settled ({why}): {go_on}."), []),
        ];
        sentences.extend(advice.sentences.into_iter().filter(|one| one.part == StatementKind::Known));
        sentences.extend(self.exact());
        let confidence = Confidence::TooFewRounds;
        Advice { confidence, recommended: Vec::new(), ahead: advice.recommended, sentences }
    }

    /// What needs no rounds: the bytes of what is ahead beside those of current practice, and their time on the link.
    fn exact(&self) -> Option<Sentence> {
        let (answer, choice) = self.first().next()?;
        let work = *choice.works.get(choice.works.len() / 2)?;
        let place = answer.question.groups[work];
        let group = self.group(answer, work);
        let own = answer.question.row(&self.ranking.groups, choice.chosen, work)?;
        let usual = ["today", "gzip", "reference"].into_iter().find_map(|mark| group.mark(mark))?;
        let contender = |id: &str| self.ranking.contenders[place].iter().find(|one| one.row.id() == id);
        let (ours, theirs) = (contender(own.id())?.bytes?, contender(usual)?.bytes?);
        if own.id() == usual || ours == theirs {
            return None;
        }
        let more = self.conditions.transfer_ns(ours) - self.conditions.transfer_ns(theirs);
        let text = format!(
            "Known exactly: {} has {} than {}, {} {} over {}.",
            answer.name(choice.chosen),
            label::bytes_beside(ours, theirs),
            label_of(self.report(), usual),
            units::ns(more.abs()),
            if more < 0.0 { "less" } else { "more" },
            units::mbit(self.conditions.links[0].mbit),
        );
        Some(Sentence::new(StatementKind::Known, text, [own.id().to_owned(), usual.to_owned()]))
    }

    /// The answer with these sentences; as sure as its questions.
    fn advice(&self, recommended: Vec<Recommended>, sentences: Vec<Sentence>) -> Advice {
        let confidence = self.answers.iter().map(Answer::confidence).min().unwrap_or(Confidence::Settled);
        Advice::new(confidence, recommended, sentences)
    }
}

/// Whether a sentence is short enough.
pub(crate) fn is_short(text: &str) -> bool {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() <= WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(parts: &[StatementKind]) -> Vec<StatementKind> {
        let sentences = parts.iter().map(|part| Sentence::new(*part, "It is so.", []));
        let advice = Advice::new(Confidence::Settled, Vec::new(), sentences.collect());
        advice.sentences.iter().map(|one| one.part).collect()
    }

    #[test]
    fn an_answer_has_five_sentences_in_the_order_of_their_parts() {
        use StatementKind::{Change, Gain, Limit, Needs, Use};
        assert_eq!(said(&[Limit, Gain, Use]), [Use, Gain, Limit]);
        assert_eq!(said(&[Use, Gain, Gain, Gain, Needs, Change, Limit]), [Use, Needs, Gain, Change, Limit]);
        assert_eq!(
            said(&[Use, Needs, Gain, Change, Change, Limit, Limit]),
            [Use, Needs, Gain, Change, Limit]
        );
    }
}
