//! A ranking of every group, as blocks and for other programs.

use serde::Serialize;
use weigh_model::units;

use crate::block::{Block, more};
use crate::document::group::{View, marked, views};
use crate::output::{Detail, Options};
use crate::report::Report;
use crate::report::ranking::{Conditions, Goal, LinkShare, Ranked, Ranking};
use crate::table::{Grid, Kind, Tone, factor, field, remark};
use crate::verdict::Confidence;

/// Configurations of a group that a summary shows.
const FEW: usize = 5;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// What `weigh runs show RUN --at CONDITIONS --json` writes.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct RankingDocument {
    /// The version of this form.
    schema: u32,
    /// The conditions.
    conditions: Conditions,
    /// One entry per group, in the report's order.
    groups: Vec<RankedGroup>,
}

/// The ranking of a group.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct RankedGroup {
    /// Its title.
    title: String,
    /// How sure the choice is.
    confidence: Confidence,
    /// Its configurations, the cheapest first.
    ranked: Vec<Ranked>,
}

impl RankingDocument {
    /// Of every group of a report that has costs.
    pub fn of(report: &Report, conditions: &Conditions) -> RankingDocument {
        let groups = ranked(report, conditions).into_iter().map(|(_, group)| group).collect();
        RankingDocument { schema: SCHEMA, conditions: conditions.clone(), groups }
    }
}

/// Every group that has costs.
fn ranked<'r>(report: &'r Report, conditions: &Conditions) -> Vec<(View<'r>, RankedGroup)> {
    let ranking = Ranking::of(report);
    let answers = ranking.answers(conditions);
    let of = |(at, view): (usize, View<'r>)| {
        let ranked = ranking.ranked(at, conditions, &answers);
        let own = answers.iter().filter_map(|answer| Some(answer.of_group(at)?.2.confidence));
        let confidence = own.min().unwrap_or(Confidence::TooFewRounds);
        let title = view.full_title().unwrap_or_else(|| view.title());
        (!ranked.is_empty()).then_some((view, RankedGroup { title, confidence, ranked }))
    };
    views(report).into_iter().enumerate().filter_map(of).collect()
}

/// A table per group. A summary has the first few configurations of each.
pub fn blocks(report: &Report, conditions: &Conditions, options: &Options) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading(1, "Ranking under your conditions".into()),
        Block::Remark(describe_conditions(report, conditions)),
    ];
    let groups = ranked(report, conditions);
    if groups.is_empty() {
        blocks.push(Block::Text("No configuration of this run has the figures that a ranking needs.".into()));
    }
    for (view, RankedGroup { title, confidence, ranked }) in groups {
        let shown = if options.detail == Detail::Full { ranked.len() } else { FEW.min(ranked.len()) };
        blocks.push(Block::Heading(2, title));
        blocks.push(Block::Table(table(&view, confidence, &ranked[..shown], conditions.goal)));
        blocks.extend(more(ranked.len() - shown, "more configuration", "more configurations"));
    }
    blocks
}

fn table(view: &View, confidence: Confidence, ranked: &[Ranked], goal: Goal) -> Grid {
    let (unit, factor_of) = match goal {
        Goal::Time => ("ms", 1e-6),
        Goal::Money => ("per million", 1.0),
    };
    let least = ranked.first().map_or(1.0, |first| first.total);
    Grid::toned(ranked.iter().enumerate(), |(at, one)| {
        let tone = match (one.tie, one.candidate) {
            (true, _) => Tone::Strong,
            (false, true) => Tone::Plain,
            (false, false) => Tone::Dim,
        };
        let name = view
            .report
            .row(&one.id)
            .map_or_else(|| view.label(&one.id), |row| marked(view.report, row, &view.label(&one.id)));
        let note = match (one.best, one.tie, one.candidate) {
            (true, ..) if confidence == Confidence::TooFewRounds => "ahead so far, too few rounds",
            (true, ..) => "best",
            (false, true, _) => Confidence::Tied.name(),
            (false, false, true) => "",
            (false, false, false) => "given up early",
        };
        let end = |end: Option<f64>| end.map(|end| end * factor_of);
        let fields = vec![
            factor("", (at + 1).to_string()),
            factor(view.report.shape().look.noun.0, name),
            field("total", unit, Kind::Three, 0, one.total * factor_of),
            field("95% low", unit, Kind::Three, 4, end(one.low)),
            field("95% high", unit, Kind::Three, 4, end(one.high)),
            field("vs first", "×", Kind::Fixed(2), 2, one.total / least),
            remark("note", 1, note),
        ];
        (tone, fields)
    })
}

fn describe_conditions(report: &Report, conditions: &Conditions) -> String {
    let link = |link: &LinkShare| {
        let share = if conditions.links.len() > 1 {
            let all: f64 = conditions.links.iter().map(|link| link.share).sum();
            format!("{} over ", units::percent(link.share / all))
        } else {
            String::new()
        };
        format!("{share}{} with a round trip of {}", units::mbit(link.mbit), units::ns(link.rtt_ms * 1e6))
    };
    let mut parts = Vec::new();
    let costs = report.shape().costs;
    if costs.is_some_and(|costs| costs.bytes.is_some()) {
        let links: Vec<String> = conditions.links.iter().map(link).collect();
        parts.push(format!("{}, on {}", units::list(&links), conditions.connection.words()));
    }
    if costs.is_some_and(|costs| costs.write.is_some()) {
        parts.push(format!("{} reads per write", units::trimmed_number(conditions.reads)));
    }
    let goal = match conditions.goal {
        Goal::Time => "Least time of an operation: CPU time and the time on the link".to_owned(),
        Goal::Money => {
            parts.push(format!(
                "a core-hour costs {}, a GB {}, a second of a visitor {}",
                conditions.core_hour, conditions.gb, conditions.second
            ));
            "Least price of a million operations".to_owned()
        }
    };
    if parts.is_empty() { format!("{goal}.") } else { format!("{goal}; {}.", parts.join("; ")) }
}
