//! A published table of deliveries, compared with the measured one: row by row, and how far the orders agree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::cell::NO_PHP;
use weigh_model::study::{PublishedDelivery, PublishedDeliveryRow};
use weigh_model::units;

use crate::document::{Block, more};
use crate::estimate::Estimate;
use crate::exhibit::Exhibit;
use crate::finding::Evidence;
use crate::first::distinct;
use crate::format::{Detail, Options};
use crate::report::Report;
use crate::row::Row;
use crate::subject::delivery::{BODY, ONE_BY_ONE, RATE, SECONDS};
use crate::table::{Grid, Kind, factor, field};
use crate::text::clean;
use crate::verdict::differ;

/// Published figures closer than this are equal within chance.
const ALIKE: f64 = 0.01;

/// The most disagreements in a summary.
const LISTED: usize = 5;

/// The rows of a published table whose cells were measured, and how far the two orders agree.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PublishedTable {
    /// The runtime of the compared cells.
    pub runtime: String,
    /// In the published order.
    pub rows: Vec<RowComparison>,
    /// One per column that both have.
    pub agreements: Vec<Agreement>,
}

/// One row, as published and as measured here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowComparison {
    /// The published row.
    pub published: PublishedDeliveryRow,
    /// The cell measured here.
    pub cell: String,
    /// Bytes of the body.
    pub bytes: u64,
    /// Seconds for the published number of requests, one after the other; null with several connections, or if no
    /// number of requests was published.
    pub seconds: Option<f64>,
    /// Mean seconds per request.
    pub mean_seconds: Option<f64>,
    /// Requests per second.
    pub requests_per_second: Option<f64>,
}

/// A compared column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Bytes of the body.
    Bytes,
    /// Seconds per request.
    Seconds,
    /// Requests per second.
    Rate,
}

impl Measure {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Measure::Bytes => "bytes",
            Measure::Seconds => "seconds per request",
            Measure::Rate => "requests per second",
        }
    }

    /// A figure of it in words.
    pub fn show(self, figure: f64) -> String {
        match self {
            Measure::Bytes => units::bytes(figure.round() as u64),
            Measure::Seconds => units::ns(figure * 1e9),
            Measure::Rate => units::significant(figure),
        }
    }

    /// What a row says of it, as published.
    fn published(self, row: &PublishedDeliveryRow) -> Option<f64> {
        match self {
            Measure::Bytes => row.bytes.map(|bytes| bytes as f64),
            Measure::Seconds => {
                row.mean_seconds.or_else(|| Some(row.seconds? / row.requests.filter(|n| *n > 0)? as f64))
            }
            Measure::Rate => row.requests_per_second,
        }
    }

    /// The same here.
    fn here(self, row: &Row) -> Option<&Estimate> {
        row.get(match self {
            Measure::Bytes => BODY,
            Measure::Seconds => SECONDS,
            Measure::Rate => RATE,
        })
    }
}

/// How far the orders of the rows agree in one column.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The column.
    pub measure: Measure,
    /// Pairs of rows.
    pub pairs: u32,
    /// Pairs that differ in the same direction here, and pairs within 1% in both.
    pub same: u32,
    /// Pairs without a significant difference here.
    pub undecided: u32,
    /// Kendall's rank correlation of the published and the measured figures, −1 to 1, over pairs that are not within 1%
    /// as published; null without such a pair.
    pub rank: Option<f64>,
    /// Pairs that differ significantly in the other direction here, or are within 1% in only one of the two.
    pub disagreements: Vec<Disagreement>,
}

/// Two rows whose order differs here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// The labels of the two rows as published.
    pub labels: (String, String),
    /// The ids of the cells.
    pub cells: (String, String),
    /// Their figures as published.
    pub published: (f64, f64),
    /// Their figures here.
    pub here: (f64, f64),
}

impl Disagreement {
    /// The two are within 1% as published.
    pub fn is_alike_as_published(&self) -> bool {
        is_alike(self.published)
    }
}

/// Two figures that are equal within chance.
fn is_alike(pair: (f64, f64)) -> bool {
    (pair.0 / pair.1 - 1.0).abs() <= ALIKE
}

