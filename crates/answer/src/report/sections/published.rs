//! Figures published elsewhere, beside ours.

use super::super::document::Block;
use super::super::grid::{Column, Grid, Kind, Tone};
use super::super::text::clean;
use crate::analysis::model::Analysis;

/// The table, when the study has one and its cells were measured.
pub(in crate::report) fn section(analysis: &Analysis) -> Vec<Block> {
    let Some(comparisons) = analysis.published.as_deref().filter(|rows| !rows.is_empty()) else {
        return Vec::new();
    };
    let mut grid = Grid::new(vec![
        Column::new("level", "", Kind::Whole, 0),
        Column::new("compress", "here MB/s", Kind::Three, 0),
        Column::new("compress", "pub. MB/s", Kind::Three, 0),
        Column::new("decompress", "here MB/s", Kind::Three, 0),
        Column::new("decompress", "pub. MB/s", Kind::Three, 0),
        Column::new("decompress", "pub. × ratio", Kind::Three, 1),
        Column::new("ratio", "here", Kind::Fixed(2), 2),
        Column::new("ratio", "pub.", Kind::Fixed(1), 2),
        Column::new("saving", "here %", Kind::Fixed(1), 3),
        Column::new("saving", "pub. %", Kind::Fixed(1), 3),
        Column::new("time", "here ms", Kind::Three, 4),
        Column::new("time", "pub. ms", Kind::Three, 4),
        Column::new("ratio/time", "here", Kind::Whole, 5),
        Column::new("ratio/time", "pub.", Kind::Whole, 5),
    ]);
    for row in comparisons {
        let published = &row.published;
        grid.push(
            Tone::Plain,
            vec![
                f64::from(published.level).into(),
                row.compress_mb_s.into(),
                published.compress_mb_s.into(),
                row.decompress_mb_s.into(),
                published.decompress_mb_s_published.into(),
                row.decompress_mb_s_corrected.into(),
                row.ratio.into(),
                published.ratio.into(),
                row.space_saving.into(),
                published.space_saving.into(),
                row.ms.into(),
                published.ms.into(),
                row.ratio_per_time.into(),
                published.ratio_per_time.into(),
            ],
        );
    }
    let about = analysis.study.published.as_ref();
    let (about, cells) = about.map(|table| (clean(&table.about), cells(table))).unwrap_or_default();
    vec![
        Block::Heading(2, "Published and measured here".into()),
        Block::Remark(format!(
            "Published: {about}. Here: {cells}. The published decompression rate is over compressed bytes; times the \
             ratio it is over uncompressed bytes, as ours. Another processor and another library: compare the shape, not \
             the height."
        )),
        Block::Table(grid),
    ]
}

fn cells(table: &weigh_model::study::Published) -> String {
    let serializer =
        table.serializer.as_deref().map(|name| format!("{} + ", clean(name))).unwrap_or_default();
    format!("{serializer}{} on {}", clean(&table.codec), clean(&table.payload))
}
