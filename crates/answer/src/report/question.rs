//! What there is to choose in a run: configurations that are alternatives to each other, over the groups where they compete.

use std::collections::HashMap;

use crate::first::grouped;
use crate::group::Group;
use crate::report::Report;
use crate::row::Row;

/// A report with the rows of each of its groups.
pub struct Groups<'r> {
    pub report: &'r Report,
    /// The rows of each group, in the plan's order.
    pub rows: Vec<Vec<&'r Row>>,
}

impl<'r> Groups<'r> {
    pub fn of(report: &'r Report) -> Groups<'r> {
        let by_id: HashMap<&str, &Row> = report.rows.iter().map(|row| (row.id(), row)).collect();
        let members = |group: &'r Group| group.cells.iter().filter_map(|id| by_id.get(id.as_str()).copied());
        Groups { report, rows: report.groups.iter().map(|group| members(group).collect()).collect() }
    }

    /// The places of the groups for which this holds.
    pub(crate) fn places(&self, is_wanted: impl Fn(&Group, &[&'r Row]) -> bool) -> Vec<usize> {
        let all = 0..self.rows.len();
        all.filter(|at| is_wanted(&self.report.groups[*at], &self.rows[*at])).collect()
    }
}

#[derive(Clone, Debug)]
pub struct Question {
    /// For whom or what: `browsers that take br`; empty if it is the only one.
    pub scope: String,
    /// The groups where alternatives compete, by their place among the report's groups.
    pub groups: Vec<usize>,
    pub alternatives: Vec<Alternative>,
    /// Whether the answer of the run is about it; others are for rankings.
    pub is_answer: bool,
}

/// A configuration, as it stands in several groups.
#[derive(Clone, Debug)]
pub struct Alternative {
    pub name: String,
    /// How much it asks for: a low rank is simple.
    pub rank: usize,
    /// Its row in each group of the question, by the place among the group's rows; none: it was not measured there.
    pub rows: Vec<Option<usize>>,
    pub may_be_chosen: bool,
}

impl Question {
    /// Makes alternatives of the rows of some groups that have a key, a name and a rank. Groups with fewer than `least` of them are left out; none if no
    /// group is left.
    pub(crate) fn of<'r, K: PartialEq>(
        all: &Groups<'r>,
        least: usize,
        scope: impl Into<String>,
        groups: impl IntoIterator<Item = usize>,
        key: impl Fn(&'r Row) -> Option<(K, String, usize)>,
    ) -> Option<Question> {
        let own = |group: usize| -> (usize, Vec<(K, String, usize, usize)>) {
            let rows = all.rows[group].iter().enumerate();
            let of = |(at, row): (usize, &&'r Row)| key(row).map(|(key, name, rank)| (key, name, rank, at));
            (group, rows.filter_map(of).collect())
        };
        let own = groups.into_iter().map(own).filter(|(_, rows)| rows.len() >= least);
        let (groups, own): (Vec<usize>, Vec<Vec<_>>) = own.unzip();
        let placed = own.into_iter().enumerate().flat_map(|(work, rows)| {
            rows.into_iter().map(move |(key, name, rank, at)| (key, (work, name, rank, at)))
        });
        let alternative = |(_, rows): (K, Vec<(usize, String, usize, usize)>)| {
            let mut places = vec![None; groups.len()];
            rows.iter().for_each(|(work, .., at)| _ = places[*work].get_or_insert(*at));
            let (_, name, rank, _) = rows.into_iter().next()?;
            Some(Alternative { name, rank, rows: places, may_be_chosen: true })
        };
        let alternatives: Vec<Alternative> = grouped(placed).into_iter().filter_map(alternative).collect();
        let is_any = alternatives.len() >= least;
        is_any.then(|| Question { scope: scope.into(), groups, alternatives, is_answer: true })
    }

    pub fn row<'r>(&self, all: &Groups<'r>, alternative: usize, work: usize) -> Option<&'r Row> {
        let at = self.alternatives[alternative].rows[work]?;
        all.rows[self.groups[work]].get(at).copied()
    }
}

/// Everything that can be chosen: the questions of the report's subject, and for groups without one which of their rows to use.
pub fn questions(all: &Groups) -> Vec<Question> {
    let shape = all.report.shape();
    let mut questions = (shape.questions)(all);
    for group in 0..all.rows.len() {
        if questions.iter().any(|question| question.groups.contains(&group)) {
            continue;
        }
        let each = Question::of(all, 2, "", [group], |row| Some((row.id(), (shape.look.label)(row), 0)));
        questions.extend(each.map(|question| Question { is_answer: false, ..question }));
    }
    questions
}
