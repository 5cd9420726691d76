//! Throughput by level, as published and as measured here.

use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::super::text::{clean, shorten};
use super::axis::{Axis, Naming, Plot, number_tick};
use super::canvas::{Canvas, INK, Pen, QUIET, Rect, sheet};
use super::labels::stack;
use super::title;
use crate::analysis::model::{Analysis, PublishedComparison};
use weigh_model::payload::Origin;

const HERE: RGBColor = RGBColor(0, 114, 178);
const PUBLISHED: RGBColor = RGBColor(190, 84, 0);

/// There are at least two levels to compare.
pub(super) fn possible(analysis: &Analysis) -> bool {
    analysis.published.as_ref().is_some_and(|rows| rows.len() > 1)
}

/// One line of a panel.
struct Series {
    name: &'static str,
    color: RGBColor,
    dashed: bool,
    value: fn(&PublishedComparison) -> f64,
}

const COMPRESS: &[Series] = &[
    Series { name: "here", color: HERE, dashed: false, value: |row| row.compress_mb_s },
    Series { name: "published", color: PUBLISHED, dashed: false, value: |row| row.published.compress_mb_s },
];

const DECOMPRESS: &[Series] = &[
    Series { name: "here", color: HERE, dashed: false, value: |row| row.decompress_mb_s },
    Series {
        name: "published × ratio",
        color: PUBLISHED,
        dashed: false,
        value: |row| row.decompress_mb_s_corrected,
    },
    Series {
        name: "as published",
        color: PUBLISHED,
        dashed: true,
        value: |row| row.published.decompress_mb_s_published,
    },
];

/// Two panels: compression and decompression.
pub(super) fn draw(analysis: &Analysis) -> Result<String> {
    let rows = analysis.published.as_deref().unwrap_or_default();
    let heading = heading(rows);
    sheet(&heading, |canvas| {
        let table = analysis.study.published.as_ref();
        let about = table.map(|table| {
            format!(
                "MB/s of uncompressed bytes by level of {} on {} · published: {}",
                clean(&table.codec),
                shorten(&clean(&table.payload), 40),
                clean(&table.about)
            )
        });
        let top = title::head(canvas, &heading, &about.unwrap_or_default())? + 44.0;
        panel(canvas, rows, "Compression", COMPRESS, Rect { left: 128.0, top, right: 500.0, bottom: 632.0 })?;
        panel(
            canvas,
            rows,
            "Decompression",
            DECOMPRESS,
            Rect { left: 694.0, top, right: 1000.0, bottom: 632.0 },
        )?;
        let remark =
            "The published decompression rate is over compressed bytes: times the ratio it is comparable.";
        title::foot(canvas, analysis, synthetic(analysis), remark)
    })
}

/// Our side of the comparison is on generated content.
fn synthetic(analysis: &Analysis) -> bool {
    let name = analysis.study.published.as_ref().map(|table| &table.payload);
    let payload = analysis.payloads.iter().find(|payload| Some(&payload.name) == name);
    payload.is_some_and(|payload| matches!(payload.origin, Origin::Synthetic { .. }))
}

fn heading(rows: &[PublishedComparison]) -> String {
    let factor = |value: fn(&PublishedComparison) -> f64| {
        let mut factors: Vec<f64> = rows.iter().map(value).filter(|factor| factor.is_finite()).collect();
        factors.sort_by(f64::total_cmp);
        factors.get(factors.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let wrong = factor(|row| row.decompress_mb_s_corrected / row.published.decompress_mb_s_published);
    let faster = factor(|row| row.compress_mb_s / row.published.compress_mb_s);
    format!(
        "Decompression is about {} what was published; compression here runs at {} the published rate",
        number_tick(wrong) + "×",
        number_tick(faster) + "×"
    )
}

fn panel(
    canvas: &Canvas,
    rows: &[PublishedComparison],
    name: &str,
    series: &[Series],
    rect: Rect,
) -> Result<()> {
    let levels = rows.iter().map(|row| row.published.level);
    let (low, high) = (levels.clone().min().unwrap_or(0), levels.max().unwrap_or(1));
    let top = series.iter().flat_map(|series| rows.iter().map(series.value)).fold(0.0, f64::max);
    let plot = Plot { rect, x: Axis::whole(low, high), y: Axis::linear(0.0, top, (0.0, 0.08)) };
    let naming =
        Naming { x: "level", y: "MB/s", x_tick: &|level| format!("{level:.0}"), y_tick: &number_tick };
    plot.frame(canvas, &naming)?;
    let middle = (rect.left + rect.right) / 2.0;
    canvas.text(name, (middle, rect.top - 20.0), Pen::new(18.0, INK).bold().anchored(HPos::Center))?;
    let path = |series: &Series| -> Vec<(f64, f64)> {
        rows.iter().map(|row| plot.place(f64::from(row.published.level), (series.value)(row))).collect()
    };
    let ends: Vec<f64> =
        series.iter().map(|series| path(series).last().map_or(rect.bottom, |end| end.1)).collect();
    let heights = stack(&ends, 22.0, (rect.top, rect.bottom));
    for (series, height) in series.iter().zip(heights) {
        let path = path(series);
        if series.dashed {
            canvas.dashes(&path, series.color.mix(0.8), 2.0)?;
        } else {
            canvas.line(&path, series.color.mix(1.0), 2.5)?;
        }
        for point in &path {
            canvas.dot(*point, 4.0, series.color.mix(1.0))?;
        }
        if let Some(end) = path.last() {
            canvas.line(&[(end.0 + 7.0, end.1), (rect.right + 16.0, height)], QUIET.mix(0.5), 1.0)?;
        }
        canvas.text(series.name, (rect.right + 20.0, height), Pen::new(16.0, series.color).bold())?;
    }
    Ok(())
}
