//! Ranks the configurations of a group under conditions that a reader chooses: link, connection, reads per write,
//! prices. The page computes the same in the browser (`web/src/ranking.ts`); both are held together by generated cases.
//!
//! An operation costs CPU time, whose figure varies, and time on the link, which is computed from its bytes. As in the
//! rest of a report, [`crate::choose`] says which to use.

pub(crate) mod conditions;

pub(crate) use crate::report::ranking::conditions::OPERATIONS;
pub use crate::report::ranking::conditions::{Conditions, Goal, LinkShare};

use weigh_model::payload::Payload;
use weigh_model::record::StopReason;

use crate::choose::{Candidate, Choice, Cost, TOLERANCE, choose};
use crate::estimate::Estimate;
use crate::metric::Per;
use crate::report::Report;
use crate::report::question::{Alternative, Groups, Question, questions};
use crate::report::shape::Shape;
use crate::row::Row;
use crate::verdict::Confidence;

/// What an operation of a subject costs: its metrics, each with its name for readers.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// CPU time of a write; none if nothing is written.
    pub write: Option<(&'static str, &'static str)>,
    /// CPU time of a read.
    pub read: (&'static str, &'static str),
    /// Bytes over the link; none if they are not known.
    pub bytes: Option<(&'static str, &'static str)>,
    /// What a read costs each row of a group instead, with its metric; none: the CPU time above.
    pub of_group: Option<OfGroup>,
}

/// The cost of a read, in nanoseconds, of each of some rows that compete, with its metric.
pub type OfGroup = fn(&[&Row]) -> Vec<Option<(Estimate, &'static str)>>;

/// The costs of one operation of a row.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    pub row: &'a Row,
    /// CPU nanoseconds of a write.
    pub write: Option<Estimate>,
    /// CPU nanoseconds of a read.
    pub read: Option<Estimate>,
    pub metric: &'static str,
    /// Bytes over the link.
    pub bytes: Option<f64>,
    /// Nanoseconds that driver and store take for a byte of a write and of a read.
    pub stored: (f64, f64),
    /// Whether it may be the best. A row whose visits ended because another is significantly better on every axis may
    /// not: its few figures could only be ahead by chance.
    pub candidate: bool,
}

impl<'a> Contender<'a> {
    /// Of a row; none if its subject has no costs.
    pub fn of(report: &Report, row: &'a Row) -> Option<Contender<'a>> {
        let shape = report.shape();
        let costs = shape.costs.as_ref()?;
        let operations = report.payload(&row.cell.payload).map_or(1, Payload::operations) as f64;
        let share = |id: &str| if is_per_pass(shape, id) { 1.0 / operations } else { 1.0 };
        let time = |id: &str| Some(row.get(id)?.scaled(share(id)));
        let links = report.study.links.as_ref();
        let stored = |of: fn(&weigh_model::study::Links) -> Option<f64>| links.and_then(of).unwrap_or(0.0);
        Some(Contender {
            row,
            write: costs.write.and_then(|(id, _)| time(id)),
            read: time(costs.read.0),
            metric: costs.read.0,
            bytes: costs.bytes.and_then(|(id, _)| Some(row.value(id)? * share(id))),
            stored: (stored(|links| links.write_ns_per_byte), stored(|links| links.read_ns_per_byte)),
            candidate: !matches!(row.stop, Some(StopReason::Dominated { .. })),
        })
    }

    /// CPU nanoseconds of an operation that is to these shares a write and a read; none if a part is needed and missing.
    pub fn cost(&self, (writes, reads): (f64, f64)) -> Option<Estimate> {
        let part = |of: &Option<Estimate>, weight: f64| Some(of.as_ref()?.scaled(weight));
        match (writes, reads) {
            (writes, 0.0) => part(&self.write, writes),
            (0.0, reads) => part(&self.read, reads),
            (writes, reads) => Some(part(&self.write, writes)?.plus(&part(&self.read, reads)?)),
        }
    }

    /// Nanoseconds that driver and store take for the bytes of such an operation.
    pub fn stored_ns(&self, (writes, reads): (f64, f64)) -> f64 {
        self.bytes.unwrap_or(0.0) * (writes * self.stored.0 + reads * self.stored.1)
    }
}

fn is_per_pass(shape: &Shape, id: &str) -> bool {
    shape.metrics().any(|metric| metric.id == id && metric.per == Per::Pass)
}

/// The contenders of some rows that compete, in the same order; none if their subject has no costs.
fn contenders<'r>(report: &'r Report, rows: &[&'r Row]) -> Vec<Contender<'r>> {
    let mut all: Vec<Contender> = rows.iter().filter_map(|row| Contender::of(report, row)).collect();
    if let Some(read) = report.shape().costs.and_then(|costs| costs.of_group) {
        for (one, read) in all.iter_mut().zip(read(rows)) {
            (one.read, one.metric) = read.map_or((None, one.metric), |(read, metric)| (Some(read), metric));
        }
    }
    all
}

/// The place of one configuration.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Ranked {
    /// The cell's id.
    pub id: String,
    /// What an operation costs: nanoseconds, or for [`Goal::Money`] the currency per million operations.
    pub total: f64,
    /// Lower end of its 95% interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// There is no significant difference to what was chosen, or it is what was chosen.
    pub tie: bool,
    /// It was chosen: of those without a significant difference to the least total, the one that asks least of a site. Several are chosen where
    /// several questions are asked, such as one for each content coding.
    pub best: bool,
    /// It may be chosen; a configuration that was given up early may not.
    pub candidate: bool,
}

/// A question with what was chosen.
#[derive(Clone, Debug)]
pub struct Answer<'q> {
    pub question: &'q Question,
    /// The choice for the most groups first; its works are places in the question's groups.
    pub choices: Vec<Choice>,
}

