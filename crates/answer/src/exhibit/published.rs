//! A published table beside what was measured here: row by row, and how far the orders agree.

use weigh_model::cell::NO_PHP;
use weigh_model::study::{Published, PublishedColumn, PublishedRow};
use weigh_model::units;

use crate::block::{Block, more};
use crate::estimate::Estimate;
use crate::exhibit::present::Exhibit;
use crate::first::distinct;
use crate::metric::Aggregation;
use crate::output::{Detail, Options};
use crate::report::Report;
use crate::report::exhibit::published::{Agreement, BesidePublished, BesideRow, Disagreement};
use crate::report::finding::Evidence;
use crate::row::Row;
use crate::table::{Grid, Kind, factor, field};
use crate::text::clean;
use crate::verdict::differ;

/// Figures closer than this are equal within chance.
const ALIKE: f64 = 0.01;
/// The most disagreements in a summary.
const LISTED: usize = 5;

/// Two figures that are equal within chance.
fn is_alike(pair: (f64, f64)) -> bool {
    (pair.0 / pair.1 - 1.0).abs() <= ALIKE
}

impl BesidePublished {
    /// The published rows whose cells were measured, on the runtime with the most of them; none if the study has no
    /// table or none of its cells was measured.
    pub(crate) fn of(evidence: &Evidence) -> Option<BesidePublished> {
        let table = evidence.plan.study.published_table.as_ref()?;
        let measured = &evidence.report.rows;
        let names = distinct(measured.iter().map(|row| row.cell.runtime.as_str()));
        let of_runtime = |runtime: &str| -> Vec<(&PublishedRow, &Row)> {
            // A static method, compared with a script's, is part of every runtime's table.
            let fits = |row: &&Row| row.cell.runtime == runtime || row.cell.runtime == NO_PHP;
            let beside =
                |published| measured.iter().filter(fits).find(|row| table.is_of(published, &row.cell));
            table.rows.iter().filter_map(|row| Some((row, beside(row)?))).collect()
        };
        // Of equal ones, the first.
        let (runtime, rows) = names
            .into_iter()
            .map(|name| (name, of_runtime(name)))
            .rev()
            .max_by_key(|(_, rows)| rows.len())
            .filter(|(_, rows)| !rows.is_empty())?;
        let is_exact = |column: &PublishedColumn| {
            let mut metrics = evidence.report.shape().metrics();
            metrics.any(|metric| metric.id == column.metric && metric.over == Aggregation::Exact)
        };
        let agreements = table.columns.iter().filter_map(|column| agreement(column, is_exact(column), &rows));
        Some(BesidePublished {
            runtime: runtime.to_owned(),
            agreements: agreements.collect(),
            rows: rows.iter().map(|(published, row)| beside(table, published, row)).collect(),
        })
    }
}

fn beside(table: &Published, published: &PublishedRow, row: &Row) -> BesideRow {
    let here = |column: &PublishedColumn| Some(row.value(&column.metric)? / column.unit);
    BesideRow {
        published: published.clone(),
        cell: row.cell.id.clone(),
        here: table.columns.iter().map(here).collect(),
    }
}

fn agreement(column: &PublishedColumn, is_exact: bool, rows: &[(&PublishedRow, &Row)]) -> Option<Agreement> {
    // A rate that follows from a time differs where the time does.
    let told = column.metric.strip_suffix("-rate").unwrap_or(&column.metric);
    let known = |(published, row): &(&PublishedRow, &Row)| -> Option<(String, f64, f64, Estimate)> {
        let here = row.value(&column.metric)? / column.unit;
        Some((published.label.clone(), *published.figures.get(&column.name)?, here, row.get(told)?.clone()))
    };
    let known: Vec<_> = rows.iter().filter_map(known).collect();
    let mut found = Agreement {
        column: column.name.clone(),
        pairs: 0,
        same: 0,
        undecided: 0,
        rank: None,
        disagreements: Vec::new(),
    };
    let (mut concordant, mut compared) = (0.0, 0.0);
    for (at, one) in known.iter().enumerate() {
        for other in &known[at + 1..] {
            let (published, here) = ((one.1, other.1), (one.2, other.2));
            let is_clear = is_exact || differ(&one.3, &other.3);
            let same_order = (published.0 < published.1) == (here.0 < here.1);
            found.pairs += 1;
            match (is_alike(published), is_alike(here)) {
                (true, true) => found.same += 1,
                (false, false) if is_clear && same_order => found.same += 1,
                _ if !is_clear => found.undecided += 1,
                _ => found.disagreements.push(Disagreement {
                    labels: (one.0.clone(), other.0.clone()),
                    published,
                    here,
                }),
            }
            if !is_alike(published) && here.0 != here.1 {
                compared += 1.0;
                concordant += (published.0 - published.1).signum() * (here.0 - here.1).signum();
            }
        }
    }
    found.rank = (compared > 0.0).then(|| concordant / compared);
    (known.len() > 1).then_some(found)
}

impl Exhibit for BesidePublished {
    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block> {
        let Some(published) = &report.study.published_table else { return Vec::new() };
        let on = if self.runtime == NO_PHP { String::new() } else { format!(" ({})", clean(&self.runtime)) };
        let mut blocks = vec![
            Block::Heading(2, "Published and measured here".into()),
            Block::Remark(format!(
                "Published: {}. Here: {}{on}. Processor and libraries differ: compare the order, not the height.",
                clean(&published.about),
                clean(&published.payload),
            )),
            Block::Table(self.table(&published.columns)),
        ];
        if !published.reading.is_empty() {
            let sentences: Vec<String> = published.reading.iter().map(|text| clean(text)).collect();
            blocks.push(Block::Remark(format!("As published: {}", sentences.join(" "))));
        }
        let told =
            |of: &Agreement| of.disagreements.iter().map(|one| one.words(&of.column)).collect::<Vec<_>>();
        let all: Vec<String> = self.agreements.iter().flat_map(told).collect();
        if !all.is_empty() {
            let shown = if options.detail == Detail::Full { all.len() } else { LISTED };
            let left = all.len().saturating_sub(shown);
            blocks.push(Block::Heading(3, "Where the two disagree".into()));
            blocks.push(Block::Points(all.into_iter().take(shown).map(|text| (text, None)).collect()));
            blocks.extend(more(left, "more pair", "more pairs"));
        }
        blocks
    }
}

impl BesidePublished {
    fn table(&self, columns: &[PublishedColumn]) -> Grid {
        Grid::of(&self.rows, |row| {
            let mut fields = vec![factor("published as", clean(&row.published.label))];
            for (at, (column, here)) in columns.iter().zip(&row.here).enumerate() {
                let (name, rank) = (clean(&column.name), u8::try_from(at).unwrap_or(u8::MAX));
                let published = row.published.figures.get(&column.name).copied();
                fields.push(field("published", &name, Kind::Three, rank, published));
                fields.push(field("here", &name, Kind::Three, rank, *here));
            }
            fields
        })
    }
}

impl Disagreement {
    /// `zstd 1 and zstd 3, published 40.1 and 44.5, here 61.0 and 34.6 ms`.
    pub(crate) fn words(&self, column: &str) -> String {
        let alike = if is_alike(self.published) { " (alike)" } else { "" };
        let [a, b, c, d] =
            [self.published.0, self.published.1, self.here.0, self.here.1].map(units::significant);
        let (one, other) = (clean(&self.labels.0), clean(&self.labels.1));
        format!("{}: {one} and {other}, published {a} and {b}{alike}, here {c} and {d}", clean(column))
    }
}
