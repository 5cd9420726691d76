//! A published table of levels, compared with the measured one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::inventory::NATIVE;
use weigh_model::payload::Payload;
use weigh_model::study::{Published, PublishedRow};

use crate::document::Block;
use crate::exhibit::Exhibit;
use crate::finding::Evidence;
use crate::format::Options;
use crate::report::Report;
use crate::row::Row;
use crate::subject::codec::{COMPRESS, DECODE, DECOMPRESS, ENCODE};
use crate::table::{Column, Grid, Kind, field};
use crate::text::clean;

/// The table, level by level.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PublishedLevels {
    /// The runtime of the measured rows; empty in old reports.
    #[serde(default)]
    pub runtime: String,
    /// Its version, as reported.
    #[serde(default)]
    pub version: String,
    /// One per published level whose cell was measured.
    pub rows: Vec<LevelComparison>,
}

/// One level, as published and as measured here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LevelComparison {
    /// The published row.
    pub published: PublishedRow,
    /// The cell measured here.
    pub cell: String,
    /// MB/s of uncompressed bytes.
    pub compress_mb_s: f64,
    /// MB/s of uncompressed bytes.
    pub decompress_mb_s: f64,
    /// The published rate corrected: published rate × published ratio.
    pub decompress_mb_s_corrected: f64,
    /// Compression ratio.
    pub ratio: f64,
    /// Percent.
    pub space_saving: f64,
    /// Ratio ÷ compression seconds, as in the publication.
    pub ratio_per_time: f64,
    /// Milliseconds of CPU time to compress the object.
    pub ms: f64,
}

impl PublishedLevels {
    /// The published rows whose cells were measured, on the first runtime of the plan that has any.
    pub(crate) fn of(evidence: &Evidence) -> Option<PublishedLevels> {
        let table = evidence.plan.study.published.as_ref()?;
        let items = evidence.report.payload(&table.payload).map_or(1, Payload::operations);
        let on = |runtime: &weigh_model::plan::Runtime| {
            let rows = table.rows.iter().filter_map(|published| {
                let own = |row: &&Row| is_of_level(row, table, published, &runtime.name);
                comparison(published, evidence.report.rows.iter().find(own)?, items as f64)
            });
            rows.collect::<Vec<_>>()
        };
        let mut measured = evidence.plan.runtimes.iter().map(|runtime| (runtime, on(runtime)));
        let (runtime, rows) = measured.find(|(_, rows)| !rows.is_empty())?;
        Some(PublishedLevels { runtime: runtime.name.clone(), version: runtime.version.clone(), rows })
    }
}

fn is_of_level(row: &Row, table: &Published, published: &PublishedRow, runtime: &str) -> bool {
    let cell = &row.cell;
    cell.payload == table.payload
        && cell.runtime == runtime
        && cell.serializer == table.serializer
        && cell.setting.codec == table.codec
        && cell.setting.level == Some(published.level)
        && cell.setting.options.is_empty()
}

fn comparison(published: &PublishedRow, row: &Row, items: f64) -> Option<LevelComparison> {
    let alone =
        |part: &str, whole: &str| if row.get(part).is_some() { part.to_owned() } else { whole.to_owned() };
    let (compress, decompress) = (alone(COMPRESS, ENCODE), alone(DECOMPRESS, DECODE));
    let mb_s = |time: &str| Some(row.value(&format!("{time}-rate"))? / 1e6);
    let seconds = row.value(&compress)? / items / 1e9;
    let ratio = row.value("ratio")?;
    Some(LevelComparison {
        published: published.clone(),
        cell: row.cell.id.clone(),
        compress_mb_s: mb_s(&compress)?,
        decompress_mb_s: mb_s(&decompress)?,
        decompress_mb_s_corrected: published.decompress_mb_s_published * published.ratio,
        ratio,
        space_saving: row.value("saving")? * 100.0,
        ratio_per_time: if seconds > 0.0 { ratio / seconds } else { 0.0 },
        ms: seconds * 1e3,
    })
}

impl Exhibit for PublishedLevels {
    fn blocks(&self, report: &Report, _: &Options) -> Vec<Block> {
        let grid = Grid::of(&self.rows, |row| {
            let published = &row.published;
            vec![
                (Column::factor("level", "", Kind::Whole), f64::from(published.level).into()),
                field("compress", "here MB/s", Kind::Three, 0, row.compress_mb_s),
                field("compress", "pub. MB/s", Kind::Three, 0, published.compress_mb_s),
                field("decompress", "here MB/s", Kind::Three, 0, row.decompress_mb_s),
                field("decompress", "pub. MB/s", Kind::Three, 0, published.decompress_mb_s_published),
                field("decompress", "pub. × ratio", Kind::Three, 1, row.decompress_mb_s_corrected),
                field("ratio", "here", Kind::Fixed(2), 2, row.ratio),
                field("ratio", "pub.", Kind::Fixed(1), 2, published.ratio),
                field("saving", "here %", Kind::Fixed(1), 3, row.space_saving),
                field("saving", "pub. %", Kind::Fixed(1), 3, published.space_saving),
                field("time", "here ms", Kind::Three, 4, row.ms),
                field("time", "pub. ms", Kind::Three, 4, published.ms),
                field("ratio/time", "here", Kind::Whole, 5, row.ratio_per_time),
                field("ratio/time", "pub.", Kind::Whole, 5, published.ratio_per_time),
            ]
        });
        let about = report.study.published.as_ref();
        let (about, cells) = about.map(|table| (clean(&table.about), cells(table))).unwrap_or_default();
        vec![
            Block::Heading(2, "Published and measured here".into()),
            Block::Remark(format!(
                "Published: {about}. Here: {cells}, {}. The published decompression rate is over compressed bytes; times the \
             ratio it is over uncompressed bytes, as ours. Another processor and another library: compare the shape, not \
             the height.",
                self.on()
            )),
            Block::Table(grid),
        ]
    }
}

impl PublishedLevels {
    /// `PHP 8.2.36 (php8.2)`.
    fn on(&self) -> String {
        let name = if self.runtime == NATIVE { "native libraries" } else { "PHP" };
        format!("{name} {} ({})", clean(&self.version), clean(&self.runtime))
    }
}

fn cells(table: &Published) -> String {
    let serializer =
        table.serializer.as_deref().map(|name| format!("{} + ", clean(name))).unwrap_or_default();
    format!("{serializer}{} on {}", clean(&table.codec), clean(&table.payload))
}