/// A report with everything that can be chosen in it.
pub struct Ranking<'r> {
    /// The report with the rows of its groups.
    pub groups: Groups<'r>,
    /// What there is to choose.
    pub questions: Vec<Question>,
    /// The contenders of each group, in the order of its rows; none if the subject has no costs.
    pub contenders: Vec<Vec<Contender<'r>>>,
}

impl<'r> Ranking<'r> {
    /// Of a report with rows and groups.
    pub fn of(report: &'r Report) -> Ranking<'r> {
        let groups = Groups::of(report);
        let contenders = groups.rows.iter().map(|rows| contenders(report, rows)).collect();
        Ranking { questions: questions(&groups), groups, contenders }
    }

    /// What is chosen under these conditions, question by question; those without a figure are left out.
    pub fn answers(&self, conditions: &Conditions) -> Vec<Answer<'_>> {
        let answers = self.questions.iter().map(|question| self.answer(question, conditions));
        answers.filter(|answer| !answer.choices.is_empty()).collect()
    }

    pub fn answer<'q>(&self, question: &'q Question, conditions: &Conditions) -> Answer<'q> {
        Answer { question, choices: choose(TOLERANCE, &self.candidates(question, conditions)) }
    }

    /// The alternatives of a question with their costs under these conditions.
    pub fn candidates(&self, question: &Question, conditions: &Conditions) -> Vec<Candidate> {
        let candidate = |alternative: &Alternative| {
            let cost = |(at, group): (&Option<usize>, &usize)| {
                let contender = self.contenders[*group].get((*at)?).filter(|one| one.candidate)?;
                self.cost_of(*group, contender, conditions)
            };
            let costs = alternative.rows.iter().zip(&question.groups).map(cost).collect();
            Candidate { costs, may_be_best: alternative.may_be_chosen, rank: alternative.rank }
        };
        question.alternatives.iter().map(candidate).collect()
    }

    /// What an operation of a contender costs in its group; none if a figure is missing.
    fn cost_of(&self, group: usize, contender: &Contender, conditions: &Conditions) -> Option<Cost> {
        let shares = conditions.shares(self.contenders[group].iter().any(|one| one.write.is_some()));
        let transfer = contender.bytes.map_or(0.0, |bytes| conditions.transfer_ns(bytes));
        let wait = transfer + contender.stored_ns(shares);
        let (per_ns, known) = conditions.value(wait, contender.bytes.unwrap_or(0.0));
        Some(Cost { varies: contender.cost(shares)?.scaled(per_ns), known })
    }

    /// What an operation of a row costs in its group; none if a figure is missing.
    pub fn cost(&self, group: usize, row: &Row, conditions: &Conditions) -> Option<Cost> {
        let own = self.contenders[group].iter().find(|one| one.row.id() == row.id())?;
        self.cost_of(group, own, conditions)
    }

    /// The configurations of a group, the least total first. Those that lack a needed figure are left out.
    pub fn group(&self, group: usize, conditions: &Conditions) -> Vec<Ranked> {
        self.ranked(group, conditions, &self.answers(conditions))
    }

    /// The same with these answers.
    pub fn ranked(&self, group: usize, conditions: &Conditions, answers: &[Answer]) -> Vec<Ranked> {
        let here: Vec<(&Question, usize, &Choice)> =
            answers.iter().filter_map(|answer| answer.of_group(group)).collect();
        let chosen =
            here.iter().map(|(question, work, choice)| question.alternatives[choice.chosen].rows[*work]);
        let known = here.iter().filter(|(.., choice)| choice.confidence != Confidence::TooFewRounds);
        let tied = known.flat_map(|(question, work, choice)| {
            choice.tied.iter().map(|one| question.alternatives[*one].rows[*work])
        });
        let (chosen, tied): (Vec<Option<usize>>, Vec<Option<usize>>) = (chosen.collect(), tied.collect());
        let ranked = |(at, contender): (usize, &Contender)| {
            let cost = self.cost_of(group, contender, conditions)?;
            let best = chosen.contains(&Some(at));
            Some(Ranked {
                id: contender.row.id().to_owned(),
                total: cost.total(),
                low: cost.varies.low.map(|low| low + cost.known),
                high: cost.varies.high.map(|high| high + cost.known),
                tie: best || tied.contains(&Some(at)),
                best,
                candidate: contender.candidate,
            })
        };
        let mut all: Vec<Ranked> = self.contenders[group].iter().enumerate().filter_map(ranked).collect();
        all.sort_by(|a, b| a.total.total_cmp(&b.total));
        all
    }
}

impl Answer<'_> {
    pub fn name(&self, alternative: usize) -> &str {
        &self.question.alternatives[alternative].name
    }

    /// Its choice for a group, with the place of the group in the question.
    pub fn of_group(&self, group: usize) -> Option<(&Question, usize, &Choice)> {
        let work = self.question.groups.iter().position(|own| *own == group)?;
        let choice = self.choices.iter().find(|choice| choice.works.contains(&work))?;
        Some((self.question, work, choice))
    }

    /// How sure all of it is.
    pub fn confidence(&self) -> Confidence {
        self.choices.iter().map(|choice| choice.confidence).min().unwrap_or(Confidence::TooFewRounds)
    }
}

#[cfg(test)]
mod tests;