impl PublishedTable {
    /// The published rows whose cells were measured, on the runtime with the most of them; none if the study has no
    /// table or none of its cells was measured.
    pub(crate) fn of(evidence: &Evidence) -> Option<PublishedTable> {
        let table = evidence.plan.study.published_delivery.as_ref()?;
        let measured = &evidence.report.rows;
        let names = distinct(measured.iter().map(|row| row.cell.runtime.as_str()));
        let of_runtime = |runtime: &str| -> Vec<(&PublishedDeliveryRow, &Row)> {
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
        let measures = [Measure::Bytes, Measure::Seconds, Measure::Rate].into_iter();
        Some(PublishedTable {
            runtime: runtime.to_owned(),
            agreements: measures.filter_map(|measure| agreement(measure, &rows)).collect(),
            rows: rows.iter().map(|(published, row)| comparison(table, published, row)).collect(),
        })
    }
}

fn comparison(table: &PublishedDelivery, published: &PublishedDeliveryRow, row: &Row) -> RowComparison {
    let one_by_one = row.value(ONE_BY_ONE).filter(|_| table.connections == 1);
    RowComparison {
        published: published.clone(),
        cell: row.cell.id.clone(),
        bytes: row.count(BODY),
        seconds: one_by_one.zip(published.requests).map(|(one, requests)| one * requests as f64),
        mean_seconds: row.value("service-mean"),
        requests_per_second: row.value(RATE),
    }
}

fn agreement(measure: Measure, rows: &[(&PublishedDeliveryRow, &Row)]) -> Option<Agreement> {
    let known: Vec<_> = rows
        .iter()
        .filter_map(|(row, cell)| Some((*row, *cell, measure.published(row)?, measure.here(cell)?)))
        .collect();
    let mut found =
        Agreement { measure, pairs: 0, same: 0, undecided: 0, rank: None, disagreements: Vec::new() };
    let (mut concordant, mut compared) = (0.0, 0.0);
    for (at, one) in known.iter().enumerate() {
        for other in &known[at + 1..] {
            let (published, here) = ((one.2, other.2), (one.3.value, other.3.value));
            // Bytes are known exactly.
            let is_clear = measure == Measure::Bytes || differ(one.3, other.3);
            found.pairs += 1;
            match Standing::of(published, here, is_clear) {
                Standing::Same => found.same += 1,
                Standing::Undecided => found.undecided += 1,
                Standing::Other => found.disagreements.push(Disagreement {
                    labels: (one.0.label.clone(), other.0.label.clone()),
                    cells: (one.1.cell.id.clone(), other.1.cell.id.clone()),
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

/// The relation of a pair of rows here, compared with the published one.
enum Standing {
    /// The same order, or equal in both.
    Same,
    /// Without a significant difference here.
    Undecided,
    /// Significantly the other order, or equal in only one of the two.
    Other,
}

impl Standing {
    fn of(published: (f64, f64), here: (f64, f64), is_clear: bool) -> Standing {
        let same_order = (published.0 < published.1) == (here.0 < here.1);
        match (is_alike(published), is_alike(here)) {
            (true, true) => Standing::Same,
            (false, false) if is_clear && same_order => Standing::Same,
            _ if !is_clear => Standing::Undecided,
            _ => Standing::Other,
        }
    }
}

impl Exhibit for PublishedTable {
    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block> {
        let Some(published) = &report.study.published_delivery else { return Vec::new() };
        let mut blocks = vec![
            Block::Heading(2, "Published and measured here".into()),
            Block::Remark(format!(
                "Published: {}. Here: {} from {}{}. Processor and libraries differ: compare the order, not the height.",
                clean(&published.about),
                clean(&published.payload),
                clean(&published.server),
                if self.runtime == NO_PHP { String::new() } else { format!(" ({})", clean(&self.runtime)) }
            )),
            Block::Table(beside(&self.rows)),
        ];
        if !published.reading.is_empty() {
            let sentences: Vec<String> = published.reading.iter().map(|text| clean(text)).collect();
            blocks.push(Block::Remark(format!("As published: {}", sentences.join(" "))));
        }
        blocks.extend(self.disagreements(options.detail == Detail::Full));
        blocks
    }
}

fn beside(rows: &[RowComparison]) -> Grid {
    Grid::of(rows, |row| {
        let published = &row.published;
        let mean = published.mean_seconds.map(|s| s * 1e3);
        let mean = mean.or_else(|| published.ab.as_ref().map(|ab| ab.per_request_ms));
        vec![
            factor("published as", clean(&published.label)),
            field("bytes", "pub.", Kind::Whole, 0, published.bytes.map(|bytes| bytes as f64)),
            field("bytes", "here", Kind::Whole, 0, row.bytes as f64),
            field("for all", "pub. s", Kind::Three, 2, published.seconds),
            field("for all", "here s", Kind::Three, 2, row.seconds),
            field("mean", "pub. ms", Kind::Three, 0, mean),
            field("mean", "here ms", Kind::Three, 0, row.mean_seconds.map(|s| s * 1e3)),
            field("req/s", "pub.", Kind::Three, 1, published.requests_per_second),
            field("req/s", "here", Kind::Three, 1, row.requests_per_second),
        ]
    })
}

impl PublishedTable {
    /// Every pair of rows whose order differs here, with both figures.
    fn disagreements(&self, full: bool) -> Vec<Block> {
        let all: Vec<(Measure, &Disagreement)> = self
            .agreements
            .iter()
            .flat_map(|a| a.disagreements.iter().map(move |disagreement| (a.measure, disagreement)))
            .collect();
        if all.is_empty() {
            return Vec::new();
        }
        let shown = if full { all.len() } else { LISTED };
        let points = all.iter().take(shown).map(|(measure, d)| (disagreement(*measure, d), None));
        let mut blocks =
            vec![Block::Heading(3, "Where the two disagree".into()), Block::Points(points.collect())];
        blocks.extend(more(all.len().saturating_sub(shown), "more pair", "more pairs"));
        blocks
    }
}

fn disagreement(measure: Measure, d: &Disagreement) -> String {
    format!(
        "{}: {} {} and {} {} as published{}, {} and {} here",
        measure.words(),
        clean(&d.labels.0),
        measure.show(d.published.0),
        clean(&d.labels.1),
        measure.show(d.published.1),
        if d.is_alike_as_published() { " (alike)" } else { "" },
        measure.show(d.here.0),
        measure.show(d.here.1)
    )
}
